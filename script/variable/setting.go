package variable

import (
	"gotap/compile/js"
	"gotap/script/shared"
)

// SetError returns the error for a variable that cannot be set from outside, although programs use it: a float, which
// programs have as a constant. ok is false for all others. Any goroutine.
func (v *Variables) SetError(name string) (e *shared.SetError, ok bool) {
	for _, sl := range v.slots {
		if sl.Var.Name == name && sl.Var.Assigned == 0 && sl.Var.Fractional(js.IsFloat) {
			return &shared.SetError{Name: name, Reason: "it holds a float, and programs share integers, booleans and texts only",
				Help: "an integer can be set: thousandths, or nanoseconds", Unknown: true}, true
		}
	}
	return nil, false
}
