package registry

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"gotap/engine/image/module"
	"gotap/engine/place"
	"gotap/runtime/arena"
	"gotap/runtime/gate"
	"gotap/runtime/hook"
)

// Probe is a logical probe: what a user asked for, and what has come of it.
//
// Its Gate decides which hits count and holds their counters in the arena, so that other executors count there too.
type Probe struct {
	*gate.Gate
	Spec    Spec
	Order   int // position in the order of declaration
	Enabled bool
	Removed bool // removed for good; queries still report it
	Leaving bool // an exchange in progress removes it

	Exhausted bool           // it was disabled because its programs ran out of fuel
	Window    uint64         // number of hits when the present window of the budget began
	Refused   []string       // added by Refuse
	Unable    error          // why it was not enabled when that was asked for last; nil: it was
	Last      map[string]int // the number of its places in the last process that ended, by strategy
	Samples   Samples
	Work      Work
	Stopped   map[string]int // the same for those that stop threads although native code was preferred, by reason

	callers map[*module.File]bool // whether calls from a file count (CalledFrom)

	mu     sync.Mutex // guards places and failed; held while a place is compiled
	places map[siteKey]*Placement
	failed map[siteKey]error
	told   map[string]bool // the texts in Refused
}

// Samples are the counters of a probe that samples.
type Samples struct {
	Skipped uint64        // periods without samples
	Spent   time.Duration // processor time for looking at threads and running the programs
}

// ProbeError is an error about one of several probes that were given together. Its text is that of the error.
type ProbeError struct {
	ID  uint32
	Err error
}

func (e *ProbeError) Error() string { return e.Err.Error() }

// Unwrap returns the error itself.
func (e *ProbeError) Unwrap() error { return e.Err }

// siteKey is a place in a file, independent of the processes that map it.
type siteKey struct {
	file  *module.File
	vaddr uint64
	name  string // two marks may have the same address, or the implementation of an indirect function
}

// New creates a probe, which is not in a list yet. It refuses invalid probes before anything is resolved. The
// counters lie in the arena, or in memory of their own if arena is nil.
func New(spec Spec, arena *arena.Arena) (*Probe, error) {
	switch {
	case len(spec.Specs) == 0:
		return nil, fmt.Errorf("cannot add probe %s: it names no place", spec.Name)
	case spec.Compile == nil:
		return nil, fmt.Errorf("cannot add probe %s: it has no program", spec.Name)
	}
	limits := gate.Limits{After: spec.After, Every: spec.Every, Rate: spec.Rate, Limit: spec.Limit}
	return &Probe{Gate: arena.NewGate(limits), Spec: spec, Enabled: !spec.Disabled, places: map[siteKey]*Placement{}, failed: map[siteKey]error{}}, nil
}

// Armed reports whether the probe wants breakpoints.
func (pr *Probe) Armed() bool { return pr.Enabled && !pr.Removed }

// defaultActive is MaxActive for a probe that does not specify it.
const defaultActive = 1024

// MaxActive returns how many simultaneous calls a leave handler can distinguish.
func (pr *Probe) MaxActive() int {
	if pr.Spec.MaxActive > 0 {
		return pr.Spec.MaxActive
	}
	return defaultActive
}

// Admit decides whether this hit counts. The probe disables itself with the last hit that its Limit allows: then
// last is true, its breakpoints have to be removed, and its present hit runs to the end.
func (pr *Probe) Admit() (ok, last bool) {
	if !pr.Enabled {
		return false, false
	}
	if ok, last = pr.Gate.Admit(); last {
		pr.Enabled = false
	}
	return ok, last
}

// Came returns the number of hits, including those that the predicate rejected.
func (pr *Probe) Came() uint64 { return pr.Seen() + pr.Rejected() }

// Retire disables a probe for good, requested by the probe itself or by its user. Its present hit runs to the end.
func (pr *Probe) Retire() { pr.Enabled, pr.Removed = false, true }

// Refuse records, once, a place that a pattern matched and that is left out.
func (pr *Probe) Refuse(text string) {
	if pr.told[text] {
		return
	}
	if pr.told == nil {
		pr.told = map[string]bool{}
	}
	pr.told[text] = true
	pr.Refused = append(pr.Refused, text)
}

// State returns what a query reports about the probe; where has the number of places at which it is armed, by
// strategy, and others counts those that are not code.
func (pr *Probe) State(where map[string]int, others int) State {
	st := State{ID: pr.Spec.ID, Name: pr.Spec.Name, State: "active", Hits: pr.Hits(), RateLimited: pr.RateLimited(),
		Missed: pr.Missed(), TooDeep: pr.TooDeep(), Skipped: pr.Samples.Skipped, Spent: pr.Samples.Spent, Runs: pr.Work.Runs, Ran: pr.Work.Spent, Exhausted: pr.Exhausted,
		Refused: slices.Clone(pr.Refused), Strategy: where, Places: others + total(where), Kind: pr.kind(), Sites: pr.sites()}
	if st.Places == 0 && !pr.Removed && len(pr.Last) > 0 { // it had places in a process that ended
		st.Places, st.Strategy, st.Stops = total(pr.Last), maps.Clone(pr.Last), maps.Clone(pr.Stopped)
	}
	switch {
	case pr.Removed:
		st.State = "removed"
	case !pr.Enabled:
		if st.State = "disabled"; pr.Unable != nil {
			st.Refused = append(st.Refused, "cannot enable it: "+pr.Unable.Error())
		}
	case st.Places == 0:
		st.State = "pending"
	}
	return st
}

// kind is what its first place is; a probe of which all places may be absent can have none.
func (pr *Probe) kind() string {
	if len(pr.Spec.Specs) == 0 {
		return ""
	}
	return pr.Spec.Specs[0].Kind.String()
}

// sites returns the first places of code that the probe was compiled for.
func (pr *Probe) sites() (list []Site) {
	pr.mu.Lock()
	defer pr.mu.Unlock()
	for _, pl := range pr.places {
		if !pl.Data && !pl.Sample && pl.Target.File != nil {
			list = append(list, Site{pl.Target.Name, pl.Target.Vaddr})
		}
	}
	slices.SortFunc(list, func(a, b Site) int { return cmp.Or(cmp.Compare(a.Address, b.Address), cmp.Compare(a.Place, b.Place)) })
	return list[:min(len(list), MaxSites)]
}

func total(where map[string]int) (n int) {
	for _, k := range where {
		n += k
	}
	return n
}

// Placement is a probe at one place of a file, compiled for that place. It is immutable and serves all processes.
type Placement struct {
	Probe  *Probe
	Target place.Target
	Code   Handlers
	Data   bool   // a watchpoint on data: the code that hits it may be anywhere
	Sample bool   // no place at all: the code is where the thread is
	Func   string // names of the code, for programs
	Module string
}

// Place returns the probe's placement at a target, and compiles it the first time.
func (pr *Probe) Place(t place.Target, info PlaceInfo) (*Placement, error) {
	key := siteKey{t.File, t.Vaddr, t.Name}
	pr.mu.Lock()
	defer pr.mu.Unlock()
	if pl := pr.places[key]; pl != nil {
		return pl, nil
	}
	if err := pr.failed[key]; err != nil {
		return nil, err
	}
	code, err := pr.Spec.Compile(info)
	if err != nil {
		var wanting *WantingError
		if !errors.As(err, &wanting) {
			pr.failed[key] = err
		}
		return nil, err
	}
	pl := &Placement{Probe: pr, Target: t, Code: code, Module: t.File.Path, Func: t.Symbol}
	if pl.Func == "" && t.Func != nil {
		pl.Func = t.Func.Demangled()
	}
	pr.places[key] = pl
	return pl, nil
}

// Excludes returns an error if two placements want the same position at one place, or if one of them wants to be
// alone there; nil if both can be there. A probe that is about to be removed, in the exchange that adds the other,
// excludes nothing.
func (pl *Placement) Excludes(o *Placement) error {
	a, b := pl.Probe, o.Probe
	if a == b || b.Removed || b.Leaving || !a.Spec.Order.Excludes(b.Spec.Order) {
		return nil
	}
	if a.Spec.Order.Position == hook.Only {
		return fmt.Errorf("probe %s is there, and the new one is to be alone", b.Spec.Name)
	}
	return fmt.Errorf("probe %s, which is there, is %s", b.Spec.Name, b.Spec.Order.Position)
}

// Before reports whether the placement's programs run before those of another at the same place: by the order that
// the probes request, and then by the order of declaration.
func (pl *Placement) Before(o *Placement) bool {
	if c := pl.Probe.Spec.Order.Compare(o.Probe.Spec.Order); c != 0 {
		return c < 0
	}
	return pl.Probe.Order < o.Probe.Order
}

// Insert returns a list of the placements at one address with a placement added at its position in the order. The
// given list is not changed.
func Insert(list []*Placement, pl *Placement) []*Placement {
	i := len(list)
	for i > 0 && pl.Before(list[i-1]) {
		i--
	}
	return slices.Insert(slices.Clone(list), i, pl)
}

// SameEntry reports whether a placement is the same probe at the same function as another one at its address: two
// names of one function ("open" and "open64", "memcpy" and "memmove" if the loader has selected one implementation
// for both) are one place, whose hits count once. Static marks at one address are different places, with operands
// of their own.
func (pl *Placement) SameEntry(o *Placement) bool {
	return o == pl || o.Probe == pl.Probe && pl.Target.Entry() && o.Target.Entry()
}

// Join is Insert for an address that may have other placements: the error says which of them excludes the
// placement.
func Join(list []*Placement, pl *Placement) ([]*Placement, error) {
	for _, o := range list {
		if err := pl.Excludes(o); err != nil {
			return list, err
		}
	}
	return Insert(list, pl), nil
}

// Has reports whether a probe has a placement in a list.
func (pr *Probe) Has(list []*Placement) bool {
	return slices.ContainsFunc(list, func(pl *Placement) bool { return pl.Probe == pr })
}

// Without returns a list without a probe's placements; leaves counts those removed that have a leave handler. The
// given list is not changed.
func (pr *Probe) Without(list []*Placement) (left []*Placement, leaves int) {
	for _, pl := range list {
		switch {
		case pl.Probe != pr:
			left = append(left, pl)
		case pl.Code.Leave != nil:
			leaves++
		}
	}
	return left, leaves
}
