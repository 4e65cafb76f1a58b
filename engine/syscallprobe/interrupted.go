package syscallprobe

import "slices"

// mostInterrupted bounds the list of calls that wait for handlers.
const mostInterrupted = 16

// eintr is the kernel's EINTR as a result.
const eintr = -4

// longestInsn is the length of the longest instruction that makes a system call.
const longestInsn = 4

// suspend puts the interrupted call into the list, because a handler is about to run.
func (c *Calls) suspend() {
	if !c.now.pending.Any() {
		c.drop() // nothing waits for its end
		return
	}
	c.missInterrupted(func(i *current) bool { return i.sp <= c.now.sp })
	if len(c.interrupted) == mostInterrupted {
		oldest := &c.interrupted[0]
		c.missInterrupted(func(i *current) bool { return i == oldest })
	}
	c.interrupted = append(c.interrupted, c.now)
	c.now = current{}
}

// resume continues the call that a handler interrupted, if there is one: the registers are those that the handler's end
// has restored.
func (c *Calls) resume() {
	pc, sp := c.t.PC(), c.t.SP()
	i := len(c.interrupted) - 1
	for i >= 0 && c.interrupted[i].sp != sp {
		i--
	}
	if i < 0 {
		return
	}
	call := c.interrupted[i]
	c.interrupted = slices.Delete(c.interrupted, i, i+1)
	c.now = call
	switch result := int64(c.t.Result()); {
	case pc < call.pc && call.pc-pc <= longestInsn: // before the instruction: the call is made again
	case pc == call.pc && result == eintr:
		c.now.again = false
		c.leave()
	default: // the handler went elsewhere
		c.miss()
	}
}

// missInterrupted drops interrupted calls that will not be resumed, and counts them as missed.
func (c *Calls) missInterrupted(lost func(*current) bool) {
	kept := c.interrupted[:0]
	for i := range c.interrupted {
		one := &c.interrupted[i]
		if !lost(one) {
			kept = append(kept, *one)
			continue
		}
		one.pending.Miss(c.h)
	}
	c.interrupted = kept
}

// dropInterrupted forgets all interrupted calls.
func (c *Calls) dropInterrupted() {
	for i := range c.interrupted {
		c.interrupted[i].pending.Drop(c.h)
	}
	c.interrupted = nil
}
