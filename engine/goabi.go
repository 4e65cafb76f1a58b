package engine

import (
	"gotap/compile"
	"gotap/engine/module"
	"gotap/engine/place"
)

// goFunction is the function that a target is the entry of, when Go's compiler or assembler made it: their calls differ
// from those of C.
func goFunction(t place.Target) (module.GoFunc, bool) {
	if !t.Entry() || !t.File.IsGo() {
		return module.GoFunc{}, false
	}
	fn, ok := t.File.GoFuncAt(t.Vaddr)
	return fn, ok && fn.Addr == t.Vaddr
}

// plantedAt is the address of the breakpoint for a target, in its file. It is the target's own but for Go functions that check
// their stack first: they start over when it had to grow, and would be counted twice.
func plantedAt(t place.Target) uint64 {
	fn, ok := goFunction(t)
	a := abiOf(t.File)
	if !ok || a == nil || a.golang == nil {
		return t.Vaddr
	}
	code, err := t.File.Code(fn.Addr, int(fn.Size))
	if err != nil {
		return t.Vaddr
	}
	if behind, ok := a.golang.behindCheck(code, fn.Addr); ok {
		return behind
	}
	return t.Vaddr
}

// goArg is integer argument n of a Go function: word n of what debug information says it takes, without that the register of
// Go's convention, or the word on the stack for assembly.
func (i *placeInfo) goArg(n int) (compile.Access, bool) {
	fn, ok := goFunction(i.Target)
	if !ok || i.a.golang == nil || i.a.golang.arg == nil {
		return compile.Access{}, false
	}
	if in, ok := i.Files.Info(i.Target.File); ok && !fn.Assembly {
		if a, ok := in.GoArg(i.Target.Vaddr, n); ok {
			return a, true
		}
	}
	return i.a.golang.arg(n, fn.Assembly)
}

// onGoroutine reports whether a target is the entry of a function that runs on a goroutine, and has a pointer to it in a register.
func onGoroutine(t place.Target) bool {
	fn, ok := goFunction(t)
	a := abiOf(t.File)
	return ok && !fn.Assembly && a != nil && a.golang != nil && a.golang.g >= 0
}

// Goroutines move between threads, and their stacks move when they grow. What is the same for a call all its life is
// the goroutine and the distance from the end of its stack: the runtime copies what is in use to the end of the new stack,
// and adjusts every pointer to it (runtime.copystack).

// Goroutine implements call.Target: it makes the frames right again of the goroutine that runs on this thread if its stack has
// moved. The end of its stack is the second word of the runtime's g, whose first field is stack{lo, hi}; compiled code knows that
// too.
func (t *thread) Goroutine() (g, hi uint64) {
	g = t.regs[t.proc.arch.golang.g]
	hi, ok := t.proc.space.pointer(g + uint64(t.proc.arch.WordSize()))
	if !ok || t.sp() > hi {
		return 0, 0
	}
	for _, o := range t.proc.threads {
		o.calls.Moved(g, hi)
	}
	return g, hi
}
