package probe

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/dop251/goja"

	"gotap/compile/diag"
	"gotap/compile/js"
	"gotap/script/jsvm"
	"gotap/script/source"
)

// parseSpecs reads the first argument of probe.
func (s *Set) parseSpecs(p *Probe, at source.Site, v goja.Value) {
	if list, ok := v.(*goja.Object); ok && list.ClassName() == "Array" {
		n := int(list.Get("length").ToInteger())
		if n == 0 {
			s.m.Reject(at.ArgSpan(0), "", "the list of places is empty")
		}
		for i := range n {
			s.parseSpec(p, s.m.Blame(at.ElementSpan(0, i)), list.Get(strconv.Itoa(i)))
		}
		return
	}
	s.parseSpec(p, s.m.Blame(at.ArgSpan(0)), v)
}

func (s *Set) parseSpec(p *Probe, at diag.Span, v goja.Value) {
	switch {
	case v == nil || !goja.IsString(v):
		hint := `a place is text like "libc:malloc"`
		if obj, ok := v.(*goja.Object); ok && obj.ClassName() == "RegExp" {
			hint = `globs have * ? and [a-z]: "libc:str*"; several places are a list`
		}
		s.m.Reject(at, hint, "%s is not a place", jsvm.Describe(v))
	case v.String() == "":
		s.m.Reject(at, `name a place: "libc:malloc"`, "the place is empty")
	case strings.HasPrefix(v.String(), samplePrefix):
		s.m.Reject(at, sampleUsage, "samples are not taken at a place")
	default:
		p.Specs = append(p.Specs, SpecText{v.String(), at})
	}
}

// placesOf reads an option that is a place or a list of places.
func placesOf(o jsvm.Given) (list []SpecText) {
	values := []goja.Value{o.Value}
	if all, ok := o.Value.(*goja.Object); ok && all.ClassName() == "Array" {
		values = nil
		for i := range int(all.Get("length").ToInteger()) {
			values = append(values, all.Get(strconv.Itoa(i)))
		}
	}
	for _, v := range values {
		if !goja.IsString(v) {
			o.Reject(`a place is text like "libc:*lock*"; several are a list`, "%s is not a place", jsvm.Describe(v))
			continue
		}
		list = append(list, SpecText{v.String(), o.ValueSpan()})
	}
	return list
}

// modulesOf reads an option that is a module or a list of modules.
func modulesOf(o jsvm.Given) []SpecText {
	list := placesOf(o)
	for _, module := range list {
		name, _, isPlace := strings.Cut(module.Text, ":")
		switch {
		case module.Text == "":
			o.Reject(`name a module: "libssl"; "a.out" is the main program`, "%s names no module", o.Name)
		case isPlace && !strings.Contains(name, "/"): // a path may have a colon
			o.Reject(fmt.Sprintf("write %s: %q", o.Name, name), "%s is a place, not a module", module.Text)
		}
	}
	return list
}

// parseProgram reads the second argument: a function, or an object of handlers and options.
func (s *Set) parseProgram(p *Probe, at source.Site, v goja.Value) {
	obj, ok := v.(*goja.Object)
	if !ok || obj.ClassName() == "Array" {
		s.m.Reject(at.ArgSpan(1), "a function, or { enter(c) { … } }", "%s is not a program", jsvm.Describe(v))
		return
	}
	if _, ok := goja.AssertFunction(obj); ok {
		s.addHandler(p, js.Enter, obj, at.ArgSpan(1))
		return
	}
	programs, known := 0, true
	for _, key := range obj.Keys() {
		if _, ok := handlerKinds[key]; ok {
			programs++
		}
		known = s.parseProperty(p, jsvm.Given{M: s.m, At: at, Arg: 1, Name: key, Value: obj.Get(key)}) && known
	}
	if programs == 0 && known { // the other property was probably meant as one
		s.m.Reject(at.ArgSpan(1), "add enter, post, leave or fault", "the probe has no program")
	}
}

// handlerKinds are the handlers that are programs.
var handlerKinds = map[string]js.HandlerKind{"enter": js.Enter, "post": js.Post, "leave": js.Leave, "fault": js.Fault}

// calledElsewhere are the words of other tracers for the properties of a probe.
var calledElsewhere = map[string]string{
	"entry": "enter(c) { … }", "pre": "enter(c) { … }", "call": "enter(c) { … }", "return": "leave(c) { … }", "ret": "leave(c) { … }",
	"onReturn": "leave(c) { … }", "onLeave": "leave(c) { … }", "onEnter": "enter(c) { … }", "filter": "when: c => …", "predicate": "when: c => …",
	"condition": "when: c => …", "if": "when: c => …", "emit": "exit(e) { … }", "event": "exit(e) { … }", "maxactive": "maxActive",
	"once": "limit: 1", "sample": "every: 100", "pass_count": "after", "max_hits": "limit",
}

// parseProperty reads a handler or an option. It reports whether there is one of this name.
func (s *Set) parseProperty(p *Probe, o jsvm.Given) (known bool) {
	if kind, ok := handlerKinds[o.Name]; ok {
		if fn, ok := o.Function(); ok {
			s.addHandler(p, kind, fn, o.ValueSpan())
		}
		return true
	}
	if set := setterOf(o.Name); set != nil {
		set(p, o)
		return true
	}
	hint := jsvm.Nearest(o.Name, optionNames())
	if here := calledElsewhere[o.Name]; here != "" {
		hint = "here it is " + here
	}
	s.m.Reject(o.Span(), hint, "a probe has no option %s", o.Name)
	return false
}

// addHandler keeps a function that will become a program.
func (s *Set) addHandler(p *Probe, kind js.HandlerKind, fn *goja.Object, at diag.Span) {
	lit, ok := s.fold.Literal(fn)
	switch {
	case !ok:
		s.m.Reject(at, "write the function in the script: c => { … }", "this function cannot become a program")
	case lit.Why != "":
		s.m.Reject(at, "use a plain function: a program cannot wait", "%s cannot become a program", lit.Why)
	default:
		p.handlers = append(p.handlers, handler{kind, fn, at})
	}
}
