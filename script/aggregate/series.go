package aggregate

import (
	"time"

	"github.com/dop251/goja"

	"gotap/runtime/key"
	"gotap/runtime/object"
	"gotap/runtime/snapshot"
	"gotap/runtime/value"
	"gotap/script/journal"
	"gotap/script/jsvm"
	"gotap/script/shared"
	"gotap/script/source"
)

// The defaults of a time series: a minute in seconds.
const (
	seriesInterval  = time.Second
	seriesIntervals = 60
)

// seriesOf are the operations of a series.
var seriesOf = map[string]object.Kind{"sum": object.KindSum, "min": object.KindMin, "max": object.KindMax, "avg": object.KindAvg}

// startSeries sets the defaults, and how far the wall clock is ahead of the clock of hits.
func (g *Aggregates) startSeries(o *object.Object) {
	o.Step, o.Size, o.Of, o.Full = int64(seriesInterval), seriesIntervals, object.KindSum, object.FullEvict
	if g.clockAhead == 0 {
		wall := journal.Ask(g.world, func() string { return "wall clock" }, true, func() int64 { return time.Now().UnixNano() })
		g.clockAhead = wall - g.clock()
	}
	o.Init = g.clockAhead
}

// keysOption reads how many parts a key has. The key of a series has the interval besides.
func keysOption(kind object.Kind, given jsvm.Given) int {
	own := int64(0)
	if kind == object.KindSeries {
		own = 1
	}
	return int(given.Size(0, key.MaxParts-own) + own)
}

// seriesOption reads one of the options that only series have.
func seriesOption(o *object.Object, given jsvm.Given) {
	switch given.Name {
	case "interval":
		d, err := jsvm.Interval(given.Value)
		if err != nil {
			given.Reject(`"100ms", "1s", "5m", or a number of milliseconds`, "%v", err)
			return
		}
		o.Step = int64(d)
	case "intervals":
		o.Size = int(given.Size(1, object.MaxIntervals))
	case "of":
		kind, ok := seriesOf[given.Value.String()]
		if !ok {
			given.Reject(`"sum", "min", "max" or "avg"`, "of cannot be %s", jsvm.Describe(given.Value))
			return
		}
		o.Of = kind
	}
}

// checkSeries refuses more cells than an object can have.
func (g *Aggregates) checkSeries(o object.Object, at source.Site) {
	if o.Kind == object.KindSeries && int64(o.Max)*int64(o.Size) > object.MaxKeys {
		g.m.Reject(at.Span(), "fewer intervals, or a smaller max", "%d intervals of %d keys: there can be %d in all", o.Size, o.Max, object.MaxKeys)
	}
}

// seriesGet implements get() of a series: the points of one key.
func (g *Aggregates) seriesGet(a *Aggregate, key []value.Value) goja.Value {
	for _, e := range g.table.Entries(a.Object).Entries {
		if shared.KeyText(e.Key) == shared.KeyText(key) {
			return g.pointsValue(e.Data.Points)
		}
	}
	if len(key) > 0 {
		return goja.Undefined()
	}
	return g.empty(a.Kind)
}

// pointsValue returns a list of {start, value}.
func (g *Aggregates) pointsValue(points []snapshot.Point) goja.Value {
	list := make([]any, len(points))
	for i, p := range points {
		obj := g.vm.NewObject()
		obj.Set("start", g.m.Integer(p.Start))
		if !p.Empty {
			obj.Set("value", g.m.Integer(p.Value))
		}
		list[i] = obj
	}
	return g.vm.NewArray(list...)
}
