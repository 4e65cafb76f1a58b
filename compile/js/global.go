package js

import (
	"errors"

	"gotap/compile"
	"gotap/runtime"
)

// errNoFiles is a place whose target's files are not known.
var errNoFiles = errors.New("variables of the program are not known here")

// variableName is the constant text that global and uaddr take; ok is false when an error was reported.
func (s *site) variableName() (name string, ok bool) {
	if !s.count(1, 1) {
		return "", false
	}
	e := s.arg(0)
	if e.code == codeText && e.text != "" {
		return e.text, true
	}
	if !e.kind.silent() {
		s.l.errorf(e.at, "write "+s.name+`("name") or `+s.name+`("module:name")`, "the name of the variable is not a constant text")
	}
	return "", false
}

// global is global(name): what it denotes has a value and members, as arguments have.
func (s *site) global() operand {
	name, ok := s.variableName()
	if !ok {
		return bad{}
	}
	return arguments{global: name}
}

// globalAccess asks where a variable of the program is, or what lies below it.
func (l *lowering) globalAccess(a arguments) (compile.Access, error) {
	if p, ok := l.unit.Place.(Globals); ok {
		return p.Global(a.global, a.path)
	}
	return compile.Access{}, errNoFiles
}

// uaddr is uaddr(name).
func (s *site) uaddr() *expr {
	name, ok := s.variableName()
	if !ok {
		return poison(s.at)
	}
	s.l.compiler.result.UsesPlace = true
	if s.l.unit.Place == nil {
		return apply(s.at, kindUint, runtime.OpArg) // any word will do: this is compiled again at the place
	}
	a, err := compile.Access{}, errNoFiles
	if p, ok := s.l.unit.Place.(Globals); ok {
		a, err = p.GlobalAddress(name)
	}
	if err != nil {
		s.l.errorf(s.at, hintOf(err), "%v", err)
		return poison(s.at)
	}
	e := *s.l.access(a, s.at)
	e.kind = kindUint
	return &e
}
