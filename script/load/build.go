package load

import (
	"cmp"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"
	"unicode"

	"github.com/evanw/esbuild/pkg/api"

	"gotap/compile/diag"
)

// builder is one run of esbuild. Several goroutines call its plug-in.
type builder struct {
	loader *Loader
	entry  entry
	first  *diag.Source

	mu      sync.Mutex
	sources map[string]*diag.Source // by the path in esbuild's messages and source maps
	inputs  []string
	edges   map[string][]string // importer → imported
	list    diag.List
}

// build replaces the file's text by the output of esbuild. A file without imports only loses its types, so that its let
// and const stay unchanged; joining modules turns them all into var.
func (l *Loader) build(f *File, e entry, original *diag.Source) diag.List {
	b := &builder{loader: l, entry: e, first: original, sources: map[string]*diag.Source{path.Base(e.name): original},
		edges: map[string][]string{}}
	if !hasModules(e.text) {
		result := api.Transform(e.text, b.transformOptions())
		b.messages(result.Errors)
		return b.finish(f, result.Code, result.Map)
	}
	result := api.Build(b.options())
	b.messages(result.Errors)
	b.circle()
	if b.list.HasErrors() {
		return b.list
	}
	var text, mapText []byte
	for _, out := range result.OutputFiles {
		if strings.HasSuffix(out.Path, ".map") {
			mapText = out.Contents
		} else {
			text = out.Contents
		}
	}
	f.joined = e.format == formatScript
	return b.finish(f, text, mapText)
}

// finish sets the new text of the file and the mapping back to the original.
func (b *builder) finish(f *File, text, mapText []byte) diag.List {
	if b.list.HasErrors() {
		return b.list
	}
	back, err := newMapping(mapText, string(text), b.sources, b.first)
	if err != nil {
		b.list.Errorf(diag.Span{Source: b.first}, "", "%v", err)
		return b.list
	}
	f.Source, f.back = diag.NewSource(b.entry.name, string(text)), back
	f.Inputs = append(f.Inputs, b.inputs...)
	return b.list
}

// supported lists the features in which the JavaScript machine differs from its ES level. A feature that the machine
// lacks and esbuild cannot lower is left unchanged, and the machine reports its own error.
func supported() map[string]bool {
	return map[string]bool{"async-generator": false, "for-await": false, "regexp-unicode-property-escapes": true,
		"regexp-match-indices": true, "regexp-set-notation": true}
}

// transformOptions returns the options for a text without imports: types are removed, and nothing is moved.
func (b *builder) transformOptions() api.TransformOptions {
	return api.TransformOptions{Loader: loaderOf(b.entry.name), Sourcefile: path.Base(b.entry.name), Sourcemap: api.SourceMapExternal,
		Target: api.ES2022, Charset: api.CharsetUTF8, LegalComments: api.LegalCommentsNone, LogLevel: api.LogLevelSilent,
		Supported: supported(), TreeShaking: api.TreeShakingFalse}
}

// options returns the build options: esbuild lowers what the JavaScript machine does not support, and changes nothing
// else.
func (b *builder) options() api.BuildOptions {
	o := api.BuildOptions{
		Stdin: &api.StdinOptions{Contents: b.entry.text, ResolveDir: absolute(b.entry.dir),
			Sourcefile: path.Base(b.entry.name), Loader: loaderOf(b.entry.name)},
		AbsWorkingDir: absolute(b.entry.dir),
		Bundle:        true, Write: false, Outfile: "script.js", Target: api.ES2022, Charset: api.CharsetUTF8,
		Format: api.FormatIIFE, Platform: api.PlatformNeutral, LegalComments: api.LegalCommentsNone,
		Sourcemap: api.SourceMapExternal, LogLevel: api.LogLevelSilent, TreeShaking: api.TreeShakingFalse,
		Supported:   supported(),
		LogOverride: map[string]api.LogLevel{"import-is-undefined": api.LogLevelError}, // as in JavaScript
		Plugins:     []api.Plugin{{Name: "gotap", Setup: b.setup}},
	}
	if b.entry.format == formatModule {
		o.Format = api.FormatCommonJS
	}
	return o
}

// absolute returns a path that does not depend on the working directory, which esbuild requires.
func absolute(dir string) string {
	if abs, err := filepath.Abs(dir); err == nil {
		return abs
	}
	return dir
}

// loaderOf returns the esbuild loader for a file name.
func loaderOf(name string) api.Loader {
	switch path.Ext(name) {
	case ".ts", ".mts", ".cts":
		return api.LoaderTS
	case ".json":
		return api.LoaderJSON
	}
	return api.LoaderJS
}

// setup makes this package, not esbuild, find and read every module.
func (b *builder) setup(p api.PluginBuild) {
	all := api.OnResolveOptions{Filter: ".*"}
	p.OnResolve(all, func(a api.OnResolveArgs) (api.OnResolveResult, error) {
		switch {
		case a.Kind == api.ResolveEntryPoint:
			return api.OnResolveResult{}, nil
		case a.Path == itself:
			return api.OnResolveResult{Path: a.Importer, Namespace: "gotap"}, nil
		}
		found, err := b.loader.Resolve(b.dirOf(a), a.Path)
		if err != nil {
			return api.OnResolveResult{}, err
		}
		if a.Kind == api.ResolveJSRequireCall || b.byRequire(found) {
			return api.OnResolveResult{Path: found, External: true}, nil
		}
		b.edge(a.Importer, found)
		return api.OnResolveResult{Path: found, Namespace: "gotap"}, nil
	})
	p.OnLoad(api.OnLoadOptions{Filter: ".*", Namespace: "gotap"}, b.load)
}

// byRequire reports whether an imported module is loaded by require() at run time. That holds for a module that already
// runs, and for CommonJS modules, which have state of their own too.
func (b *builder) byRequire(found string) bool {
	if b.entry.format == formatModule && b.loader.Loaded != nil && b.loader.Loaded(found) {
		return true
	}
	if ext := path.Ext(found); ext != ".js" && ext != ".cjs" {
		return false
	}
	text, err := b.loader.Read(found)
	return err == nil && !checkText(diag.NewSource(found, string(text))).HasErrors() && isCommonJS(string(text))
}

// itself is the name by which a joined module imports its own exports.
const itself = "gotap:itself"

// registration returns the text that is appended to a joined module. It is appended so that the lines of the module do
// not move.
func registration(path string) string {
	return "\nimport * as " + RegisterFunction + "_exports from " + strconv.Quote(itself) + ";\n" +
		RegisterFunction + "(" + strconv.Quote(path) + ", " + RegisterFunction + "_exports);\n"
}

// dirOf returns the directory to which an importer's relative names refer.
func (b *builder) dirOf(a api.OnResolveArgs) string {
	if strings.HasPrefix(a.Importer, StdPrefix) {
		return path.Dir(a.Importer)
	}
	if filepath.IsAbs(a.Importer) && a.Namespace == "gotap" {
		return filepath.Dir(a.Importer)
	}
	return absolute(b.entry.dir)
}

// edge records an import for the search for cycles.
func (b *builder) edge(from, to string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.edges[from] = append(b.edges[from], to)
}

// load reads one module for esbuild. A refused text is passed on as empty, so that its error is reported once.
func (b *builder) load(a api.OnLoadArgs) (api.OnLoadResult, error) {
	raw, err := b.loader.Read(a.Path)
	if err != nil {
		return api.OnLoadResult{}, fmt.Errorf("cannot read the module %s: %w", a.Path, err)
	}
	text := string(raw)
	src := diag.NewSource(displayName(a.Path), text)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.sources["gotap:"+a.Path] = src
	if !strings.HasPrefix(a.Path, StdPrefix) {
		b.inputs = append(b.inputs, a.Path)
	}
	if bad := checkText(src); bad.HasErrors() {
		b.list = append(b.list, bad...)
		text = "module.exports = {};" // its exports are unknown, so no missing export is reported
	} else if hasModules(text) && path.Ext(a.Path) != ".json" {
		text += registration(a.Path)
	}
	return api.OnLoadResult{Contents: &text, Loader: loaderOf(a.Path), ResolveDir: filepath.Dir(a.Path)}, nil
}

// messages converts esbuild's errors, whose columns count bytes from 0.
func (b *builder) messages(all []api.Message) {
	for _, m := range all {
		span, hint := diag.Span{Source: b.first}, ""
		if m.Location != nil {
			span, hint = b.span(m.Location), suggested(m.Location.Suggestion)
		}
		hint = cmp.Or(hint, b.near(m))
		b.once(span, hint, lowerFirst(b.named(strings.TrimPrefix(m.Text, "[plugin gotap] "))))
	}
}

// once reports an error, unless it was already reported: a script that imports itself is two files to esbuild.
func (b *builder) once(at diag.Span, hint, text string) {
	if !slices.ContainsFunc(b.list, func(d diag.Diagnostic) bool {
		return d.Text == text && d.Span.Source != nil && d.Span.Source.Name == at.Source.Name && d.Span.Start == at.Start
	}) {
		b.list.Errorf(at, hint, "%s", text)
	}
}

// suggested returns a hint with the text that would have been correct. If that is only a sign, which the message
// already names, there is no hint.
func suggested(instead string) string {
	if strings.IndexFunc(instead, unicode.IsLetter) < 0 {
		return ""
	}
	return "did you mean " + instead + "?"
}

// named replaces esbuild's file names by the names that the user knows.
func (b *builder) named(text string) string {
	for path, src := range b.sources {
		text = strings.ReplaceAll(text, strconv.Quote(path), strconv.Quote(src.Name))
	}
	return text
}

// span returns the place of an esbuild message in the user's own text.
func (b *builder) span(at *api.Location) diag.Span {
	src := b.sources[at.File]
	if src == nil {
		return diag.Span{Source: b.first}
	}
	start := min(src.Offset(at.Line, 1)+at.Column, len(src.Text))
	return diag.Span{Source: src, Start: start, End: start + max(1, at.Length)}
}

// near returns a hint at what the name of a module or of an export may have meant.
func (b *builder) near(m api.Message) string {
	if missing, ok := m.Detail.(*MissingError); ok {
		return missing.Hint
	}
	for _, e := range missingExports {
		found := e.pattern.FindStringSubmatch(m.Text)
		if found == nil {
			continue
		}
		if src := b.sources[found[e.module]]; src != nil {
			return nearExport(found[e.name], src.Text)
		}
	}
	return ""
}

// circle reports modules that import each other: their order, and so what each sees of the other, would be arbitrary.
func (b *builder) circle() {
	done := map[string]bool{}
	starts := make([]string, 0, len(b.edges))
	for from := range b.edges {
		starts = append(starts, from)
	}
	sort.Strings(starts)
	for _, from := range starts {
		if way := b.findCircle(from, nil, done); way != nil {
			names := make([]string, len(way))
			for i, p := range way {
				names[i] = displayName(p)
			}
			b.list.Errorf(diag.Span{Source: b.first, End: 1}, "move what both need to a third module",
				"modules import each other in a circle: %s", strings.Join(names, " → "))
			return
		}
	}
}

// findCircle follows imports depth first; way is the current path of modules. A module from which no cycle was found is
// done.
func (b *builder) findCircle(at string, way []string, done map[string]bool) []string {
	for i, p := range way {
		if p == at {
			return append(way[i:], at)
		}
	}
	if done[at] {
		return nil
	}
	way = append(way, at)
	for _, next := range b.edges[at] {
		if found := b.findCircle(next, way, done); found != nil {
			return found
		}
	}
	done[at] = true
	return nil
}
