package load

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"

	"gotap/compile/diag"
)

// StdPrefix begins the names of the modules of the standard library.
const StdPrefix = "gotap/"

// Loader finds and parses the files of one script.
type Loader struct {
	Std fs.FS // the standard library: NAME.js or NAME.ts for "gotap/NAME"; may be nil

	// Loaded reports whether a module already runs. A CommonJS module that imports it gets that instance by require().
	// If it were joined into another text, it would be a second instance with its own state. Nil means that none runs.
	Loaded func(path string) bool

	mu     sync.Mutex          // esbuild resolves in several goroutines
	beside map[string][]string // directory → real directories of the symbolic links in it
}

// RegisterFunction is called at the end of each joined module with its path and its exports, so that require() finds
// it.
const RegisterFunction = "__gotap_module"

// extensions are tried in turn if a module is named without one.
var extensions = []string{"", ".js", ".ts", ".mjs", ".mts", ".cjs", ".json"}

// moduleKinds are the file extensions that can be imported. Any other text would run as JavaScript and fail with a
// misleading error.
var moduleKinds = []string{"", ".js", ".ts", ".mjs", ".mts", ".cjs", ".cts", ".json"}

// Parse checks and parses a script's text. Name is its name in diagnostics; its relative imports refer to dir.
func (l *Loader) Parse(name, dir, text string) (*File, diag.List) {
	l.noteLink(filepath.Join(dir, filepath.Base(name)))
	return l.parse(entry{name: name, path: name, dir: dir, text: text, format: formatScript})
}

// Open reads and parses a module that Resolve found, to run as a CommonJS module.
func (l *Loader) Open(p string) (*File, diag.List, error) {
	text, err := l.Read(p)
	if err != nil {
		return nil, nil, fmt.Errorf("cannot read the module %s: %w", p, err)
	}
	f, list := l.parse(entry{name: displayName(p), path: p, dir: filepath.Dir(p), text: string(text), format: formatModule})
	return f, list, nil
}

// entry is a text to be parsed.
type entry struct {
	name, path, dir, text string
	format                format
}

// format is the output format that esbuild produces.
type format uint8

const (
	formatScript format = iota // one script
	formatModule               // a CommonJS module
)

// parse makes both trees of a text. A text that cannot be a script is refused before a parser sees it, so that the
// error names the wrong byte.
func (l *Loader) parse(e entry) (*File, diag.List) {
	original := diag.NewSource(e.name, e.text)
	if list := checkText(original); list.HasErrors() {
		return nil, list
	}
	f := &File{Path: e.path, Source: original, Inputs: []string{e.path}}
	if needsBuild(e) {
		if list := l.build(f, e, original); list.HasErrors() {
			return nil, list
		}
	}
	f.lines = lineStarts(f.Source.Text)
	var list diag.List
	if f.Tree, list = f.parse(); list.HasErrors() {
		return nil, list
	}
	f.Run, list = f.parse()
	return f, list
}

// needsBuild reports whether esbuild must process a text because it has types or modules to join. All other texts go to
// the parser unchanged, so that their positions need no mapping.
func needsBuild(e entry) bool {
	switch path.Ext(e.name) {
	case ".ts", ".mts", ".cts":
		return true
	case ".json":
		return false
	}
	return hasModules(e.text)
}

// ofNode lists the replacements for modules that people know from Node.js.
var ofNode = map[string]string{
	"fs": "readFile(path), readDir(path) and readLink(path) are built in", "fs/promises": "readFile(path), readDir(path) and readLink(path) are built in",
	"process": "env(name), option(name, default) and stop(status) are built in", "os": "readFile(\"/proc/…\") and env(name) are built in",
	"util": "console.log shows objects, and \"gotap/hexdump\" bytes", "timers": "every(interval, fn) is built in",
	"assert": "expect(value) is built in, for gotap test", "child_process": "the command to trace stands behind --", "path": "names are text",
}

// Resolve finds the module that a file in directory dir names: "./x.js" beside it, or "gotap/NAME". The result is an
// absolute path or "gotap/NAME".
func (l *Loader) Resolve(dir, name string) (string, error) {
	if std, ok := strings.CutPrefix(name, StdPrefix); ok {
		return l.resolveStd(std)
	}
	if std, ok := strings.CutPrefix(path.Join(dir, name), StdPrefix); ok && strings.HasPrefix(dir, "gotap") {
		return l.resolveStd(std)
	}
	if !strings.HasPrefix(name, ".") && !filepath.IsAbs(name) {
		hint := ""
		if std := StdPrefix + name; slices.Contains(l.std(), std) {
			hint = "did you mean " + strconv.Quote(std) + "?"
		} else if _, err := l.Resolve(dir, "./"+name); err == nil {
			hint = "did you mean " + strconv.Quote("./"+name) + "?"
		} else if instead := ofNode[strings.TrimPrefix(name, "node:")]; instead != "" {
			hint = "gotap has none of Node's modules: " + instead
		}
		return "", &MissingError{fmt.Sprintf("cannot find the module %q: there are \"./FILE\" and %s", name, l.stdNames()), hint}
	}
	if filepath.IsAbs(name) {
		return l.resolveFile(name, name)
	}
	found, err := l.resolveFile(name, filepath.Join(dir, name))
	for _, other := range l.linked(dir) {
		if again, e := l.resolveFile(name, filepath.Join(other, name)); err != nil && e == nil {
			return again, nil
		}
	}
	return found, err
}

// resolveFile finds a module by its path, which may lack the extension; asked is its name in the script.
func (l *Loader) resolveFile(asked, name string) (string, error) {
	for _, file := range candidates(name) {
		if info, err := os.Stat(file); err == nil && info.Mode().IsRegular() {
			if kind := path.Ext(file); !slices.Contains(moduleKinds, kind) {
				return "", fmt.Errorf("cannot import %s: a module is a script (.js, .ts) or .json, not %s", file, kind)
			}
			l.noteLink(file)
			return filepath.Abs(file)
		}
	}
	return "", &MissingError{"cannot find the module " + name, nearFile(asked, name)}
}

// compiledFrom maps the extensions of TypeScript's output files to those of their sources. Imports use the former,
// because they must be correct in the output, even if only the source exists.
var compiledFrom = map[string]string{".js": ".ts", ".mjs": ".mts", ".cjs": ".cts"}

// candidates returns the files that the path of a module can mean, in search order: the path itself, the path with an
// extension, the source that it would be compiled from, the main file of a folder.
func candidates(name string) (files []string) {
	for _, ext := range extensions {
		files = append(files, name+ext)
	}
	if ext := path.Ext(name); compiledFrom[ext] != "" {
		files = append(files, strings.TrimSuffix(name, ext)+compiledFrom[ext])
	}
	for _, ext := range extensions {
		if ext != "" {
			files = append(files, filepath.Join(name, "index"+ext))
		}
	}
	return files
}

// noteLink records the real place of a file that is a symbolic link: its imports may be there, and not beside the link.
func (l *Loader) noteLink(file string) {
	whole, err := filepath.EvalSymlinks(file)
	dir, e := filepath.EvalSymlinks(filepath.Dir(file))
	if err != nil || e != nil || filepath.Dir(whole) == dir {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.beside == nil {
		l.beside = map[string][]string{}
	}
	key := absolute(filepath.Dir(file))
	if there := absolute(filepath.Dir(whole)); !slices.Contains(l.beside[key], there) {
		l.beside[key] = append(l.beside[key], there)
	}
}

// linked returns the real directories of the symbolic links in a directory.
func (l *Loader) linked(dir string) []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.beside[absolute(dir)])
}

// resolveStd finds a module of the standard library. The error lists the existing names, because the library is
// embedded and users cannot look into it.
func (l *Loader) resolveStd(name string) (string, error) {
	if l.Std != nil {
		for _, ext := range []string{"", ".js", ".ts"} {
			if info, err := fs.Stat(l.Std, name+ext); err == nil && !info.IsDir() {
				return StdPrefix + name + ext, nil
			}
		}
	}
	hint := ""
	if near := nearest(StdPrefix+name, l.std()); near != "" {
		hint = "did you mean " + strconv.Quote(near) + "?"
	}
	return "", &MissingError{fmt.Sprintf("cannot find the module \"gotap/%s\": there are %s", name, l.stdNames()), hint}
}

// std returns the sorted module names of the standard library.
func (l *Loader) std() []string {
	if l.Std == nil {
		return nil
	}
	var names []string
	entries, _ := fs.ReadDir(l.Std, ".")
	for _, e := range entries {
		if ext := path.Ext(e.Name()); ext == ".js" || ext == ".ts" && !strings.HasSuffix(e.Name(), ".d.ts") {
			names = append(names, StdPrefix+strings.TrimSuffix(e.Name(), ext))
		}
	}
	sort.Strings(names)
	return names
}

// stdNames lists the standard library for messages.
func (l *Loader) stdNames() string {
	names := l.std()
	if len(names) == 0 {
		return `"gotap/NAME" (none in this build)`
	}
	for i, name := range names {
		names[i] = strconv.Quote(name)
	}
	return strings.Join(names, ", ")
}

// Read returns the text of a resolved module.
func (l *Loader) Read(p string) ([]byte, error) {
	if std, ok := strings.CutPrefix(p, StdPrefix); ok {
		if l.Std == nil {
			return nil, errors.New("this build has no standard library")
		}
		return fs.ReadFile(l.Std, std)
	}
	text, err := diag.ReadFile(p)
	return bytes.TrimPrefix(text, []byte("\ufeff")), err // a byte order mark, which does not count as a column
}

// displayName shortens a path below the working directory.
func displayName(p string) string {
	wd, err := os.Getwd()
	if err != nil || strings.HasPrefix(p, StdPrefix) {
		return p
	}
	if rel, err := filepath.Rel(wd, p); err == nil && !strings.HasPrefix(rel, "..") {
		return rel
	}
	return p
}
