package engine

import (
	"slices"
)

// System calls that a signal interrupts. The kernel ends such a call with one of its own codes for "make it again" (ERESTARTSYS and
// its kin), and decides when it delivers the signal: without a handler the call is made again, and nothing of it shows; with one
// the handler runs first, and when that has returned the call is either made again (SA_RESTART) or has failed with EINTR. Which,
// the registers tell at the end of the handler's sigreturn: they are those of the interrupted call, and its program counter is
// before the instruction, or behind it with EINTR as the result. Meanwhile the handler makes calls of its own, so that the
// interrupted one waits in a list; handlers are interrupted too, and the innermost is the last.
//
// A handler that leaves by longjmp never returns. Its call is forgotten when the next one is interrupted at the same place of the stack or
// above, or when the list is full: more handlers than that are hardly ever at work within one another.

// mostInterrupted bounds the list.
const mostInterrupted = 16

// eintr is what the kernel's EINTR is as a result.
const eintr = -4

// suspendCall puts the interrupted call aside: a handler makes one.
func (t *thread) suspendCall() {
	if !t.sys.pending.Any() {
		t.dropCall() // nobody waits for its end
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

// resumeCall takes up the call that a handler interrupted, if one did: the registers are those that the handler's end has restored.
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
	case pc < call.pc && call.pc-pc <= 4: // before the instruction, of four bytes at most: it is made again
	case pc == call.pc && result == eintr:
		t.sys.again = false
		t.leaveCall()
	default: // the handler went elsewhere
		t.missCall()
	}
}

// missInterrupted forgets interrupted calls that will not be taken up again.
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

// dropInterrupted forgets all of them: the thread or its image is gone.
func (t *thread) dropInterrupted() {
	for i := range t.interrupted {
		t.interrupted[i].pending.Drop(&t.h)
	}
	t.interrupted = nil
}
