package remote

import (
	"iter"

	"gotap/engine/image/goabi"
	"gotap/engine/registry"
	"gotap/engine/registry/retprobe"
	"gotap/engine/remote/rsp"
	"gotap/engine/syscallprobe"
)

// threads are the target's threads, or a machine's processors, as far as they have stopped by themselves; others are
// not known. The control's lock guards them.
type threads struct {
	stub   *stub
	byName map[string]*thread
	last   *thread       // the one that stopped last; nil before the first stop
	first  int           // the number of the one that had stopped when the session was opened
	tasks  retprobe.List // calls that a kernel's tasks are in: its stacks are not those of the processors
}

// pid returns the number of the target's process: that of its first thread, as on Linux. It is 0 for a machine.
func (ts *threads) pid() int {
	if ts.stub.kernel || ts.last == nil {
		return 0
	}
	return ts.first
}

// sharedCalls returns the list that records the calls of all threads: for a kernel, whose tasks move between
// processors. It returns nil if each thread has its own list.
func (ts *threads) sharedCalls() *retprobe.List {
	if !ts.stub.kernel {
		return nil
	}
	ts.tasks.Stacks = ts.stub.isa.Stack
	return &ts.tasks
}

// keepCalls makes the leave handlers due of all calls that are under way for a probe.
func (ts *threads) keepCalls(pr *probe) {
	for _, t := range ts.byName {
		t.calls.Keep(pr)
		t.sys.Keep(pr)
	}
}

// awaitReturn reports whether a thread is in a system call whose end is due for a placement.
func (ts *threads) awaitReturn(pl *registry.Placement) bool {
	for _, t := range ts.byName {
		if t.sys.Due(pl) {
			return true
		}
	}
	return false
}

// any reports whether something is so of the system calls of any thread.
func (ts *threads) any(is func(*syscallprobe.Calls) bool) bool {
	for _, t := range ts.byName {
		if is(&t.sys) {
			return true
		}
	}
	return false
}

// calls yields the calls of each thread.
func (ts *threads) calls() iter.Seq[*retprobe.Thread] {
	return func(yield func(*retprobe.Thread) bool) {
		for _, t := range ts.byName {
			if !yield(&t.calls) {
				return
			}
		}
	}
}

// stacksMoved corrects the recorded frames of all goroutines whose stacks can be read: it is not known which one runs.
func (ts *threads) stacksMoved(mem goabi.Pointers) {
	end := func(g uint64) (uint64, bool) { return goabi.StackEnd(g, mem, uint64(ts.stub.isa.WordSize())) }
	for _, t := range ts.byName {
		t.calls.Refresh(end)
	}
}

// replaced forgets all threads but the last, and all calls: the target runs another program.
func (ts *threads) replaced() {
	for _, t := range ts.byName {
		t.calls.Drop()
		if t == ts.last {
			t.sys.Replaced()
		} else {
			t.sys.Drop()
		}
	}
	clear(ts.byName)
	ts.byName[ts.last.name] = ts.last
}

// threadOf returns the thread of a stop, with its registers.
func (s *Session) threadOf(name string) (*thread, error) {
	if name == "" {
		if name = s.stub.client.Current(); name == "" {
			name = "1"
		}
	}
	t := s.threads.byName[name]
	if t == nil {
		t = newThread(s, name, rsp.ThreadNumber(name))
		s.threads.byName[name] = t
		if len(s.threads.byName) > 1 && !s.stub.kernel && !s.stub.client.Has("QNonStop") { // debuggers' own stubs have it, and they stop all threads
			s.report.warn("%s", oneAtATime)
		}
	}
	s.threads.last = t
	return t, t.regs.Read()
}
