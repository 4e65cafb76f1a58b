package script

import (
	"github.com/dop251/goja"
)

// Built-ins of the language call themselves for values within values, and cannot be interrupted there. What nests deeper than people
// or programs write it is refused.
const (
	maxDataDepth = 1000 // arrays and objects within each other in JSON
	pollEvery    = 1024 // values of JSON.stringify from one look for an interrupt to the next
)

// guardJSON puts limits on how deep JSON may be, and lets the watchdog interrupt JSON.stringify.
func (s *Script) guardJSON() {
	json := s.vm.Get("JSON").ToObject(s.vm)
	s.guardNative(json, "parse", func(c goja.FunctionCall) string {
		if bracketDepth(c.Argument(0).String()) > maxDataDepth {
			return "the text is nested too deeply for JSON.parse"
		}
		return ""
	})
	original, _ := goja.AssertFunction(json.Get("stringify"))
	s.replaceNative(json, "stringify", func(c goja.FunctionCall) goja.Value {
		args := append([]goja.Value{goja.Undefined(), goja.Undefined()}, c.Arguments[min(2, len(c.Arguments)):]...)
		args[0], args[1] = c.Argument(0), c.Argument(1)
		_, isObject := args[0].(*goja.Object)
		if names, _ := args[1].(*goja.Object); isObject && (names == nil || names.ClassName() != "Array") { // a list of names is left to the machine
			args[1] = s.vm.ToValue(s.replacer(args[1]))
		}
		return orThrow(original(c.This, args...))
	})
}

// replacer is a replacer of JSON.stringify that does what the script's own does, and ends when what is written is too deep or the
// watchdog wants it.
func (s *Script) replacer(own goja.Value) func(goja.FunctionCall) goja.Value {
	replace, _ := goja.AssertFunction(own)
	depths := map[*goja.Object]int{}
	seen := 0
	return func(c goja.FunctionCall) goja.Value {
		value := c.Argument(1)
		if replace != nil {
			value = orThrow(replace(c.This, c.Arguments...))
		}
		if seen++; seen%pollEvery == 0 {
			orThrow(s.plus(goja.Undefined(), s.vm.ToValue(0), s.vm.ToValue(0))) // the machine looks for an interrupt where it runs code
		}
		inner, isObject := value.(*goja.Object)
		if !isObject {
			return value
		}
		holder, _ := c.This.(*goja.Object)
		depth := depths[holder] + 1
		if depth > maxDataDepth {
			panic(s.rangeError("the value is nested too deeply for JSON.stringify"))
		}
		depths[inner] = depth
		return value
	}
}

// orThrow is what a call gave; an exception goes on to the caller.
func orThrow(v goja.Value, err error) goja.Value {
	if err != nil {
		panic(err)
	}
	return v
}

// bracketDepth is how deep the brackets of a JSON text nest.
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
