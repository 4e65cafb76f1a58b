package live

import (
	"maps"
	"slices"
	"sync"
	"time"

	"gotap/script/output"
	"gotap/script/output/metric"
	"gotap/script/output/picture"
)

// keptEvents is how many of the latest events a board has.
const keptEvents = 2000

// freshFor is how long a reading is good enough.
const freshFor = 200 * time.Millisecond

// A Board is a sink that can be looked at while the run goes on.
type Board struct {
	*picture.Sink

	mu       sync.Mutex
	identity metric.Identity
	read     func() (metric.Source, error) // nil: not running
	at       time.Time                     // of the latest reading
	probes   []metric.Probe
	lost     map[string]uint64
	left     map[string]uint64 // the most that was left out of metrics at a time: keys of an aggregation, or probes
}

// NewBoard makes a board of a run that has not begun. target describes what is traced, for people.
func NewBoard(target string) *Board {
	return &Board{Sink: picture.NewLive(keptEvents, picture.Picture{Target: target}), left: map[string]uint64{}}
}

// Attach begins to read a session. read returns what it has at the moment, without variables, until Detach.
func (b *Board) Attach(id metric.Identity, read func() (metric.Source, error)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.identity, b.read = id, read
}

// Detach reads the session once more, and no more after that. It waits for a reading that is under way.
func (b *Board) Detach() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.at = time.Time{}
	b.refresh()
	b.read = nil
}

// refresh reads the session if the latest reading is old; mu is held. A session that is just ending keeps the board as
// it is.
func (b *Board) refresh() {
	if b.read == nil || time.Since(b.at) < freshFor {
		return
	}
	from, err := b.read()
	if err != nil {
		return
	}
	b.at, b.probes, b.lost = time.Now(), from.Probes, from.Lost
	for _, a := range from.Aggregates {
		b.Sink.Aggregate(a)
	}
}

// Picture returns what there is now.
func (b *Board) Picture() *picture.Picture {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.refresh()
	p := b.Sink.Picture()
	if b.read != nil {
		for _, cause := range slices.Sorted(maps.Keys(b.lost)) {
			p.Losses = append(p.Losses, picture.Loss{Cause: cause, Count: b.lost[cause]})
		}
	}
	return p
}

// Metrics returns the metrics as they are now.
func (b *Board) Metrics() metric.Set {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.refresh()
	lost := b.lost
	if b.read == nil { // the run is over, and has reported what was lost
		lost = map[string]uint64{}
		for _, l := range b.Sink.Picture().Losses {
			lost[l.Cause] += l.Count
		}
	}
	set := metric.New(b.identity, metric.Source{Aggregates: b.Sink.Aggregates(), Probes: b.probes, Lost: lost})
	for name, n := range set.Left {
		what := "keys of @" + name + " that were no metrics: too many, or no numbers"
		b.left[what] = max(b.left[what], n)
	}
	if set.Probes > 0 {
		const what = "probes that were no metrics: too many"
		b.left[what] = max(b.left[what], set.Probes)
	}
	return set
}

// Identity returns what identifies the metrics.
func (b *Board) Identity() metric.Identity {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.identity
}

// Left returns what metrics did not have, at most at a time: a description and a number.
func (b *Board) Left() map[string]uint64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return maps.Clone(b.left)
}

var _ output.Sink = (*Board)(nil)
