package debuginfo

import (
	"fmt"
	"strings"

	"gotap/engine/image/debuginfo/ctype"
)

// What smart pointers stand for, and elements by number.

// array returns the array that a smart pointer of type t points to, or nil if it points to something else.
func (l *layout) array(types *ctype.Types, t *ctype.Type) *ctype.Type {
	if l == nil || l.inner == "" {
		return nil
	}
	to, ok := types.TemplateType(t, 0)
	array, err := types.Strip(to, ok)
	if err != nil || array.Kind != ctype.Array {
		return nil
	}
	return array
}

// count returns how many elements a struct of type t has by its type; ok is false where that does not say it.
func (l *layout) count(types *ctype.Types, t *ctype.Type) (n int64, ok bool) {
	if l != nil && l.fixed {
		n, ok = types.TemplateValue(t, 0)
	} else if array := l.array(types, t); array != nil && len(array.Dims) > 0 {
		n, ok = array.Dims[0], true
	}
	return max(n, 0), ok && n >= 0
}

// behind moves to what a smart pointer stands for: a pointer, or the value itself.
func (w *walk) behind(l *layout) (*ctype.Type, error) {
	for _, name := range strings.Split(l.inner, ".") {
		if err := w.step(name); err != nil {
			return nil, err
		}
	}
	return w.stripped()
}

// memberBehind moves to a member of what a smart pointer stands for.
func (w *walk) memberBehind(l *layout, name string) error {
	before := w.name
	if _, err := w.behind(l); err != nil {
		return err
	}
	w.name = before
	return w.step(name)
}

// numbered moves to what element i of a struct is in: the elements of a sequence, the array that a smart pointer points
// to, or, for 0, the value that it stands for. The error is errNoElements if t is something else.
func (w *walk) numbered(t *ctype.Type, i int64) (*ctype.Type, error) {
	l := w.in.layoutOf(t)
	if n, known := l.count(w.in.types, t); known && (i < 0 || i >= n) {
		return nil, &AccessError{Name: w.name, Reason: fmt.Sprintf("it has %d elements; %d is out of range", n, i)}
	}
	if l == nil || l.inner == "" || l.array(w.in.types, t) != nil {
		return w.several(t)
	}
	if i != 0 {
		return nil, &AccessError{Name: w.name, Reason: fmt.Sprintf("it stands for one value, [0]; %d is out of range", i)}
	}
	return w.behind(l)
}

// several moves to the elements of a sequence, or to the array that a smart pointer points to.
func (w *walk) several(t *ctype.Type) (*ctype.Type, error) {
	if l := w.in.layoutOf(t); l.array(w.in.types, t) != nil {
		return w.behind(l)
	}
	return w.elements(t)
}
