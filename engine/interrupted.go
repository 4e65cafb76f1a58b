package engine

import (
	"slices"
)

// System calls that a signal interrupts. The kernel ends such a call with one of its own restart codes (ERESTARTSYS and
// related ones), and decides when it delivers the signal. Without a handler the call is made again, and the program
// does not notice. With a handler, the handler runs first. When it has returned, the call is either made again
// (SA_RESTART) or has failed with EINTR. The registers show which, at the end of the handler's sigreturn: they are
// those of the interrupted call, and its program counter is before the instruction, or after it with EINTR as the
// result. Meanwhile the handler makes calls of its own, so the interrupted one waits in a list. Handlers may be
// interrupted too; the innermost call is the last.
//
// A handler that leaves by longjmp never returns. Its call is dropped when the next one is interrupted at the same
// place of the stack or above, or when the list is full: handlers are hardly ever nested more deeply than that.

// mostInterrupted bounds the list.
const mostInterrupted = 16

// eintr is the kernel's EINTR as a result.
const eintr = -4

// suspendCall puts the interrupted call into the list, because a handler is about to run.
func (k *calling) suspendCall() {
	if !k.now.pending.Any() {
		k.dropCall() // nothing waits for its end
		return
	}
	k.missInterrupted(func(c *sysCall) bool { return c.sp <= k.now.sp })
	if len(k.interrupted) == mostInterrupted {
		oldest := &k.interrupted[0]
		k.missInterrupted(func(c *sysCall) bool { return c == oldest })
	}
	k.interrupted = append(k.interrupted, k.now)
	k.now = sysCall{}
}

// resumeCall continues the call that a handler interrupted, if there is one: the registers are those that the handler's
// end has restored.
func (k *calling) resumeCall() {
	pc, sp := *k.t.PC(), k.t.SP()
	i := len(k.interrupted) - 1
	for i >= 0 && k.interrupted[i].sp != sp {
		i--
	}
	if i < 0 {
		return
	}
	call := k.interrupted[i]
	k.interrupted = slices.Delete(k.interrupted, i, i+1)
	k.now = call
	switch result := int64(k.t.proc.arch.SyscallRet(&k.t.Regs)); {
	case pc < call.pc && call.pc-pc <= 4: // before the instruction, of at most four bytes: the call is made again
	case pc == call.pc && result == eintr:
		k.now.again = false
		k.leaveCall()
	default: // the handler went elsewhere
		k.missCall()
	}
}

// missInterrupted drops interrupted calls that will not be resumed, and counts them as missed.
func (k *calling) missInterrupted(lost func(*sysCall) bool) {
	kept := k.interrupted[:0]
	for i := range k.interrupted {
		c := &k.interrupted[i]
		if !lost(c) {
			kept = append(kept, *c)
			continue
		}
		c.pending.Miss(&k.t.h)
	}
	k.interrupted = kept
}

// dropInterrupted drops all of them: the thread or its image no longer exists.
func (k *calling) dropInterrupted() {
	for i := range k.interrupted {
		k.interrupted[i].pending.Drop(&k.t.h)
	}
	k.interrupted = nil
}
