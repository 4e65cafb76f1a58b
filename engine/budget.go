package engine

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"gotap/engine/linux/ptrace"
)

// How much the session keeps its targets from running, and what it does when that is too much.
//
// Time is cut into windows. In each the time is added up for which some thread was kept: from the news of its stop to its being
// resumed, by two readings of the clock (which is read without entering the kernel), and what the kernel takes to tell us and to
// wake the thread, which nobody can read. That latency is estimated from above: threads that were kept did not run, so in no window
// can it be more than the time in which the target did not run, divided by the number of stops; the least such bound that was seen
// is the estimate. Several threads kept at once count once.
//
// With a budget, a window has an allowance. When it is used up, probes rest until the window ends. A point is taken out by the hit
// that finds it resting, so that resting costs one more hit for each place that is hot, and nothing for all others. Calls that are
// under way when the exits of their function come to rest are forgotten: their leave would not be seen. What is counted is then a
// sample, and that is told. Where rests are not enough for a number of windows, because very many places are hot or what is hot
// cannot rest (watchpoints), the hottest probe is disabled, and so on; when there is none left, the session lets go of its targets.

const (
	budgetWindow  = 250 * time.Millisecond
	strainWindows = 8                     // over the budget in spite of rests before a probe is disabled
	slowWindows   = 12                    // looked at together, and stopped for more than half of them, before that is told where there is no budget
	firstLatency  = 15 * time.Microsecond // before anything is known
)

// meter measures. Tracing thread.
type meter struct {
	clock   func() uint64 // nanoseconds; for tests another one
	began   uint64        // the window
	kept    uint64        // nanoseconds of it in which threads were kept
	stops   uint64        // in it
	run     uint64        // nanoseconds that targets had run when it began
	latency uint64        // of a stop, in nanoseconds

	allowance uint64 // nanoseconds of a window; 0: no budget
	resting   bool
	rested    []*point // to be armed when the window ends
	round     int      // counts windows, so that a timer knows its own
	slow      recent   // of the last windows, while there is no budget
	strain    int      // windows in a row that were over the budget in spite of rests
	told      bool
}

func newMeter(share float64) meter {
	return meter{clock: ptrace.Now, began: ptrace.Now(), latency: uint64(firstLatency), allowance: uint64(share * float64(budgetWindow))}
}

// restart begins a window in which nothing has happened yet: what it takes to start a target is not counted.
func (m *meter) restart() { m.began, m.kept, m.stops = m.clock(), 0, 0 }

// stopOver is called when a stop, whose news came at a time, has been dealt with.
func (s *Session) stopOver(came uint64) {
	m := &s.meter
	now := m.clock()
	m.kept += now - came + m.latency
	m.stops++
	switch {
	case now-m.began >= uint64(budgetWindow):
		s.windowOver(now)
	case m.allowance > 0 && m.kept > m.allowance && !m.resting && s.started:
		s.rest(now)
	}
}

// share is the part of a window that was spent stopped.
func (m *meter) share(length uint64) float64 {
	return min(1, float64(m.kept)/float64(max(length, 1)))
}

// windowOver ends a window and begins the next.
func (s *Session) windowOver(now uint64) {
	m := &s.meter
	length := now - m.began
	s.calibrate(length)
	share := m.share(length)
	s.stats.Kept += min(m.kept, length)
	if m.allowance == 0 {
		s.watchSlowness(share)
	} else {
		s.judge(share)
	}
	m.round++
	m.began, m.kept, m.stops = now, 0, 0
	if m.resting {
		s.wake()
		m.kept = m.clock() - now
	}
}

// calibrate lowers the estimate of the latency.
func (s *Session) calibrate(length uint64) {
	m := &s.meter
	before := m.run
	m.run = 0
	for pid := range s.procs {
		m.run += ptrace.RunTime(pid)
	}
	idle := length*uint64(len(s.threads)) - (m.run - before)
	visible := m.kept - m.stops*m.latency
	if m.stops == 0 || before == 0 || m.run < before || int64(idle) <= 0 || idle < visible {
		return // processes came and went
	}
	m.latency = min(m.latency, (idle-visible)/m.stops)
}

// recent are the shares of the last windows.
type recent struct {
	shares [slowWindows]float64
	n      int // windows so far
}

// add takes one more, and returns the average; ok is false while there are too few.
func (r *recent) add(share float64) (average float64, ok bool) {
	r.shares[r.n%slowWindows] = share
	r.n++
	for _, v := range r.shares {
		average += v / slowWindows
	}
	return average, r.n >= slowWindows
}

// watchSlowness tells, once, when targets are mostly stopped and there is no budget. A quiet moment in between does not make them fast.
func (s *Session) watchSlowness(share float64) {
	m := &s.meter
	if average, ok := m.slow.add(share); ok && average > 0.5 && !m.told {
		m.told = true
		s.overloaded(Overload{Step: OverloadSlow, Share: average})
	}
}

// judge takes a step when rests do not keep the budget.
func (s *Session) judge(share float64) {
	m := &s.meter
	if m.strain++; !m.resting || m.kept <= m.allowance+m.allowance/2 {
		m.strain = 0
	}
	hottest := s.hottest()
	if m.strain < strainWindows {
		return
	}
	m.strain = 0
	if hottest != nil {
		s.SetEnabled(hottest, false)
		s.stats.Disabled++
		s.overloaded(Overload{Step: OverloadDisabled, Probe: hottest.Spec.Name, Share: share})
	}
	if hottest == nil || !slices.ContainsFunc(s.All(), (*probe).Armed) {
		s.overloaded(Overload{Step: OverloadDetached, Share: share})
		go s.Close(false)
	}
}

// hottest is the armed probe that came up most often in the window, nil when none did.
func (s *Session) hottest() *probe {
	came := func(pr *probe) uint64 { return pr.Came() - pr.Window }
	var best *probe
	if armed := slices.DeleteFunc(slices.Clone(s.All()), func(pr *probe) bool { return !pr.Armed() || came(pr) == 0 }); len(armed) > 0 {
		best = slices.MaxFunc(armed, func(a, b *probe) int { return cmp.Compare(came(a), came(b)) })
	}
	for _, pr := range s.All() {
		pr.Window = pr.Came()
	}
	return best
}

// overloaded tells the user of a step.
func (s *Session) overloaded(o Overload) {
	if s.cfg.Overloaded != nil {
		s.cfg.Overloaded(o)
	}
}

// rest begins the part of a window in which probes rest.
func (s *Session) rest(now uint64) {
	m := &s.meter
	m.resting = true
	s.stats.Rests++
	if !m.told {
		m.told = true
		s.overloaded(Overload{Step: OverloadSampling, Share: m.share(now - m.began)})
	}
	round := m.round
	time.AfterFunc(time.Duration(m.began+uint64(budgetWindow)-now), func() {
		s.do(func() error {
			if m.round == round && m.resting {
				s.windowOver(m.clock())
			}
			return nil
		})
	})
}

// restAt takes out a point that was hit while probes rest. Calls that return to here are not affected: they end.
func (t *thread) restAt(p *point) {
	t.calls.Returned(&p.Point)
	if p.resting || !p.Used() {
		return
	}
	for _, o := range t.s.threads {
		if o.proc.space == p.sp {
			o.calls.Miss(&p.Point)
		}
	}
	p.resting = true
	t.s.meter.rested = append(t.s.meter.rested, p)
	t.s.stats.Unseen++
	t.s.sync(p)
}

// wake arms what rests: exits first, so that no call is seen to begin whose end is not.
func (s *Session) wake() {
	m := &s.meter
	m.resting = false
	rested := m.rested
	m.rested = nil
	for _, p := range rested {
		p.resting = false
	}
	slices.SortStableFunc(rested, func(a, b *point) int { return len(b.Exits) - len(a.Exits) })
	for _, p := range rested {
		if p.sp.points[p.addr] != p || p.sp.users == 0 {
			continue // its memory has gone
		}
		if err := s.sync(p); err != nil && !s.closing {
			s.warn(fmt.Sprintf("cannot arm %#x again: %v", p.addr, err))
		}
	}
	if s.sysnames > 0 {
		s.releaseWorld(s.holdAll()) // to be resumed the other way
	}
}
