package throttle

import (
	"cmp"
	"iter"
	"slices"
	"time"

	"gotap/engine/backend"
	"gotap/engine/linux/ptrace"
	"gotap/engine/registry"
)

// Throttle keeps the time for which targets are stopped within the budget.
type Throttle struct {
	on    Session
	meter meter
	stats Stats
}

// Stats are what a Throttle has done.
type Stats struct {
	Kept     uint64 // nanoseconds for which targets were stopped
	Rests    uint64 // windows in which probes rested
	Disabled uint64 // probes
}

// Session is the session as this package sees it.
type Session interface {
	// Started reports whether the targets run: before, nothing is throttled.
	Started() bool
	// Pids yields the traced processes.
	Pids() iter.Seq[int]
	// Threads returns the number of traced threads.
	Threads() int
	Probes() []*registry.Probe
	Disable(*registry.Probe)
	// Wake plants the breakpoints that were removed while probes rested.
	Wake()
	// After calls fn on the tracing thread after some time.
	After(d time.Duration, fn func())
	Overloaded(backend.Overload)
	// Detach ends the session, soon.
	Detach()
}

// Init sets the session and its budget: the share of the time for which its targets may be stopped; 0: no budget.
func (b *Throttle) Init(on Session, budget float64) { b.on, b.meter = on, newMeter(budget) }

// Resting reports whether probes rest until the window ends.
func (b *Throttle) Resting() bool { return b.meter.throttled }

// Stats returns what has been done until now.
func (b *Throttle) Stats() Stats {
	st := b.stats
	st.Kept += b.meter.kept
	return st
}

// Now reads the clock.
func (b *Throttle) Now() uint64 { return b.meter.clock() }

// SetClock replaces the clock, for tests.
func (b *Throttle) SetClock(clock func() uint64) { b.meter.clock = clock }

// Together is called when stops become cheaper, because the session shares a CPU with its target from now on, or as
// expensive as before.
func (b *Throttle) Together(together bool) {
	m := &b.meter
	switch {
	case together && m.apart == 0:
		m.apart = m.latency
	case !together && m.apart != 0:
		m.latency, m.apart = m.apart, 0
	}
}

// Restart begins an empty window: the time that it takes to start a target is not counted.
func (b *Throttle) Restart() {
	m := &b.meter
	m.began, m.kept, m.stops = m.clock(), 0, 0
}

const (
	// Window is the length of a window.
	Window = 250 * time.Millisecond
	// StrainWindows is how many windows may be over the budget, in spite of throttling, before a probe is disabled.
	StrainWindows = 8

	slowWindows  = 12                    // without a budget: windows averaged; the user is warned if targets were stopped for more than half of that time
	firstLatency = 15 * time.Microsecond // the initial estimate
)

// meter measures how long targets are stopped. Only the tracing thread uses it.
type meter struct {
	clock   func() uint64 // in nanoseconds; tests replace it
	began   uint64        // when the window began
	kept    uint64        // nanoseconds of the window in which threads were stopped
	stops   uint64        // stops in the window
	run     uint64        // nanoseconds that targets had run when the window began
	latency uint64        // of a stop, in nanoseconds
	apart   uint64        // the latency on different CPUs, while the session and its target share one; 0: they do not

	allowance uint64 // nanoseconds of a window; 0: no budget
	throttled bool
	round     int    // counts windows, so that a timer recognises its own window
	slow      recent // shares of the last windows, if there is no budget
	strain    int    // consecutive windows that were over the budget in spite of throttling
	told      bool
}

func newMeter(share float64) meter {
	return meter{clock: ptrace.Now, began: ptrace.Now(), latency: uint64(firstLatency), allowance: uint64(share * float64(Window))}
}

// StopOver is called when a stop, which was reported at time came, has been handled.
func (b *Throttle) StopOver(came uint64) {
	m := &b.meter
	now := m.clock()
	m.kept += now - came + m.latency
	m.stops++
	switch {
	case now-m.began >= uint64(Window):
		b.windowOver(now)
	case m.allowance > 0 && m.kept > m.allowance && !m.throttled && b.on.Started():
		b.rest(now)
	}
}

// share returns the fraction of a window in which threads were stopped.
func (m *meter) share(length uint64) float64 {
	return min(1, float64(m.kept)/float64(max(length, 1)))
}

// windowOver ends a window and begins the next.
func (b *Throttle) windowOver(now uint64) {
	m := &b.meter
	length := now - m.began
	b.calibrate(length)
	share := m.share(length)
	b.stats.Kept += min(m.kept, length)
	if m.allowance == 0 {
		b.watchSlowness(share)
	} else {
		b.judge(share)
	}
	m.round++
	m.began, m.kept, m.stops = now, 0, 0
	if m.throttled {
		m.throttled = false
		b.on.Wake()
		m.kept = m.clock() - now
	}
}

// calibrate lowers the estimate of the latency.
func (b *Throttle) calibrate(length uint64) {
	m := &b.meter
	before := m.run
	m.run = 0
	for pid := range b.on.Pids() {
		m.run += ptrace.RunTime(pid)
	}
	idle := length*uint64(b.on.Threads()) - (m.run - before)
	visible := m.kept - m.stops*m.latency
	if m.stops == 0 || before == 0 || m.run < before || int64(idle) <= 0 || idle < visible {
		return // processes appeared or exited in the window
	}
	m.latency = min(m.latency, (idle-visible)/m.stops)
}

// recent holds the shares of the last windows.
type recent struct {
	shares [slowWindows]float64
	n      int // windows so far
}

// add adds a share and returns the average; ok is false while there are too few.
func (r *recent) add(share float64) (average float64, ok bool) {
	r.shares[r.n%slowWindows] = share
	r.n++
	for _, v := range r.shares {
		average += v / slowWindows
	}
	return average, r.n >= slowWindows
}

// watchSlowness warns the user once if targets are mostly stopped and there is no budget. A short quiet period does
// not reset it.
func (b *Throttle) watchSlowness(share float64) {
	m := &b.meter
	if average, ok := m.slow.add(share); ok && average > 0.5 && !m.told {
		m.told = true
		b.on.Overloaded(backend.Overload{Step: backend.OverloadSlow, Share: average})
	}
}

// judge disables a probe or detaches if throttling does not keep the budget.
func (b *Throttle) judge(share float64) {
	m := &b.meter
	if m.strain++; !m.throttled || m.kept <= m.allowance+m.allowance/2 {
		m.strain = 0
	}
	hottest := b.hottest()
	if m.strain < StrainWindows {
		return
	}
	m.strain = 0
	if hottest != nil {
		b.on.Disable(hottest)
		b.stats.Disabled++
		b.on.Overloaded(backend.Overload{Step: backend.OverloadDisabled, Probe: hottest.Spec.Name, Share: share})
	}
	if hottest == nil || !slices.ContainsFunc(b.on.Probes(), (*registry.Probe).Armed) {
		b.on.Overloaded(backend.Overload{Step: backend.OverloadDetached, Share: share})
		b.on.Detach()
	}
}

// hottest returns the armed probe with the most hits in the window, or nil if there were none.
func (b *Throttle) hottest() *registry.Probe {
	came := func(pr *registry.Probe) uint64 { return pr.Came() - pr.Window }
	var best *registry.Probe
	if armed := slices.DeleteFunc(slices.Clone(b.on.Probes()), func(pr *registry.Probe) bool { return !pr.Armed() || came(pr) == 0 }); len(armed) > 0 {
		best = slices.MaxFunc(armed, func(a, b *registry.Probe) int { return cmp.Compare(came(a), came(b)) })
	}
	for _, pr := range b.on.Probes() {
		pr.Window = pr.Came()
	}
	return best
}

// rest begins the part of a window in which probes rest.
func (b *Throttle) rest(now uint64) {
	m := &b.meter
	m.throttled = true
	b.stats.Rests++
	if !m.told {
		m.told = true
		b.on.Overloaded(backend.Overload{Step: backend.OverloadSampling, Share: m.share(now - m.began)})
	}
	round := m.round
	b.on.After(time.Duration(m.began+uint64(Window)-now), func() {
		if m.round == round && m.throttled {
			b.windowOver(m.clock())
		}
	})
}
