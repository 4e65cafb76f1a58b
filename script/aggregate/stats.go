package aggregate

import (
	"github.com/dop251/goja"

	"gotap/runtime/snapshot"
	"gotap/script/jsvm"
)

// statsValue returns what stats hold, as JSON has it, with the method quantile.
func (g *Aggregates) statsValue(d snapshot.Data) goja.Value {
	obj, s := g.vm.NewObject(), d.Summary()
	obj.Set("count", g.m.Integer(s.Count))
	obj.Set("average", g.values.Value(s.Average))
	obj.Set("total", g.values.Value(s.Total))
	if s.Count == 0 {
		return obj
	}
	obj.Set("variance", s.Variance)
	obj.Set("stddev", s.Deviation)
	obj.Set("min", g.values.Value(s.Min))
	obj.Set("p50", g.values.Value(s.Quantiles[0]))
	obj.Set("p90", g.values.Value(s.Quantiles[1]))
	obj.Set("p99", g.values.Value(s.Quantiles[2]))
	obj.Set("max", g.values.Value(s.Max))
	g.m.Method(obj, "quantile", func(call goja.FunctionCall) goja.Value {
		part := call.Argument(0)
		p := jsvm.ToFloat(part)
		if !goja.IsNumber(part) || !(p >= 0 && p <= 1) {
			g.m.Throwf("quantile takes a number from 0 to 1, as quantile(0.99), not %s", jsvm.Describe(part))
		}
		return g.values.Value(d.Quantile(p))
	})
	return obj
}
