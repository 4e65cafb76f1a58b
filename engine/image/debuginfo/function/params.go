package function

import (
	"debug/dwarf"

	"gotap/engine/image/debuginfo/entry"
)

// Params returns the parameters of a function as its caller passes them. Where an optimiser left none in the entry with
// the code, they are those of the entry that it is an instance of.
func (ix *Index) Params(fn *Function) (params []*dwarf.Entry, variadic bool, err error) {
	e := fn.DIE
	for range entry.MaxOrigins {
		s, err := ix.Scope(&Function{Unit: fn.Unit, DIE: e})
		if err != nil {
			return nil, false, err
		}
		if len(s.Params) > 0 || s.variadic {
			return s.Params, s.variadic, nil
		}
		if e, err = ix.entries.Origin(e); err != nil || e == nil {
			return nil, false, err
		}
	}
	return nil, false, nil
}
