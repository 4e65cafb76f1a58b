package script

import (
	"github.com/dop251/goja"
)

// Sizes beyond which built-ins of the language, which cannot be interrupted, are refused.
const (
	maxTextSize  = 64 << 20 // characters of a text made by repeat or padding
	maxArraySize = 1 << 24  // elements of an array that a built-in walks without calling back
	maxByteSize  = 64 << 20 // bytes of a buffer
	maxArguments = 1 << 20  // arguments of one call
)

// Built-ins that walk a whole array by themselves.
var arrayWalkers = []string{"fill", "join", "reverse", "indexOf", "lastIndexOf", "includes", "copyWithin", "slice", "splice",
	"concat", "unshift", "sort", "toReversed", "toSorted", "toSpliced", "with", "flat", "toString"}

var bufferTypes = []string{"ArrayBuffer", "Uint8Array", "Int8Array", "Uint8ClampedArray", "Uint16Array", "Int16Array", "Uint32Array",
	"Int32Array", "Float32Array", "Float64Array", "BigInt64Array", "BigUint64Array"}

// guardNatives puts checks of size in front of built-ins that could otherwise hold the host up for minutes, or take all memory
// in one step, out of the watchdog's reach.
func (s *Script) guardNatives() {
	text := s.vm.Get("String").ToObject(s.vm).Get("prototype").ToObject(s.vm)
	s.guardSize(text, "repeat", func(c goja.FunctionCall) bool {
		return float64(len(c.This.String()))*c.Argument(0).ToFloat() > maxTextSize
	})
	for _, name := range []string{"padStart", "padEnd"} {
		s.guardSize(text, name, func(c goja.FunctionCall) bool { return c.Argument(0).ToFloat() > maxTextSize })
	}
	calls := s.vm.Get("Function").ToObject(s.vm).Get("prototype").ToObject(s.vm)
	s.guardSize(calls, "apply", func(c goja.FunctionCall) bool { return s.lengthOf(c.Argument(1)) > maxArguments })
	reflect := s.vm.Get("Reflect").ToObject(s.vm)
	s.guardSize(reflect, "apply", func(c goja.FunctionCall) bool { return s.lengthOf(c.Argument(2)) > maxArguments })
	s.guardSize(reflect, "construct", func(c goja.FunctionCall) bool { return s.lengthOf(c.Argument(1)) > maxArguments })
	s.guardJSON()
	arrays := s.vm.Get("Array").ToObject(s.vm)
	proto := arrays.Get("prototype").ToObject(s.vm)
	for _, name := range arrayWalkers {
		s.guardSize(proto, name, func(c goja.FunctionCall) bool { return s.lengthOf(c.This) > maxArraySize })
	}
	s.guardSize(arrays, "from", func(c goja.FunctionCall) bool { return s.lengthOf(c.Argument(0)) > maxArraySize })
	for _, name := range bufferTypes {
		s.guardBuffer(name)
	}
}

// lengthOf is an object's length, 0 for what has none.
func (s *Script) lengthOf(v goja.Value) float64 {
	obj, ok := v.(*goja.Object)
	if !ok {
		return 0
	}
	if n := obj.Get("length"); n != nil {
		if _, isObject := n.(*goja.Object); !isObject {
			return n.ToFloat()
		}
	}
	return 0
}

// guardSize replaces a method by one that refuses what would be too large first.
func (s *Script) guardSize(holder *goja.Object, name string, tooLarge func(goja.FunctionCall) bool) {
	s.guardNative(holder, name, func(c goja.FunctionCall) string {
		if tooLarge(c) {
			return name + " would make something too large"
		}
		return ""
	})
}

// guardNative replaces a method by one that refuses first: for a reason, or because it has called itself too often.
func (s *Script) guardNative(holder *goja.Object, name string, refuse func(goja.FunctionCall) string) {
	original, ok := goja.AssertFunction(holder.Get(name))
	if !ok {
		return
	}
	s.replaceNative(holder, name, func(c goja.FunctionCall) goja.Value {
		if reason := refuse(c); reason != "" {
			panic(s.rangeError(reason))
		}
		if s.nativeDepth >= callStackLimit {
			panic(s.rangeError("the values are nested too deeply for " + name))
		}
		s.nativeDepth++
		defer func() { s.nativeDepth-- }()
		return orThrow(original(c.This, c.Arguments...))
	})
}

// replaceNative puts a function of Go in the place of a method.
func (s *Script) replaceNative(holder *goja.Object, name string, f func(goja.FunctionCall) goja.Value) {
	fn := s.vm.ToValue(s.guarded(name, f)).(*goja.Object)
	fn.DefineDataProperty("name", s.vm.ToValue(name), goja.FLAG_FALSE, goja.FLAG_TRUE, goja.FLAG_FALSE)
	holder.DefineDataProperty(name, fn, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE)
}

// guardBuffer puts a check in front of a constructor. A proxy keeps its static methods as they are; instanceof, which the
// machine refuses on proxies, is answered by a method of its own.
func (s *Script) guardBuffer(name string) {
	original, ok := s.vm.Get(name).(*goja.Object)
	if !ok {
		return
	}
	proxy := s.vm.NewProxy(original, &goja.ProxyTrapConfig{
		Construct: func(target *goja.Object, args []goja.Value, newTarget *goja.Object) *goja.Object {
			if len(args) > 0 && (goja.IsNumber(args[0]) && args[0].ToFloat() > maxByteSize || s.lengthOf(args[0]) > maxByteSize) {
				panic(s.rangeError("a " + name + " of that size is too large"))
			}
			obj, err := s.vm.New(target, args...)
			if err != nil {
				panic(err)
			}
			return obj
		},
	})
	proto := original.Get("prototype").ToObject(s.vm)
	original.DefineDataPropertySymbol(goja.SymHasInstance, s.vm.ToValue(s.guarded(name, func(c goja.FunctionCall) goja.Value {
		return s.vm.ToValue(inherits(c.Argument(0), proto))
	})), goja.FLAG_FALSE, goja.FLAG_FALSE, goja.FLAG_FALSE)
	s.vm.GlobalObject().DefineDataProperty(name, s.vm.ToValue(proxy), goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE)
}

// inherits reports whether a value has an object among its prototypes.
func inherits(v goja.Value, proto *goja.Object) bool {
	obj, ok := v.(*goja.Object)
	for ok && obj != nil {
		if obj = obj.Prototype(); obj == proto {
			return true
		}
	}
	return false
}

func (s *Script) rangeError(text string) goja.Value {
	e, err := s.vm.New(s.vm.Get("RangeError"), s.vm.ToValue(text))
	if err != nil {
		return s.vm.ToValue(text)
	}
	return e
}
