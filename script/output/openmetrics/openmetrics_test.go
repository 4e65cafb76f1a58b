package openmetrics

import (
	"bytes"
	"errors"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"strings"
	"testing"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"gotap/engine/testenv"
	"gotap/runtime/snapshot"
	"gotap/script/output"
	"gotap/script/output/metric"
)

func some() metric.Set {
	one, four, seven := int64(1), int64(4), int64(7)
	return metric.Set{Identity: metric.Identity{Host: "h", Program: "p", Script: "a.js", Own: []metric.Label{{Name: "deployment.environment", Value: "a\"b"}}}, Families: []metric.Family{
		{Name: "gotap_calls", Help: "Calls.", Kind: metric.Counter, Points: []metric.Point{{Labels: []metric.Label{{Name: "key", Value: "a\"b\n"}}, Value: 12}, {Labels: []metric.Label{{Name: "key", Value: ""}}, Value: 1}}},
		{Name: "gotap_sizes", Kind: metric.Histogram, Powers: true, Points: []metric.Point{{Count: 9, Buckets: []snapshot.Bucket{{Min: &one, Max: &one, Count: 3}, {Min: &four, Max: &seven, Count: 4}, {Min: &seven, Count: 2}}}}},
		{Name: "gotap_time", Kind: metric.Summary, Points: []metric.Point{{Count: 2, Sum: 30}}},
		{Name: "gotap_top", Kind: metric.Gauge, Points: []metric.Point{{Value: -5}}}}}
}

// TestParsed: Prometheus' own parser reads the values back.
func TestParsed(t *testing.T) {
	w := httptest.NewRecorder()
	if err := Respond(w, httptest.NewRequest(http.MethodGet, "/metrics", nil), some()); err != nil {
		t.Fatal(err)
	}
	p := expfmt.NewTextParser(model.UTF8Validation)
	all, err := p.TextToMetricFamilies(w.Body)
	if err != nil {
		t.Fatal(err)
	}
	calls := all["gotap_calls_total"].GetMetric()
	if len(calls) != 2 || calls[0].GetCounter().GetValue()+calls[1].GetCounter().GetValue() != 13 || !strings.Contains(calls[0].String()+calls[1].String(), `value:"a\"b\n"`) {
		t.Errorf("calls: %v", calls)
	}
	h := all["gotap_sizes"].GetMetric()[0].GetHistogram()
	var bounds []float64
	for _, b := range h.GetBucket() {
		bounds = append(bounds, b.GetUpperBound(), float64(b.GetCumulativeCount()))
	}
	want := []float64{0, 0, 1, 3, 7, 7, math.Inf(1), 9}
	if h.GetSampleCount() != 9 || len(bounds) != len(want) {
		t.Fatalf("histogram: %v", h)
	}
	for i := range want {
		if bounds[i] != want[i] {
			t.Errorf("bounds and counts %v, want %v", bounds, want)
			break
		}
	}
	if s := all["gotap_time"].GetMetric()[0].GetSummary(); s.GetSampleCount() != 2 || s.GetSampleSum() != 30 {
		t.Errorf("summary: %v", s)
	}
	if g := all["gotap_top"].GetMetric()[0]; g.GetGauge().GetValue() != -5 || len(g.GetLabel()) != 4 || g.GetLabel()[0].GetName() != "deployment_environment" || g.GetLabel()[0].GetValue() != "a\"b" {
		t.Errorf("gauge: %v", g)
	}
}

// TestPromtool: Prometheus' tool finds nothing to complain of in the text format.
func TestPromtool(t *testing.T) {
	testenv.Require(t, testenv.Promtool)
	w := httptest.NewRecorder()
	set := some()
	for i := range set.Families {
		set.Families[i].Help = "Help."
	}
	if err := Respond(w, httptest.NewRequest(http.MethodGet, "/metrics", nil), set); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("promtool", "check", "metrics")
	cmd.Stdin = w.Body
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestText: OpenMetrics ends once, and no sum is made up for a histogram.
func TestText(t *testing.T) {
	var b bytes.Buffer
	if err := Write(&b, some()); err != nil {
		t.Fatal(err)
	}
	if strings.Count(b.String(), "# EOF") != 1 || !strings.HasSuffix(b.String(), "# EOF\n") || strings.Contains(b.String(), "gotap_sizes_sum") {
		t.Errorf("the text is\n%s", b.String())
	}
	if !strings.Contains(b.String(), "# TYPE gotap_calls counter\n") || !strings.Contains(b.String(), "gotap_time_sum{") {
		t.Errorf("the text is\n%s", b.String())
	}
}

// TestSink: the file is written at the end of a run that has begun, and an error is reported.
func TestSink(t *testing.T) {
	var written []string
	put := func(text []byte) error {
		written = append(written, string(text))
		return io.ErrShortWrite
	}
	s := NewSink(some, put, true)
	s.End(output.End{})
	s.Aggregate(output.Aggregate{})
	s.Flush()
	if len(written) != 0 {
		t.Error("a run that has not begun writes")
	}
	s = NewSink(some, put, true)
	s.Ready()
	s.End(output.End{})
	s.End(output.End{})
	if len(written) != 1 || !strings.Contains(written[0], "gotap_calls_total") || !errors.Is(s.Err(), io.ErrShortWrite) {
		t.Errorf("written %d times, error %v", len(written), s.Err())
	}
}
