package place

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"gotap/engine/image/module"
	"gotap/engine/image/symname"
	"gotap/engine/image/symtab"
)

// setAt returns the set whose word is at a position of the text, and the position behind its quote. The quotes tell it
// from the C++ name callees(int).
func (p parser) setAt(from, to int) (Set, int) {
	for set, word := range setWords {
		if text := p.text[from:to]; word != "" && (strings.HasPrefix(text, word+`("`) || strings.HasPrefix(text, word+`('`)) {
			return Set(set), from + len(word) + len(`("`)
		}
	}
	return Named, 0
}

// setColon finds the colon in front of the word of a set, or -1.
func (p parser) setColon(from, to int) int {
	for at := from; ; at++ {
		colon := strings.IndexByte(p.text[at:to], ':')
		if colon < 0 {
			return -1
		}
		at += colon
		if set, _ := p.setAt(at+1, to); set != Named && (at == from || p.text[at-1] != ':') {
			return at
		}
	}
}

// set reads NAME") of a set.
func (p parser) set(s Spec, set Set, from, to int) (Spec, *SyntaxError) {
	word, quote := setWords[set], p.text[from-1:from]
	help := fmt.Sprintf("write %s(\"NAME\"), with the module in front: libc:%[1]s(\"mem*\")", word)
	end := to - len(quote+")")
	switch {
	case end < from || p.text[end:to] != quote+")":
		return s, syntax(p.text, from, to, word+" does not end with a quote and a bracket", help)
	case end == from:
		return s, syntax(p.text, from, end, "the name in "+word+" is missing", help)
	}
	inner, err := p.code(from, end)
	if err == nil && inner != (Spec{Kind: Function, Name: inner.Name}) {
		err = syntax(p.text, from, end, word+" takes the name of a function or a pattern", help)
	}
	s.Kind, s.Of, s.Name = Function, set, inner.Name
	return s, err
}

// lookup returns the functions of a file that a specification means, before offsets are considered.
func (s Spec) lookup(f *module.File) []symtab.Match {
	if s.Of == Exported {
		return f.Exports().Lookup(s.Name)
	}
	if found := f.Lookup(s.Name); len(found) > 0 {
		return found
	}
	return s.ofVersion(f)
}

// names is lookup for listings.
func (s Spec) names(f *module.File) []symtab.Match {
	if s.Of == Exported {
		return f.Exports().Names(s.Name)
	}
	if found := f.Names(s.Name); len(found) > 0 {
		return found
	}
	return s.ofVersion(f)
}

// noFunction returns the error for a specification that means no function of a file.
func (r *Resolver) noFunction(s Spec, f *module.File) *NotFoundError {
	e := &NotFoundError{Spec: s, What: NoFunction, Searched: []string{f.Path}, Suggestions: f.Suggest(s.Name), Inlined: r.inlined(s, f), Matching: r.matching(s, f), Stripped: stripped(f)}
	if function, _, ok := cutVersion(s.Name); ok && len(f.Versioned(function)) > 0 {
		e.Suggestions = f.Versioned(function)
	}
	if s.Of == Exported {
		e.Suggestions, e.Inlined, e.Matching, e.Stripped = nil, nil, nil, ""
		e.NoExports = f.Exports().Empty()
	}
	return e
}

// callees resolves callees("NAME"): the functions that those of the name in one of the searched files call. A function
// of the same file is known by its address. One that is called by name, through the procedure linkage table, is looked
// for in all files that export it.
func (r *Resolver) callees(s Spec, searched, files []*module.File) ([]Target, error) {
	callers := Spec{Kind: Function, Module: s.Module, Name: s.Name}
	missing := r.noFunction(callers, searched[0])
	missing.Searched = nil
	var found []Target
	var failed error
	for i, f := range searched {
		missing.Searched = append(missing.Searched, f.Path)
		matches := f.Lookup(s.Name)
		if len(matches) > 0 {
			missing = &NotFoundError{What: NoCallee, Searched: missing.Searched}
		}
		called, err := r.calledBy(f, matches)
		if failed == nil {
			failed = err
		}
		for _, c := range called {
			found = append(found, targetsOf(f, c, files)...)
		}
		if s.Module == "" && i == 0 && len(matches) > 0 {
			break // the main program has the function
		}
	}
	found = distinct(found)
	switch {
	case len(found) > 0:
		return found, nil
	case failed != nil:
		return nil, failed
	}
	missing.Spec = s
	return nil, missing
}

// calledBy returns where functions of a file lead, their pieces included. The error is that of the first function that
// cannot be decoded to its end.
func (r *Resolver) calledBy(f *module.File, callers []symtab.Match) (called []module.Callee, first error) {
	if r.Callees == nil {
		return nil, errors.New("no decoder for its processor")
	}
	for _, fn := range f.WithPieces(callers) {
		code, err := f.Code(fn.Addr, int(min(fn.Size, maxFunc)))
		if err == nil {
			var found []module.Callee
			found, err = r.Callees(f, code, fn.Addr)
			called = append(called, found...)
		}
		if err != nil && first == nil {
			first = fmt.Errorf("cannot find the calls of %s: %w", fn.Demangled(), err)
		}
	}
	return called, first
}

// targetsOf returns the functions to which a call of a file leads. An address that is not the entry of a named function
// is none: a jump there stays in the caller.
func targetsOf(f *module.File, c module.Callee, files []*module.File) (found []Target) {
	if c.Symbol == "" {
		fn, ok := f.FuncAt(c.Addr)
		if !ok || fn.Addr != c.Addr || fn.Name == "" || fn.IsPiece() {
			return nil
		}
		return []Target{entryOf(f, symtab.Match{Func: fn, Name: fn.Demangled()})}
	}
	for _, other := range files {
		for _, m := range other.Exports().Of(c.Symbol) {
			found = append(found, entryOf(other, symtab.Match{Func: m.Func, Name: symname.Demangle(m.Name, false)}))
		}
	}
	return found
}

// entryOf returns the target at the entry of a function.
func entryOf(f *module.File, m symtab.Match) Target {
	return Target{File: f, Func: m.Func, Vaddr: m.Func.Addr, Symbol: m.Name, IFunc: m.Func.Kind == symtab.KindIFunc}.named()
}

// distinct removes targets at addresses that earlier ones have.
func distinct(targets []Target) []Target {
	type key struct {
		file *module.File
		addr uint64
		kind bool
	}
	seen := map[key]bool{}
	return slices.DeleteFunc(targets, func(t Target) bool {
		k := key{t.File, t.Vaddr, t.IFunc}
		again := seen[k]
		seen[k] = true
		return again
	})
}

// ListCallees is List for a specification with Callees, among the files of a process or of a program: the functions
// that are called may be in any of them.
func (r *Resolver) ListCallees(s Spec, files []*module.File) ([]Listed, error) {
	targets, err := r.ResolveAll(s, files)
	var lines []Listed
	for _, t := range targets {
		lines = append(lines, Listed{t.File.Path + ":" + t.local(), t})
	}
	return lines, err
}
