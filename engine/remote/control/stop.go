package control

import (
	"errors"
	"fmt"
	"time"

	"gotap/engine/remote/rsp"
)

// stopPatience is how long a target may take to stop on request.
const stopPatience = 10 * time.Second

// ErrNoStop reports a target that does not stop.
var ErrNoStop = fmt.Errorf("the target does not stop when it is asked to, within %v; some stubs, as that of QEMU's user emulation before version 10, "+
	"look at their connection only when the program runs into a breakpoint", stopPatience)

// WhileStopped runs fn with the target stopped and the lock held, and resumes the target afterwards if nothing else
// wants it stopped. If fn does not run, the error is ErrNoStop, or the reason why the session is over.
func (c *Control) WhileStopped(fn func() error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.wanted++
	defer func() {
		c.wanted--
		if err := c.settle(); err != nil {
			c.fail(err)
		}
	}()
	if err := c.halt(); err != nil {
		return err
	}
	return fn()
}

// halt waits until the target is stopped.
func (c *Control) halt() error {
	if c.running {
		if err := c.interrupt(); err != nil {
			return err
		}
		begin := time.Now()
		defer c.wakeAfter(stopPatience).Stop()
		for ; c.running && !c.ended; c.turn.Wait() {
			if time.Since(begin) >= stopPatience {
				c.asked = false // the next caller tries once more
				return ErrNoStop
			}
		}
	}
	if c.ended {
		return c.gone()
	}
	return nil
}

// interrupt asks the stub for a stop, once for each time that the target is resumed. Several callers may wait for one
// stop: with an interrupt each, the later ones would stop the target again and again.
func (c *Control) interrupt() error {
	if c.asked {
		return nil
	}
	c.asked = true
	c.due++
	return c.client.Interrupt()
}

// wakeAfter wakes all waiters on turn after a time. It takes the lock for that, so that the wake-up cannot come
// between reading the clock and the wait that follows; the caller must read the clock before the call.
func (c *Control) wakeAfter(d time.Duration) *time.Timer {
	return time.AfterFunc(d, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.turn.Broadcast()
	})
}

// TakeInterrupt reports whether a stop is the one that the stub was asked for, which may come late if the target
// stopped for another reason first. It must not be taken for a signal of the target's own: gdbserver interrupts by
// a SIGINT, which kills if it is passed on. The caller holds the lock.
func (c *Control) TakeInterrupt(stop rsp.Stop) bool {
	if stop.Signal != rsp.SignalInt || c.due == 0 {
		return false
	}
	c.due--
	return true
}

// moments is how often RunUntil lets the target run.
const moments = 500

// RunUntil lets a stopped target run for short moments until it has stopped where done returns true. Stops on the way
// are handled as usual. If the target does not get there, the result is nil too. The caller holds the lock,
// within WhileStopped.
func (c *Control) RunUntil(done func() bool) error {
	for n := 0; n < moments && !done() && !c.ended; n++ {
		if err := c.resume(); err != nil {
			return err
		}
		time.Sleep(time.Duration(n%10) * time.Millisecond)
		if err := c.interrupt(); err != nil {
			return err
		}
		stop, ok, err := c.client.WaitStop(stopPatience, nil)
		if err == nil && !ok {
			err = ErrNoStop
		}
		if err == nil && stop.Kind == rsp.Stopped {
			err = c.target.Stopped(stop)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Close stops the target for the last time, runs restore, and closes the connection. If now is set, it does not wait
// for a target that does not stop. A target that has ended needs no restoring, and is no error.
func (c *Control) Close(now bool, restore func() error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closing = true
	clear(c.held)
	c.wanted++
	defer c.client.Close()
	defer c.End()
	switch {
	case now && c.asksInVain():
		return errLeftRunning
	case c.ended:
		return nil
	}
	err := c.halt()
	if err == nil {
		err = c.awaitInterrupt()
	}
	switch {
	case err == nil:
		return restore()
	case errors.Is(err, ErrEnded):
		return nil
	}
	return err
}

// hurry is how long the session waits for a target that has been asked to stop, if the session is to end at once.
// Without a stop the breakpoints stay, and the first one hit ends a target that nobody traces.
const hurry = time.Second

// errLeftRunning reports a target that was released with its breakpoints.
var errLeftRunning = fmt.Errorf("the target has not stopped within %v: it goes on with breakpoints in it", hurry)

// asksInVain waits briefly for a target that has been asked to stop, and reports whether it still runs.
func (c *Control) asksInVain() bool {
	if c.due == 0 {
		return false
	}
	begin := time.Now()
	defer c.wakeAfter(hurry).Stop()
	for c.running && !c.ended && time.Since(begin) < hurry {
		c.turn.Wait()
	}
	return c.running && !c.ended
}

// interruptPatience is how long an interrupt that another stop overtook may take to arrive after the target runs
// again.
const interruptPatience = 100 * time.Millisecond

// awaitInterrupt ensures that no interrupt is pending when the target is detached. A stub such as gdbserver
// interrupts by SIGINT: if the target has stopped for another reason first, that signal is still due, and would
// kill a target that nobody traces. Or the stub has dropped the request; so this function resumes the target and
// waits, but not for long. Hits during that time are handled as hits.
func (c *Control) awaitInterrupt() error {
	const rounds = 3 // for a stub that stops only at breakpoints, each of which overtakes an interrupt
	for n := 0; n < rounds && c.target.HasSignals() && !c.ended && c.due > 0; n++ {
		begin := time.Now()
		timer := c.wakeAfter(interruptPatience)
		for !c.ended && c.due > 0 && time.Since(begin) < interruptPatience {
			if err := c.goOn(); err != nil {
				return err
			}
			c.turn.Wait()
		}
		timer.Stop()
		c.due = 0 // they have arrived, or never will
		if err := c.halt(); err != nil {
			return err
		}
	}
	return nil
}

// goOn runs the target to its next stop although some caller wants it stopped.
func (c *Control) goOn() error {
	wanted := c.wanted
	c.wanted = 0
	clear(c.held)
	err := c.settle()
	c.wanted = wanted
	return err
}
