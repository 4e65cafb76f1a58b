package jsvm

import (
	"github.com/dop251/goja"
)

// Native is a built-in function in Go; a nil result is undefined.
type Native func(goja.FunctionCall) goja.Value

// Define makes a global function. BuiltinName finds its name again.
func (m *Machine) Define(name string, f Native) {
	fn := m.named(name, f)
	fn.DefineDataPropertySymbol(m.symBuiltin, m.VM.ToValue(name), goja.FLAG_FALSE, goja.FLAG_FALSE, goja.FLAG_FALSE)
	m.VM.GlobalObject().DefineDataProperty(name, fn, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE)
}

// Replace puts a function of Go in the place of a method.
func (m *Machine) Replace(holder *goja.Object, name string, f Native) {
	holder.DefineDataProperty(name, m.named(name, f), goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE)
}

func (m *Machine) named(name string, f Native) *goja.Object {
	fn := m.VM.ToValue(m.Guarded(name, f)).(*goja.Object)
	fn.DefineDataProperty("name", m.VM.ToValue(name), goja.FLAG_FALSE, goja.FLAG_TRUE, goja.FLAG_FALSE)
	return fn
}

// Method defines a method of a prototype.
func (m *Machine) Method(proto *goja.Object, name string, f Native) {
	proto.DefineDataProperty(name, m.VM.ToValue(m.Guarded(name, f)), goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE)
}

// Getter defines a property that is computed when it is read.
func (m *Machine) Getter(obj *goja.Object, name string, f func() goja.Value) {
	get := m.VM.ToValue(m.Guarded(name, func(goja.FunctionCall) goja.Value { return f() }))
	obj.DefineAccessorProperty(name, get, nil, goja.FLAG_TRUE, goja.FLAG_TRUE)
}

// Hide keeps a Go value in an object, where only Hidden finds it.
func (m *Machine) Hide(obj *goja.Object, key *goja.Symbol, value any) {
	obj.DefineDataPropertySymbol(key, m.VM.ToValue(value), goja.FLAG_FALSE, goja.FLAG_FALSE, goja.FLAG_FALSE)
}

// Hidden returns the Go value that Hide kept in an object; ok is false when there is none.
func Hidden[T any](obj *goja.Object, key *goja.Symbol) (value T, ok bool) {
	if v := obj.GetSymbol(key); v != nil && !goja.IsUndefined(v) {
		value, ok = v.Export().(T)
	}
	return value, ok
}

// BuiltinName returns the name of the built-in function that a function value is, or "".
func (m *Machine) BuiltinName(fn *goja.Object) string {
	if v := fn.GetSymbol(m.symBuiltin); v != nil && !goja.IsUndefined(v) {
		return v.String()
	}
	return ""
}

// Guarded makes a Go panic that is not the machine's own into an exception of the script, so that a bug in a built-in
// function does not end the process.
func (m *Machine) Guarded(name string, f Native) func(goja.FunctionCall) goja.Value {
	return func(call goja.FunctionCall) (result goja.Value) {
		defer func() {
			if r := recover(); r != nil {
				panic(m.asException(name, r))
			}
		}()
		if result = f(call); result == nil {
			return goja.Undefined()
		}
		return result
	}
}

// asException passes on what the machine itself throws, and wraps runtime errors of Go.
func (m *Machine) asException(name string, r any) any {
	if err, ok := r.(interface {
		error
		RuntimeError()
	}); ok {
		return m.VM.NewTypeError("internal error in %s: %v", name, err)
	}
	return r
}
