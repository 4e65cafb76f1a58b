package jsvm

import (
	"math"

	"github.com/dop251/goja"

	"gotap/compile/diag"
	"gotap/script/source"
)

// Given is one property of an object of options, with its place.
type Given struct {
	M     *Machine
	At    source.Site
	Arg   int // which argument of the call the object is
	Name  string
	Value goja.Value
}

// Given lists the properties of the options object that is argument n, in the order of the text. Anything but a plain
// object is reported, with an example of the right form.
func (m *Machine) Given(at source.Site, n int, v goja.Value, example string) []Given {
	obj, ok := v.(*goja.Object)
	if !ok || obj.ClassName() != "Object" {
		m.Reject(at.ArgSpan(n), example, "options are an object, not %s", Describe(v))
		return nil
	}
	var list []Given
	for _, key := range obj.Keys() {
		list = append(list, Given{m, at, n, key, obj.Get(key)})
	}
	return list
}

// Span returns the place of the whole property.
func (o Given) Span() diag.Span { return o.At.PropertySpan(o.Arg, o.Name, false) }

// ValueSpan returns the place of the property's value.
func (o Given) ValueSpan() diag.Span { return o.At.PropertySpan(o.Arg, o.Name, true) }

// Reject reports a wrong value.
func (o Given) Reject(hint, format string, args ...any) {
	o.M.Reject(o.ValueSpan(), hint, format, args...)
}

// Wrong reports a value of a wrong type.
func (o Given) Wrong(want string) {
	o.Reject("", "%s must be %s, not %s", o.Name, want, Describe(o.Value))
}

// Unknown reports an option that does not exist.
func (o Given) Unknown(known []string) {
	o.M.Reject(o.Span(), Nearest(o.Name, known), "unknown option %s", o.Name)
}

// Function returns the property as a function.
func (o Given) Function() (*goja.Object, bool) {
	fn, ok := o.Value.(*goja.Object)
	if ok {
		_, ok = goja.AssertFunction(fn)
	}
	if !ok {
		o.Wrong("a function")
	}
	return fn, ok
}

// Callback returns the property as a function that the host calls; nil when it is not one, which has been reported
// then.
func (o Given) Callback() goja.Callable {
	obj, ok := o.Function()
	if !ok {
		return nil
	}
	return o.M.callback(obj, o.ValueSpan())
}

// Integer returns the property as an integer in a range.
func (o Given) Integer(lo, hi int64) int64 {
	n, ok := ToInt(o.Value)
	if !ok {
		o.Wrong("an integer")
		return lo
	}
	if n < lo || n > hi {
		if hi == math.MaxInt64 {
			o.Reject("", "%s must be at least %d", o.Name, lo)
		} else {
			o.Reject("", "%s must be from %d to %d", o.Name, lo, hi)
		}
		return lo
	}
	return n
}

// Size returns the property as an integer in a range, with one message for all mistakes.
func (o Given) Size(lo, hi int64) int64 {
	n, ok := ToInt(o.Value)
	if !ok || n < lo || n > hi {
		o.Reject("", "%s must be an integer from %d to %d, not %s", o.Name, lo, hi, Describe(o.Value))
		return lo
	}
	return n
}

// Boolean returns the property as true or false.
func (o Given) Boolean() bool {
	b, ok := o.Value.Export().(bool)
	if !ok {
		o.Wrong("true or false")
	}
	return b
}
