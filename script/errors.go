package script

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"gotap/compile/diag"
	"gotap/runtime"
	"gotap/runtime/arena"
	"gotap/runtime/outcome"
	"gotap/runtime/record"
	"gotap/script/listen"
)

// errorsEvery is the interval at which traps are looked for while a callback listens to errors. Programs only count
// them, because what runs in the target cannot wake the host for each.
const errorsEvery = 100 * time.Millisecond

// errorWatch finds errors for the callbacks of on("error"). It is used on the host's goroutine.
type errorWatch struct {
	seen    map[arena.TrapCount]uint64 // by place, without count and address
	next    time.Time
	telling bool // an error inside of such a callback calls none
}

// newErrorWatch ignores the traps that are in the arena: of an earlier version of the script.
func newErrorWatch(a *arena.Arena) errorWatch {
	w := errorWatch{seen: map[arena.TrapCount]uint64{}}
	for _, t := range a.Traps() {
		w.seen[placeOf(t)] = t.Count
	}
	return w
}

// placeOf is the place of a trap, as a key.
func placeOf(t arena.TrapCount) arena.TrapCount {
	t.Addr, t.Count = 0, 0
	return t
}

// fresh returns the traps since the last call, with their number, in the order of their places.
func (w *errorWatch) fresh(a *arena.Arena) []arena.TrapCount {
	var list []arena.TrapCount
	for _, t := range a.Traps() {
		at := placeOf(t)
		if n := t.Count - w.seen[at]; n > 0 {
			w.seen[at] = t.Count
			t.Count = n
			list = append(list, t)
		}
	}
	slices.SortFunc(list, func(x, y arena.TrapCount) int {
		return cmp.Or(cmp.Compare(x.Program, y.Program), cmp.Compare(x.PC, y.PC), cmp.Compare(x.Trap, y.Trap))
	})
	return list
}

// tellTraps calls the callbacks of on("error") for programs that have ended early, if it is time. In a replay the
// journal has these events.
func (s *Script) tellTraps(now time.Time) {
	w := &s.errors
	if now.Before(w.next) || s.world.Replay != nil || !s.lib.listeners.Armed(listen.Error) {
		return
	}
	w.next = now.Add(errorsEvery)
	for _, t := range w.fresh(s.arena) {
		info, _ := s.arena.Program(t.Program)
		s.tellError(Event{Kind: listen.Error, Fields: map[string]any{
			"text": TrapText(info, t), "where": PlaceOf(info, t.PC), "program": info.Name, "count": int64(t.Count), "time": s.lib.environ.Monotonic(),
		}}, true)
	}
}

// nextErrors returns when traps are looked for, or the time of something else that comes earlier; 0 is never.
func (s *Script) nextErrors(other time.Time) time.Time {
	if !s.lib.listeners.Armed(listen.Error) || s.world.Replay != nil {
		return other
	}
	if s.errors.next.IsZero() {
		s.errors.next = time.Now().Add(errorsEvery)
	}
	if !other.IsZero() && other.Before(s.errors.next) {
		return other
	}
	return s.errors.next
}

// tellException calls the callbacks of on("error") for an exception of a callback. A replay throws it again, so the
// journal does not have it.
func (s *Script) tellException(d diag.Diagnostic) {
	where := ""
	if d.Span.Source != nil {
		where = d.Span.Source.Position(d.Span.Start).String()
	}
	s.tellError(Event{Kind: listen.Error, Fields: map[string]any{
		"text": d.Text, "where": where, "program": "", "count": int64(1), "time": s.lib.environ.Monotonic(),
	}}, false)
}

func (s *Script) tellError(e Event, noted bool) {
	if s.errors.telling || s.Stopped() || !s.lib.listeners.Armed(listen.Error) {
		return
	}
	s.errors.telling = true
	defer func() { s.errors.telling = false }()
	if noted && s.world.Journal != nil {
		s.world.Journal.Event(e)
	}
	s.lib.listeners.Dispatch(e)
}

// PlaceOf returns where an operation of a program is in the script's text, or the program's name if that is not known.
func PlaceOf(info record.Program, pc uint32) string {
	if info.Where != nil {
		place, _ := info.Where(pc)
		return place
	}
	return info.Name
}

// TrapText returns why a program ended early, in words: for memory with the address of the last time, and in a function
// that the program calls with the calls.
func TrapText(info record.Program, t arena.TrapCount) string {
	text := t.Trap.String()
	if t.Trap == outcome.TrapFuel && info.Fuel > 0 {
		text = fmt.Sprintf("out of fuel: a run took more than %d steps, as many as its probe's option fuel, in a definition file jmpmax, gives (%d at most)",
			info.Fuel, runtime.MaxFuel)
	}
	if t.Addr != 0 || t.Trap == outcome.TrapRead || t.Trap == outcome.TrapWrite {
		text += fmt.Sprintf(" at address %#x", t.Addr)
	}
	if info.Where != nil {
		_, calls := info.Where(t.PC)
		text += diag.Through(calls)
	}
	return text
}
