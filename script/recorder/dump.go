package recorder

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dop251/goja"
	"golang.org/x/sys/unix"

	"gotap/runtime/record"
	"gotap/script/aggregate"
	"gotap/script/journal"
)

// A Dump is the content of a recorder when an event happened.
type Dump struct {
	of          *aggregate.Aggregate
	why         string
	records     []record.Record
	overwritten uint64
}

// dump implements recorder.dump().
func (r *Recorders) dump(a *aggregate.Aggregate, _ goja.FunctionCall) goja.Value {
	d := r.take(a, "")
	r.note(d)
	r.redeliver(d.records)
	result := r.m.VM.NewObject()
	result.Set("records", len(d.records))
	result.Set("overwritten", r.m.Unsigned(d.overwritten))
	return result
}

// take empties a recorder: the real one, or the one in the recording.
func (r *Recorders) take(a *aggregate.Aggregate, why string) Dump {
	d := Dump{of: a, why: why}
	if r.world.Replay == nil {
		d.records, d.overwritten = a.Handle.Dump()
		return d
	}
	list, overwritten := r.world.Replay.Dump(a.Name)
	d.overwritten = overwritten
	for _, played := range list {
		if rec, ok := r.probes.Replayed(played); ok {
			d.records = append(d.records, rec)
		}
	}
	return d
}

// note records a dump in the journal, without records of probes that are not the script's.
func (r *Recorders) note(d Dump) {
	if r.world.Journal == nil {
		return
	}
	var list []journal.Played
	for i := range d.records {
		if played, ok := r.probes.Played(&d.records[i]); ok {
			list = append(list, played)
		}
	}
	r.world.Journal.Dump(d.of.Name, list, d.overwritten)
}

// redeliver delivers records within a callback.
func (r *Recorders) redeliver(records []record.Record) {
	r.depth++
	defer func() { r.depth-- }()
	r.m.Nested(func() {
		for i := range records {
			r.probes.Deliver(records[i])
		}
	})
}

// Capture empties the recorders that an event dumps. It is called where the event happens, so that nothing that the
// target does later overwrites their records; Report delivers them on the host. Safe for concurrent use.
func (r *Recorders) Capture(e journal.Event) (list []Dump) {
	for _, a := range r.automatic() {
		if why := a.dumpedBy(e); why != "" {
			list = append(list, r.take(a.Aggregate, why))
		}
	}
	return list
}

func (r *Recorders) automatic() []*automatic {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.watched
}

// dumpedBy says why an event dumps a recorder; "" when it does not.
func (a *automatic) dumpedBy(e journal.Event) string {
	signal, _ := e.Fields["signal"].(int64)
	if signal == 0 {
		return ""
	}
	name := signalName(signal)
	for _, trigger := range a.on {
		if e.Kind == "exit" && trigger == onCrash || e.Kind == "signal" && (trigger == onSignal || trigger == name) {
			return fmt.Sprintf("%s of process %v", name, e.Fields["pid"])
		}
	}
	return ""
}

// signalName is SIGSEGV for 11.
func signalName(n int64) string {
	if name := unix.SignalName(unix.Signal(n)); name != "" {
		return name
	}
	return fmt.Sprintf("signal %d", n)
}

// Report delivers a dump that no callback asked for, between two lines that say which it is.
func (r *Recorders) Report(d Dump) {
	r.note(d)
	if len(d.records) == 0 {
		return
	}
	name, n := strings.TrimSpace("recorder "+d.of.Name), len(d.records)
	r.out.Print(fmt.Sprintf("--- %s, %s: the last %d of %d records\n", name, d.why, n, uint64(n)+d.overwritten))
	r.redeliver(d.records)
	r.out.Print(fmt.Sprintf("--- end of %s\n", name))
}

// End dumps the recorders with on: "end".
func (r *Recorders) End() {
	for _, a := range r.automatic() {
		if slices.Contains(a.on, onEnd) {
			r.Report(r.take(a.Aggregate, "end of the run"))
		}
	}
}
