package engine

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"gotap/engine/linux/ptrace"
)

// This file measures how much the session slows its targets, and limits that.
//
// Time is divided into windows. A window adds up the time in which some thread was stopped. That time has two
// parts. The first is from the report of a stop to the thread's resumption, measured by two readings of the clock
// (which is read without entering the kernel). The second is the time that the kernel takes to report the stop and
// to wake the thread, which nobody can measure. That latency is estimated from above: stopped threads did not run,
// so in no window can the latency exceed the time in which the target did not run, divided by the number of stops;
// the smallest such bound seen so far is the estimate. Several threads stopped at once count once.
//
// With a budget, a window has an allowance. When the allowance is used up, probes rest until the window ends. A
// point is removed by the hit that finds it throttled, so that throttling costs one more hit for each hot place, and
// nothing for all others. Calls in progress are forgotten when the exits of their function start to rest, because
// their leave would not be seen. Counts are then samples, and the user is notified. If throttling is not enough for a
// number of windows, because very many places are hot or because what is hot cannot rest (watchpoints), the hottest
// probe is disabled, then the next; when none is left, the session detaches from its targets.

// throttle keeps the time for which targets are stopped within the budget.
type throttle struct {
	s     *Session
	meter meter
}

const (
	budgetWindow  = 250 * time.Millisecond
	strainWindows = 8                     // windows over the budget in spite of throttling, before a probe is disabled
	slowWindows   = 12                    // without a budget: windows averaged; the user is warned if targets were stopped for more than half of that time
	firstLatency  = 15 * time.Microsecond // the initial estimate
)

// meter measures how long targets are stopped. Only the tracing thread uses it.
type meter struct {
	clock   func() uint64 // in nanoseconds; tests replace it
	began   uint64        // when the window began
	kept    uint64        // nanoseconds of the window in which threads were stopped
	stops   uint64        // stops in the window
	run     uint64        // nanoseconds that targets had run when the window began
	latency uint64        // of a stop, in nanoseconds

	allowance uint64 // nanoseconds of a window; 0: no budget
	throttled bool
	rested    []*point // to be armed when the window ends
	round     int      // counts windows, so that a timer recognises its own window
	slow      recent   // shares of the last windows, if there is no budget
	strain    int      // consecutive windows that were over the budget in spite of throttling
	told      bool
}

func newMeter(share float64) meter {
	return meter{clock: ptrace.Now, began: ptrace.Now(), latency: uint64(firstLatency), allowance: uint64(share * float64(budgetWindow))}
}

// restart begins an empty window: the time that it takes to start a target is not counted.
func (m *meter) restart() { m.began, m.kept, m.stops = m.clock(), 0, 0 }

// stopOver is called when a stop, which was reported at time came, has been handled.
func (b *throttle) stopOver(came uint64) {
	m := &b.meter
	now := m.clock()
	m.kept += now - came + m.latency
	m.stops++
	switch {
	case now-m.began >= uint64(budgetWindow):
		b.windowOver(now)
	case m.allowance > 0 && m.kept > m.allowance && !m.throttled && b.s.life.started:
		b.rest(now)
	}
}

// share returns the fraction of a window in which threads were stopped.
func (m *meter) share(length uint64) float64 {
	return min(1, float64(m.kept)/float64(max(length, 1)))
}

// windowOver ends a window and begins the next.
func (b *throttle) windowOver(now uint64) {
	m := &b.meter
	length := now - m.began
	b.calibrate(length)
	share := m.share(length)
	b.s.stats.Kept += min(m.kept, length)
	if m.allowance == 0 {
		b.watchSlowness(share)
	} else {
		b.judge(share)
	}
	m.round++
	m.began, m.kept, m.stops = now, 0, 0
	if m.throttled {
		b.wake()
		m.kept = m.clock() - now
	}
}

// calibrate lowers the estimate of the latency.
func (b *throttle) calibrate(length uint64) {
	m := &b.meter
	before := m.run
	m.run = 0
	for pid := range b.s.procs {
		m.run += ptrace.RunTime(pid)
	}
	idle := length*uint64(len(b.s.threads)) - (m.run - before)
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
func (b *throttle) watchSlowness(share float64) {
	m := &b.meter
	if average, ok := m.slow.add(share); ok && average > 0.5 && !m.told {
		m.told = true
		b.overloaded(Overload{Step: OverloadSlow, Share: average})
	}
}

// judge disables a probe or detaches if throttling does not keep the budget.
func (b *throttle) judge(share float64) {
	m := &b.meter
	if m.strain++; !m.throttled || m.kept <= m.allowance+m.allowance/2 {
		m.strain = 0
	}
	hottest := b.hottest()
	if m.strain < strainWindows {
		return
	}
	m.strain = 0
	if hottest != nil {
		b.s.SetEnabled(hottest, false)
		b.s.stats.Disabled++
		b.overloaded(Overload{Step: OverloadDisabled, Probe: hottest.Spec.Name, Share: share})
	}
	if hottest == nil || !slices.ContainsFunc(b.s.All(), (*probe).Armed) {
		b.overloaded(Overload{Step: OverloadDetached, Share: share})
		go b.s.Close(false)
	}
}

// hottest returns the armed probe with the most hits in the window, or nil if there were none.
func (b *throttle) hottest() *probe {
	came := func(pr *probe) uint64 { return pr.Came() - pr.Window }
	var best *probe
	if armed := slices.DeleteFunc(slices.Clone(b.s.All()), func(pr *probe) bool { return !pr.Armed() || came(pr) == 0 }); len(armed) > 0 {
		best = slices.MaxFunc(armed, func(a, b *probe) int { return cmp.Compare(came(a), came(b)) })
	}
	for _, pr := range b.s.All() {
		pr.Window = pr.Came()
	}
	return best
}

// overloaded notifies the user of a step taken against overload.
func (b *throttle) overloaded(o Overload) {
	if b.s.cfg.Overloaded != nil {
		b.s.cfg.Overloaded(o)
	}
}

// rest begins the part of a window in which probes rest.
func (b *throttle) rest(now uint64) {
	m := &b.meter
	m.throttled = true
	b.s.stats.Rests++
	if !m.told {
		m.told = true
		b.overloaded(Overload{Step: OverloadSampling, Share: m.share(now - m.began)})
	}
	round := m.round
	time.AfterFunc(time.Duration(m.began+uint64(budgetWindow)-now), func() {
		b.s.do(func() error {
			if m.round == round && m.throttled {
				b.windowOver(m.clock())
			}
			return nil
		})
	})
}

// restAt removes a point that was hit while probes rest. Calls that return to this point end normally.
func (t *thread) throttleAt(p *point) {
	t.calls.Returned(&p.Point)
	if p.throttled || !p.Used() {
		return
	}
	for _, o := range t.s.threads {
		if o.proc.space == p.sp {
			o.calls.Miss(&p.Point)
		}
	}
	p.throttled = true
	t.s.throttle.meter.rested = append(t.s.throttle.meter.rested, p)
	t.s.stats.Unseen++
	t.s.patcher.sync(p)
}

// wake arms the throttled points: exits first, so that no call is seen to begin whose end would be missed.
func (b *throttle) wake() {
	m := &b.meter
	m.throttled = false
	rested := m.rested
	m.rested = nil
	for _, p := range rested {
		p.throttled = false
	}
	slices.SortStableFunc(rested, func(a, b *point) int { return len(b.Exits) - len(a.Exits) })
	for _, p := range rested {
		if p.sp.points[p.addr] != p || p.sp.users == 0 {
			continue // its memory no longer exists
		}
		if err := b.s.patcher.sync(p); err != nil && !b.s.life.closing {
			b.s.warn(fmt.Sprintf("cannot arm %#x again: %v", p.addr, err))
		}
	}
	if b.s.others.sysnames > 0 {
		b.s.world.releaseWorld(b.s.world.holdAll()) // resumes them in the other way
	}
}
