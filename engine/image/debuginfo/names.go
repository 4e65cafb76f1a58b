package debuginfo

import (
	"slices"
	"strings"

	"gotap/compile"
	"gotap/engine/image/debuginfo/entry"
	"gotap/engine/image/debuginfo/function"
)

// named returns the names that are not empty.
func named(names []string) []string {
	var out []string
	for _, n := range names {
		if n != "" {
			out = append(out, n)
		}
	}
	return out
}

// Locals returns the names of the local variables in scope at pc, those of the innermost block last. A name that occurs
// twice stands for the inner variable. The arguments of an inlined call are included. At a function's entry there are
// none, because they have no values yet.
func (in *Info) Locals(pc uint64) (names []string, err error) {
	defer in.guard(&err)()
	fn, err := in.functions.At(pc)
	if err != nil || pc == fn.Low {
		return nil, err
	}
	top, err := in.functions.Scope(fn)
	if err != nil {
		return nil, err
	}
	for i, s := range top.Path(pc) {
		declared := s.Vars
		if i > 0 {
			declared = append(slices.Clone(s.Params), s.Vars...)
		}
		for _, e := range declared {
			if n := in.entries.Name(e); !slices.Contains(names, n) {
				names = append(names, n)
			}
		}
	}
	return named(names), nil
}

// Parameters returns the names of the parameters of the function at pc, in their order.
func (in *Info) Parameters(pc uint64) (names []string, err error) {
	defer in.guard(&err)()
	fn, err := in.functions.At(pc)
	if err != nil {
		return nil, err
	}
	if in.isUntyped(fn) {
		return nil, ErrNone
	}
	params, _, err := in.functions.Params(fn)
	for _, p := range params {
		names = append(names, in.entries.Name(p))
	}
	return named(names), err
}

// isUntyped reports whether a function of assembly is described as one without parameters and result. GNU as does that,
// and Go's linker; of Go's, those that follow C's conventions have no package in their name.
func (in *Info) isUntyped(fn *function.Function) bool {
	switch fn.Unit.Language() {
	case entry.Assembly:
		return true
	case entry.Go:
		return !strings.Contains(in.entries.Name(fn.DIE), ".")
	}
	return false
}

// GoArg returns the access to word n, from 0, of the integers and pointers that the Go function at vaddr is called
// with: a string is two such words, a slice three, and floats are not counted. ok is false when the function has no
// such word or is not a Go function with debug information.
func (in *Info) GoArg(vaddr uint64, n int) (a compile.Access, ok bool) {
	var err error
	defer func() { ok = ok && err == nil }()
	defer in.guard(&err)()
	fn, e := in.functions.At(vaddr)
	if e != nil || fn.Unit.Language() != entry.Go {
		return a, false
	}
	return in.rules.GoWord(fn, n)
}
