package script

import (
	"maps"
	"slices"

	"github.com/dop251/goja"

	"gotap/runtime"
	"gotap/runtime/facility"
	"gotap/runtime/hook"
)

// Listeners to events of processes, and callbacks of exit facilities, are exits of hooks: package hook says in which order they are
// called. A callback that returns the text "stop" ends the chain; other results mean nothing, since arrow functions return
// whatever their expression is.

// stopWord is what a callback returns to end the chain.
const stopWord = "stop"

// hookOptions is the last argument of on() and facility().
type hookOptions struct {
	order hook.Order
	once  bool
	hold  bool // facility only
}

// hookOptionsType is hookOptions in TypeScript's words.
const hookOptionsType = `{ order?: "first" | "last" | "only"; priority?: number; once?: boolean`

// hookOptions reads argument n.
func (s *Script) hookOptions(at site, call goja.FunctionCall, n int, known ...string) (o hookOptions) {
	v := call.Argument(n)
	if goja.IsUndefined(v) {
		return o
	}
	obj, ok := v.(*goja.Object)
	if !ok {
		s.reject(at.argSpan(n), "", "options are an object, not %s", describe(v))
		return o
	}
	for _, name := range obj.Keys() {
		if !slices.Contains(known, name) {
			s.reject(at.propertySpan(n, name, false), nearest(name, known), "there is no option %q", name)
			continue
		}
		o.set(givenOption{s, at, n, name, obj.Get(name)})
	}
	return o
}

func (o *hookOptions) set(given givenOption) {
	switch given.name {
	case "order":
		p, ok := hook.ParsePosition(given.value.String())
		if !ok {
			given.wrong(`"first", "last" or "only"`)
		}
		o.order.Position = p
	case "priority":
		n, ok := toInt(given.value)
		if !ok {
			given.wrong("an integer")
		}
		o.order.Priority = int(n)
	case "once":
		o.once = given.boolean()
	case "hold":
		o.hold = given.boolean()
	}
}

// result is what a callback's result means to the chain.
func result(v goja.Value) hook.Code {
	if v != nil && goja.IsString(v) && v.String() == stopWord {
		return hook.Terminate
	}
	return hook.Continue
}

// newListeners makes a hook for each kind of event.
func newListeners() map[string]*hook.Hook[Event] {
	all := map[string]*hook.Hook[Event]{}
	for _, kind := range eventKinds {
		all[kind] = hook.New[Event](kind)
	}
	return all
}

// jsOn is on(event, fn, options).
func (s *Script) jsOn(call goja.FunctionCall) goja.Value {
	at := s.site()
	kind := call.Argument(0)
	if !goja.IsString(kind) || s.listeners[kind.String()] == nil {
		s.reject(at.argSpan(0), nearest(kind.String(), eventKinds), "there is no event %s", describe(kind))
		return nil
	}
	fn := s.fnArgument(at, call, 1, `on("exec", e => { … })`)
	o := s.hookOptions(at, call, 2, "order", "priority", "once")
	if fn == nil {
		return nil
	}
	h := s.listeners[kind.String()]
	x := &hook.Exit[Event]{Name: kind.String(), Order: o.order, OneShot: o.once, Func: func(e Event) hook.Code {
		return result(s.call(fn, s.eventObject(e)))
	}}
	if err := enrol(h, x); err != nil {
		s.reject(at.argSpan(0), "", "%v", err)
		return nil
	}
	return hookHandle(s, h, x)
}

// hookHandle is what on() and facility() return.
func hookHandle[E any](s *Script, h *hook.Hook[E], x *hook.Exit[E]) goja.Value {
	obj := s.vm.NewObject()
	verb := func(name string, f func() error) {
		obj.Set(name, s.guarded(name, func(goja.FunctionCall) goja.Value {
			if err := f(); err != nil {
				s.throwf("%v", err)
			}
			return nil
		}))
	}
	verb("arm", func() error { return h.Arm(x) })
	verb("disarm", func() error { return h.Disarm(x) })
	s.getter(obj, "armed", func() goja.Value { return s.vm.ToValue(x.Armed()) })
	return obj
}

// A facilityExit is one callback of a facility, registered when the run begins.
type facilityExit struct {
	number uint32
	record *hook.Exit[*facility.Delivery]
	hit    *hook.Exit[*facility.Request] // nil: the thread goes on
}

// jsFacility is facility(number, fn, options).
func (s *Script) jsFacility(call goja.FunctionCall) goja.Value {
	at := s.site()
	n, ok := toInt(call.Argument(0))
	if !ok || n <= facility.Log || n >= facility.Count {
		s.reject(at.argSpan(0), "", "facilities are numbered from 1 to %d", facility.Count-1)
		return nil
	}
	fn := s.fnArgument(at, call, 1, `facility(7, e => { … })`)
	o := s.hookOptions(at, call, 2, "order", "priority", "once", "hold")
	if fn == nil {
		return nil
	}
	x := s.newFacilityExit(uint32(n), fn, o)
	table := s.opts.Facilities
	if err := x.join(table); err != nil {
		s.reject(at.argSpan(0), "", "%v", err)
		return nil
	}
	s.facilities = append(s.facilities, x)
	return hookHandle(s, table.Records(x.number), x.record)
}

func (s *Script) newFacilityExit(n uint32, fn goja.Callable, o hookOptions) *facilityExit {
	x := &facilityExit{number: n}
	x.record = &hook.Exit[*facility.Delivery]{Name: s.opts.Name, Order: o.order, OneShot: o.once, Func: func(d *facility.Delivery) hook.Code {
		if s.stopped.Load() {
			return hook.Continue
		}
		s.eventPid = int(d.Record.Pid)
		defer func() { s.eventPid = 0 }()
		return result(s.call(fn, s.deliveryObject(d)))
	}}
	if o.hold {
		x.hit = &hook.Exit[*facility.Request]{Name: s.opts.Name, Func: func(r *facility.Request) hook.Code {
			r.Hold = true
			return hook.Continue
		}}
	}
	return x
}

// join registers and arms the exit.
func (x *facilityExit) join(t *facility.Table) error {
	if err := enrol(t.Records(x.number), x.record); err != nil || x.hit == nil {
		return err
	}
	return enrol(t.Hits(x.number), x.hit)
}

// enrol registers an exit and arms it.
func enrol[E any](h *hook.Hook[E], x *hook.Exit[E]) error {
	if err := h.Register(x); err != nil {
		return err
	}
	return h.Arm(x)
}

// leaveFacilities takes back what facility() registered. No callback may be running: the host is at rest.
func (s *Script) leaveFacilities() {
	for _, x := range s.facilities {
		s.opts.Facilities.Records(x.number).Deregister(x.record) // it was registered when it was listed
		if x.hit != nil {
			s.opts.Facilities.Hits(x.number).Deregister(x.hit)
		}
	}
	s.facilities = nil
}

// deliveryObject is an exit of a definition's program as a callback sees it.
func (s *Script) deliveryObject(d *facility.Delivery) goja.Value {
	obj := s.vm.NewObject()
	log := []any{}
	for i := range d.Items {
		for _, v := range d.Items[i].Values {
			log = append(log, s.value(v))
		}
	}
	rec := d.Record
	fields := map[string]any{"facility": int64(d.Number), "probe": d.Probe, "pid": int64(rec.Pid), "tid": int64(rec.Tid),
		"time": rec.Time, "comm": commText(&rec.Header), "major": int64(d.Major), "minor": int64(d.Minor),
		"group": int64(d.Group), "type": int64(d.Type), "fault": rec.Flags&runtime.RecordFault != 0}
	for _, name := range slices.Sorted(maps.Keys(fields)) { // always in the same order
		obj.Set(name, s.fieldValue(fields[name]))
	}
	obj.Set("log", s.vm.NewArray(log...))
	return obj
}
