package remote

import (
	"errors"
	"fmt"

	"gotap/engine/backend"
	"gotap/engine/remote/control"
	"gotap/engine/remote/rsp"
)

// stops decides what a stop of the target means. It implements control.Target. The control's lock guards it.
type stops struct {
	s       *Session
	strays  int // consecutive stops that were not at a point
	retries map[retry]bool
}

var _ control.Target = (*stops)(nil)

// retry is an instruction that did not complete because the processor took an exception instead: a thread will reach
// it again, which is not another hit. Any thread may do so, because a kernel's tasks move between processors.
type retry struct{ addr, sp uint64 }

// expectRetry records that an instruction will be tried again, with the stack pointer that it had.
func (st *stops) expectRetry(addr, sp uint64) { st.retries[retry{addr, sp}] = true }

// takeRetry reports whether a thread tries an instruction again. It does so once for each time it was expected.
func (st *stops) takeRetry(addr, sp uint64) bool {
	key := retry{addr, sp}
	expected := st.retries[key]
	delete(st.retries, key)
	return expected
}

// maxStrays is how many consecutive stops at places without a breakpoint are accepted as events that nobody
// requested.
const maxStrays = 100

// stray counts stops at places without a breakpoint, and reports when they do not end: such a stub cannot continue
// past what it stops at itself, as KGDB with a kernel in Thumb code.
func (st *stops) stray(is bool, pc uint64) {
	if !is {
		st.strays = 0
		return
	}
	if st.strays++; st.strays == maxStrays {
		st.s.report.warn("the target keeps stopping at %#x without a gotap breakpoint", pc)
	}
}

// replaced forgets the instructions that are to be tried again: the target runs another program.
func (st *stops) replaced() { clear(st.retries) }

// Lone implements control.Target: while a child uses the target's memory, only the thread that waits for the child may
// run.
func (st *stops) Lone() string {
	if !st.s.points.lifted {
		return ""
	}
	return st.s.threads.last.name
}

// HasSignals implements control.Target. Machines have no signals.
func (st *stops) HasSignals() bool { return !st.s.stub.kernel }

// oneAtATime explains what several threads mean for a stub that does not stop them together.
const oneAtATime = "through QEMU's user emulation a program can be traced as long as one thread at a time runs into probes; when two do, it is lost"

// Explain implements control.Target.
func (st *stops) Explain(err error) error {
	if errors.Is(err, rsp.ErrNotStopped) {
		err = fmt.Errorf("%w: %s", err, oneAtATime)
	}
	return fmt.Errorf("cannot go on tracing through %s: %w", st.s.cfg.Address, err)
}

// Stopped implements control.Target.
func (st *stops) Stopped(stop rsp.Stop) error {
	s := st.s
	s.mem.Forget()
	switch stop.Kind {
	case rsp.Exited, rsp.Killed, rsp.NoThread:
		st.exited(stop)
		return nil
	}
	t, err := s.threadOf(stop.Thread)
	if err != nil {
		return err
	}
	switch {
	case s.control.TakeInterrupt(stop):
		return nil
	case stop.Addr != 0:
		return t.sawData(stop)
	}
	switch stop.Reason {
	case "fork", "vfork":
		return t.forked(stop)
	case "vforkdone":
		return t.vforkDone()
	case "exec":
		return t.execed(stop)
	case "syscall_entry", "syscall_return":
		return t.atCall(stop)
	}
	return t.trap(stop)
}

// exited ends the session with its target.
func (st *stops) exited(stop rsp.Stop) {
	s := st.s
	e := backend.Event{Kind: backend.EventExit, Tid: s.threads.pid(), Status: stop.Status}
	if stop.Kind == rsp.Killed {
		e.Signal = rsp.LinuxSignal(stop.Signal)
	}
	s.report.notify(e)
	s.report.notify(backend.Event{Kind: backend.EventDone})
	s.control.End()
}
