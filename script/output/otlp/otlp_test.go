package otlp

import (
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	logs "go.opentelemetry.io/proto/otlp/logs/v1"
	metrics "go.opentelemetry.io/proto/otlp/metrics/v1"
	trace "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"gotap/runtime/snapshot"
	"gotap/script/output"
	"gotap/script/output/metric"
	"gotap/script/output/picture"
)

// A collector receives what a sink sends.
type collector struct {
	*httptest.Server
	status int    // of answers; 0: 200
	answer []byte // of the protocol

	mu      sync.Mutex
	header  http.Header
	metrics []*metrics.Metric
	logs    []*logs.LogRecord
	spans   []*trace.Span
	host    string // of the resource
}

func newCollector(t *testing.T) *collector {
	c := &collector{}
	c.Server = httptest.NewServer(c)
	t.Cleanup(c.Close)
	return c
}

// ServeHTTP implements http.Handler.
func (c *collector) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.status != 0 {
		w.WriteHeader(c.status)
		return
	}
	c.header = r.Header
	z, err := gzip.NewReader(r.Body)
	if err == nil {
		var raw []byte
		if raw, err = io.ReadAll(z); err == nil {
			err = c.take(r.URL.Path, raw)
		}
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	w.Write(c.answer)
}

// take decodes a request.
func (c *collector) take(path string, raw []byte) error {
	switch path {
	case "/base/v1/metrics":
		var m metrics.MetricsData
		if err := proto.Unmarshal(raw, &m); err != nil {
			return err
		}
		c.metrics = m.ResourceMetrics[0].ScopeMetrics[0].Metrics
		for _, a := range m.ResourceMetrics[0].Resource.Attributes {
			if a.Key == "host.name" {
				c.host = a.Value.GetStringValue()
			}
		}
	case "/base/v1/logs":
		var m logs.LogsData
		if err := proto.Unmarshal(raw, &m); err != nil {
			return err
		}
		c.logs = append(c.logs, m.ResourceLogs[0].ScopeLogs[0].LogRecords...)
	case "/base/v1/traces":
		var m trace.TracesData
		if err := proto.Unmarshal(raw, &m); err != nil {
			return err
		}
		c.spans = append(c.spans, m.ResourceSpans[0].ScopeSpans[0].Spans...)
	default:
		return io.ErrUnexpectedEOF
	}
	return nil
}

// TestResource: labels are attributes, and replace those of the same name.
func TestResource(t *testing.T) {
	id := metric.Identity{Host: "h", Script: "a.js"}.With([]metric.Label{{Name: "host", Value: "node-7"}, {Name: "service.name", Value: "shop"}, {Name: "env", Value: "prod"}})
	var got []string
	for _, a := range resourceOf(id).Attributes {
		got = append(got, a.Key+"="+a.Value.GetStringValue())
	}
	if want := "service.name=shop host.name=node-7 gotap.script=a.js env=prod"; strings.Join(got, " ") != want {
		t.Errorf("%q, want %s", got, want)
	}
}

type from struct{}

func (from) Metrics() metric.Set       { return set() }
func (from) Identity() metric.Identity { return set().Identity }

func set() metric.Set {
	zero, one, four, seven, minus := int64(0), int64(1), int64(4), int64(7), int64(-1)
	return metric.Set{Identity: metric.Identity{Host: "h"}, Families: []metric.Family{
		{Name: "gotap_calls", Kind: metric.Counter, Points: []metric.Point{{Labels: []metric.Label{{Name: "key", Value: "a"}}, Value: 12}}},
		{Name: "gotap_sizes", Kind: metric.Histogram, Powers: true, Points: []metric.Point{{Count: 9, Buckets: []snapshot.Bucket{{Min: &zero, Max: &zero, Count: 2}, {Min: &one, Max: &one, Count: 3}, {Min: &four, Max: &seven, Count: 4}}}}},
		{Name: "gotap_signed", Kind: metric.Histogram, Powers: true, Points: []metric.Point{{Count: 3, Buckets: []snapshot.Bucket{{Max: &minus, Count: 1}, {Min: &zero, Max: &zero, Count: 2}}}}},
		{Name: "gotap_linear", Kind: metric.Histogram, Points: []metric.Point{{Count: 5, Buckets: []snapshot.Bucket{{Min: &four, Max: &seven, Count: 4}, {Min: &seven, Count: 1}}}}},
		{Name: "gotap_time", Kind: metric.Summary, Points: []metric.Point{{Count: 2, Sum: 30}}},
		{Name: "gotap_top", Kind: metric.Gauge, Points: []metric.Point{{Value: -5}}}}}
}

func sink(t *testing.T, url string, complain func(error)) *Sink {
	t.Helper()
	e, err := ParseEndpoint(url, "x-key=a%20b, y=2")
	if err != nil {
		t.Fatal(err)
	}
	s := New(e, from{}, complain)
	s.Ready()
	return s
}

func call(tid uint32, depth int, name string, start, ns int64) output.Event {
	return output.Event{Probe: "call", Pid: 1, Tid: tid, Time: uint64(start), Fields: []output.Field{{Name: "func", Value: name}, {Name: "depth", Value: int64(depth)},
		{Name: "call", Value: name + "()"}, {Name: "result", Value: "-1"}, {Name: "ns", Value: ns}, {Name: "failed", Value: name == "leaf"}}}
}

// TestSent: a collector gets metrics in the types that fit, events as logs, and calls as spans in one another.
func TestSent(t *testing.T) {
	c := newCollector(t)
	s := sink(t, c.URL+"/base", func(err error) { t.Error(err) })
	s.Event(output.Event{Probe: "p", Pid: 1, Tid: 2, Comm: "c\xff", Time: 5, Fields: []output.Field{{Name: "n", Value: int64(7)}, {Name: "u", Value: uint64(1 << 63)}, {Name: "in", Value: []output.Field{{Name: "l", Value: []string{"x"}}}}}})
	for _, e := range []output.Event{call(1, 2, "leaf", 110, 10), call(2, 0, "other", 0, 1), call(1, 1, "middle", 105, 20), call(1, 2, "late", 130, 5), call(1, 0, "root", 100, 50), call(1, 0, "next", 200, 1)} {
		s.Event(e)
	}
	if lost := s.Finish(); len(lost) != 0 {
		t.Errorf("lost: %v", lost)
	}
	c.checkMetrics(t)
	if c.host != "h" || c.header.Get("X-Key") != "a b" || c.header.Get("Content-Type") != "application/x-protobuf" {
		t.Errorf("host %q, headers %v", c.host, c.header)
	}
	if len(c.logs) != 1 || c.logs[0].EventName != "p" || compact(c.logs[0].Body) != `{"kvlistValue":{"values":[{"key":"n","value":{"intValue":"7"}},{"key":"u","value":{"stringValue":"9223372036854775808"}},{"key":"in","value":{"kvlistValue":{"values":[{"key":"l","value":{"arrayValue":{"values":[{"stringValue":"x"}]}}}]}}}]}}` {
		t.Errorf("logs: %v", c.logs)
	}
	c.checkSpans(t)
}

// compact returns a message as JSON without the blanks that the encoder puts at random.
func compact(m proto.Message) string {
	var b []byte
	for _, r := range []byte(protojson.Format(m)) {
		if r != ' ' && r != '\n' {
			b = append(b, r)
		}
	}
	return string(b)
}

func (c *collector) checkMetrics(t *testing.T) {
	t.Helper()
	m := map[string]*metrics.Metric{}
	for _, one := range c.metrics {
		m[one.Name] = one
	}
	if s := m["gotap_calls"].GetSum(); s == nil || !s.IsMonotonic || s.AggregationTemporality != cumulative || s.DataPoints[0].GetAsDouble() != 12 || s.DataPoints[0].Attributes[0].Value.GetStringValue() != "a" || s.DataPoints[0].StartTimeUnixNano == 0 {
		t.Errorf("counter: %v", m["gotap_calls"])
	}
	e := m["gotap_sizes"].GetExponentialHistogram()
	if e == nil {
		t.Fatalf("powers of two: %v", m["gotap_sizes"])
	}
	p := e.DataPoints[0]
	if p.Count != 9 || p.ZeroCount != 2 || p.Scale != 0 || p.Sum != nil || p.Positive.Offset != 0 || len(p.Positive.BucketCounts) != 3 || p.Positive.BucketCounts[0] != 3 || p.Positive.BucketCounts[2] != 4 {
		t.Errorf("powers of two: %v", p)
	}
	for name, want := range map[string]string{
		"gotap_signed": `{"bucketCounts":["1","2","0"],"explicitBounds":[-1,0]}`,
		"gotap_linear": `{"bucketCounts":["0","4","1"],"explicitBounds":[3,7]}`,
	} {
		d := m[name].GetHistogram().GetDataPoints()
		if len(d) != 1 {
			t.Errorf("%s: %v", name, m[name])
			continue
		}
		if got := compact(&metrics.HistogramDataPoint{BucketCounts: d[0].BucketCounts, ExplicitBounds: d[0].ExplicitBounds, Sum: d[0].Sum}); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	if m["gotap_time"].GetSummary().DataPoints[0].Sum != 30 || m["gotap_top"].GetGauge().DataPoints[0].GetAsDouble() != -5 {
		t.Errorf("summary %v, gauge %v", m["gotap_time"], m["gotap_top"])
	}
}

func (c *collector) checkSpans(t *testing.T) {
	t.Helper()
	by := map[string]*trace.Span{}
	for _, s := range c.spans {
		by[s.Name] = s
	}
	if len(by) != 6 {
		t.Fatalf("spans: %v", c.spans)
	}
	for child, parent := range map[string]string{"leaf": "middle", "middle": "root", "late": "root"} {
		if string(by[child].ParentSpanId) != string(by[parent].SpanId) || string(by[child].TraceId) != string(by["root"].TraceId) {
			t.Errorf("%s is not in %s", child, parent)
		}
	}
	for _, name := range []string{"root", "next", "other"} {
		if s := by[name]; len(s.ParentSpanId) != 0 || len(s.TraceId) != 16 || len(s.SpanId) != 8 || name != "root" && string(s.TraceId) == string(by["root"].TraceId) {
			t.Errorf("%s: %v", name, s)
		}
	}
	if s := by["leaf"]; s.EndTimeUnixNano-s.StartTimeUnixNano != 10 || s.GetStatus().GetCode() != trace.Status_STATUS_CODE_ERROR || by["root"].Status != nil {
		t.Errorf("leaf: %v", s)
	}
}

// TestSpansContain: a call whose record came late must not end after the calls around it.
func TestSpansContain(t *testing.T) {
	n, c := newNester(), clock(0)
	var spans []*trace.Span
	for _, call := range []picture.Call{{Tid: 1, Depth: 2, Start: 30, Took: 100}, {Tid: 1, Depth: 1, Start: 20, Took: 50}, {Tid: 1, Depth: 0, Start: 10, Took: 60}} {
		spans = append(spans, n.add(c.span(call), call)...)
	}
	if len(spans) != 3 {
		t.Fatalf("%d spans", len(spans))
	}
	for _, s := range spans {
		if s.EndTimeUnixNano != spans[0].EndTimeUnixNano || s.StartTimeUnixNano >= s.EndTimeUnixNano {
			t.Errorf("a span is from %d to %d, the innermost one to %d", s.StartTimeUnixNano, s.EndTimeUnixNano, spans[0].EndTimeUnixNano)
		}
	}
}

// TestNotSent: what a collector does not take is lost, and counted; the first error is told.
func TestNotSent(t *testing.T) {
	c := newCollector(t)
	c.status = http.StatusServiceUnavailable
	var told []error
	s := sink(t, c.URL+"/base", func(err error) { told = append(told, err) })
	for range mostWaiting + 3 {
		s.Event(output.Event{Probe: "p"})
	}
	lost := s.Finish()
	if lost["events that --otlp had no room for"] != 3 || lost["events that --otlp could not send"] != mostWaiting || lost["last metrics that --otlp could not send"] != 1 || len(told) != 1 {
		t.Errorf("lost %v, told %v", lost, told)
	}
}

// TestRefused: records that a collector refuses for good are lost.
func TestRefused(t *testing.T) {
	c := newCollector(t)
	c.answer = []byte{0x0a, 0x02, 0x08, 0x02} // partial success: 2 were rejected
	s := sink(t, c.URL+"/base", func(err error) { t.Error(err) })
	s.Event(output.Event{Probe: "p"})
	if lost := s.Finish(); lost["events that the collector of --otlp refused"] != 2 {
		t.Errorf("lost %v", lost)
	}
	c.status = http.StatusNotFound
	s = sink(t, c.URL+"/base", func(error) {})
	s.Event(output.Event{Probe: "p"})
	if lost := s.Finish(); lost["events that the collector of --otlp refused"] != 1 {
		t.Errorf("lost %v", lost)
	}
}

// TestEndpoints: what is no URL is refused.
func TestEndpoints(t *testing.T) {
	for _, text := range []string{"", "localhost:4318", "ftp://x", "http://"} {
		if _, err := ParseEndpoint(text, ""); err == nil {
			t.Errorf("%q is an endpoint", text)
		}
	}
	if _, err := ParseEndpoint("http://x", "novalue"); err == nil {
		t.Error("a header without a value is taken")
	}
}
