package script

import (
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"strings"

	"github.com/dop251/goja"

	"gotap/compile/diag"
	"gotap/script/load"
	"gotap/script/scope"
)

// module is one file that require has run.
type module struct {
	path    string
	object  *goja.Object // "module", whose exports may be replaced
	running bool
}

// require is the function of that name for files in a directory.
func (s *Script) require(dir string, call goja.FunctionCall) goja.Value {
	name := call.Argument(0)
	if !goja.IsString(name) {
		s.throwf(`require needs the name of a module: "./file.js" or "gotap/NAME"`)
	}
	found, err := s.loader.Resolve(dir, name.String())
	if err != nil {
		d := diag.Diagnostic{Span: s.site().span(), Text: err.Error()}
		if missing := (*load.MissingError)(nil); errors.As(err, &missing) {
			d.Hint = missing.Hint
		}
		s.throw(d)
	}
	if m := s.modules[found]; m != nil {
		if m.running {
			s.throwf("modules require each other in a circle: %s", s.circle(found))
		}
		return m.object.Get("exports")
	}
	return s.runModule(found)
}

// jsModule is what joined modules call at their end: (path, exports). Whoever requires one later gets the same.
func (s *Script) jsModule(call goja.FunctionCall) goja.Value {
	m := &module{path: call.Argument(0).String(), object: s.vm.NewObject()}
	m.object.Set("exports", call.Argument(1))
	if s.modules[m.path] == nil {
		s.modules[m.path] = m
	}
	return nil
}

// circle names the modules from a running one to the innermost, and it again.
func (s *Script) circle(to string) string {
	var names []string
	for _, m := range s.running {
		if len(names) > 0 || m.path == to {
			names = append(names, path.Base(m.path))
		}
	}
	return strings.Join(append(names, path.Base(to)), " → ")
}

// runModule loads a module and runs it as CommonJS does.
func (s *Script) runModule(found string) goja.Value {
	m := &module{path: found, object: s.vm.NewObject(), running: true}
	m.object.Set("exports", s.vm.NewObject())
	s.modules[found] = m
	s.running = append(s.running, m)
	defer func() {
		m.running = false
		s.running = s.running[:len(s.running)-1]
		if r := recover(); r != nil {
			delete(s.modules, found)
			panic(r)
		}
	}()
	if path.Ext(found) == ".json" {
		m.object.Set("exports", s.runJSON(found))
		return m.object.Get("exports")
	}
	f, list, err := s.loader.Open(found)
	if err != nil {
		s.throwf("%v", err)
	}
	s.throwFirst(list)
	s.runFile(f, m)
	return m.object.Get("exports")
}

// throwFirst raises the first error of a module as an exception that keeps its own place.
func (s *Script) throwFirst(list diag.List) {
	if list.HasErrors() {
		s.throw(list[0])
	}
}

// runFile runs a module's function: (exports, require, module, __filename, __dirname).
func (s *Script) runFile(f *load.File, m *module) {
	src, list := s.admit(f)
	s.throwFirst(list)
	scope.AsModule(f.Run, "exports", "require", "module", "__filename", "__dirname")
	prg, list := src.compile()
	s.throwFirst(list)
	value, err := s.vm.RunProgram(prg)
	if err != nil {
		panic(err)
	}
	fn, _ := goja.AssertFunction(value)
	dir := filepath.Dir(m.path)
	require := s.guarded("require", func(c goja.FunctionCall) goja.Value { return s.require(dir, c) })
	exports := m.object.Get("exports")
	_, err = fn(exports, exports, s.vm.ToValue(require), m.object, s.vm.ToValue(m.path), s.vm.ToValue(dir))
	if err != nil {
		panic(err)
	}
}

// runJSON is the value of a JSON file.
func (s *Script) runJSON(found string) goja.Value {
	text, err := s.loader.Read(found)
	if err != nil {
		s.throwf("cannot read the module %s: %v", found, err)
	}
	parse, _ := goja.AssertFunction(s.vm.Get("JSON").ToObject(s.vm).Get("parse"))
	v, err := parse(goja.Undefined(), s.vm.ToValue(string(text)))
	if err != nil {
		s.throwf("cannot read %s: %v", found, firstLine(fmt.Sprint(err)))
	}
	s.inputs = append(s.inputs, found)
	return v
}
