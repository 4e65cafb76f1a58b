// Package openmetrics writes metrics as text for Prometheus: in OpenMetrics, or in the older format that all readers
// know.
package openmetrics

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/common/expfmt"

	"gotap/script/output/metric"
)

// Write writes metrics in OpenMetrics, with "# EOF" at the end.
func Write(w io.Writer, s metric.Set) error {
	return write(w, s, expfmt.NewFormat(expfmt.TypeOpenMetrics))
}

// Respond writes metrics in the format that a reader asks for.
func Respond(w http.ResponseWriter, r *http.Request, s metric.Set) error {
	format := expfmt.NegotiateAccept(r.Header, expfmt.DefaultOpenMetricsAcceptedFormats()...)
	if t := format.FormatType(); t != expfmt.TypeOpenMetrics && t != expfmt.TypeTextPlain {
		format = expfmt.NewFormat(expfmt.TypeTextPlain)
	}
	w.Header().Set("Content-Type", string(format))
	return write(w, s, format)
}

// write gathers the metrics, which checks them, and writes them at once.
func write(w io.Writer, s metric.Set, format expfmt.Format) error {
	registry := prometheus.NewRegistry()
	if err := registry.Register(collector{s}); err != nil {
		return err
	}
	families, err := registry.Gather()
	if err != nil {
		return fmt.Errorf("cannot make metrics: %w", err)
	}
	var b bytes.Buffer
	enc := expfmt.NewEncoder(&b, format)
	for _, f := range families {
		if err := enc.Encode(f); err != nil {
			return err
		}
	}
	if c, ok := enc.(expfmt.Closer); ok {
		if err := c.Close(); err != nil {
			return err
		}
	}
	_, err = w.Write(withoutSums(b.Bytes(), s))
	return err
}

// withoutSums removes the sums of histograms, which gotap does not know and the encoder always writes. A false one
// would make averages false.
func withoutSums(text []byte, s metric.Set) []byte {
	var sums []string
	for _, f := range s.Families {
		if f.Kind == metric.Histogram {
			sums = append(sums, f.Name+"_sum{", f.Name+"_sum ")
		}
	}
	out := text[:0]
	for line := range bytes.Lines(text) {
		if !hasPrefix(string(line), sums) {
			out = append(out, line...)
		}
	}
	return out
}

func hasPrefix(line string, prefixes []string) bool {
	for _, p := range prefixes {
		if strings.HasPrefix(line, p) {
			return true
		}
	}
	return false
}

// A collector gives a registry the metrics of a set.
type collector struct{ set metric.Set }

// Describe implements prometheus.Collector: which metrics there are is not known before.
func (c collector) Describe(chan<- *prometheus.Desc) {}

// Collect implements prometheus.Collector.
func (c collector) Collect(to chan<- prometheus.Metric) {
	common := prometheus.Labels{}
	for _, l := range c.set.Identity.Labels() {
		common[metric.PlainName(l.Name)] = l.Value
	}
	for _, f := range c.set.Families {
		name := f.Name
		if f.Kind == metric.Counter {
			name += "_total"
		}
		for _, p := range f.Points {
			names, values := make([]string, len(p.Labels)), make([]string, len(p.Labels))
			for i, l := range p.Labels {
				names[i], values[i] = l.Name, l.Value
			}
			desc := prometheus.NewDesc(name, f.Help, names, common)
			m, err := constant(desc, f, p, values)
			if err != nil {
				m = prometheus.NewInvalidMetric(desc, err)
			}
			to <- m
		}
	}
}

// constant returns one metric.
func constant(desc *prometheus.Desc, f metric.Family, p metric.Point, labels []string) (prometheus.Metric, error) {
	switch f.Kind {
	case metric.Counter:
		return prometheus.NewConstMetric(desc, prometheus.CounterValue, p.Value, labels...)
	case metric.Summary:
		return prometheus.NewConstSummary(desc, p.Count, p.Sum, p.Quantiles, labels...)
	case metric.Histogram:
		return prometheus.NewConstHistogram(desc, p.Count, 0, f.Cumulative(p), labels...)
	}
	return prometheus.NewConstMetric(desc, prometheus.GaugeValue, p.Value, labels...)
}
