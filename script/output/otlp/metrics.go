package otlp

import (
	"maps"
	"math/bits"
	"slices"

	common "go.opentelemetry.io/proto/otlp/common/v1"
	metrics "go.opentelemetry.io/proto/otlp/metrics/v1"

	"gotap/script/output/metric"
)

// metricsOf returns a request with all metrics. Times are nanoseconds since 1970.
func metricsOf(s metric.Set, start, now uint64) message {
	at := times{start, now}
	var list []*metrics.Metric
	for _, f := range s.Families {
		list = append(list, at.metric(f))
	}
	return &metrics.MetricsData{ResourceMetrics: []*metrics.ResourceMetrics{{Resource: resourceOf(s.Identity), ScopeMetrics: []*metrics.ScopeMetrics{{Scope: scope(), Metrics: list}}}}}
}

// times are the beginning of the session and now.
type times struct{ start, now uint64 }

// metric returns a family in the type that fits.
func (t times) metric(f metric.Family) *metrics.Metric {
	m := &metrics.Metric{Name: f.Name, Description: f.Help}
	switch {
	case f.Kind == metric.Counter:
		m.Data = &metrics.Metric_Sum{Sum: &metrics.Sum{IsMonotonic: true, AggregationTemporality: cumulative, DataPoints: t.numbers(f)}}
	case f.Kind == metric.Gauge:
		m.Data = &metrics.Metric_Gauge{Gauge: &metrics.Gauge{DataPoints: t.numbers(f)}}
	case f.Kind == metric.Summary:
		d := &metrics.Summary{}
		for _, p := range f.Points {
			d.DataPoints = append(d.DataPoints, t.summary(p))
		}
		m.Data = &metrics.Metric_Summary{Summary: d}
	case exponential(f):
		d := &metrics.ExponentialHistogram{AggregationTemporality: cumulative}
		for _, p := range f.Points {
			d.DataPoints = append(d.DataPoints, t.powers(p))
		}
		m.Data = &metrics.Metric_ExponentialHistogram{ExponentialHistogram: d}
	default:
		d := &metrics.Histogram{AggregationTemporality: cumulative}
		for _, p := range f.Points {
			d.DataPoints = append(d.DataPoints, t.buckets(p))
		}
		m.Data = &metrics.Metric_Histogram{Histogram: d}
	}
	return m
}

func (t times) summary(p metric.Point) *metrics.SummaryDataPoint {
	d := &metrics.SummaryDataPoint{Attributes: attributes(p), StartTimeUnixNano: t.start, TimeUnixNano: t.now, Count: p.Count, Sum: p.Sum}
	for _, part := range slices.Sorted(maps.Keys(p.Quantiles)) {
		d.QuantileValues = append(d.QuantileValues, &metrics.SummaryDataPoint_ValueAtQuantile{Quantile: part, Value: p.Quantiles[part]})
	}
	return d
}

// cumulative: values count from the start of the session.
const cumulative = metrics.AggregationTemporality_AGGREGATION_TEMPORALITY_CUMULATIVE

func (t times) numbers(f metric.Family) (list []*metrics.NumberDataPoint) {
	for _, p := range f.Points {
		list = append(list, &metrics.NumberDataPoint{Attributes: attributes(p), StartTimeUnixNano: t.start, TimeUnixNano: t.now,
			Value: &metrics.NumberDataPoint_AsDouble{AsDouble: p.Value}})
	}
	return list
}

func attributes(p metric.Point) (list []*common.KeyValue) {
	for _, l := range p.Labels {
		list = append(list, text(l.Name, l.Value))
	}
	return list
}

// exponential reports whether a histogram of powers of two has only values from 0 on: it knows of a negative one only
// that it is negative.
func exponential(f metric.Family) bool {
	if f.Kind != metric.Histogram || !f.Powers {
		return false
	}
	for _, p := range f.Points {
		if len(p.Buckets) > 0 && p.Buckets[0].Min == nil {
			return false
		}
	}
	return true
}

// powers returns a histogram of scale 0: bucket i is of 2^i to 2^(i+1). OpenTelemetry counts the upper bound into a
// bucket and gotap the lower one, so that powers of two themselves are one bucket higher.
func (t times) powers(p metric.Point) *metrics.ExponentialHistogramDataPoint {
	d := &metrics.ExponentialHistogramDataPoint{Attributes: attributes(p), StartTimeUnixNano: t.start, TimeUnixNano: t.now, Count: p.Count,
		Positive: &metrics.ExponentialHistogramDataPoint_Buckets{}}
	for _, b := range p.Buckets {
		if *b.Min == 0 {
			d.ZeroCount = b.Count
			continue
		}
		index := int32(bits.Len64(uint64(*b.Min))) - 1
		if d.Positive.BucketCounts == nil {
			d.Positive.Offset = index
		}
		for int32(len(d.Positive.BucketCounts)) < index-d.Positive.Offset {
			d.Positive.BucketCounts = append(d.Positive.BucketCounts, 0)
		}
		d.Positive.BucketCounts = append(d.Positive.BucketCounts, b.Count)
	}
	return d
}

// buckets returns a histogram with the bounds that it has. There is one more count than bounds.
func (t times) buckets(p metric.Point) *metrics.HistogramDataPoint {
	d := &metrics.HistogramDataPoint{Attributes: attributes(p), StartTimeUnixNano: t.start, TimeUnixNano: t.now, Count: p.Count}
	var last uint64
	for i, b := range p.Buckets {
		if i == 0 && b.Min != nil {
			d.ExplicitBounds, d.BucketCounts = append(d.ExplicitBounds, float64(*b.Min-1)), append(d.BucketCounts, 0)
		}
		if b.Max == nil {
			last = b.Count
			continue
		}
		d.ExplicitBounds, d.BucketCounts = append(d.ExplicitBounds, float64(*b.Max)), append(d.BucketCounts, b.Count)
	}
	d.BucketCounts = append(d.BucketCounts, last)
	return d
}
