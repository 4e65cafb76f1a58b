package aggregate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dop251/goja"

	"gotap/compile/diag"
	"gotap/runtime/object"
	"gotap/script/jsvm"
	"gotap/script/source"
)

// kinds maps each built-in function that declares an aggregate to the kind it makes.
var kinds = map[string]object.Kind{
	"count": object.KindCount, "sum": object.KindSum, "min": object.KindMin, "max": object.KindMax, "avg": object.KindAvg,
	"stats": object.KindStats, "hist": object.KindHist, "lhist": object.KindLhist, "map": object.KindMap,
	"tseries": object.KindSeries,
}

// Builtin returns the built-in function of a name: (name?, {keys, max, full}), lhist with its bounds before or after
// its name.
func (g *Aggregates) Builtin(name string) jsvm.Native {
	return func(call goja.FunctionCall) goja.Value {
		if name == "min" || name == "max" {
			if v, ok := extreme(name, call.Arguments); ok {
				return v
			}
		}
		return g.declareCall(name, call)
	}
}

// extreme implements min and max of numbers; ok is false when the arguments declare an aggregation instead.
func extreme(name string, args []goja.Value) (goja.Value, bool) {
	if len(args) == 0 || goja.IsString(args[0]) || !goja.IsNumber(args[0]) && !goja.IsBigInt(args[0]) {
		return nil, false
	}
	best := args[0]
	for _, v := range args[1:] {
		if less := jsvm.ToFloat(v) < jsvm.ToFloat(best); less == (name == "min") && jsvm.ToFloat(v) != jsvm.ToFloat(best) {
			best = v
		}
	}
	return best, true
}

// declareCall declares the aggregate that a call describes.
func (g *Aggregates) declareCall(kind string, call goja.FunctionCall) goja.Value {
	at, errors := g.m.Site(), len(g.m.Diags)
	o := object.Object{Kind: kinds[kind], Keys: -1, Name: at.Name}
	o.Library = o.Kind == object.KindMap && source.InLibrary(at.Span())
	args, n := call.Arguments, 0
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
	case object.KindLhist:
		n = g.parseBounds(&o, at, args, n)
	case object.KindSeries:
		g.startSeries(&o)
	}
	if !named {
		name()
	}
	if n < len(args) && !goja.IsUndefined(args[n]) {
		g.parseOptions(&o, at, n, args[n])
		n++
	}
	if n < len(args) {
		g.m.Reject(at.ArgSpan(n), fmt.Sprintf(`%s("name", { %s })`, kind, strings.Join(optionsOf(o.Kind), ", ")), "%s does not take this", kind)
	}
	g.checkSeries(o, at)
	g.Broken = g.Broken || len(g.m.Diags) > errors
	_, obj := g.Declare(o, at)
	return obj
}

// parseBounds reads lo, hi and step from an argument on; it returns the position of the next argument.
func (g *Aggregates) parseBounds(o *object.Object, at source.Site, args []goja.Value, first int) int {
	words := [3]int64{}
	for k := range words {
		i := first + k
		n, ok := int64(0), i < len(args)
		if ok {
			n, ok = jsvm.ToInt(args[i])
		}
		if !ok {
			if i == len(args) && i == first && i > 0 {
				i-- // only a name: blame that
			}
			g.m.Reject(at.ArgSpan(i), "lhist(lo, hi, step)", "lhist needs three integers: lower bound, upper bound and step")
			return min(len(args), first+3)
		}
		words[k] = n
	}
	o.Lo, o.Hi, o.Step = words[0], words[1], words[2]
	switch {
	case o.Step <= 0:
		g.m.Reject(at.ArgSpan(first+2), "", "the step must be positive")
	case o.Hi <= o.Lo:
		g.m.Reject(at.ArgSpan(first+1), "", "the upper bound %d is not above the lower one %d", o.Hi, o.Lo)
	case uint64(o.Hi-o.Lo)/uint64(o.Step) > maxLhistBuckets:
		g.m.Reject(at.ArgSpan(first+2), "", "more than %d buckets", maxLhistBuckets)
	}
	return first + 3
}

// maxLhistBuckets is as in bpftrace.
const maxLhistBuckets = 1000

var fullPolicies = map[string]object.Full{"drop": object.FullDrop, "evict": object.FullEvict, "error": object.FullError}

// optionsOf returns the options of a kind.
func optionsOf(kind object.Kind) []string {
	switch kind {
	case object.KindSeries:
		return []string{"interval", "intervals", "of", "keys", "max"}
	case object.KindHist:
		return []string{"keys", "max", "full", "bits"}
	}
	return []string{"keys", "max", "full"}
}

// parseOptions reads { keys, max, full } and the options that only some kinds have.
func (g *Aggregates) parseOptions(o *object.Object, at source.Site, n int, v goja.Value) {
	known := optionsOf(o.Kind)
	for _, given := range g.m.Given(at, n, v, "{ keys: 1, max: 1000 }") {
		if !slices.Contains(known, given.Name) {
			given.Unknown(known)
			continue
		}
		switch given.Name {
		case "keys":
			o.Keys = keysOption(o.Kind, given)
		case "max":
			o.Max = int(given.Size(1, object.MaxKeys))
		case "full":
			policy, ok := fullPolicies[given.Value.String()]
			if !ok {
				given.Reject(`"drop", "evict" or "error"`, "full cannot be %s", jsvm.Describe(given.Value))
			}
			o.Full = policy
		case "bits":
			o.Bits = int(given.Size(0, object.MaxBits))
		default:
			seriesOption(o, given)
		}
	}
}

// Declare makes an object in the arena and in JavaScript. The first result is nil when it cannot be made, which has
// been reported then.
func (g *Aggregates) Declare(o object.Object, at source.Site) (*Aggregate, goja.Value) {
	a := &Aggregate{at: at.Span()}
	a.Object.Object = o
	if g.Broken {
		return nil, g.object(a)
	}
	made, _, err := g.table.Declare(o, false)
	if err != nil {
		g.Broken = true
		g.m.Reject(at.Span(), "", "cannot make %s: %v", label(o), err)
		return nil, g.object(a)
	}
	a.Object = made
	g.warnOfName(a)
	g.list = append(g.list, a)
	return a, g.object(a)
}

// warnOfName warns of an aggregation with the name of another one if their output looks the same.
func (g *Aggregates) warnOfName(a *Aggregate) {
	if !a.hasValues() || a.Name == "" || !g.m.Loading {
		return
	}
	for _, other := range g.list {
		if other.Name == a.Name && other.hasValues() && printsAlike(a.Kind, other.Kind) {
			g.m.Diags = append(g.m.Diags, diag.Diagnostic{Severity: diag.Warning, Span: a.at, Hint: "the other is declared at " + where(other.at),
				Text: fmt.Sprintf("two aggregations are named %q: their output cannot be told apart", a.Name)})
			return
		}
	}
}

// where returns a place in words: file:line:col.
func where(at diag.Span) string {
	if at.Source == nil {
		return "an unknown place"
	}
	return at.Source.Position(at.Start).String()
}

// printsAlike reports whether the output of two kinds looks the same.
func printsAlike(a, b object.Kind) bool {
	form := func(k object.Kind) object.Kind {
		switch k {
		case object.KindHist, object.KindLhist:
			return object.KindHist
		case object.KindStats, object.KindSeries:
			return k
		}
		return object.KindCount
	}
	return form(a) == form(b)
}

func label(o object.Object) string {
	if o.Name == "" {
		return "the object"
	}
	return o.Name
}

// PerThread implements perThread(init).
func (g *Aggregates) PerThread(call goja.FunctionCall) goja.Value {
	at := g.m.Site()
	o := object.Object{Kind: object.KindPerThread, Name: at.Name}
	if v := call.Argument(0); !goja.IsUndefined(v) {
		n, ok := jsvm.ToInt(v)
		if !ok {
			g.Broken = g.m.Loading
			hint := "perThread(0)"
			if goja.IsString(v) || goja.IsNull(v) {
				hint += "; for text, or a value that may be missing, const m = map() and m.set(c.tid, …)"
			}
			g.m.Reject(at.ArgSpan(0), hint, "a per-thread variable starts as an integer, not %s", jsvm.Describe(v))
		}
		o.Init = n
	}
	_, obj := g.Declare(o, at)
	return obj
}
