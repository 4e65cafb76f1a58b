package callconv

import (
	"debug/dwarf"

	"gotap/engine/image/debuginfo/ctype"
	"gotap/engine/image/debuginfo/entry"
	"gotap/engine/image/debuginfo/function"
	"gotap/engine/image/debuginfo/location"
)

// ResultType returns the type of a function's result, in Go of the first one. ok is false when the function has none.
func (cv *Rules) ResultType(fn *function.Function) (off dwarf.Offset, ok bool, err error) {
	if fn.Unit.Language() != entry.Go {
		return cv.entries.TypeRef(fn.DIE)
	}
	values, err := golang{cv}.values(fn, true)
	if err != nil || len(values) == 0 {
		return 0, false, err
	}
	return cv.entries.TypeRef(values[0].entry)
}

// Result returns the place of the result of type t when fn has just returned.
func (cv *Rules) Result(fn *function.Function, t *ctype.Type) (location.Place, error) {
	if fn.Unit.Language() == entry.Go {
		v, err := golang{cv}.result(fn)
		return cv.AtEntry(v.place), err
	}
	if _, changed := cv.rewritten(fn); changed {
		return location.Place{}, ErrRewritten
	}
	if err := cv.knowsPassing(t); err != nil {
		return location.Place{}, err
	}
	switch {
	case fn.Unit.Language() == entry.Rust && !cv.scalars([]*ctype.Type{t}):
		return rust{cv}.result(fn, t)
	case cv.machine == nil:
		return location.Place{}, ErrUnknown
	}
	_, variadic, err := cv.functions.Params(fn)
	if err != nil {
		return location.Place{}, err
	}
	return cv.machine.result(t, variadic)
}
