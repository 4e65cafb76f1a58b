package aggregate

import (
	"strings"

	"github.com/dop251/goja"

	"gotap/compile/diag"
	"gotap/compile/js"
	"gotap/runtime/object"
	"gotap/runtime/snapshot"
	"gotap/script/journal"
	"gotap/script/jsvm"
	"gotap/script/output"
	"gotap/script/shared"
	"gotap/script/value"
)

// Aggregate is an aggregation, map, per-thread variable, trail or recorder of the script.
type Aggregate struct {
	shared.Object
	at      diag.Span
	printed bool // the script has printed its present content
}

// Binding describes the aggregate to programs.
func (a *Aggregate) Binding() js.Binding {
	kind := js.BindAgg
	switch a.Kind {
	case object.KindMap:
		kind = js.BindMap
	case object.KindPerThread:
		kind = js.BindPerThread
	case object.KindTrail:
		kind = js.BindTrail
	case object.KindRecorder:
		kind = js.BindRecorder
	}
	return js.Binding{Kind: kind, Object: a.ID}
}

// hasValues reports whether the host can see values of it.
func (a *Aggregate) hasValues() bool { return shared.HasValues(a.Object.Object) }

// Aggregates are all of one script.
type Aggregates struct {
	Broken bool // one could not be made: the programs that use it cannot be checked

	m          *jsvm.Machine
	vm         *goja.Runtime
	world      *journal.World
	table      *shared.Table
	values     *value.Values
	out        output.Sink
	clock      func() int64 // the clock of hits
	clockAhead int64        // of the wall clock over clock, once a series needs it
	list       []*Aggregate
	symbol     *goja.Symbol
	protos     map[object.Kind]*goja.Object // of the kinds that have one of their own
	proto      *goja.Object                 // of all other kinds
}

// Options are what Aggregates need.
type Options struct {
	Machine *jsvm.Machine
	World   *journal.World
	Table   *shared.Table
	Values  *value.Values
	Out     output.Sink
	Clock   func() int64 // the clock of hits, in nanoseconds
}

// New makes an empty list and the prototypes.
func New(o Options) *Aggregates {
	g := &Aggregates{m: o.Machine, vm: o.Machine.VM, world: o.World, table: o.Table, values: o.Values, out: o.Out, clock: o.Clock,
		symbol: goja.NewSymbol("aggregate"), protos: map[object.Kind]*goja.Object{}}
	g.install()
	return g
}

// SetPrototype gives objects of a kind their methods.
func (g *Aggregates) SetPrototype(kind object.Kind, proto *goja.Object) {
	g.protos[kind] = proto
}

// object returns the JavaScript side of an aggregate.
func (g *Aggregates) object(a *Aggregate) goja.Value {
	proto := g.protos[a.Kind]
	if proto == nil {
		proto = g.proto
	}
	obj := g.vm.CreateObject(proto)
	g.m.Hide(obj, g.symbol, a)
	return obj
}

// Of finds the aggregate that an object stands for, or nil.
func (g *Aggregates) Of(obj *goja.Object) *Aggregate {
	a, _ := jsvm.Hidden[*Aggregate](obj, g.symbol)
	return a
}

// self returns the aggregate whose method was called.
func (g *Aggregates) self(call goja.FunctionCall) *Aggregate {
	if obj, ok := call.This.(*goja.Object); ok {
		if a := g.Of(obj); a != nil && a.Handle != nil {
			return a
		}
	}
	g.m.Throwf("this is a method of aggregations and maps")
	return nil
}

// Method defines a method of a prototype.
func (g *Aggregates) Method(proto *goja.Object, name string, f func(*Aggregate, goja.FunctionCall) goja.Value) {
	g.m.Method(proto, name, func(call goja.FunctionCall) goja.Value { return f(g.self(call), call) })
}

// install makes the prototypes.
func (g *Aggregates) install() {
	maps, perThread := g.vm.NewObject(), g.vm.NewObject()
	g.proto = g.vm.NewObject()
	for _, proto := range []*goja.Object{g.proto, maps} {
		g.Method(proto, "get", g.get)
		g.Method(proto, "entries", func(a *Aggregate, _ goja.FunctionCall) goja.Value { return g.entries(g.table.Entries(a.Object)) })
		g.Method(proto, "clear", g.clear)
		g.Method(proto, "take", g.take)
		g.Method(proto, "print", g.print)
		g.Method(proto, "toJSON", g.toJSON)
		g.Method(proto, "toString", func(a *Aggregate, _ goja.FunctionCall) goja.Value { return g.vm.ToValue(g.text(a)) })
		g.iterable(proto)
		g.m.AddMembers(jsvm.Members{Names: proto.GetOwnPropertyNames})
	}
	g.Method(g.proto, "add", func(a *Aggregate, c goja.FunctionCall) goja.Value { return g.add(a, nil, c.Argument(0)) })
	g.Method(g.proto, "inc", func(a *Aggregate, c goja.FunctionCall) goja.Value { return g.add(a, nil, g.vm.ToValue(1)) })
	g.Method(g.proto, "at", g.at)
	g.Method(maps, "set", g.mapSet)
	g.Method(maps, "has", g.mapHas)
	g.Method(maps, "delete", g.mapDelete)
	g.Method(maps, "inc", g.mapInc)
	refuse := g.vm.ToValue(g.m.Guarded("value", func(goja.FunctionCall) goja.Value {
		g.m.Throwf("a per-thread variable has a value only in programs: each thread has its own")
		return nil
	}))
	perThread.DefineAccessorProperty("value", refuse, refuse, goja.FLAG_FALSE, goja.FLAG_FALSE)
	g.SetPrototype(object.KindMap, maps)
	g.SetPrototype(object.KindPerThread, perThread)
	g.m.AddForm(func(obj *goja.Object) (string, bool) {
		a := g.Of(obj)
		if a == nil {
			return "", false
		}
		return g.text(a), true
	})
}

// iterable makes for…of and spreading visit the entries.
func (g *Aggregates) iterable(proto *goja.Object) {
	walk := g.vm.ToValue(g.m.Guarded("iterator", func(c goja.FunctionCall) goja.Value {
		list := g.entries(g.table.Entries(g.self(c).Object)).(*goja.Object)
		values, _ := goja.AssertFunction(list.GetSymbol(goja.SymIterator))
		return jsvm.OrThrow(values(list))
	}))
	proto.DefineDataPropertySymbol(goja.SymIterator, walk, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE)
}

// text returns the content as it prints; "" for an aggregate that could not be made.
func (g *Aggregates) text(a *Aggregate) string {
	if a.Handle == nil {
		return ""
	}
	var b strings.Builder
	g.table.Entries(a.Object).Print(&b, snapshot.Options{Name: a.Name, Stack: g.values.StackLines})
	return strings.TrimSuffix(b.String(), "\n")
}

// printSnapshot prints the content of an aggregate, unless it is empty.
func (g *Aggregates) printSnapshot(a *Aggregate, snap snapshot.Snapshot, o snapshot.Options) {
	if len(snap.Entries) == 0 {
		return
	}
	o.Name = a.Name
	o.Stack = g.values.StackLines
	g.out.Aggregate(output.Aggregate{Snapshot: snap, Options: o})
}

// PrintRest prints, at the end of a run, what the script has not printed itself, in the order of declaration.
func (g *Aggregates) PrintRest() {
	for _, a := range g.list {
		if a.hasValues() && !a.printed {
			g.printSnapshot(a, a.Handle.Entries(), snapshot.Options{})
		}
	}
}

// PrintAll prints the present content of all. What the script has not printed itself still prints at the end.
func (g *Aggregates) PrintAll() {
	for _, a := range g.list {
		if a.hasValues() {
			g.printSnapshot(a, a.Handle.Entries(), snapshot.Options{})
		}
	}
}

// Renew makes keyed aggregates again that were taken over from an earlier version of the script, whose keys may have
// had another shape. It reports whether there were any.
func (g *Aggregates) Renew() (changed bool, err error) {
	for _, a := range g.list {
		if !g.table.Adopted(a.ID) || a.Keys == 0 || !a.hasValues() {
			continue
		}
		if err := g.table.Renew(&a.Object); err != nil {
			return changed, err
		}
		changed = true
	}
	return changed, nil
}
