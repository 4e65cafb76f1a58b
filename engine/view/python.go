package view

import (
	"gotap/arch"
	"gotap/arch/x86"
	"gotap/engine/image/symbols"
	"gotap/engine/python"
	"gotap/runtime/value"
)

// pythonFrames is what it takes to find Python frames. Only the tracing thread uses it.
type pythonFrames struct {
	files  python.Files
	reader *python.Reader // once there was an interpreter
	pcs    [value.MaxStackDepth + 1]uint64
	cfas   [value.MaxStackDepth + 1]uint64
}

// Frames is Walk with the frames of interpreted functions in the place of the C functions that evaluate them. Such a
// frame has a number in place of an address; package history names both.
func (w *View) Frames(regs *arch.Regs, pcs []uint64) int {
	g := &w.code.python
	in := g.files.Of(w.Space.Modules, maskedMemory{w.Space})
	if in == nil || len(pcs) == 0 {
		return w.Walk(regs, pcs)
	}
	if g.reader == nil {
		g.reader = &python.Reader{}
	}
	g.reader.Begin(in, maskedMemory{w.Space})
	n := 0
	emit := func(pc uint64) bool {
		pcs[n] = pc
		n++
		return n < len(pcs)
	}
	if pc, ok := w.begun(in, regs); ok && !emit(pc) {
		return n
	} else if ok {
		return n + w.behindBegun(in, regs, pcs[n:])
	}
	w.merge(in, regs, emit, 0)
	return n
}

// begun returns the number of the Python frame that a thread is about to evaluate: it is at the start of the function
// that does so, and the frame is its second argument.
func (w *View) begun(in *python.Interpreter, regs *arch.Regs) (n uint64, ok bool) {
	if regs[x86.RIP] != in.Eval {
		return 0, false
	}
	f, ok := w.code.python.reader.Begun(regs[x86.RSI])
	if !ok {
		return 0, false
	}
	return w.code.number(f), true
}

// behindBegun writes the callers of a frame that is about to be evaluated.
func (w *View) behindBegun(in *python.Interpreter, regs *arch.Regs, pcs []uint64) int {
	n := 0
	w.merge(in, regs, func(pc uint64) bool {
		pcs[n] = pc
		n++
		return n < len(pcs)
	}, 1)
	return n
}

// merge walks the C stack and passes on its frames, without the first ones, together with those of Python.
func (w *View) merge(in *python.Interpreter, regs *arch.Regs, emit func(uint64) bool, without int) {
	g := &w.code.python
	n := w.walk(regs, g.pcs[:], g.cfas[:])
	c := python.Native{PCs: g.pcs[:n], CFAs: g.cfas[:n], SP: regs[x86.RSP], Cut: n == len(g.pcs)}
	show := func(call python.Call) (all []uint64) {
		for _, at := range call.Frames {
			if f, ok := g.reader.Frame(at); ok {
				all = append(all, w.code.number(f))
			}
		}
		return all
	}
	python.Merge(in, c, g.reader.Calls(regs[x86.FSBase]), show, func(pc uint64) bool {
		if without > 0 {
			without--
			return true
		}
		return emit(pc)
	})
}

// number returns what stands for a Python frame in a stack.
func (g *Images) number(f python.Frame) uint64 {
	return g.names.Interpreted(symbols.Symbol{Func: f.Func, File: f.File, Line: f.Line, Module: "python"})
}
