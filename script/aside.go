package script

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dop251/goja"
	"golang.org/x/sys/unix"

	"gotap/compile/diag"
	"gotap/runtime"
)

// Trails and recorders: what programs log into them waits in the arena. Programs commit trails themselves, and their records
// come as all others do; a recorder is dumped here.

// sizeOption is a number among the options of a trail or a recorder.
type sizeOption struct {
	least, most int64
	to          *int
}

// jsSpeculation is speculation(name?, {bytes, threads}).
func (s *Script) jsSpeculation(call goja.FunctionCall) goja.Value {
	o := runtime.Object{Kind: runtime.KindTrail, Max: runtime.TrailThreads, Size: runtime.DefaultTrail}
	return s.newAside(call, &aggregate{object: o}, func(o *runtime.Object) map[string]sizeOption {
		return map[string]sizeOption{"bytes": {leastAside, runtime.MaxTrail, &o.Size}, "threads": {1, runtime.MaxThreads, &o.Max}}
	})
}

// jsRecorder is recorder(name?, {events, bytes, on}).
func (s *Script) jsRecorder(call goja.FunctionCall) goja.Value {
	o := runtime.Object{Kind: runtime.KindRecorder, Max: runtime.DefaultEvents, Size: runtime.RecordBytes}
	return s.newAside(call, &aggregate{object: o}, func(o *runtime.Object) map[string]sizeOption {
		return map[string]sizeOption{"events": {1, runtime.MaxEvents, &o.Max}, "bytes": {leastAside, runtime.MaxLog, &o.Size}}
	})
}

// leastAside is the fewest bytes of a trail, or of a record of a recorder: less holds no record with a field.
const leastAside = 128

// newAside makes a trail or a recorder of the arguments name?, options?.
func (s *Script) newAside(call goja.FunctionCall, a *aggregate, sizes func(*runtime.Object) map[string]sizeOption) goja.Value {
	at, n := s.site(), 0
	a.object.Name = at.call.Name
	if goja.IsString(call.Argument(0)) {
		a.object.Name = call.Argument(0).String()
		n = 1
	}
	if v := call.Argument(n); !goja.IsUndefined(v) {
		s.asideOptions(a, at, n, v, sizes(&a.object))
	}
	a.object.Size = (a.object.Size + 7) &^ 7
	obj := s.declareAggregate(a.object, at)
	if made := s.aggregateOf(obj.(*goja.Object)); made != nil {
		if made.on = a.on; len(a.on) > 0 && made.handle != nil {
			s.keepRecorder(made)
		}
	}
	return obj
}

// keepRecorder notes a recorder that is dumped by itself.
func (s *Script) keepRecorder(a *aggregate) {
	s.sharedMu.Lock()
	defer s.sharedMu.Unlock()
	s.recorders = append(s.recorders, a)
}

// watched are the recorders that are dumped by themselves.
func (s *Script) watched() []*aggregate {
	s.sharedMu.Lock()
	defer s.sharedMu.Unlock()
	return s.recorders // appended to only
}

// asideOptions reads the options.
func (s *Script) asideOptions(a *aggregate, at site, n int, v goja.Value, sizes map[string]sizeOption) {
	obj, ok := v.(*goja.Object)
	if !ok || obj.ClassName() != "Object" {
		s.reject(at.argSpan(n), "{ bytes: 4096 }", "options are an object, not %s", describe(v))
		return
	}
	var known []string
	for name := range sizes {
		known = append(known, name)
	}
	if a.object.Kind == runtime.KindRecorder {
		known = append(known, "on")
	}
	slices.Sort(known)
	for _, key := range obj.Keys() {
		size, isSize := sizes[key]
		switch {
		case isSize:
			*size.to = int(s.intOption(at.propertySpan(n, key, true), key, obj.Get(key), size.least, size.most))
		case slices.Contains(known, key):
			a.on = s.triggers(at.propertySpan(n, key, true), obj.Get(key))
		default:
			s.reject(at.propertySpan(n, key, false), nearest(key, known), "there is no option %s", key)
		}
	}
}

// triggers reads what a recorder is dumped on: a text, or several.
func (s *Script) triggers(at diag.Span, v goja.Value) (list []string) {
	values := []goja.Value{v}
	if obj, ok := v.(*goja.Object); ok && obj.ClassName() == "Array" {
		values = nil
		for _, key := range obj.Keys() {
			values = append(values, obj.Get(key))
		}
	}
	for _, v := range values {
		name := v.String()
		if !goja.IsString(v) || !slices.Contains(triggerNames, name) && unix.SignalNum(name) == 0 {
			s.reject(at, `"crash", "signal", "end", or a signal: "SIGUSR1"`, "a recorder cannot be dumped on %s", describe(v))
			continue
		}
		list = append(list, name)
	}
	return list
}

// The events that dump a recorder, besides signals by name.
const (
	onSignal = "signal"
	onCrash  = "crash"
	onEnd    = "end"
)

var triggerNames = []string{onSignal, onCrash, onEnd}

// installAside gives trails and recorders their methods. Those of programs are there to say so.
func (s *Script) installAside() {
	s.trailProto, s.recorderProto = s.vm.NewObject(), s.vm.NewObject()
	for _, name := range []string{"log", "print", "printf", "exit", "commit", "discard"} {
		refuse := func(*aggregate, goja.FunctionCall) goja.Value {
			s.throwf("%s() of a trail or a recorder belongs in a program: enter, post, leave or fault of a probe", name)
			return nil
		}
		s.method(s.trailProto, name, refuse)
		if name != "commit" && name != "discard" {
			s.method(s.recorderProto, name, refuse)
		}
	}
	s.method(s.recorderProto, "dump", func(a *aggregate, _ goja.FunctionCall) goja.Value {
		records, overwritten := s.dumpOf(a)
		s.journalDump(a, records, overwritten)
		s.redeliver(records)
		result := s.vm.NewObject()
		result.Set("records", len(records))
		result.Set("overwritten", s.unsigned(overwritten))
		return result
	})
}

// redeliver delivers records within a callback. Their callbacks have clocks of their own; a stop() in one of them ends the
// running one too.
func (s *Script) redeliver(records []runtime.Record) {
	s.dumping++
	defer func() { s.dumping-- }()
	inside, resume := s.dog.within()
	for i := range records {
		s.Deliver(records[i])
	}
	if resume(); inside && s.stopped.Load() {
		s.vm.Interrupt(errStop)
	}
}

// A dump is what a recorder held when something happened, on its way to the host.
type dump struct {
	of          *aggregate
	why         string
	records     []runtime.Record
	overwritten uint64
}

// capture empties the recorders that an event dumps. It runs where the event happens, so that what the target does from then on
// takes nothing away; records are told on the host. Safe for concurrent use.
func (s *Script) capture(e Event) (list []dump) {
	for _, a := range s.watched() {
		if why := a.dumpedBy(e); why != "" {
			d := dump{of: a, why: why}
			d.records, d.overwritten = s.dumpOf(a)
			list = append(list, d)
		}
	}
	return list
}

// dumpedBy says why an event dumps a recorder; "" when it does not.
func (a *aggregate) dumpedBy(e Event) string {
	signal := signalOf(e)
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

// signalOf is the signal of an event, 0 when there is none.
func signalOf(e Event) int64 {
	n, _ := e.Fields["signal"].(int64)
	return n
}

// signalName is SIGSEGV for 11.
func signalName(n int64) string {
	if name := unix.SignalName(unix.Signal(n)); name != "" {
		return name
	}
	return fmt.Sprintf("signal %d", n)
}

// tell delivers a dump that no callback asked for, between lines that say what it is.
func (s *Script) tell(d dump) {
	s.journalDump(d.of, d.records, d.overwritten)
	if len(d.records) == 0 {
		return
	}
	name, n := strings.TrimSpace("recorder "+d.of.object.Name), len(d.records)
	s.out.Print(fmt.Sprintf("--- %s, %s: the last %d of %d records\n", name, d.why, n, uint64(n)+d.overwritten))
	s.redeliver(d.records)
	s.out.Print(fmt.Sprintf("--- end of %s\n", name))
}

// dumpAtEnd dumps the recorders that are dumped when the run ends.
func (s *Script) dumpAtEnd() {
	for _, a := range s.watched() {
		if slices.Contains(a.on, onEnd) {
			d := dump{of: a, why: "end of the run"}
			d.records, d.overwritten = s.dumpOf(a)
			s.tell(d)
		}
	}
}
