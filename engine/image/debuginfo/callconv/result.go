package callconv

import (
	"debug/dwarf"
	"errors"

	"gotap/engine/image/debuginfo/ctype"
	"gotap/engine/image/debuginfo/entry"
	"gotap/engine/image/debuginfo/function"
	"gotap/engine/image/debuginfo/location"
)

// Results returns the types of a function's results: one or none, in Go any number.
func (cv *Rules) Results(fn *function.Function) ([]dwarf.Offset, error) {
	if fn.Unit.Language() != entry.Go {
		off, ok, err := cv.entries.TypeRef(fn.DIE)
		if t, e := cv.types.Strip(off, ok); err != nil || e != nil || t.Kind == ctype.Void && t.Tag == 0 {
			return nil, errors.Join(err, e)
		}
		return []dwarf.Offset{off}, nil
	}
	entries, err := golang{cv}.resultEntries(fn)
	var types []dwarf.Offset
	for _, e := range entries {
		off, _, err := cv.entries.TypeRef(e)
		if err != nil {
			return nil, err
		}
		types = append(types, off)
	}
	return types, err
}

// ResultType returns the type of a function's result, in Go of the first one. ok is false when the function has none.
func (cv *Rules) ResultType(fn *function.Function) (off dwarf.Offset, ok bool, err error) {
	results, err := cv.Results(fn)
	if err != nil || len(results) == 0 {
		return 0, false, err
	}
	return results[0], true, nil
}

// Result returns the place of the result of an index, of type t, when fn has just returned.
func (cv *Rules) Result(fn *function.Function, index int, t *ctype.Type) (location.Place, error) {
	if fn.Unit.Language() == entry.Go {
		values, err := golang{cv}.values(fn, true)
		if err != nil {
			return location.Place{}, err
		}
		return cv.AtEntry(values[index].place), nil
	}
	if _, changed := cv.rewritten(fn); changed {
		return location.Place{}, ErrRewritten
	}
	t = cv.passedAs(fn, nil, t)
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
