package value

import (
	"fmt"
	"strings"

	"github.com/dop251/goja"

	"gotap/runtime/value"
	"gotap/script/journal"
	"gotap/script/jsvm"
)

// stackValue is a stack of a record; its frames are named when they are needed.
type stackValue struct {
	pid    int
	pcs    []uint64
	cut    bool     // it has as many frames as the program asked for; there may be more
	frames []Symbol // once symbolised
}

func newStack(v value.Value) *stackValue {
	return &stackValue{pid: int(v.Int), pcs: v.Stack, cut: v.Cut}
}

// stack returns a stack as JavaScript sees it: its text has a line for each frame, .frames has the parts.
func (v *Values) stack(raw value.Value) goja.Value {
	obj := v.vm.CreateObject(v.proto)
	v.m.Hide(obj, v.symbol, newStack(raw))
	return obj
}

// stackOf returns the stack that an object stands for.
func (v *Values) stackOf(obj *goja.Object) (*stackValue, bool) {
	return jsvm.Hidden[*stackValue](obj, v.symbol)
}

// method returns a built-in method of stacks.
func (v *Values) method(name string, f func(*stackValue) goja.Value) goja.Value {
	return v.vm.ToValue(v.m.Guarded(name, func(call goja.FunctionCall) goja.Value {
		if obj, ok := call.This.(*goja.Object); ok {
			if st, ok := v.stackOf(obj); ok {
				return f(st)
			}
		}
		v.m.Throwf("this is a method of stacks")
		return nil
	}))
}

func (v *Values) installStack() {
	v.proto = v.vm.NewObject()
	hidden := func(name string, f func(*stackValue) goja.Value) {
		v.proto.DefineDataProperty(name, v.method(name, f), goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE)
	}
	getter := func(name string, f func(*stackValue) goja.Value) {
		v.proto.DefineAccessorProperty(name, v.method(name, f), nil, goja.FLAG_TRUE, goja.FLAG_FALSE)
	}
	hidden("toString", func(st *stackValue) goja.Value { return v.vm.ToValue(strings.Join(v.lines(st), "\n")) })
	hidden("toJSON", func(st *stackValue) goja.Value {
		lines := v.lines(st)
		for i := range lines {
			lines[i] = strings.TrimSpace(lines[i])
		}
		return v.m.Strings(lines)
	})
	getter("frames", v.frameObjects)
	getter("length", func(st *stackValue) goja.Value { return v.vm.ToValue(len(v.symbols(st))) })
	v.m.AddForm(func(obj *goja.Object) (string, bool) {
		st, ok := v.stackOf(obj)
		if !ok {
			return "", false
		}
		return "\n" + strings.Join(v.lines(st), "\n"), true
	})
}

// symbols names the frames, once.
func (v *Values) symbols(st *stackValue) []Symbol {
	if st.frames != nil {
		return st.frames
	}
	if v.Symbolizer != nil {
		question := func() string { return fmt.Sprintf("stack %d %x", st.pid, st.pcs) }
		st.frames = journal.Ask(v.world, question, true, func() (list []Symbol) {
			v.m.Outside(func() { list = v.Symbolizer.Stack(st.pid, st.pcs) })
			return list
		})
	}
	st.frames = shownFrames(st, st.frames)
	return st.frames
}

// shownFrames returns the frames that a stack shows, including inlined calls: at most as many as the program asked for.
// Without names they are the addresses.
func shownFrames(st *stackValue, named []Symbol) []Symbol {
	if most := len(st.pcs); st.cut && len(named) > most {
		return named[:most]
	}
	if named == nil {
		for _, pc := range st.pcs {
			named = append(named, Symbol{Addr: pc})
		}
	}
	return named
}

// StackLines returns a stack for the output, a text for each frame; named is the result of Symbolizer.Stack.
func StackLines(v value.Value, named []Symbol) []string {
	var lines []string
	for _, f := range shownFrames(newStack(v), named) {
		lines = append(lines, f.String())
	}
	return lines
}

func (v *Values) lines(st *stackValue) []string {
	var lines []string
	for _, f := range v.symbols(st) {
		lines = append(lines, "    "+f.String())
	}
	return lines
}

// StackLines returns a stack for the output: a text for each frame.
func (v *Values) StackLines(raw value.Value) []string {
	return StackLines(raw, v.symbols(newStack(raw)))
}

func (v *Values) frameObjects(st *stackValue) goja.Value {
	frames := v.symbols(st)
	list := make([]any, len(frames))
	for i, f := range frames {
		obj := v.vm.NewObject()
		obj.Set("addr", v.m.Unsigned(f.Addr))
		obj.Set("func", f.Func)
		obj.Set("offset", v.m.Unsigned(f.Offset))
		obj.Set("inlined", f.Inlined)
		obj.Set("module", f.Module)
		obj.Set("file", f.File)
		obj.Set("line", f.Line)
		list[i] = obj
	}
	return v.vm.NewArray(list...)
}

// find names an address.
func (v *Values) find(pid int, pc uint64) Symbol {
	question := func() string { return fmt.Sprintf("symbol %d %x", pid, pc) }
	y := journal.Ask(v.world, question, true, func() (y Symbol) {
		v.m.Outside(func() { y = v.Symbolizer.Symbol(pid, pc) })
		return y
	})
	y.Addr = pc
	return y
}

// findCall names the call that returns to an address: it has the line of the call, while the
// instruction at the address may belong to the next line.
func (v *Values) findCall(pid int, pc uint64) Symbol {
	frames := v.symbols(&stackValue{pid: pid, pcs: []uint64{0, pc}}) // frames but the innermost are return addresses
	if len(frames) < 2 {
		return Symbol{Addr: pc}
	}
	y := frames[len(frames)-1] // the function; inlined calls, which have the line, are before it
	y.Addr, y.File, y.Line = pc, frames[1].File, frames[1].Line
	return y
}

// Sym implements sym(pid, address), or sym(address): in an exit callback it takes the event's process, elsewhere
// the first process of the run that has something at the address.
func (v *Values) Sym(call goja.FunctionCall) goja.Value { return v.named(call, v.find) }

// CallSym implements callsym(pid, address), or callsym(address).
func (v *Values) CallSym(call goja.FunctionCall) goja.Value { return v.named(call, v.findCall) }

// named returns the name that find gives to an address, without the address if it has a name.
func (v *Values) named(call goja.FunctionCall, find func(pid int, pc uint64) Symbol) goja.Value {
	pid, addr := v.m.Pid, call.Argument(0)
	if len(call.Arguments) > 1 {
		n, ok := jsvm.ToInt(call.Argument(0))
		if !ok {
			v.m.Throwf("%s is not a pid", jsvm.Describe(call.Argument(0)))
		}
		pid, addr = int(n), call.Argument(1)
	}
	n, ok := jsvm.ToInt(addr)
	if !ok {
		v.m.Throwf("%s is not an address", jsvm.Describe(addr))
	}
	text := fmt.Sprintf("0x%x", uint64(n))
	if v.Symbolizer != nil {
		text = find(pid, uint64(n)).String()
	}
	_, named, found := strings.Cut(text, " ")
	if found {
		text = named
	}
	return v.vm.ToValue(text)
}
