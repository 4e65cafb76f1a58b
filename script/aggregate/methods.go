package aggregate

import (
	"errors"

	"github.com/dop251/goja"

	"gotap/runtime/arena"
	"gotap/runtime/object"
	"gotap/runtime/snapshot"
	rtvalue "gotap/runtime/value"
	"gotap/script/jsvm"
	"gotap/script/value"
)

// key converts arguments to the parts of a key.
func (g *Aggregates) key(args []goja.Value) []rtvalue.Value {
	key := make([]rtvalue.Value, len(args))
	for i, v := range args {
		key[i] = g.keyPart(v)
	}
	return key
}

func (g *Aggregates) keyPart(v goja.Value) rtvalue.Value {
	if goja.IsString(v) {
		return rtvalue.Text(v.String())
	}
	if b, ok := v.Export().(bool); ok {
		return rtvalue.Int(jsvm.BoolInt(b))
	}
	n, ok := jsvm.ToInt(v)
	if !ok {
		g.m.Throwf("%s cannot be part of a key: integers and text can", jsvm.Describe(v))
	}
	return rtvalue.Int(n)
}

// keyValue returns a key as JavaScript sees it: its only part, or an array of its parts.
func (g *Aggregates) keyValue(key []rtvalue.Value) goja.Value {
	if len(key) == 1 {
		return g.values.Value(key[0])
	}
	parts := make([]any, len(key))
	for i, part := range key {
		parts[i] = g.values.Value(part)
	}
	return g.vm.NewArray(parts...)
}

// data returns the value of one key as JavaScript sees it: a number, a text, or for stats and histograms an object.
func (g *Aggregates) data(kind object.Kind, d snapshot.Data) goja.Value {
	switch {
	case kind == object.KindStats:
		return g.statsValue(d)
	case kind == object.KindSeries:
		return g.pointsValue(d.Points)
	case kind == object.KindHist || kind == object.KindLhist:
		return g.bucketsValue(d)
	case d.IsText:
		return g.vm.ToValue(value.Marked(d.Text, d.Cut))
	case d.IsFloat:
		return g.vm.ToValue(d.Float)
	}
	return g.m.Integer(d.Int)
}

func (g *Aggregates) bucketsValue(d snapshot.Data) goja.Value {
	list := make([]any, len(d.Buckets))
	for i, b := range d.Buckets {
		obj := g.vm.NewObject()
		if b.Min != nil {
			obj.Set("min", g.m.Integer(*b.Min))
		}
		if b.Max != nil {
			obj.Set("max", g.m.Integer(*b.Max))
		}
		obj.Set("count", g.m.Unsigned(b.Count))
		list[i] = obj
	}
	obj := g.vm.NewObject()
	obj.Set("buckets", g.vm.NewArray(list...))
	return obj
}

// empty returns the value of a key that nothing was added to.
func (g *Aggregates) empty(kind object.Kind) goja.Value {
	if kind == object.KindCount || kind == object.KindSum {
		return g.vm.ToValue(0)
	}
	if kind == object.KindSeries {
		return g.vm.NewArray()
	}
	return goja.Undefined()
}

func (g *Aggregates) get(a *Aggregate, call goja.FunctionCall) goja.Value {
	if a.Kind == object.KindSeries {
		return g.seriesGet(a, g.key(call.Arguments))
	}
	d, ok := g.table.Get(a.Object, g.key(call.Arguments))
	if !ok {
		if len(call.Arguments) > 0 {
			return goja.Undefined()
		}
		return g.empty(a.Kind)
	}
	return g.data(a.Kind, d)
}

func (g *Aggregates) entries(snap snapshot.Snapshot) goja.Value {
	list := make([]any, len(snap.Entries))
	for i, e := range snap.Entries {
		list[i] = g.vm.NewArray(g.keyValue(e.Key), g.data(snap.Object.Kind, e.Data))
	}
	return g.vm.NewArray(list...)
}

func (g *Aggregates) clear(a *Aggregate, _ goja.FunctionCall) goja.Value {
	a.Handle.Clear()
	a.printed = false
	return nil
}

// take is get or entries, and clears.
func (g *Aggregates) take(a *Aggregate, _ goja.FunctionCall) goja.Value {
	snap := g.table.Take(a.Object)
	a.printed = false
	return g.content(a, snap)
}

// content returns everything that an aggregate holds: its entries, or without keys its value.
func (g *Aggregates) content(a *Aggregate, snap snapshot.Snapshot) goja.Value {
	if isKeyed(a, snap) {
		return g.entries(snap)
	}
	if len(snap.Entries) == 0 {
		return g.empty(a.Kind)
	}
	return g.data(snap.Object.Kind, snap.Entries[0].Data)
}

func isKeyed(a *Aggregate, snap snapshot.Snapshot) bool {
	if len(snap.Entries) > 0 {
		return len(snap.Entries[0].Key) > 0
	}
	return a.UserKeys() > 0 || snap.Object.UserKeys() > 0 || a.Kind == object.KindMap
}

// print implements print({ top, div }).
func (g *Aggregates) print(a *Aggregate, call goja.FunctionCall) goja.Value {
	var o snapshot.Options
	if v := call.Argument(0); !goja.IsUndefined(v) {
		g.printOptions(&o, v)
	}
	g.printSnapshot(a, g.table.Entries(a.Object), o)
	a.printed = true
	return nil
}

// printOptions reads { top, div }. An undefined option counts as absent, so that a script can pass on an option() that
// its user did not set.
func (g *Aggregates) printOptions(o *snapshot.Options, v goja.Value) {
	for _, given := range g.m.Given(g.m.Site(), 0, v, "print({ top: 10 })") {
		switch {
		case given.Name != "top" && given.Name != "div":
			given.Unknown([]string{"top", "div"})
		case goja.IsUndefined(given.Value):
		case given.Name == "top":
			o.Top = int(given.Size(1, object.MaxKeys))
		default:
			o.Div = int(given.Size(1, jsvm.MaxSafe))
		}
	}
}

// toJSON returns what JSON.stringify and JSON output show.
func (g *Aggregates) toJSON(a *Aggregate, _ goja.FunctionCall) goja.Value {
	return g.content(a, g.table.Entries(a.Object))
}

// stored throws the error of an operation that stores something. An object that drops what does not fit counts it,
// without an error.
func (g *Aggregates) stored(a *Aggregate, err error) {
	if errors.Is(err, arena.ErrFull) && a.Full == object.FullDrop {
		return
	}
	g.m.Must(err)
}

func (g *Aggregates) add(a *Aggregate, key []rtvalue.Value, v goja.Value) goja.Value {
	if f, ok := fraction(v); ok && holdsFloats(a.Kind) {
		g.stored(a, a.Handle.AddFloat(f, key...))
		return nil
	}
	n := g.addend(v)
	if a.Kind == object.KindSeries {
		o := a.Handle.Object() // the interval of an object of an earlier version counts
		key = append([]rtvalue.Value{rtvalue.Int(o.Interval(g.clock()))}, key...)
	}
	g.stored(a, a.Handle.Add(n, key...))
	return nil
}

// holdsFloats reports whether aggregations of a kind take floats as they are, or the bucket that they are in.
func holdsFloats(kind object.Kind) bool {
	switch kind {
	case object.KindSum, object.KindMin, object.KindMax, object.KindAvg, object.KindStats, object.KindHist, object.KindLhist:
		return true
	}
	return false
}

// fraction returns the value of a number that is not an integer; ok is false for integers and for all that is not a
// number.
func fraction(v goja.Value) (f float64, ok bool) {
	if _, whole := jsvm.ToInt(v); whole || !goja.IsNumber(v) {
		return 0, false
	}
	return v.ToFloat(), true
}

// addend returns the integer that a callback adds.
func (g *Aggregates) addend(v goja.Value) int64 {
	n, ok := jsvm.ToInt(v)
	if !ok {
		g.m.Throwf("cannot add %s: this holds integers", jsvm.Describe(v))
	}
	return n
}

// at is .at(k…), whose result has add and inc.
func (g *Aggregates) at(a *Aggregate, call goja.FunctionCall) goja.Value {
	key := g.key(call.Arguments)
	obj := g.vm.NewObject()
	obj.Set("add", g.m.Guarded("add", func(c goja.FunctionCall) goja.Value { return g.add(a, key, c.Argument(0)) }))
	obj.Set("inc", g.m.Guarded("inc", func(goja.FunctionCall) goja.Value { return g.add(a, key, g.vm.ToValue(1)) }))
	return obj
}

// mapSet is .set(k…, value).
func (g *Aggregates) mapSet(a *Aggregate, call goja.FunctionCall) goja.Value {
	n := len(call.Arguments)
	if n < 2 {
		g.m.Throwf("set needs a key and a value")
	}
	given, stored := call.Arguments[n-1], rtvalue.Value{}
	if f, ok := fraction(given); ok {
		stored = rtvalue.Value{Kind: rtvalue.KindFloat, Float: f}
	} else if _, ok := jsvm.ToInt(given); ok || goja.IsString(given) {
		stored = g.keyPart(given)
	} else {
		g.m.Throwf("%s cannot be in a map: numbers and text can", jsvm.Describe(given))
	}
	g.stored(a, a.Handle.Set(stored, g.key(call.Arguments[:n-1])...))
	return call.This
}

func (g *Aggregates) mapHas(a *Aggregate, call goja.FunctionCall) goja.Value {
	_, ok := g.table.Get(a.Object, g.key(call.Arguments))
	return g.vm.ToValue(ok)
}

func (g *Aggregates) mapDelete(a *Aggregate, call goja.FunctionCall) goja.Value {
	key := g.key(call.Arguments)
	return g.vm.ToValue(g.table.Delete(a.Object, key))
}

// mapInc is .inc(k…) and, where the number of key parts is known, .inc(k…, by): it adds, and returns the new value.
func (g *Aggregates) mapInc(a *Aggregate, call goja.FunctionCall) goja.Value {
	parts, by := call.Arguments, int64(1)
	if n := len(parts) - 1; n > 0 && n == a.Handle.Object().Keys {
		by = g.addend(parts[n])
		parts = parts[:n]
	}
	key := g.key(parts)
	g.stored(a, a.Handle.Add(by, key...))
	d, _ := g.table.Get(a.Object, key)
	return g.data(a.Kind, d)
}
