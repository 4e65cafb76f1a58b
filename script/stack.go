package script

import (
	"fmt"
	"path"
	"strings"

	"github.com/dop251/goja"

	"gotap/runtime"
)

// stackValue is what a stack in a record keeps until somebody looks at it.
type stackValue struct {
	pid    int
	pcs    []uint64
	cut    bool     // as many as the program asked for
	frames []Symbol // once symbolised
}

// stack is a stack as JavaScript sees it: its text has a line for each frame, .frames has the parts.
func (s *Script) stack(v runtime.Value) goja.Value {
	obj := s.vm.CreateObject(s.stackProto)
	obj.DefineDataPropertySymbol(s.symStack, s.vm.ToValue(newStack(v)), goja.FLAG_FALSE, goja.FLAG_FALSE, goja.FLAG_FALSE)
	return obj
}

func newStack(v runtime.Value) *stackValue {
	return &stackValue{pid: int(v.Int), pcs: v.Stack, cut: v.Cut}
}

func (s *Script) installStack() {
	s.stackProto = s.vm.NewObject()
	self := func(call goja.FunctionCall) *stackValue {
		if obj, ok := call.This.(*goja.Object); ok {
			if v := obj.GetSymbol(s.symStack); v != nil {
				if st, ok := v.Export().(*stackValue); ok {
					return st
				}
			}
		}
		s.throwf("this is a method of stacks")
		return nil
	}
	method := func(name string, f func(*stackValue) goja.Value) goja.Value {
		return s.vm.ToValue(s.guarded(name, func(c goja.FunctionCall) goja.Value { return f(self(c)) }))
	}
	hidden := func(name string, v goja.Value) {
		s.stackProto.DefineDataProperty(name, v, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE)
	}
	hidden("toString", method("toString", func(st *stackValue) goja.Value {
		return s.vm.ToValue(strings.Join(s.lines(st), "\n"))
	}))
	hidden("toJSON", method("toJSON", func(st *stackValue) goja.Value {
		lines := s.lines(st)
		list := make([]any, len(lines))
		for i, l := range lines {
			list[i] = strings.TrimSpace(l)
		}
		return s.vm.NewArray(list...)
	}))
	s.stackProto.DefineAccessorProperty("frames", method("frames", s.frameObjects), nil, goja.FLAG_TRUE, goja.FLAG_FALSE)
	s.stackProto.DefineAccessorProperty("length", method("length", func(st *stackValue) goja.Value {
		return s.vm.ToValue(len(s.symbols(st)))
	}), nil, goja.FLAG_TRUE, goja.FLAG_FALSE)
}

// symbols names the frames, once.
func (s *Script) symbols(st *stackValue) []Symbol {
	if st.frames != nil {
		return st.frames
	}
	if s.tracer != nil {
		question := func() string { return fmt.Sprintf("stack %d %x", st.pid, st.pcs) }
		st.frames = ask(s, question, true, func() (list []Symbol) {
			s.outside(func() { list = s.tracer.Stack(st.pid, st.pcs) })
			return list
		})
	}
	st.frames = shownFrames(st, st.frames)
	return st.frames
}

// shownFrames is what a stack shows of its frames. Calls that the compiler inlined are frames too: of all there are no more than
// the program asked for. Without names they are the addresses.
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

// StackLines is a stack for the output, a text for each frame; named is what Tracer.Stack says of its addresses.
func StackLines(v runtime.Value, named []Symbol) []string {
	var lines []string
	for _, f := range shownFrames(newStack(v), named) {
		lines = append(lines, f.String())
	}
	return lines
}

func (s *Script) lines(st *stackValue) []string {
	var lines []string
	for _, f := range s.symbols(st) {
		lines = append(lines, "    "+f.String())
	}
	return lines
}

// stackLines is a stack for the output: a text for each frame.
func (s *Script) stackLines(v runtime.Value) []string { return StackLines(v, s.symbols(newStack(v))) }

func (s *Script) frameObjects(st *stackValue) goja.Value {
	frames := s.symbols(st)
	list := make([]any, len(frames))
	for i, f := range frames {
		obj := s.vm.NewObject()
		obj.Set("addr", s.unsigned(f.Addr))
		obj.Set("func", f.Func)
		obj.Set("offset", s.unsigned(f.Offset))
		obj.Set("module", f.Module)
		obj.Set("file", f.File)
		obj.Set("line", f.Line)
		list[i] = obj
	}
	return s.vm.NewArray(list...)
}

// String is the symbol as stacks print it: "0x401136 main+0x4 (prog) at prog.c:12", without what is not known. Of an address
// in no function there is the one in the file: "0x401136 (prog:0x1136)".
func (y Symbol) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "0x%x", y.Addr)
	if y.Func != "" {
		fmt.Fprintf(&b, " %s+0x%x", y.Func, y.Offset)
	}
	switch {
	case y.Module != "" && y.Func == "" && y.Offset != 0: // as a place is named
		fmt.Fprintf(&b, " (%s:0x%x)", path.Base(y.Module), y.Offset)
	case y.Module != "":
		fmt.Fprintf(&b, " (%s)", path.Base(y.Module))
	}
	if y.File != "" {
		fmt.Fprintf(&b, " at %s:%d", path.Base(y.File), y.Line)
	}
	return b.String()
}

// symbol names an address.
func (s *Script) symbol(pid int, pc uint64) Symbol {
	question := func() string { return fmt.Sprintf("symbol %d %x", pid, pc) }
	y := ask(s, question, true, func() (y Symbol) {
		s.outside(func() { y = s.tracer.Symbol(pid, pc) })
		return y
	})
	y.Addr = pc
	return y
}

// callSymbol names the call that returns to an address: the line is that of the call, which an address alone does not tell, since the
// instruction there may be of the next one.
func (s *Script) callSymbol(pid int, pc uint64) Symbol {
	frames := s.symbols(&stackValue{pid: pid, pcs: []uint64{0, pc}}) // only behind an instruction is an address one to return to
	if len(frames) < 2 {
		return Symbol{Addr: pc}
	}
	y := frames[len(frames)-1] // the function; inlined calls, which have the line, are before it
	y.Addr, y.File, y.Line = pc, frames[1].File, frames[1].Line
	return y
}

// jsSym is sym(pid, address), or sym(address): in an exit callback that of the event's process, elsewhere that of the first
// process of the run in which the address is something.
func (s *Script) jsSym(call goja.FunctionCall) goja.Value { return s.named(call, s.symbol) }

// jsCallSym is callsym(pid, address), or callsym(address).
func (s *Script) jsCallSym(call goja.FunctionCall) goja.Value { return s.named(call, s.callSymbol) }

// named is the name that find gives to an address, without the address itself where there is one.
func (s *Script) named(call goja.FunctionCall, find func(pid int, pc uint64) Symbol) goja.Value {
	pid, addr := s.eventPid, call.Argument(0)
	if len(call.Arguments) > 1 {
		n, ok := toInt(call.Argument(0))
		if !ok {
			s.throwf("%s is no pid", describe(call.Argument(0)))
		}
		pid, addr = int(n), call.Argument(1)
	}
	n, ok := toInt(addr)
	if !ok {
		s.throwf("%s is no address", describe(addr))
	}
	text := fmt.Sprintf("0x%x", uint64(n))
	if s.tracer != nil {
		text = find(pid, uint64(n)).String()
	}
	_, named, found := strings.Cut(text, " ")
	if found {
		text = named
	}
	return s.vm.ToValue(text)
}
