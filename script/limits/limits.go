package limits

import (
	"gotap/script/jsvm"

	"github.com/dop251/goja"
)

// Sizes beyond which built-in functions of the language, which cannot be interrupted, refuse.
const (
	maxTextSize  = 64 << 20 // characters of a text made by repeat or padding
	maxArraySize = 1 << 24  // elements of an array that a built-in walks without calling back
	maxByteSize  = 64 << 20 // bytes of a buffer
	maxArguments = 1 << 20  // arguments of one call
)

// arrayWalkers are the methods of arrays that walk a whole array without running code of the script.
var arrayWalkers = []string{"fill", "join", "reverse", "indexOf", "lastIndexOf", "includes", "copyWithin", "slice", "splice",
	"concat", "unshift", "sort", "toReversed", "toSorted", "toSpliced", "with", "flat", "toString"}

var bufferTypes = []string{"ArrayBuffer", "Uint8Array", "Int8Array", "Uint8ClampedArray", "Uint16Array", "Int16Array", "Uint32Array",
	"Int32Array", "Float32Array", "Float64Array", "BigInt64Array", "BigUint64Array"}

// limiter replaces the functions of one machine.
type limiter struct {
	m     *jsvm.Machine
	vm    *goja.Runtime
	depth int // calls of guarded functions within each other
}

// Install puts checks of size in front of built-in functions that could otherwise block the host for minutes, or take
// all memory in one step, where the watchdog cannot interrupt them.
func Install(m *jsvm.Machine) {
	l := &limiter{m: m, vm: m.VM}
	text := l.vm.Get("String").ToObject(l.vm).Get("prototype").ToObject(l.vm)
	l.guardSize(text, "repeat", func(c goja.FunctionCall) bool {
		return float64(len(c.This.String()))*c.Argument(0).ToFloat() > maxTextSize
	})
	for _, name := range []string{"padStart", "padEnd"} {
		l.guardSize(text, name, func(c goja.FunctionCall) bool { return c.Argument(0).ToFloat() > maxTextSize })
	}
	calls := l.vm.Get("Function").ToObject(l.vm).Get("prototype").ToObject(l.vm)
	l.guardSize(calls, "apply", func(c goja.FunctionCall) bool { return lengthOf(c.Argument(1)) > maxArguments })
	reflect := l.vm.Get("Reflect").ToObject(l.vm)
	l.guardSize(reflect, "apply", func(c goja.FunctionCall) bool { return lengthOf(c.Argument(2)) > maxArguments })
	l.guardSize(reflect, "construct", func(c goja.FunctionCall) bool { return lengthOf(c.Argument(1)) > maxArguments })
	l.guardJSON()
	l.installPowers()
	bigInt := l.vm.Get("BigInt").ToObject(l.vm)
	for _, name := range []string{"asIntN", "asUintN"} {
		l.guardSize(bigInt, name, func(c goja.FunctionCall) bool { return c.Argument(0).ToFloat() > maxBigBits })
	}
	arrays := l.vm.Get("Array").ToObject(l.vm)
	proto := arrays.Get("prototype").ToObject(l.vm)
	for _, name := range arrayWalkers {
		l.guardSize(proto, name, func(c goja.FunctionCall) bool { return lengthOf(c.This) > maxArraySize })
	}
	l.guardSize(arrays, "from", func(c goja.FunctionCall) bool { return lengthOf(c.Argument(0)) > maxArraySize })
	for _, name := range bufferTypes {
		l.guardBuffer(name)
	}
}

// lengthOf returns an object's length, 0 without one.
func lengthOf(v goja.Value) float64 {
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

// guardSize replaces a method by one that first refuses arguments whose result would be too large.
func (l *limiter) guardSize(holder *goja.Object, name string, tooLarge func(goja.FunctionCall) bool) {
	l.guardNative(holder, name, func(c goja.FunctionCall) string {
		if tooLarge(c) {
			return name + " would make something too large"
		}
		return ""
	})
}

// guardNative replaces a method by one that first refuses calls: if refuse returns a reason, or if they nest too
// deeply.
func (l *limiter) guardNative(holder *goja.Object, name string, refuse func(goja.FunctionCall) string) {
	original, ok := goja.AssertFunction(holder.Get(name))
	if !ok {
		return
	}
	l.m.Replace(holder, name, func(c goja.FunctionCall) goja.Value {
		if reason := refuse(c); reason != "" {
			panic(l.m.RangeError(reason))
		}
		if l.depth >= jsvm.CallStackLimit {
			panic(l.m.RangeError("the values are nested too deeply for " + name))
		}
		l.depth++
		defer func() { l.depth-- }()
		return jsvm.OrThrow(original(c.This, c.Arguments...))
	})
}

// guardBuffer puts a check in front of a constructor. A proxy leaves its static methods as they are; since the machine
// does not support instanceof with proxies, the constructor gets a method that answers it.
func (l *limiter) guardBuffer(name string) {
	original, ok := l.vm.Get(name).(*goja.Object)
	if !ok {
		return
	}
	proxy := l.vm.NewProxy(original, &goja.ProxyTrapConfig{
		Construct: func(target *goja.Object, args []goja.Value, newTarget *goja.Object) *goja.Object {
			if len(args) > 0 && (goja.IsNumber(args[0]) && args[0].ToFloat() > maxByteSize || lengthOf(args[0]) > maxByteSize) {
				panic(l.m.RangeError("a " + name + " of that size is too large"))
			}
			obj, err := l.vm.New(target, args...)
			if err != nil {
				panic(err)
			}
			return obj
		},
	})
	proto := original.Get("prototype").ToObject(l.vm)
	original.DefineDataPropertySymbol(goja.SymHasInstance, l.vm.ToValue(l.m.Guarded(name, func(c goja.FunctionCall) goja.Value {
		return l.vm.ToValue(inherits(c.Argument(0), proto))
	})), goja.FLAG_FALSE, goja.FLAG_FALSE, goja.FLAG_FALSE)
	l.vm.GlobalObject().DefineDataProperty(name, l.vm.ToValue(proxy), goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE)
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
