package value

import (
	"bytes"
	"strings"

	"github.com/dop251/goja"

	"gotap/runtime/record"
	"gotap/runtime/value"
	"gotap/script/journal"
	"gotap/script/jsvm"
)

// Symbolizer names addresses. Its methods are safe for concurrent use.
type Symbolizer interface {
	// Symbol names an address of a process, also after it has ended: "func+0x10", file and line when known. Process 0
	// is the first of the run that has something at the address.
	Symbol(pid int, addr uint64) Symbol
	// Stack names the return addresses of a process, calls that the compiler inlined included, innermost first.
	Stack(pid int, pcs []uint64) []Symbol
}

// Values makes JavaScript values for one machine.
type Values struct {
	Symbolizer Symbolizer // nil: addresses have no names

	m      *jsvm.Machine
	vm     *goja.Runtime
	world  *journal.World
	symbol *goja.Symbol
	proto  *goja.Object // of stacks
}

// New makes a Values.
func New(m *jsvm.Machine, world *journal.World) *Values {
	v := &Values{m: m, vm: m.VM, world: world, symbol: goja.NewSymbol("stack")}
	v.installStack()
	return v
}

// Marked returns a text, with a mark at its end if it was cut.
func Marked(text string, cut bool) string {
	if cut {
		return text + value.Cutmark
	}
	return text
}

// Valid is text that may have been cut, as valid UTF-8 with a mark at the cut.
func Valid(text string, cut bool) string { return Marked(strings.ToValidUTF8(text, "\ufffd"), cut) }

// Joined returns the text of a template with these parts.
func (v *Values) Joined(parts []value.Value) string {
	var b strings.Builder
	for _, p := range parts {
		b.WriteString(p.Format(v.StackLines))
	}
	return b.String()
}

// Value returns a value of a program as JavaScript sees it.
func (v *Values) Value(raw value.Value) goja.Value {
	switch raw.Kind {
	case value.KindUint:
		return v.m.Unsigned(uint64(raw.Int))
	case value.KindFloat:
		return v.vm.ToValue(raw.Float)
	case value.KindText:
		return v.vm.ToValue(Valid(raw.Text, raw.Cut))
	case value.KindBytes:
		return v.m.Bytes(raw.Text)
	case value.KindBool:
		return v.vm.ToValue(raw.Int != 0)
	case value.KindStack:
		return v.stack(raw)
	}
	return v.m.Integer(raw.Int)
}

// Plain returns a value, or the text of a template, for the output.
func (v *Values) Plain(parts []value.Value) any {
	if len(parts) != 1 {
		return v.Joined(parts)
	}
	switch raw := parts[0]; raw.Kind {
	case value.KindInt:
		return raw.Int
	case value.KindUint:
		return uint64(raw.Int)
	case value.KindFloat:
		return raw.Float
	case value.KindBool:
		return raw.Int != 0
	case value.KindStack:
		return v.StackLines(raw)
	default:
		return raw.Format(nil)
	}
}

// Comm returns the name of the thread that a record is from.
func Comm(h *record.Header) string {
	name, _, _ := bytes.Cut(h.Comm[:], []byte{0})
	return strings.ToValidUTF8(string(name), "\ufffd")
}
