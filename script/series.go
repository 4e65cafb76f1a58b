package script

import (
	"time"

	"github.com/dop251/goja"

	"gotap/compile/diag"
	"gotap/runtime"
)

// What a time series is when nothing is said: a minute in seconds.
const (
	seriesInterval  = time.Second
	seriesIntervals = 60
)

// seriesOf are the words for what an interval holds.
var seriesOf = map[string]runtime.ObjectKind{"sum": runtime.KindSum, "min": runtime.KindMin, "max": runtime.KindMax, "avg": runtime.KindAvg}

// startSeries fills in what the options may change, and how the clock of hits relates to that on the wall.
func (s *Script) startSeries(o *runtime.Object) {
	o.Step, o.Size, o.Of, o.Full = int64(seriesInterval), seriesIntervals, runtime.KindSum, runtime.FullEvict
	if s.clockAhead == 0 {
		wall := ask(s, func() string { return "wall clock" }, true, func() int64 { return time.Now().UnixNano() })
		s.clockAhead = wall - s.monotonic()
	}
	o.Init = s.clockAhead
}

// keysOption reads how many parts a key has. That of a series has the interval besides.
func (s *Script) keysOption(o *runtime.Object, at diag.Span, v goja.Value) {
	own := int64(0)
	if o.Kind == runtime.KindSeries {
		own = 1
	}
	o.Keys = int(s.intOption(at, "keys", v, 0, runtime.MaxKeyParts-own) + own)
}

// seriesOption reads one of the options that only series have.
func (s *Script) seriesOption(o *runtime.Object, at diag.Span, name string, v goja.Value) {
	switch name {
	case "interval":
		d, err := interval(v)
		if err != nil {
			s.reject(at, `"100ms", "1s", "5m", or a number of milliseconds`, "%v", err)
			return
		}
		o.Step = int64(d)
	case "intervals":
		o.Size = int(s.intOption(at, name, v, 1, runtime.MaxIntervals))
	case "of":
		kind, ok := seriesOf[v.String()]
		if !ok {
			s.reject(at, `"sum", "min", "max" or "avg"`, "of cannot be %s", describe(v))
			return
		}
		o.Of = kind
	}
}

// checkSeries refuses more cells than an object can have.
func (s *Script) checkSeries(o runtime.Object, at site) {
	if o.Kind == runtime.KindSeries && int64(o.Max)*int64(o.Size) > runtime.MaxKeys {
		s.reject(at.span(), "fewer intervals, or a smaller max", "%d intervals of %d keys: there can be %d in all", o.Size, o.Max, runtime.MaxKeys)
	}
}

// seriesGet is get() of a series: the points of one key.
func (s *Script) seriesGet(a *aggregate, key []runtime.Value) goja.Value {
	for _, e := range s.content(a).Entries {
		if keyText(e.Key) == keyText(key) {
			return s.pointsValue(e.Data.Points)
		}
	}
	if len(key) > 0 {
		return goja.Undefined()
	}
	return s.empty(a.object)
}

// pointsValue is a list of {start, value}.
func (s *Script) pointsValue(points []runtime.Point) goja.Value {
	list := make([]any, len(points))
	for i, p := range points {
		obj := s.vm.NewObject()
		obj.Set("start", s.integer(p.Start))
		if !p.Empty {
			obj.Set("value", s.integer(p.Value))
		}
		list[i] = obj
	}
	return s.vm.NewArray(list...)
}
