package script

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dop251/goja"

	"gotap/compile/diag"
	"gotap/compile/js"
	"gotap/runtime"
	"gotap/script/output"
)

// aggregate is an aggregation, map, per-thread variable, trail or recorder of the script.
type aggregate struct {
	id      int
	object  runtime.Object
	handle  *runtime.Handle
	at      diag.Span
	printed bool     // its present content has been printed by the script
	on      []string // a recorder: what it is dumped on
}

// binding is what it is to programs.
func (a *aggregate) binding() js.BindingKind {
	switch a.object.Kind {
	case runtime.KindMap:
		return js.BindMap
	case runtime.KindPerThread:
		return js.BindPerThread
	case runtime.KindTrail:
		return js.BindTrail
	case runtime.KindRecorder:
		return js.BindRecorder
	}
	return js.BindAgg
}

// aggregateKinds are the builtins that make aggregations.
var aggregateKinds = map[string]runtime.ObjectKind{
	"count": runtime.KindCount, "sum": runtime.KindSum, "min": runtime.KindMin, "max": runtime.KindMax, "avg": runtime.KindAvg,
	"stats": runtime.KindStats, "hist": runtime.KindHist, "lhist": runtime.KindLhist, "map": runtime.KindMap,
	"tseries": runtime.KindSeries,
}

// aggregateBuiltin is the builtin that makes a kind of aggregation: (name?, {keys, max, full}), lhist with its bounds before or after
// its name.
func aggregateBuiltin(name string) func(*Script, goja.FunctionCall) goja.Value {
	return func(s *Script, call goja.FunctionCall) goja.Value {
		if name == "min" || name == "max" {
			if v, ok := s.extreme(name, call.Arguments); ok {
				return v
			}
		}
		return s.newAggregate(name, call)
	}
}

func (s *Script) newAggregate(kind string, call goja.FunctionCall) goja.Value {
	at, errors := s.site(), len(s.diags)
	o := runtime.Object{Kind: aggregateKinds[kind], Keys: -1}
	args, n := call.Arguments, 0
	o.Name = at.call.Name
	name := func() bool {
		if n < len(args) && goja.IsString(args[n]) {
			o.Name = args[n].String()
			n++
			return true
		}
		return false
	}
	named := name()
	switch o.Kind {
	case runtime.KindLhist:
		n = s.parseBounds(&o, at, args, n)
	case runtime.KindSeries:
		s.startSeries(&o)
	}
	if !named {
		name()
	}
	if n < len(args) && !goja.IsUndefined(args[n]) {
		s.parseAggOptions(&o, at, n, args[n])
		n++
	}
	if n < len(args) {
		s.reject(at.argSpan(n), fmt.Sprintf(`%s("name", { %s })`, kind, strings.Join(aggOptions(o.Kind), ", ")), "%s does not take this", kind)
	}
	s.checkSeries(o, at)
	s.broken = s.broken || len(s.diags) > errors
	return s.declareAggregate(o, at)
}

// parseBounds reads lo, hi and step, from an argument on; it gives the number of arguments used.
func (s *Script) parseBounds(o *runtime.Object, at site, args []goja.Value, first int) int {
	words := [3]int64{}
	for k := range words {
		i := first + k
		n, ok := int64(0), i < len(args)
		if ok {
			n, ok = toInt(args[i])
		}
		if !ok {
			if i == len(args) && i == first && i > 0 {
				i-- // only a name: it stands where the bounds should
			}
			s.reject(at.argSpan(i), "lhist(lo, hi, step)", "lhist needs three integers: where it begins and ends, and the step")
			return min(len(args), first+3)
		}
		words[k] = n
	}
	o.Lo, o.Hi, o.Step = words[0], words[1], words[2]
	switch {
	case o.Step <= 0:
		s.reject(at.argSpan(first+2), "", "the step must be positive")
	case o.Hi <= o.Lo:
		s.reject(at.argSpan(first+1), "", "the upper bound %d is not above the lower one %d", o.Hi, o.Lo)
	case uint64(o.Hi-o.Lo)/uint64(o.Step) > maxLhistBuckets:
		s.reject(at.argSpan(first+2), "", "more than %d buckets", maxLhistBuckets)
	}
	return first + 3
}

// maxLhistBuckets is as in bpftrace.
const maxLhistBuckets = 1000

var fullPolicies = map[string]runtime.Full{"drop": runtime.FullDrop, "evict": runtime.FullEvict, "error": runtime.FullError}

// aggOptions are the options of a kind.
func aggOptions(kind runtime.ObjectKind) []string {
	switch kind {
	case runtime.KindSeries:
		return []string{"interval", "intervals", "of", "keys", "max"}
	case runtime.KindHist:
		return []string{"keys", "max", "full", "bits"}
	}
	return []string{"keys", "max", "full"}
}

// parseAggOptions reads { keys, max, full }, and what only some kinds have.
func (s *Script) parseAggOptions(o *runtime.Object, at site, n int, v goja.Value) {
	obj, ok := v.(*goja.Object)
	if !ok || obj.ClassName() != "Object" {
		s.reject(at.argSpan(n), "{ keys: 1, max: 1000 }", "options are an object, not %s", describe(v))
		return
	}
	for _, key := range obj.Keys() {
		value := obj.Get(key)
		span := at.propertySpan(n, key, true)
		switch {
		case !slices.Contains(aggOptions(o.Kind), key):
			s.reject(at.propertySpan(n, key, false), nearest(key, aggOptions(o.Kind)), "there is no option %s", key)
		case key == "keys":
			s.keysOption(o, span, value)
		case key == "max":
			o.Max = int(s.intOption(span, key, value, 1, runtime.MaxKeys))
		case key == "full":
			policy, ok := fullPolicies[value.String()]
			if !ok {
				s.reject(span, `"drop", "evict" or "error"`, "full cannot be %s", describe(value))
			}
			o.Full = policy
		case key == "bits":
			o.Bits = int(s.intOption(span, key, value, 0, runtime.MaxBits))
		default:
			s.seriesOption(o, span, key, value)
		}
	}
}

func (s *Script) intOption(at diag.Span, name string, v goja.Value, lo, hi int64) int64 {
	n, ok := toInt(v)
	if !ok || n < lo || n > hi {
		s.reject(at, "", "%s must be an integer from %d to %d, not %s", name, lo, hi, describe(v))
		return lo
	}
	return n
}

// hasValues reports whether there is anything of it that the host can see.
func (a *aggregate) hasValues() bool { return hasValues(a.object) }

func hasValues(o runtime.Object) bool {
	return o.Kind != runtime.KindPerThread && o.Kind != runtime.KindTrail && o.Kind != runtime.KindRecorder
}

// declareAggregate makes the object in the arena and in JavaScript.
func (s *Script) declareAggregate(o runtime.Object, at site) goja.Value {
	if s.broken {
		return s.aggregateObject(&aggregate{object: o})
	}
	id, ok := s.adopted(o, false)
	if !ok {
		var err error
		if id, err = s.arena.Declare(o); err != nil {
			s.broken = true
			s.reject(at.span(), "", "cannot make %s: %v", label(o), err)
			return s.aggregateObject(&aggregate{object: o})
		}
	}
	a := &aggregate{id: id, object: o, handle: s.arena.Handle(id), at: at.span()}
	s.warnOfName(a)
	s.aggregates = append(s.aggregates, a)
	s.keepShared(sharedObject{o, id})
	return s.aggregateObject(a)
}

// warnOfName tells of an aggregation with the name of another, from which its output cannot be told apart.
func (s *Script) warnOfName(a *aggregate) {
	if !hasValues(a.object) || a.object.Name == "" || !s.loading {
		return
	}
	for _, other := range s.aggregates {
		if other.object.Name == a.object.Name && hasValues(other.object) && printsAlike(a.object.Kind, other.object.Kind) {
			s.diags = append(s.diags, diag.Diagnostic{Severity: diag.Warning, Span: a.at, Hint: "the other is declared at " + where(other.at),
				Text: fmt.Sprintf("two aggregations are named %q: what they print cannot be told apart", a.object.Name)})
			return
		}
	}
}

// where is a place in words: file:line:col.
func where(at diag.Span) string {
	if at.Source == nil {
		return "a place that is not known"
	}
	return at.Source.Position(at.Start).String()
}

// printsAlike reports whether the output of two kinds looks the same.
func printsAlike(a, b runtime.ObjectKind) bool {
	form := func(k runtime.ObjectKind) runtime.ObjectKind {
		switch k {
		case runtime.KindHist, runtime.KindLhist:
			return runtime.KindHist
		case runtime.KindStats, runtime.KindSeries:
			return k
		}
		return runtime.KindCount
	}
	return form(a) == form(b)
}

func label(o runtime.Object) string {
	if o.Name == "" {
		return "the object"
	}
	return o.Name
}

// jsPerThread is perThread(init).
func (s *Script) jsPerThread(call goja.FunctionCall) goja.Value {
	at := s.site()
	o := runtime.Object{Kind: runtime.KindPerThread, Name: at.call.Name}
	if v := call.Argument(0); !goja.IsUndefined(v) {
		n, ok := toInt(v)
		if !ok {
			s.broken = s.loading
			hint := "perThread(0)"
			if goja.IsString(v) || goja.IsNull(v) {
				hint += "; for text, or what is not there yet, const m = map() and m.set(c.tid, …)"
			}
			s.reject(at.argSpan(0), hint, "a per-thread variable starts as an integer, not %s", describe(v))
		}
		o.Init = n
	}
	return s.declareAggregate(o, at)
}

// aggregateObject is the JavaScript side of an aggregate.
func (s *Script) aggregateObject(a *aggregate) goja.Value {
	proto := s.aggProto
	switch a.object.Kind {
	case runtime.KindMap:
		proto = s.mapProto
	case runtime.KindPerThread:
		proto = s.threadProto
	case runtime.KindTrail:
		proto = s.trailProto
	case runtime.KindRecorder:
		proto = s.recorderProto
	}
	obj := s.vm.CreateObject(proto)
	obj.DefineDataPropertySymbol(s.symAggregate, s.vm.ToValue(a), goja.FLAG_FALSE, goja.FLAG_FALSE, goja.FLAG_FALSE)
	return obj
}

// aggregateOf finds the aggregate that an object stands for, or nil.
func (s *Script) aggregateOf(obj *goja.Object) *aggregate {
	v := obj.GetSymbol(s.symAggregate)
	if v == nil || goja.IsUndefined(v) {
		return nil
	}
	a, _ := v.Export().(*aggregate)
	return a
}

// self is the aggregate a method was called on.
func (s *Script) self(call goja.FunctionCall) *aggregate {
	if obj, ok := call.This.(*goja.Object); ok {
		if a := s.aggregateOf(obj); a != nil && a.handle != nil {
			return a
		}
	}
	s.throwf("this is a method of aggregations and maps")
	return nil
}

// printSnapshot prints an aggregate's content; an empty one prints nothing.
func (s *Script) printSnapshot(a *aggregate, snap runtime.Snapshot, o runtime.PrintOptions) {
	if len(snap.Entries) == 0 {
		return
	}
	o.Name = a.object.Name
	o.Stack = s.stackLines
	s.out.Aggregate(output.Aggregate{Snapshot: snap, Options: o})
}

// printRest prints, at the end of a run, what the script has left unprinted, in the order of declaration.
func (s *Script) printRest() {
	for _, a := range s.aggregates {
		if a.hasValues() && !a.printed {
			s.printSnapshot(a, a.handle.Entries(), runtime.PrintOptions{})
		}
	}
}

// PrintAll prints every aggregation as it is now, of scripts that were inserted as well, and then calls more, on the host's
// goroutine. Nothing is cleared, and what was never printed otherwise still prints at the end. Safe for concurrent use; it does not
// block. One that has not been done yet stands for a further one too.
func (s *Script) PrintAll(more func()) {
	all := func() {
		s.printAll()
		for _, g := range s.host.guests {
			g.printAll()
		}
		more()
	}
	select {
	case s.host.asked <- all:
	default:
	}
}

func (s *Script) printAll() {
	for _, a := range s.aggregates {
		if a.hasValues() {
			s.printSnapshot(a, a.handle.Entries(), runtime.PrintOptions{})
		}
	}
}

// method defines a method of a prototype.
func (s *Script) method(proto *goja.Object, name string, f func(*aggregate, goja.FunctionCall) goja.Value) {
	fn := s.vm.ToValue(s.guarded(name, func(call goja.FunctionCall) goja.Value { return f(s.self(call), call) }))
	proto.DefineDataProperty(name, fn, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE)
}

// installAggregates makes the prototypes.
func (s *Script) installAggregates() {
	s.aggProto, s.mapProto, s.threadProto = s.vm.NewObject(), s.vm.NewObject(), s.vm.NewObject()
	for _, proto := range []*goja.Object{s.aggProto, s.mapProto} {
		s.method(proto, "get", s.aggGet)
		s.method(proto, "entries", s.aggEntries)
		s.method(proto, "clear", s.aggClear)
		s.method(proto, "take", s.aggTake)
		s.method(proto, "print", s.aggPrint)
		s.method(proto, "toJSON", s.aggJSON)
		s.method(proto, "toString", s.aggString)
		s.iterable(proto)
	}
	s.method(s.aggProto, "add", func(a *aggregate, c goja.FunctionCall) goja.Value { return s.aggAdd(a, nil, c.Argument(0)) })
	s.method(s.aggProto, "inc", func(a *aggregate, c goja.FunctionCall) goja.Value { return s.aggAdd(a, nil, s.vm.ToValue(1)) })
	s.method(s.aggProto, "at", s.aggAt)
	s.method(s.mapProto, "set", s.mapSet)
	s.method(s.mapProto, "has", s.mapHas)
	s.method(s.mapProto, "delete", s.mapDelete)
	s.method(s.mapProto, "inc", s.mapInc)
	value := s.vm.ToValue(s.guarded("value", func(goja.FunctionCall) goja.Value {
		s.throwf("a per-thread variable has a value only in programs: each thread has its own")
		return nil
	}))
	s.installAside()
	s.threadProto.DefineAccessorProperty("value", value, value, goja.FLAG_FALSE, goja.FLAG_FALSE)
}

// iterable makes for…of and spreading walk the entries.
func (s *Script) iterable(proto *goja.Object) {
	walk := s.vm.ToValue(s.guarded("iterator", func(c goja.FunctionCall) goja.Value {
		list := s.aggEntries(s.self(c), c).(*goja.Object)
		values, _ := goja.AssertFunction(list.GetSymbol(goja.SymIterator))
		it, err := values(list)
		if err != nil {
			panic(err)
		}
		return it
	}))
	proto.DefineDataPropertySymbol(goja.SymIterator, walk, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE)
}

// textOf renders a snapshot as text.
func (s *Script) textOf(a *aggregate) string {
	var b strings.Builder
	s.content(a).Print(&b, runtime.PrintOptions{Name: a.object.Name, Stack: s.stackLines})
	return strings.TrimSuffix(b.String(), "\n")
}
