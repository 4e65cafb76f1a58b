package retprobe

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"gotap/engine/registry"
)

// way is how a machine behaves.
type way struct {
	threads, tasks    int
	tails, jumps, end bool
	golang, kernel    bool
}

// TestEveryReturnOnce: whatever a program does, each probe has a leave for each return of its function, and no other.
func TestEveryReturnOnce(t *testing.T) {
	for name, how := range map[string]way{
		"plain":      {threads: 1, tasks: 1},
		"tails":      {threads: 1, tasks: 1, tails: true},
		"longjmp":    {threads: 1, tasks: 1, jumps: true},
		"exceptions": {threads: 1, tasks: 1, tails: true, jumps: true},
		"threads":    {threads: 3, tasks: 3, tails: true},
		"coroutines": {threads: 1, tasks: 3, tails: true},
		"goroutines": {threads: 2, tasks: 4, golang: true},
		"kernel":     {threads: 2, tasks: 5, tails: true, kernel: true},
		"tasks end":  {threads: 2, tasks: 5, end: true, kernel: true},
	} {
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(10) {
				how.play(t, seed)
			}
		})
	}
}

// play runs a program of random steps.
func (how way) play(t *testing.T, seed uint64) {
	var shared *List
	if how.kernel {
		shared = &List{Stacks: 14}
	}
	m := newMachine(t, seed, how.threads, how.tasks, 6, shared)
	m.golang = how.golang
	for _, f := range m.callees {
		m.probe(f, nil)
		m.probe(f, nil)
	}
	for range 2000 {
		how.step(m)
		m.checkLowest()
	}
	m.finish()
	for i, f := range m.callees {
		for _, pr := range f.probes {
			if pr.Hits() != f.returns || pr.Missed() != 0 {
				t.Errorf("seed %d: function %d returned %d times; probe %d saw %d and missed %d", seed, i, f.returns, pr.Spec.ID, pr.Hits(), pr.Missed())
			}
		}
	}
}

// checkLowest compares the lowest stack pointer that each thread tells with those of all its frames.
func (m *machine) checkLowest() {
	m.Helper()
	for _, c := range m.threads {
		least := uint64(math.MaxUint64)
		for _, f := range c.calls.list.frames {
			least = min(least, f.sp)
		}
		if lowest := c.calls.Lowest(); lowest != least {
			m.Fatalf("the lowest stack pointer is %#x, not %#x", least, lowest)
		}
	}
}

// step lets one of the threads do something.
func (how way) step(m *machine) {
	n := m.IntN(len(m.tasks))
	c := m.threads[n%len(m.threads)]
	if how.golang || how.kernel {
		c = m.threads[m.IntN(len(m.threads))] // they run on whichever is free
	}
	c.task = m.tasks[n]
	f := m.callees[m.IntN(len(m.callees))]
	switch depth, die := len(c.task.calls), m.IntN(20); {
	case depth == 0 || die < 9 && depth < 40:
		c.enter(f)
	case how.tails && die < 11 && !slices.Contains(c.task.calls[depth-1].of, f): // of a round of jumps one call is followed, as it may be endless
		c.tail(f)
	case (how.jumps || how.end) && die < 12:
		c.jump(how.end)
	case how.golang && die < 10: // its stack grows
		c.task.move(uint64(1+m.IntN(100)) << 16)
	default:
		c.leave()
	}
}

// move copies the stack to another place.
func (k *task) move(by uint64) {
	k.top, k.sp = k.top+by, k.sp+by
	for i := range k.calls {
		k.calls[i].sp += by
	}
}

// TestRoom: calls beyond what a probe has room for are counted as missed, and those that never return make room.
func TestRoom(t *testing.T) {
	m := newMachine(t, 1, 1, 1, 1, nil)
	pl := m.probe(m.callees[0], func(s *registry.Spec) { s.MaxActive = 4 })
	c, k := m.threads[0], m.tasks[0]
	c.task = k
	for range 6 {
		c.enter(m.callees[0])
	}
	if n := len(c.calls.list.frames); n != 4 || pl.Probe.Missed() != 2 {
		t.Errorf("%d calls are followed, and %d missed", n, pl.Probe.Missed())
	}
	k.calls, k.sp = nil, k.top // above all of them
	c.enter(m.callees[0])
	if n := len(c.calls.list.frames); n > 4 || pl.Probe.Missed() != 2 {
		t.Errorf("%d calls are followed, and %d missed after a jump", n, pl.Probe.Missed())
	}
	m.finish()
}

// TestKeep: calls that are under way when their probe goes have their leaves, and then nobody watches the function.
func TestKeep(t *testing.T) {
	for _, opaque := range []bool{false, true} {
		t.Run(fmt.Sprint("opaque ", opaque), func(t *testing.T) {
			m := newMachine(t, 1, 1, 1, 1, nil)
			f := m.callees[0]
			f.opaque = opaque
			pr := m.probe(f, nil).Probe
			c, entry := m.threads[0], m.at(f.addr)
			c.task = m.tasks[0]
			c.enter(f)
			c.enter(f)
			c.calls.Keep(pr)
			pr.Retire()
			entry.Detach(pr)
			if entry.Fn == nil {
				t.Fatal("the function is not watched any more")
			}
			c.enter(f)
			m.finish()
			if pr.Hits() != 2 || entry.Fn != nil {
				t.Errorf("%d leaves, not 2; the function is watched: %v", pr.Hits(), entry.Fn != nil)
			}
			for addr, s := range m.points {
				if s.planted || s.counted != 0 {
					t.Errorf("a breakpoint stays at %#x", addr)
				}
			}
		})
	}
}

// TestFork: a child returns from the calls that its parent was in, by points and functions of its own.
func TestFork(t *testing.T) {
	m := newMachine(t, 1, 1, 1, 3, nil)
	c := m.threads[0]
	c.task = m.tasks[0]
	for _, f := range m.callees {
		m.probe(f, nil)
		c.enter(f)
	}
	child := newMachine(t, 1, 1, 1, 0, nil)
	child.callees, child.tasks = m.callees, []*task{{m.tasks[0].top, m.tasks[0].sp, append([]under(nil), m.tasks[0].calls...)}}
	var copies Copies
	for addr, s := range m.points {
		copied := &spot{Point: s.Point, addr: addr}
		copied.At = copied
		child.points[addr] = copied
		copies.Add(&s.Point, &copied.Point)
	}
	copies.Finish()
	c.calls.Fork(&child.threads[0].calls, func(addr uint64) *Point { return &child.points[addr].Point })
	for _, s := range child.points {
		s.Sync()
	}
	m.finish()
	child.finish()
	for i, f := range m.callees {
		if got := f.probes[0].Hits(); got != 2 || f.returns != 2 {
			t.Errorf("function %d: %d leaves in parent and child, %d returns", i, got, f.returns)
		}
	}
}

// TestPassed: a call that jumped to another function and never returned has no leave by the return of another one that
// began at its place and stack pointer, when a call above them was seen between.
func TestPassed(t *testing.T) {
	m := newMachine(t, 1, 1, 1, 4, nil)
	for _, f := range m.callees {
		m.probe(f, nil)
	}
	f, g, above, other := m.callees[0], m.callees[1], m.callees[2], m.callees[3]
	c, k := m.threads[0], m.tasks[0]
	c.task = k
	call := func(f *callee, sp uint64) {
		k.sp = sp
		k.calls = append(k.calls, under{sp, 1 << 40, []*callee{f}})
		c.run(f.addr)
	}
	call(f, k.top-64)
	c.tail(g)
	c.jump(true)
	call(above, k.top-32)
	c.leave()
	call(other, k.top-64)
	c.leave()
	m.finish()
	if f.probes[0].Hits() != 0 || other.probes[0].Hits() != 1 || above.probes[0].Hits() != 1 {
		t.Errorf("%d leaves of the first, %d of the one above, %d of the last", f.probes[0].Hits(), above.probes[0].Hits(), other.probes[0].Hits())
	}
}

// TestAlternateStack: a signal handler on a stack of its own, a little above the thread's, from which a jump leads
// back, does not end the calls that the next signal interrupts.
func TestAlternateStack(t *testing.T) {
	m := newMachine(t, 1, 1, 1, 2, nil)
	f, handler := m.callees[0], m.callees[1]
	m.probe(f, nil)
	m.probe(handler, nil)
	c, k := m.threads[0], m.tasks[0]
	c.task = k
	signal := func() {
		k.calls = append(k.calls, under{k.top + 64<<10, 1 << 40, []*callee{handler}})
		k.sp = k.top + 64<<10
		c.run(handler.addr)
	}
	back := func() {
		k.calls = k.calls[:len(k.calls)-1]
		k.sp = k.top
		if n := len(k.calls); n > 0 {
			k.sp = k.calls[n-1].sp
		}
	}
	signal()
	back()
	for range 3 {
		c.enter(f)
		signal()
		back()
	}
	m.finish()
	if f.probes[0].Hits() != 3 || handler.probes[0].Hits() != 0 {
		t.Errorf("%d leaves of 3 calls, %d of the handler", f.probes[0].Hits(), handler.probes[0].Hits())
	}
}

// TestArgumentsTakenOff: the return is seen of a function that takes its arguments off the stack, many or few, also
// where calls of it are under way below each other.
func TestArgumentsTakenOff(t *testing.T) {
	for _, words := range []uint64{1, 8, 18, popped} {
		m := newMachine(t, 1, 1, 1, 1, nil)
		m.pops = 4 * words
		f := m.callees[0]
		f.opaque = true
		m.probe(f, nil)
		c, k := m.threads[0], m.tasks[0]
		c.task = k
		for range 3 {
			k.sp -= m.pops
			c.enter(f)
		}
		for range 3 {
			c.leave()
		}
		m.finish()
		if f.probes[0].Hits() != 3 {
			t.Errorf("%d leaves of 3 calls with %d words", f.probes[0].Hits(), words)
		}
	}
}

// TestNobodyAsked: at a return that no call of the thread waits for, other threads are asked about goroutines alone.
func TestNobodyAsked(t *testing.T) {
	m := newMachine(t, 1, 2, 2, 1, nil)
	f := m.callees[0]
	f.opaque = true
	m.probe(f, nil)
	for i, c := range m.threads {
		c.task = m.tasks[i]
	}
	c := m.threads[0]
	c.enter(f)
	m.threads[1].run(c.task.calls[0].ret)
	if m.asked != 0 {
		t.Errorf("%d questions", m.asked)
	}
	m.finish()
}

// TestAwait: what a back end waits for is done once, by the thread that returns.
func TestAwait(t *testing.T) {
	m := newMachine(t, 1, 1, 1, 1, nil)
	c := m.threads[0]
	c.task = m.tasks[0]
	c.enter(m.callees[0])
	n := 0
	c.calls.Await(func(by Target) {
		if n++; by != Target(c) {
			t.Error("another thread has returned")
		}
	})
	c.leave()
	m.finish()
	if n != 1 {
		t.Errorf("done %d times", n)
	}
}

// TestSkipped: a function that was entered and not run has no leave; the one that jumped to it has.
func TestSkipped(t *testing.T) {
	m := newMachine(t, 1, 1, 1, 2, nil)
	f, g := m.callees[0], m.callees[1]
	m.probe(f, nil)
	m.probe(g, nil)
	c := m.threads[0]
	c.task = m.tasks[0]
	c.enter(f)
	c.tail(g)
	c.calls.Skipped(m.at(g.addr), c.task.sp)
	c.task.sp += 8
	c.run(c.task.calls[0].ret)
	c.task.calls = nil
	m.finish()
	if f.probes[0].Hits() != 1 || g.probes[0].Hits() != 0 {
		t.Errorf("%d leaves of the first and %d of the second", f.probes[0].Hits(), g.probes[0].Hits())
	}
}
