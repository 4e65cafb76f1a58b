package script

import (
	"encoding/hex"
	"fmt"
	"math"
	"math/big"
	"strings"

	"github.com/dop251/goja"

	"gotap/runtime"
)

// jsPrint is print(…) and log(…).
func (s *Script) jsPrint(call goja.FunctionCall) goja.Value {
	s.out.Print(s.joinText(call.Arguments) + "\n")
	return nil
}

// consoleMethods are the members of console on the host.
var consoleMethods = []Builtin{
	{"console.log", consoleType, "writes values on a line", "same", (*Script).jsPrint},
	{"console.info", consoleType, "the same as console.log", inCallback, (*Script).jsPrint},
	{"console.debug", consoleType, "the same as console.log", inCallback, (*Script).jsPrint},
	{"console.clear", "(): void", "has what is printed next take the place of what the file of -o holds; elsewhere it does nothing", inCallback, (*Script).jsClear},
	{"console.warn", consoleType, "writes values on a line of standard error", inCallback, (*Script).jsComplain},
	{"console.error", consoleType, "the same as console.warn", inCallback, (*Script).jsComplain},
	{"console.trace", consoleType, "the same as console.warn", inCallback, (*Script).jsComplain},
}

const consoleType = "(...values: any[]): void"

// Console lists the members of console.
func Console() []Builtin { return append([]Builtin(nil), consoleMethods...) }

// jsComplain is console.error(…).
func (s *Script) jsComplain(call goja.FunctionCall) goja.Value {
	s.out.Complain(s.joinText(call.Arguments) + "\n")
	return nil
}

// jsClear is console.clear().
func (s *Script) jsClear(goja.FunctionCall) goja.Value {
	s.out.Clear()
	return nil
}

// installConsole makes console: log, info and debug are data, error and warn go to standard error.
func (s *Script) installConsole() {
	console := s.vm.NewObject()
	for _, m := range consoleMethods {
		console.Set(strings.TrimPrefix(m.Name, "console."), s.guarded(m.Name, func(c goja.FunctionCall) goja.Value { return m.call(s, c) }))
	}
	s.vm.GlobalObject().DefineDataProperty("console", console, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE)
}

// jsPrintf is printf(format, …).
func (s *Script) jsPrintf(call goja.FunctionCall) goja.Value {
	format := call.Argument(0)
	if !goja.IsString(format) {
		s.throwf("printf needs a format first, not %s", describe(format))
	}
	values := make([]runtime.Value, 0, len(call.Arguments))
	for _, v := range call.Arguments[1:] {
		values = append(values, s.printfValue(v))
	}
	text, err := formatPrintf(format.String(), values)
	if err != nil {
		s.throwf("%v", err)
	}
	s.out.Print(text)
	return nil
}

func (s *Script) printfValue(v goja.Value) runtime.Value {
	if n, ok := toInt(v); ok {
		return runtime.Int(n)
	}
	switch n := v.Export().(type) {
	case float64:
		return runtime.Value{Kind: runtime.ValueFloat, Float: n}
	case bool:
		return runtime.Value{Kind: runtime.ValueBool, Int: boolInt(n)}
	}
	return runtime.Text(s.text(v))
}

// formatPrintf fills a format in. On the host an integer conversion takes a fraction too, as JavaScript's numbers become one
// in any division: it is cut off.
func formatPrintf(format string, values []runtime.Value) (string, error) {
	err := runtime.CheckPrintf(format, kindsOf(values))
	if err == nil {
		return runtime.FormatPrintf(format, values), nil
	}
	for _, whole := range []bool{true, false} {
		converted := convertNumbers(values, whole)
		if runtime.CheckPrintf(format, kindsOf(converted)) == nil {
			return runtime.FormatPrintf(format, converted), nil
		}
	}
	return "", err
}

// convertNumbers makes fractions whole, or whole numbers floats.
func convertNumbers(values []runtime.Value, whole bool) []runtime.Value {
	out := append([]runtime.Value(nil), values...)
	for i, v := range out {
		switch {
		case whole && v.Kind == runtime.ValueFloat && !math.IsNaN(v.Float):
			out[i] = runtime.Int(int64(v.Float))
		case !whole && v.Kind == runtime.ValueInt:
			out[i] = runtime.Value{Kind: runtime.ValueFloat, Float: float64(v.Int)}
		}
	}
	return out
}

func kindsOf(values []runtime.Value) []runtime.ValueKind {
	kinds := make([]runtime.ValueKind, len(values))
	for i, v := range values {
		kinds[i] = v.Kind
	}
	return kinds
}

// jsHex is hex(value, digits?).
func (s *Script) jsHex(call goja.FunctionCall) goja.Value {
	n, ok := toInt(call.Argument(0))
	if !ok {
		s.throwf("hex needs an integer, not %s", describe(call.Argument(0)))
	}
	digits := min(max(call.Argument(1).ToInteger(), 0), 64)
	return s.vm.ToValue(fmt.Sprintf("0x%0*x", int(digits), uint64(n)))
}

// jsHexdump is hexdump(bytes, base?).
func (s *Script) jsHexdump(call goja.FunctionCall) goja.Value {
	raw, ok := bytesOf(call.Argument(0))
	if !ok {
		raw = []byte(call.Argument(0).String())
	}
	base, ok := toInt(call.Argument(1))
	if !ok && !goja.IsUndefined(call.Argument(1)) {
		s.throwf("the base of hexdump is a number, not %s; dump(bytes, { base, width, limit }) of gotap/hexdump has options", describe(call.Argument(1)))
	}
	lines := strings.Split(strings.TrimSuffix(hex.Dump(raw), "\n"), "\n")
	for i, line := range lines {
		if len(line) > 8 {
			lines[i] = fmt.Sprintf("%08x%s", uint64(base)+uint64(i)*16, line[8:])
		}
	}
	return s.vm.ToValue(strings.Join(lines, "\n"))
}

// maxMemory is how much memory() reads at once.
const maxMemory = 1 << 20

// jsMemory is memory(pid, address, size); in an exit callback memory(address, size).
func (s *Script) jsMemory(call goja.FunctionCall) goja.Value {
	args := call.Arguments
	if len(args) == 2 && s.eventPid != 0 {
		args = append([]goja.Value{s.vm.ToValue(s.eventPid)}, args...)
	}
	var words [3]int64
	for i := range words {
		n, ok := int64(0), i < len(args)
		if ok {
			n, ok = toInt(args[i])
		}
		if !ok {
			s.throwf("memory needs a pid, an address and a size")
		}
		words[i] = n
	}
	if words[2] < 0 || words[2] > maxMemory {
		s.throwf("memory reads at most %d bytes at once", maxMemory)
	}
	question := func() string { return fmt.Sprintf("memory %d %x %d", words[0], uint64(words[1]), words[2]) }
	return s.byteArray(string(ask(s, question, false, func() []byte {
		raw := make([]byte, words[2])
		if s.tracer == nil {
			return nil
		}
		return raw[:s.tracer.ReadMemory(int(words[0]), uint64(words[1]), raw)]
	})))
}

// jsAbs is abs(value).
func (s *Script) jsAbs(call goja.FunctionCall) goja.Value {
	switch n := call.Argument(0).Export().(type) {
	case *big.Int:
		return s.vm.ToValue(new(big.Int).Abs(n))
	case int64:
		if n < 0 {
			return s.integer(-n)
		}
		return call.Argument(0)
	}
	return s.vm.ToValue(math.Abs(call.Argument(0).ToFloat()))
}

// extreme is min and max of numbers; ok is false when the arguments ask for an aggregation.
func (s *Script) extreme(name string, args []goja.Value) (goja.Value, bool) {
	if len(args) == 0 || goja.IsString(args[0]) || !goja.IsNumber(args[0]) && !goja.IsBigInt(args[0]) {
		return nil, false
	}
	best := args[0]
	for _, v := range args[1:] {
		if less := asFloat(v) < asFloat(best); less == (name == "min") && asFloat(v) != asFloat(best) {
			best = v
		}
	}
	return best, true
}

func asFloat(v goja.Value) float64 {
	if n, ok := v.Export().(*big.Int); ok {
		f, _ := new(big.Float).SetInt(n).Float64()
		return f
	}
	return v.ToFloat()
}
