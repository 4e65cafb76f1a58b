package recorder

import (
	"slices"
	"sync"

	"github.com/dop251/goja"

	"gotap/runtime/object"
	"gotap/runtime/record"
	"gotap/script/aggregate"
	"gotap/script/journal"
	"gotap/script/jsvm"
	"gotap/script/output"
	"gotap/script/source"

	"golang.org/x/sys/unix"
)

// Probes deliver the records of a dump. Their methods are called on the host's goroutine.
type Probes interface {
	// Deliver hands a record to the callback of its probe.
	Deliver(rec record.Record)
	// Played is a record with the name of its probe; ok is false when the script has no such probe.
	Played(rec *record.Record) (r journal.Played, ok bool)
	// Replayed is the record of a played one with the number of its probe; ok is false when the script has no such
	// probe.
	Replayed(r journal.Played) (rec record.Record, ok bool)
}

// Recorders are the trails and recorders of one script.
type Recorders struct {
	m      *jsvm.Machine
	aggs   *aggregate.Aggregates
	world  *journal.World
	out    output.Sink
	probes Probes
	depth  int // dumps being delivered, one within the other

	mu      sync.Mutex   // guards watched
	watched []*automatic // appended to only
}

// automatic is a recorder that events dump.
type automatic struct {
	*aggregate.Aggregate
	on []string
}

// New gives trails and recorders their methods.
func New(m *jsvm.Machine, aggs *aggregate.Aggregates, world *journal.World, out output.Sink, probes Probes) *Recorders {
	r := &Recorders{m: m, aggs: aggs, world: world, out: out, probes: probes}
	r.install()
	return r
}

// Dumping reports whether records of a dump are being delivered.
func (r *Recorders) Dumping() bool { return r.depth > 0 }

// install makes the prototypes. The methods that belong in programs exist on the host to say so.
func (r *Recorders) install() {
	trails, recorders := r.m.VM.NewObject(), r.m.VM.NewObject()
	for _, name := range []string{"log", "print", "printf", "emit", "exit", "commit", "discard"} {
		refuse := func(*aggregate.Aggregate, goja.FunctionCall) goja.Value {
			r.m.Throwf("%s() of a trail or a recorder belongs in a program: enter, post, leave or fault of a probe", name)
			return nil
		}
		r.aggs.Method(trails, name, refuse)
		if name != "commit" && name != "discard" {
			r.aggs.Method(recorders, name, refuse)
		}
	}
	r.aggs.Method(recorders, "dump", r.dump)
	r.aggs.SetPrototype(object.KindTrail, trails)
	r.aggs.SetPrototype(object.KindRecorder, recorders)
}

// sizeOption is a number among the options of a trail or a recorder.
type sizeOption struct {
	least, most int64
	to          *int
}

// leastBytes is the smallest size of a trail, or of a record of a recorder: a record with one field needs as much.
const leastBytes = 128

// Speculation implements speculation(name?, {bytes, threads}).
func (r *Recorders) Speculation(call goja.FunctionCall) goja.Value {
	o := object.Object{Kind: object.KindTrail, Max: object.TrailThreads, Size: object.DefaultTrail}
	return r.declare(call, &o, map[string]sizeOption{
		"bytes": {leastBytes, object.MaxTrail, &o.Size}, "threads": {1, object.MaxThreads, &o.Max}})
}

// Recorder implements recorder(name?, {events, bytes, on}).
func (r *Recorders) Recorder(call goja.FunctionCall) goja.Value {
	o := object.Object{Kind: object.KindRecorder, Max: object.DefaultEvents, Size: object.RecordBytes}
	return r.declare(call, &o, map[string]sizeOption{
		"events": {1, object.MaxEvents, &o.Max}, "bytes": {leastBytes, record.MaxLog, &o.Size}})
}

// declare makes a trail or a recorder from the arguments name?, options?.
func (r *Recorders) declare(call goja.FunctionCall, o *object.Object, sizes map[string]sizeOption) goja.Value {
	at, n := r.m.Site(), 0
	o.Name = at.Name
	if goja.IsString(call.Argument(0)) {
		o.Name = call.Argument(0).String()
		n = 1
	}
	var on []string
	if v := call.Argument(n); !goja.IsUndefined(v) {
		on = r.options(o.Kind, at, n, v, sizes)
	}
	o.Size = (o.Size + 7) &^ 7
	a, obj := r.aggs.Declare(*o, at)
	if a != nil && len(on) > 0 {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.watched = append(r.watched, &automatic{a, on})
	}
	return obj
}

// options reads the options; it returns what a recorder is dumped on.
func (r *Recorders) options(kind object.Kind, at source.Site, n int, v goja.Value, sizes map[string]sizeOption) (on []string) {
	var known []string
	for name := range sizes {
		known = append(known, name)
	}
	if kind == object.KindRecorder {
		known = append(known, "on")
	}
	slices.Sort(known)
	for _, given := range r.m.Given(at, n, v, "{ bytes: 4096 }") {
		size, isSize := sizes[given.Name]
		switch {
		case isSize:
			*size.to = int(given.Size(size.least, size.most))
		case slices.Contains(known, given.Name):
			on = triggers(given)
		default:
			given.Unknown(known)
		}
	}
	return on
}

// The events that dump a recorder, besides signals by name.
const (
	onSignal = "signal"
	onCrash  = "crash"
	onEnd    = "end"
)

var triggerNames = []string{onSignal, onCrash, onEnd}

// triggers reads what a recorder is dumped on: a text, or a list of texts.
func triggers(given jsvm.Given) (list []string) {
	values := []goja.Value{given.Value}
	if obj, ok := given.Value.(*goja.Object); ok && obj.ClassName() == "Array" {
		values = nil
		for _, key := range obj.Keys() {
			values = append(values, obj.Get(key))
		}
	}
	for _, v := range values {
		name := v.String()
		if !goja.IsString(v) || !slices.Contains(triggerNames, name) && unix.SignalNum(name) == 0 {
			given.Reject(`"crash", "signal", "end", or a signal: "SIGUSR1"`, "a recorder cannot be dumped on %s", jsvm.Describe(v))
			continue
		}
		list = append(list, name)
	}
	return list
}
