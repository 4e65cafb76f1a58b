package module

import (
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"strings"

	"github.com/dop251/goja"

	"gotap/compile/diag"
	"gotap/script/jsvm"
	"gotap/script/load"
	"gotap/script/scope"
	"gotap/script/source"
)

// Modules are the modules of one script.
type Modules struct {
	Loader *load.Loader

	m       *jsvm.Machine
	admit   func(*load.File) (*source.File, diag.List)
	loaded  map[string]*module
	running []*module // the modules whose top levels run, outermost first
}

// New makes an empty list. admit adds a parsed file to the script.
func New(m *jsvm.Machine, loader *load.Loader, admit func(*load.File) (*source.File, diag.List)) *Modules {
	ms := &Modules{Loader: loader, m: m, admit: admit, loaded: map[string]*module{}}
	loader.Loaded = func(path string) bool { m := ms.loaded[path]; return m != nil && !m.running }
	return ms
}

// module is one file that require has run.
type module struct {
	path    string
	object  *goja.Object // "module", whose exports may be replaced
	running bool
}

// Require implements require(name) for files in a directory.
func (ms *Modules) Require(dir string, call goja.FunctionCall) goja.Value {
	name := call.Argument(0)
	if !goja.IsString(name) {
		ms.m.Throwf(`require needs the name of a module: "./file.js" or "gotap/NAME"`)
	}
	found, err := ms.Loader.Resolve(dir, name.String())
	if err != nil {
		d := diag.Diagnostic{Span: ms.m.Site().Span(), Text: err.Error()}
		if missing := (*load.MissingError)(nil); errors.As(err, &missing) {
			d.Hint = missing.Hint
		}
		ms.m.Throw(d)
	}
	if m := ms.loaded[found]; m != nil {
		if m.running {
			ms.m.Throwf("modules require each other in a circle: %s", ms.circle(found))
		}
		return m.object.Get("exports")
	}
	return ms.runModule(found)
}

// Joined is called at the end of each module that the loader joined with the script: (path, exports). A later require
// of it gives the same exports.
func (ms *Modules) Joined(call goja.FunctionCall) goja.Value {
	m := &module{path: call.Argument(0).String(), object: ms.m.VM.NewObject()}
	m.object.Set("exports", call.Argument(1))
	if ms.loaded[m.path] == nil {
		ms.loaded[m.path] = m
	}
	return nil
}

// circle names the modules of a circle, from the required one back to itself.
func (ms *Modules) circle(to string) string {
	var names []string
	for _, m := range ms.running {
		if len(names) > 0 || m.path == to {
			names = append(names, path.Base(m.path))
		}
	}
	return strings.Join(append(names, path.Base(to)), " → ")
}

// runModule loads a module and runs it as CommonJS does.
func (ms *Modules) runModule(found string) goja.Value {
	m := &module{path: found, object: ms.m.VM.NewObject(), running: true}
	m.object.Set("exports", ms.m.VM.NewObject())
	ms.loaded[found] = m
	ms.running = append(ms.running, m)
	defer func() {
		m.running = false
		ms.running = ms.running[:len(ms.running)-1]
		if r := recover(); r != nil {
			delete(ms.loaded, found)
			panic(r)
		}
	}()
	if path.Ext(found) == ".json" {
		m.object.Set("exports", ms.runJSON(found))
		return m.object.Get("exports")
	}
	f, list, err := ms.Loader.Open(found)
	if err != nil {
		ms.m.Throwf("%v", err)
	}
	ms.throwFirst(list)
	ms.runFile(f, m)
	return m.object.Get("exports")
}

// throwFirst raises the first error of a module as an exception with its own place.
func (ms *Modules) throwFirst(list diag.List) {
	if list.HasErrors() {
		ms.m.Throw(list[0])
	}
}

// runFile runs a module's function: (exports, require, module, __filename, __dirname).
func (ms *Modules) runFile(f *load.File, m *module) {
	src, list := ms.admit(f)
	ms.throwFirst(list)
	scope.AsModule(f.Run, "exports", "require", "module", "__filename", "__dirname")
	prg, list := src.Compile()
	ms.throwFirst(list)
	value, err := ms.m.VM.RunProgram(prg)
	jsvm.OrThrow(value, err)
	fn, _ := goja.AssertFunction(value)
	dir := filepath.Dir(m.path)
	require := ms.m.Guarded("require", func(c goja.FunctionCall) goja.Value { return ms.Require(dir, c) })
	exports := m.object.Get("exports")
	jsvm.OrThrow(fn(exports, exports, ms.m.VM.ToValue(require), m.object, ms.m.VM.ToValue(m.path), ms.m.VM.ToValue(dir)))
}

// runJSON returns the value of a JSON file.
func (ms *Modules) runJSON(found string) goja.Value {
	text, err := ms.Loader.Read(found)
	if err != nil {
		ms.m.Throwf("cannot read the module %s: %v", found, err)
	}
	parse, _ := goja.AssertFunction(ms.m.VM.Get("JSON").ToObject(ms.m.VM).Get("parse"))
	v, err := parse(goja.Undefined(), ms.m.VM.ToValue(string(text)))
	if err != nil {
		ms.m.Throwf("cannot read %s: %v", found, jsvm.FirstLine(fmt.Sprint(err)))
	}
	ms.m.Files.Inputs = append(ms.m.Files.Inputs, found)
	return v
}
