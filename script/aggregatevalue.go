package script

import (
	"errors"
	"github.com/dop251/goja"

	"gotap/runtime"
)

// key converts arguments to the parts of a key.
func (s *Script) key(args []goja.Value) []runtime.Value {
	key := make([]runtime.Value, len(args))
	for i, v := range args {
		key[i] = s.keyPart(v)
	}
	return key
}

func (s *Script) keyPart(v goja.Value) runtime.Value {
	if goja.IsString(v) {
		return runtime.Text(v.String())
	}
	if b, ok := v.Export().(bool); ok {
		return runtime.Int(boolInt(b))
	}
	n, ok := toInt(v)
	if !ok {
		s.throwf("%s cannot be part of a key: integers and text can", describe(v))
	}
	return runtime.Int(n)
}

// keyValue is a key as JavaScript sees it: the part itself, or an array of two parts and more.
func (s *Script) keyValue(key []runtime.Value) goja.Value {
	if len(key) == 1 {
		return s.value(key[0])
	}
	parts := make([]any, len(key))
	for i, part := range key {
		parts[i] = s.value(part)
	}
	return s.vm.NewArray(parts...)
}

// data is what an aggregate holds for one key as JavaScript sees it: a number, a text, or for stats and histograms an object.
func (s *Script) data(o runtime.Object, d runtime.Data) goja.Value {
	switch {
	case o.Kind == runtime.KindStats:
		return s.statsValue(d)
	case o.Kind == runtime.KindSeries:
		return s.pointsValue(d.Points)
	case o.Kind == runtime.KindHist || o.Kind == runtime.KindLhist:
		return s.bucketsValue(d)
	case d.IsText:
		return s.vm.ToValue(cutMark(d.Text, d.Cut))
	}
	return s.integer(d.Int)
}

func (s *Script) statsValue(d runtime.Data) goja.Value {
	obj := s.vm.NewObject()
	average := int64(0)
	if d.Count != 0 {
		average = d.Sum / d.Count
	}
	obj.Set("count", s.integer(d.Count))
	obj.Set("average", s.integer(average))
	obj.Set("total", s.integer(d.Sum))
	return obj
}

func (s *Script) bucketsValue(d runtime.Data) goja.Value {
	list := make([]any, len(d.Buckets))
	for i, b := range d.Buckets {
		obj := s.vm.NewObject()
		if b.Min != nil {
			obj.Set("min", s.integer(*b.Min))
		}
		if b.Max != nil {
			obj.Set("max", s.integer(*b.Max))
		}
		obj.Set("count", s.unsigned(b.Count))
		list[i] = obj
	}
	obj := s.vm.NewObject()
	obj.Set("buckets", s.vm.NewArray(list...))
	return obj
}

// empty is the value of a key that nothing was ever added to.
func (s *Script) empty(o runtime.Object) goja.Value {
	if o.Kind == runtime.KindCount || o.Kind == runtime.KindSum {
		return s.vm.ToValue(0)
	}
	if o.Kind == runtime.KindSeries {
		return s.vm.NewArray()
	}
	return goja.Undefined()
}

func (s *Script) aggGet(a *aggregate, call goja.FunctionCall) goja.Value {
	if a.object.Kind == runtime.KindSeries {
		return s.seriesGet(a, s.key(call.Arguments))
	}
	d, ok := s.lookAt(a.object, a.id, a.handle, s.key(call.Arguments))
	if !ok {
		if len(call.Arguments) > 0 {
			return goja.Undefined()
		}
		return s.empty(a.object)
	}
	return s.data(a.object, d)
}

func (s *Script) aggEntries(a *aggregate, _ goja.FunctionCall) goja.Value {
	return s.entries(s.content(a))
}

func (s *Script) entries(snap runtime.Snapshot) goja.Value {
	list := make([]any, len(snap.Entries))
	for i, e := range snap.Entries {
		list[i] = s.vm.NewArray(s.keyValue(e.Key), s.data(snap.Object, e.Data))
	}
	return s.vm.NewArray(list...)
}

func (s *Script) aggClear(a *aggregate, _ goja.FunctionCall) goja.Value {
	a.handle.Clear()
	a.printed = false
	return nil
}

// aggTake gives what there is, as get or entries would, and leaves nothing.
func (s *Script) aggTake(a *aggregate, _ goja.FunctionCall) goja.Value {
	snap := s.takeAll(a)
	a.printed = false
	if isKeyed(a, snap) {
		return s.entries(snap)
	}
	if len(snap.Entries) == 0 {
		return s.empty(a.object)
	}
	return s.data(snap.Object, snap.Entries[0].Data)
}

func isKeyed(a *aggregate, snap runtime.Snapshot) bool {
	if len(snap.Entries) > 0 {
		return len(snap.Entries[0].Key) > 0
	}
	return a.object.UserKeys() > 0 || snap.Object.UserKeys() > 0 || a.object.Kind == runtime.KindMap
}

// aggPrint is print({ top, div }).
func (s *Script) aggPrint(a *aggregate, call goja.FunctionCall) goja.Value {
	var o runtime.PrintOptions
	if v := call.Argument(0); !goja.IsUndefined(v) {
		s.printOptions(&o, v)
	}
	s.printSnapshot(a, s.content(a), o)
	a.printed = true
	return nil
}

// printOptions reads { top, div }. One that is undefined is as if it were not there: so a script can leave it to its user.
func (s *Script) printOptions(o *runtime.PrintOptions, v goja.Value) {
	at := s.site()
	obj, ok := v.(*goja.Object)
	if !ok || obj.ClassName() != "Object" {
		s.reject(at.argSpan(0), "print({ top: 10 })", "options are an object, not %s", describe(v))
		return
	}
	for _, key := range obj.Keys() {
		value, span := obj.Get(key), at.propertySpan(0, key, true)
		switch {
		case key != "top" && key != "div":
			s.reject(at.propertySpan(0, key, false), nearest(key, []string{"top", "div"}), "print has no option %s", key)
		case goja.IsUndefined(value):
		case key == "top":
			o.Top = int(s.intOption(span, key, value, 1, runtime.MaxKeys))
		default:
			o.Div = int(s.intOption(span, key, value, 1, maxSafe))
		}
	}
}

// aggJSON is what JSON.stringify and JSON output show.
func (s *Script) aggJSON(a *aggregate, _ goja.FunctionCall) goja.Value {
	snap := s.content(a)
	if isKeyed(a, snap) {
		return s.entries(snap)
	}
	if len(snap.Entries) == 0 {
		return s.empty(a.object)
	}
	return s.data(snap.Object, snap.Entries[0].Data)
}

func (s *Script) aggString(a *aggregate, _ goja.FunctionCall) goja.Value {
	return s.vm.ToValue(s.textOf(a))
}

// stored throws what went wrong when a callback stored something. What an object that is full drops, as it was told to, is counted,
// and no error.
func (s *Script) stored(a *aggregate, err error) {
	if errors.Is(err, runtime.ErrFull) && a.object.Full == runtime.FullDrop {
		return
	}
	s.must(err)
}

func (s *Script) aggAdd(a *aggregate, key []runtime.Value, v goja.Value) goja.Value {
	n := s.addend(v)
	if a.object.Kind == runtime.KindSeries {
		o := a.handle.Object() // of the version before, maybe, whose clock counts
		key = append([]runtime.Value{runtime.Int(o.Interval(s.monotonic()))}, key...)
	}
	s.stored(a, a.handle.Add(n, key...))
	return nil
}

// addend is what a callback adds; anything but an integer is an error of the script.
func (s *Script) addend(v goja.Value) int64 {
	n, ok := toInt(v)
	if !ok {
		s.throwf("cannot add %s: aggregations hold integers", describe(v))
	}
	return n
}

// aggAt is .at(k…), whose result has add and inc.
func (s *Script) aggAt(a *aggregate, call goja.FunctionCall) goja.Value {
	key := s.key(call.Arguments)
	obj := s.vm.NewObject()
	obj.Set("add", s.guarded("add", func(c goja.FunctionCall) goja.Value { return s.aggAdd(a, key, c.Argument(0)) }))
	obj.Set("inc", s.guarded("inc", func(goja.FunctionCall) goja.Value { return s.aggAdd(a, key, s.vm.ToValue(1)) }))
	return obj
}

// mapSet is .set(k…, value).
func (s *Script) mapSet(a *aggregate, call goja.FunctionCall) goja.Value {
	n := len(call.Arguments)
	if n < 2 {
		s.throwf("set needs a key and a value")
	}
	value := call.Arguments[n-1]
	if _, ok := toInt(value); !ok && !goja.IsString(value) {
		s.throwf("%s cannot be in a map: integers and text can", describe(value))
	}
	s.stored(a, a.handle.Set(s.keyPart(value), s.key(call.Arguments[:n-1])...))
	return call.This
}

func (s *Script) mapHas(a *aggregate, call goja.FunctionCall) goja.Value {
	_, ok := s.lookAt(a.object, a.id, a.handle, s.key(call.Arguments))
	return s.vm.ToValue(ok)
}

func (s *Script) mapDelete(a *aggregate, call goja.FunctionCall) goja.Value {
	key := s.key(call.Arguments)
	gone := s.looked(a.object, a.id, "delete "+keyText(key), func() []runtime.Entry {
		if a.handle.Delete(key...) {
			return []runtime.Entry{{}}
		}
		return nil
	})
	return s.vm.ToValue(len(gone) > 0)
}

// mapInc is .inc(k…) and, where the number of key parts is known as in programs, .inc(k…, by): it adds, and gives the new value.
func (s *Script) mapInc(a *aggregate, call goja.FunctionCall) goja.Value {
	parts, by := call.Arguments, int64(1)
	if n := len(parts) - 1; n > 0 && n == a.handle.Object().Keys {
		by = s.addend(parts[n])
		parts = parts[:n]
	}
	key := s.key(parts)
	s.stored(a, a.handle.Add(by, key...))
	d, _ := s.lookAt(a.object, a.id, a.handle, key)
	return s.integer(d.Int)
}
