package listen

import (
	"maps"
	"slices"

	"github.com/dop251/goja"

	"gotap/runtime/facility"
	"gotap/runtime/hook"
	"gotap/runtime/record"
	rtvalue "gotap/runtime/value"
	"gotap/script/journal"
	"gotap/script/jsvm"
	"gotap/script/source"
	"gotap/script/value"
)

// stopWord is the result of a callback that ends the chain. Other results mean nothing, since arrow functions return
// the value of their expression.
const stopWord = "stop"

// Listeners are the callbacks of on() and facility() of one script.
type Listeners struct {
	m          *jsvm.Machine
	values     *value.Values
	name       string // of the script
	table      *facility.Table
	hooks      map[string]*hook.Hook[journal.Event] // by kind of event
	facilities []*facilityExit
}

// New makes a Listeners without callbacks. Those of facility() are registered in table.
func New(m *jsvm.Machine, values *value.Values, name string, table *facility.Table) *Listeners {
	l := &Listeners{m: m, values: values, name: name, table: table, hooks: map[string]*hook.Hook[journal.Event]{}}
	for _, kind := range names {
		l.hooks[kind] = hook.New[journal.Event](kind)
	}
	return l
}

// Knows reports whether there is such a kind of event.
func (l *Listeners) Knows(kind string) bool { return l.hooks[kind] != nil }

// Armed reports whether a callback listens to a kind of event. Safe for concurrent use.
func (l *Listeners) Armed(kind string) bool { return l.hooks[kind].Armed() }

// Dispatch calls the callbacks for an event.
func (l *Listeners) Dispatch(e journal.Event) { l.hooks[e.Kind].Dispatch(e) }

// options is the last argument of on() and facility().
type options struct {
	order hook.Order
	once  bool
	hold  bool // facility only
}

// OptionsType is the type of the options in TypeScript, without the closing brace.
const OptionsType = `{ order?: "first" | "last" | "only"; priority?: number; once?: boolean`

// options reads argument n.
func (l *Listeners) options(at source.Site, call goja.FunctionCall, n int, known ...string) (o options) {
	v := call.Argument(n)
	if goja.IsUndefined(v) {
		return o
	}
	obj, ok := v.(*goja.Object)
	if !ok {
		l.m.Reject(at.ArgSpan(n), "", "options are an object, not %s", jsvm.Describe(v))
		return o
	}
	for _, name := range obj.Keys() {
		given := jsvm.Given{M: l.m, At: at, Arg: n, Name: name, Value: obj.Get(name)}
		if !slices.Contains(known, name) {
			given.Unknown(known)
			continue
		}
		o.set(given)
	}
	return o
}

func (o *options) set(given jsvm.Given) {
	switch given.Name {
	case "order":
		p, ok := hook.ParsePosition(given.Value.String())
		if !ok {
			given.Wrong(`"first", "last" or "only"`)
		}
		o.order.Position = p
	case "priority":
		n, ok := jsvm.ToInt(given.Value)
		if !ok {
			given.Wrong("an integer")
		}
		o.order.Priority = int(n)
	case "once":
		o.once = given.Boolean()
	case "hold":
		o.hold = given.Boolean()
	}
}

// result converts the result of a callback.
func result(v goja.Value) hook.Code {
	if v != nil && goja.IsString(v) && v.String() == stopWord {
		return hook.Terminate
	}
	return hook.Continue
}

// On implements on(event, fn, options).
func (l *Listeners) On(call goja.FunctionCall) goja.Value {
	at := l.m.Site()
	kind := call.Argument(0)
	if !goja.IsString(kind) || l.hooks[kind.String()] == nil {
		l.m.Reject(at.ArgSpan(0), jsvm.Nearest(kind.String(), names), "unknown event %s", jsvm.Describe(kind))
		return nil
	}
	fn := l.m.FnArgument(at, call, 1, `on("exec", e => { … })`)
	o := l.options(at, call, 2, "order", "priority", "once")
	if fn == nil {
		return nil
	}
	h := l.hooks[kind.String()]
	x := &hook.Exit[journal.Event]{Name: kind.String(), Order: o.order, OneShot: o.once, Func: func(e journal.Event) hook.Code {
		pid, _ := e.Fields["pid"].(int64)
		l.m.Pid = int(pid)
		defer func() { l.m.Pid = 0 }()
		return result(l.m.Call(fn, l.eventObject(e)))
	}}
	if err := register(h, x); err != nil {
		l.m.Reject(at.ArgSpan(0), "", "%v", err)
		return nil
	}
	return handle(l, h, x)
}

// handle returns what on() and facility() return.
func handle[E any](l *Listeners, h *hook.Hook[E], x *hook.Exit[E]) goja.Value {
	obj := l.m.VM.NewObject()
	verb := func(name string, f func() error) {
		obj.Set(name, l.m.Guarded(name, func(goja.FunctionCall) goja.Value {
			if err := f(); err != nil {
				l.m.Throwf("%v", err)
			}
			return nil
		}))
	}
	verb("arm", func() error { return h.Arm(x) })
	verb("disarm", func() error { return h.Disarm(x) })
	l.m.Getter(obj, "armed", func() goja.Value { return l.m.VM.ToValue(x.Armed()) })
	return obj
}

// A facilityExit is one callback of a facility, registered when the run begins.
type facilityExit struct {
	number uint32
	record *hook.Exit[*facility.Delivery]
	hit    *hook.Exit[*facility.Request] // nil: the thread goes on
}

// Facility implements facility(number, fn, options).
func (l *Listeners) Facility(call goja.FunctionCall) goja.Value {
	at := l.m.Site()
	n, ok := jsvm.ToInt(call.Argument(0))
	if !ok || n <= facility.Log || n >= facility.Count {
		l.m.Reject(at.ArgSpan(0), "", "facilities are numbered from 1 to %d", facility.Count-1)
		return nil
	}
	fn := l.m.FnArgument(at, call, 1, `facility(7, e => { … })`)
	o := l.options(at, call, 2, "order", "priority", "once", "hold")
	if fn == nil {
		return nil
	}
	x := l.newFacilityExit(uint32(n), fn, o)
	if err := x.join(l.table); err != nil {
		l.m.Reject(at.ArgSpan(0), "", "%v", err)
		return nil
	}
	l.facilities = append(l.facilities, x)
	return handle(l, l.table.Records(x.number), x.record)
}

func (l *Listeners) newFacilityExit(n uint32, fn goja.Callable, o options) *facilityExit {
	x := &facilityExit{number: n}
	x.record = &hook.Exit[*facility.Delivery]{Name: l.name, Order: o.order, OneShot: o.once, Func: func(d *facility.Delivery) hook.Code {
		if l.m.Stopped.Load() {
			return hook.Continue
		}
		l.m.Pid = int(d.Record.Pid)
		defer func() { l.m.Pid = 0 }()
		return result(l.m.Call(fn, l.deliveryObject(d)))
	}}
	if o.hold {
		x.hit = &hook.Exit[*facility.Request]{Name: l.name, Func: func(r *facility.Request) hook.Code {
			r.Hold = true
			return hook.Continue
		}}
	}
	return x
}

// join registers and arms the exit.
func (x *facilityExit) join(t *facility.Table) error {
	if err := register(t.Records(x.number), x.record); err != nil || x.hit == nil {
		return err
	}
	return register(t.Hits(x.number), x.hit)
}

// register registers an exit and arms it.
func register[E any](h *hook.Hook[E], x *hook.Exit[E]) error {
	if err := h.Register(x); err != nil {
		return err
	}
	return h.Arm(x)
}

// Close removes what facility() registered. No callback may run.
func (l *Listeners) Close() {
	for _, x := range l.facilities {
		l.table.Records(x.number).Deregister(x.record) // all in the list are registered
		if x.hit != nil {
			l.table.Hits(x.number).Deregister(x.hit)
		}
	}
	l.facilities = nil
}

// deliveryObject returns an exit of a definition's program as a callback sees it.
func (l *Listeners) deliveryObject(d *facility.Delivery) goja.Value {
	obj := l.m.VM.NewObject()
	log := []any{}
	for i := range d.Items {
		for _, v := range d.Items[i].Values {
			log = append(log, l.values.Value(v))
		}
	}
	rec := d.Record
	fields := map[string]any{"facility": int64(d.Number), "probe": d.Probe, "pid": int64(rec.Pid), "tid": int64(rec.Tid),
		"time": rec.Time, "comm": value.Comm(&rec.Header), "major": int64(d.Major), "minor": int64(d.Minor),
		"group": int64(d.Group), "type": int64(d.Type), "fault": rec.Flags&record.FlagFault != 0}
	for _, name := range slices.Sorted(maps.Keys(fields)) { // always in the same order
		obj.Set(name, l.fieldValue(fields[name]))
	}
	obj.Set("log", l.m.VM.NewArray(log...))
	return obj
}

func (l *Listeners) eventObject(e journal.Event) goja.Value {
	obj := l.m.VM.NewObject()
	for _, name := range slices.Sorted(maps.Keys(e.Fields)) { // always in the same order
		if pcs, ok := e.Fields[name].([]uint64); ok {
			pid, _ := e.Fields["pid"].(int64)
			obj.Set(name, l.values.Value(rtvalue.Value{Kind: rtvalue.KindStack, Int: pid, Stack: pcs}))
			continue
		}
		obj.Set(name, l.fieldValue(e.Fields[name]))
	}
	return obj
}

func (l *Listeners) fieldValue(v any) goja.Value {
	switch v := v.(type) {
	case uint64:
		return l.m.Unsigned(v)
	case int64:
		return l.m.Integer(v)
	}
	return l.m.VM.ToValue(v)
}
