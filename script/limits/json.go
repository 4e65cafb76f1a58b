package limits

import (
	"gotap/script/jsvm"

	"github.com/dop251/goja"
)

// Built-in functions of the language recurse into nested values, and cannot be interrupted there. They refuse what
// nests deeper than people or programs write.
const (
	maxDataDepth = 1000 // arrays and objects within each other in JSON
	pollEvery    = 1024 // values of JSON.stringify between two checks for an interrupt
)

// guardJSON puts limits on how deep JSON may be, and lets the watchdog interrupt JSON.stringify.
func (l *limiter) guardJSON() {
	json := l.vm.Get("JSON").ToObject(l.vm)
	l.guardNative(json, "parse", func(c goja.FunctionCall) string {
		if bracketDepth(c.Argument(0).String()) > maxDataDepth {
			return "the text is nested too deeply for JSON.parse"
		}
		return ""
	})
	original, _ := goja.AssertFunction(json.Get("stringify"))
	l.m.Replace(json, "stringify", func(c goja.FunctionCall) goja.Value {
		args := append([]goja.Value{goja.Undefined(), goja.Undefined()}, c.Arguments[min(2, len(c.Arguments)):]...)
		args[0], args[1] = c.Argument(0), c.Argument(1)
		_, isObject := args[0].(*goja.Object)
		if names, _ := args[1].(*goja.Object); isObject && (names == nil || names.ClassName() != "Array") { // the machine handles a list of names
			args[1] = l.vm.ToValue(l.replacer(args[1]))
		}
		return jsvm.OrThrow(original(c.This, args...))
	})
}

// replacer returns a replacer of JSON.stringify that calls the script's own one, and throws when the value nests too
// deeply or the watchdog interrupts.
func (l *limiter) replacer(own goja.Value) func(goja.FunctionCall) goja.Value {
	replace, _ := goja.AssertFunction(own)
	depths := map[*goja.Object]int{}
	seen := 0
	return func(c goja.FunctionCall) goja.Value {
		value := c.Argument(1)
		if replace != nil {
			value = jsvm.OrThrow(replace(c.This, c.Arguments...))
		}
		if seen++; seen%pollEvery == 0 {
			l.m.Plus(l.vm.ToValue(0), l.vm.ToValue(0)) // the machine checks for an interrupt where it runs code
		}
		inner, isObject := value.(*goja.Object)
		if !isObject {
			return value
		}
		holder, _ := c.This.(*goja.Object)
		depth := depths[holder] + 1
		if depth > maxDataDepth {
			panic(l.m.RangeError("the value is nested too deeply for JSON.stringify"))
		}
		depths[inner] = depth
		return value
	}
}

// bracketDepth returns how deep the brackets of a JSON text nest.
func bracketDepth(text string) (deepest int) {
	depth, quoted := 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"':
			quoted = !quoted
		case quoted && c == '\\':
			i++
		case quoted:
		case c == '[' || c == '{':
			depth++
			deepest = max(deepest, depth)
		case c == ']' || c == '}':
			depth--
		}
	}
	return deepest
}
