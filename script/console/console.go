package console

import (
	"encoding/hex"
	"fmt"
	"math"
	"math/big"
	"strings"

	"github.com/dop251/goja"

	"gotap/runtime/value"
	"gotap/script/jsvm"
	"gotap/script/output"
)

// Console writes the output of one script.
type Console struct {
	m   *jsvm.Machine
	out output.Sink
}

// New makes a Console and the global object console.
func New(m *jsvm.Machine, out output.Sink) *Console {
	c := &Console{m, out}
	c.install()
	return c
}

// Print implements print(…) and log(…).
func (c *Console) Print(call goja.FunctionCall) goja.Value {
	c.out.Print(c.m.JoinText(call.Arguments) + "\n")
	return nil
}

// Method is a member of the object console. The table also serves typings and help.
type Method struct {
	Name    string // without "console."
	Type    string // in TypeScript, as a function without its name
	Doc     string
	Program string // what it means in programs: "same", or what to do instead

	call func(*Console, goja.FunctionCall) goja.Value
}

// InCallback is what programs do instead of a method.
const InCallback = "do it in the exit callback"

const writes = "(...values: any[]): void"

// Methods lists the members of console.
func Methods() []Method { return append([]Method(nil), methods...) }

var methods = []Method{
	{"log", writes, "writes values on a line", "same", (*Console).Print},
	{"info", writes, "the same as console.log", InCallback, (*Console).Print},
	{"debug", writes, "the same as console.log", InCallback, (*Console).Print},
	{"clear", "(): void", "the next output replaces the content of the file of -o; elsewhere it does nothing", InCallback, (*Console).clear},
	{"warn", writes, "writes values on a line of standard error", InCallback, (*Console).fail},
	{"error", writes, "the same as console.warn", InCallback, (*Console).fail},
	{"trace", writes, "the same as console.warn", InCallback, (*Console).fail},
}

// install makes the object console: log, info and debug write data, error and warn write to standard error.
func (c *Console) install() {
	console := c.m.VM.NewObject()
	var names []string
	for _, method := range methods {
		console.Set(method.Name, c.m.Guarded("console."+method.Name, func(call goja.FunctionCall) goja.Value { return method.call(c, call) }))
		names = append(names, method.Name)
	}
	c.m.VM.GlobalObject().DefineDataProperty("console", console, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE)
	c.m.AddMembers(jsvm.Members{Global: "console", Names: console.GetOwnPropertyNames, Hint: func(name string) string {
		if name == "table" {
			return `import { table } from "gotap/table"; console.log(table(rows, { head: […] }))`
		}
		return "console has " + strings.Join(names, ", ")
	}})
}

// fail implements console.error(…).
func (c *Console) fail(call goja.FunctionCall) goja.Value {
	c.out.Complain(c.m.JoinText(call.Arguments) + "\n")
	return nil
}

// clear implements console.clear().
func (c *Console) clear(goja.FunctionCall) goja.Value {
	c.out.Clear()
	return nil
}

// Printf implements printf(format, …).
func (c *Console) Printf(call goja.FunctionCall) goja.Value {
	format := call.Argument(0)
	if !goja.IsString(format) {
		c.m.Throwf("printf needs a format first, not %s", jsvm.Describe(format))
	}
	values := make([]value.Value, 0, len(call.Arguments))
	for _, v := range call.Arguments[1:] {
		values = append(values, c.printfValue(v))
	}
	text, err := formatPrintf(format.String(), values)
	if err != nil {
		c.m.Throwf("%v", err)
	}
	c.out.Print(text)
	return nil
}

func (c *Console) printfValue(v goja.Value) value.Value {
	if n, ok := jsvm.ToInt(v); ok {
		return value.Int(n)
	}
	switch n := v.Export().(type) {
	case float64:
		return value.Value{Kind: value.KindFloat, Float: n}
	case bool:
		return value.Value{Kind: value.KindBool, Int: jsvm.BoolInt(n)}
	}
	return value.Text(c.m.Text(v))
}

// formatPrintf fills in a format. An integer conversion also takes a fraction, which any division in JavaScript may
// give, and truncates it.
func formatPrintf(format string, values []value.Value) (string, error) {
	err := value.CheckPrintf(format, kindsOf(values))
	if err == nil {
		return value.Printf(format, values, nil), nil
	}
	for _, whole := range []bool{true, false} {
		converted := convertNumbers(values, whole)
		if value.CheckPrintf(format, kindsOf(converted)) == nil {
			return value.Printf(format, converted, nil), nil
		}
	}
	return "", err
}

// convertNumbers makes fractions whole, or whole numbers floats.
func convertNumbers(values []value.Value, whole bool) []value.Value {
	out := append([]value.Value(nil), values...)
	for i, v := range out {
		switch {
		case whole && v.Kind == value.KindFloat && !math.IsNaN(v.Float):
			out[i] = value.Int(int64(v.Float))
		case !whole && v.Kind == value.KindInt:
			out[i] = value.Value{Kind: value.KindFloat, Float: float64(v.Int)}
		}
	}
	return out
}

func kindsOf(values []value.Value) []value.Kind {
	kinds := make([]value.Kind, len(values))
	for i, v := range values {
		kinds[i] = v.Kind
	}
	return kinds
}

// Hex implements hex(value, digits?).
func (c *Console) Hex(call goja.FunctionCall) goja.Value {
	n, ok := jsvm.ToInt(call.Argument(0))
	if !ok {
		c.m.Throwf("hex needs an integer, not %s", jsvm.Describe(call.Argument(0)))
	}
	digits := min(max(call.Argument(1).ToInteger(), 0), 64)
	return c.m.VM.ToValue(fmt.Sprintf("0x%0*x", int(digits), uint64(n)))
}

// Hexdump implements hexdump(bytes, base?).
func (c *Console) Hexdump(call goja.FunctionCall) goja.Value {
	raw, ok := jsvm.BytesOf(call.Argument(0))
	if !ok {
		raw = []byte(call.Argument(0).String())
	}
	base, ok := jsvm.ToInt(call.Argument(1))
	if !ok && !goja.IsUndefined(call.Argument(1)) {
		c.m.Throwf("the base of hexdump is a number, not %s; dump(bytes, { base, width, limit }) of gotap/hexdump has options", jsvm.Describe(call.Argument(1)))
	}
	lines := strings.Split(strings.TrimSuffix(hex.Dump(raw), "\n"), "\n")
	for i, line := range lines {
		if len(line) > 8 {
			lines[i] = fmt.Sprintf("%08x%s", uint64(base)+uint64(i)*16, line[8:])
		}
	}
	return c.m.VM.ToValue(strings.Join(lines, "\n"))
}

// Abs implements abs(value).
func (c *Console) Abs(call goja.FunctionCall) goja.Value {
	switch n := call.Argument(0).Export().(type) {
	case *big.Int:
		return c.m.VM.ToValue(new(big.Int).Abs(n))
	case int64:
		if n < 0 {
			return c.m.Integer(-n)
		}
		return call.Argument(0)
	}
	return c.m.VM.ToValue(math.Abs(call.Argument(0).ToFloat()))
}
