package inline

import (
	"bytes"
	"errors"

	"gotap/engine/image/goabi"
	"gotap/engine/image/module"
)

// Functions of Go.
//
// A function of Go begins with a check of its stack, which may move the stack and run the function from its start
// again. The place of a probe at the entry is behind this check (registry.PlantedAt), and so is what a stub runs: the
// jump is at the entry, and the check runs in the stub, in front of the programs.
//
//   - There is room on the stack only behind the check. In front of it, and in functions without one, not a word may be
//     free: the linker lets chains of such functions use the stack to its end (cmd/link/internal/ld/stackcheck.go).
//   - The jump replaces nothing but the check, in which the runtime suspends no goroutine: the compiler marks it as an
//     unsafe point, since the check uses R14 (StartUnsafePoint in cmd/internal/obj/x86/obj6.go; the first version with
//     such checks is Go 1.17). So no goroutine that sleeps continues in the middle of the jump, where no search through
//     threads would find it. The instruction at the place keeps its breakpoint, for goroutines that were suspended
//     there.
//   - While a thread is in a stub the runtime does not know its program counter. It does not suspend a goroutine there
//     (isAsyncSafePoint in runtime/preempt.go: findfunc fails), so the collector never scans a stack there, and no
//     stack moves. A profile counts such a moment as external code (sigprof in runtime/proc.go, initAt in
//     runtime/traceback.go: it gives up silently).
//   - The instruction at the place does not fault. If it did in a stub whose session has been killed, the runtime would take
//     the fault for one outside of Go, and end the program.
//   - A stub keeps all registers, R14 and X15 included, and the flags.

// GoRoom is how many bytes of its stack native code may use in a function of Go: behind the check more than 900 are
// free (stackGuard in runtime/stack.go), and handlers of signals have a stack of their own.
const GoRoom = 512

// Reasons why a place in a program of Go gets no jump.
var (
	errGoPlace   = errors.New("functions of Go have room on their stack for native code only behind the check with which they begin")
	errGoForeign = errors.New("the program is one of Go, and the function is not")
	errGoFault   = errors.New("the instruction may fault, which the runtime of Go would not understand")
)

// checks are the instructions that compare a stack pointer with the limit in the goroutine that R14 points to: cmp
// 16(%r14),%rsp, and cmp 16(%r14),%r12 in functions with a larger frame.
var checks = [][]byte{{0x49, 0x3b, 0x66, 0x10}, {0x4d, 0x3b, 0x66, 0x10}}

// goSite is SiteOf for a program of Go.
func goSite(f *module.File, vaddr uint64) (s Site, err error) {
	fn, ok := f.GoFuncAt(vaddr)
	if !ok {
		return s, errGoForeign
	}
	code, err := f.Code(fn.Addr, int(fn.Size))
	if err != nil {
		return s, err
	}
	behind, ok := goabi.Of(f.Machine).BehindCheck(code, fn.Addr)
	if !ok || behind != vaddr || fn.Assembly {
		return s, errGoPlace
	}
	w, err := f.Windows(Windows).To(fn.Addr, vaddr)
	if err != nil {
		return s, err
	}
	s = Site{Window: w, Before: len(w.Insns) - 1, Go: true}
	checked := false
	for _, in := range w.Insns {
		for _, check := range checks {
			checked = checked || bytes.Equal(in.Bytes[:in.Len], check)
		}
	}
	switch {
	case !checked || vaddr-fn.Addr < JumpSize:
		return Site{}, errGoPlace
	case !w.LastCompletes:
		return Site{}, errGoFault
	case !inOnePage(fn.Addr, JumpSize):
		return Site{}, errTwoPages
	}
	return s, nil
}
