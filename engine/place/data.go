package place

import (
	"fmt"

	"gotap/engine/image/module"
)

// watched resolves the place of a watchpoint: a variable, or else a function.
func watched(s Spec, f *module.File) ([]Target, error) {
	if s.Name == "" {
		t := At(f, s.Addr)
		t.Name = s.String()
		return []Target{t}, nil
	}
	// Variables come first, because they are watched most; few names are both.
	found, err := variables(s, f)
	if len(found) > 0 || err != nil {
		return found, err
	}
	for _, m := range f.Lookup(s.Name) {
		t := Target{File: f, Func: m.Func, Vaddr: m.Func.Addr + s.Offset, Offset: s.Offset, Symbol: m.Name}.named()
		t.Name = s.String()
		found = append(found, t)
	}
	if len(found) == 0 {
		return nil, &NotFoundError{Spec: s, What: NoVariable, Searched: []string{f.Path}, Suggestions: f.SuggestVar(s.Name), Stripped: stripped(f)}
	}
	return found, nil
}

// variables returns the variables that a watchpoint names.
func variables(s Spec, f *module.File) ([]Target, error) {
	var found []Target
	for _, v := range f.LookupVar(s.Name) {
		switch {
		case v.TLS:
			return nil, &RefusedError{Place: s.String(), Reason: s.Name + " is thread-local, which is not supported"}
		case v.Size > 0 && (s.Offset > v.Size || uint64(s.Len) > v.Size-s.Offset):
			return nil, &RefusedError{Place: s.String(), Reason: fmt.Sprintf("%s has %d bytes", s.Name, v.Size),
				Help: "watch one of its parts, of 1, 2, 4 or 8 bytes"}
		}
		t := Target{File: f, Var: v, Vaddr: v.Addr + s.Offset, Symbol: s.Name, Offset: s.Offset}.named()
		t.Name = s.String()
		found = append(found, t)
	}
	return found, nil
}
