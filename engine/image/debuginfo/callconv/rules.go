package callconv

import (
	"debug/dwarf"
	"debug/elf"
	"errors"

	"gotap/engine/image/debuginfo/ctype"
	"gotap/engine/image/debuginfo/entry"
	"gotap/engine/image/debuginfo/function"
	"gotap/engine/image/debuginfo/location"
)

// Rules finds the arguments and results of the functions of one module. It is not safe for concurrent use.
type Rules struct {
	*classes
	functions *function.Index
	locations *location.Finder
	machine   convention        // that of C; nil on other machines
	clones    map[uint64]string // names of GCC's copies of functions by address; nil: not listed yet
}

// convention is the calling convention that C has on a machine.
type convention interface {
	// param returns the place of the last of the parameters of a function at its entry.
	param(result *ctype.Type, params []*ctype.Type, variadic bool) (location.Place, error)
	// result returns the place of a result when the function has just returned.
	result(t *ctype.Type, variadic bool) (location.Place, error)
}

// New returns the rules for the functions of a module.
func New(entries *entry.Reader, types *ctype.Types, functions *function.Index, locations *location.Finder) *Rules {
	cl := &classes{entries: entries, types: types}
	cv := &Rules{classes: cl, functions: functions, locations: locations}
	switch entries.Machine() {
	case elf.EM_X86_64:
		cv.machine = amd64{cl}
	case elf.EM_386:
		cv.machine = i386{cl}
	case elf.EM_AARCH64:
		cv.machine = arm64{cl}
	case elf.EM_ARM:
		cv.machine = arm{cl}
	}
	return cv
}

// ErrUnknown reports that the calling convention does not determine where a value is.
var ErrUnknown = errors.New("the calling convention does not determine where it is")

// ReturnType returns the stripped type of a function's result.
func (cv *Rules) ReturnType(fn *function.Function) (*ctype.Type, error) {
	off, ok, err := cv.ResultType(fn)
	if err != nil {
		return nil, err
	}
	t, err := cv.types.Strip(off, ok)
	if err != nil {
		return nil, err
	}
	return cv.passedAs(fn, nil, t), nil
}

// Param returns the place of a parameter at the entry of fn by the calling convention of its language.
func (cv *Rules) Param(fn *function.Function, params []*dwarf.Entry, index int) (location.Place, error) {
	if fn.Unit.Language() == entry.Go {
		return golang{cv}.param(fn, params, index)
	}
	if changed, _ := cv.rewritten(fn); changed {
		return location.Place{}, ErrRewritten
	}
	types := make([]*ctype.Type, index+1)
	for i := range types {
		t, err := cv.types.OfEntry(params[i])
		if err != nil {
			return location.Place{}, err
		}
		types[i] = cv.passedAs(fn, params[i], t)
	}
	if cv.isIncomplete(fn, params) {
		return location.Place{}, errIncomplete
	}
	ret, err := cv.ReturnType(fn)
	if err != nil {
		return location.Place{}, err
	}
	// For numbers and pointers, Rust has the convention of C.
	if fn.Unit.Language() == entry.Rust && !cv.scalars(types, ret) {
		if !(rust{cv}).isMangled(fn.DIE) {
			return location.Place{}, ErrUnknown // probably extern "C", which the debug information does not show
		}
		return rust{cv}.param(fn, ret, types)
	}
	return cv.machineParam(fn, ret, types)
}

// machineParam returns the place of the last of the parameters of a function at its entry, by the convention of C.
func (cv *Rules) machineParam(fn *function.Function, ret *ctype.Type, types []*ctype.Type) (location.Place, error) {
	if err := cv.knowsPassing(append([]*ctype.Type{ret}, types...)...); err != nil {
		return location.Place{}, err
	}
	if cv.machine == nil {
		return location.Place{}, ErrUnknown
	}
	_, variadic, err := cv.functions.Params(fn)
	if err != nil {
		return location.Place{}, err
	}
	return cv.machine.param(ret, types, variadic)
}

// AtEntry converts a place at the entry of a function, relative to the canonical frame address, to one relative to
// BaseFrame.
func (cv *Rules) AtEntry(p location.Place) location.Place {
	if cv.entries.Machine() == elf.EM_ARM || cv.entries.Machine() == elf.EM_AARCH64 {
		return p.AboveSP(cv.entries.Word())
	}
	return p
}
