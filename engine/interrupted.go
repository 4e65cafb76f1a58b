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
func (t *thread) suspendCall() {
	if !t.sys.pending.Any() {
		t.dropCall() // nothing waits for its end
		return
	}
	t.missInterrupted(func(c *sysCall) bool { return c.sp <= t.sys.sp })
	if len(t.interrupted) == mostInterrupted {
		oldest := &t.interrupted[0]
		t.missInterrupted(func(c *sysCall) bool { return c == oldest })
	}
	t.interrupted = append(t.interrupted, t.sys)
	t.sys = sysCall{}
}

// resumeCall continues the call that a handler interrupted, if there is one: the registers are those that the handler's
// end has restored.
func (t *thread) resumeCall() {
	pc, sp := *t.pc(), t.sp()
	i := len(t.interrupted) - 1
	for i >= 0 && t.interrupted[i].sp != sp {
		i--
	}
	if i < 0 {
		return
	}
	call := t.interrupted[i]
	t.interrupted = slices.Delete(t.interrupted, i, i+1)
	t.sys = call
	switch result := int64(t.proc.arch.SyscallRet(&t.regs)); {
	case pc < call.pc && call.pc-pc <= 4: // before the instruction, of at most four bytes: the call is made again
	case pc == call.pc && result == eintr:
		t.sys.again = false
		t.leaveCall()
	default: // the handler went elsewhere
		t.missCall()
	}
}

// missInterrupted drops interrupted calls that will not be resumed, and counts them as missed.
func (t *thread) missInterrupted(lost func(*sysCall) bool) {
	kept := t.interrupted[:0]
	for i := range t.interrupted {
		c := &t.interrupted[i]
		if !lost(c) {
			kept = append(kept, *c)
			continue
		}
		c.pending.Miss(&t.h)
	}
	t.interrupted = kept
}

// dropInterrupted drops all of them: the thread or its image no longer exists.
func (t *thread) dropInterrupted() {
	for i := range t.interrupted {
		t.interrupted[i].pending.Drop(&t.h)
	}
	t.interrupted = nil
}
