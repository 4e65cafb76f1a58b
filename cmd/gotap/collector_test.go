package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gotap/engine/testenv"
	"gotap/engine/testenv/fixture"
)

// TestCollector sends runs to the OTLP receiver of OpenTelemetry's Collector, which decodes and checks them, and
// compares what it passes on with what the program has done. The receiver is built here from a module of its own.
func TestCollector(t *testing.T) {
	testenv.Require(t, testenv.Collector, "go", testenv.GCC, testenv.Ptrace)
	shop, collector := filepath.Join(t.TempDir(), "shop"), startCollector(t)
	if out, err := fixture.Command("gcc", "-g", "-O1", "-fno-inline", "-fno-optimize-sibling-calls", "-o", shop, "testdata/targets/prices.c").CombinedOutput(); err != nil {
		t.Fatalf("gcc: %v\n%s", err, out)
	}
	const script = `const calls = count("calls"), prices = hist("prices"), ranges = lhist("ranges", 0, 10, 5), sums = sum("sums", { keys: 1 });
		probe("price", c => { calls.inc(); prices.add(c.arg1); ranges.add(c.arg1); sums.at(str(c.arg0)).add(c.arg1); exit({ what: str(c.arg0), n: c.arg1 }); });`
	for _, argv := range [][]string{{"run", "-q", "-e", script}, {"trace", "-q", "check", "price"}} {
		argv = append(argv, "--otlp", collector.url, "--", shop)
		if out, err := exec.Command("gotap", argv...).CombinedOutput(); err != nil {
			t.Fatalf("gotap: %v\n%s", err, out)
		}
	}
	got := collector.stop(t)
	t.Run("metrics", func(t *testing.T) { checkMetrics(t, got["metrics"]) })
	t.Run("logs", func(t *testing.T) { checkLogs(t, got["logs"]) })
	t.Run("spans", func(t *testing.T) { checkSpans(t, got["traces"]) })
}

// A runningCollector is the receiver in testdata/collector.
type runningCollector struct {
	cmd  *exec.Cmd
	url  string
	ends io.Closer // its standard input
	out  *bufio.Reader
}

func startCollector(t *testing.T) *runningCollector {
	t.Helper()
	binary := filepath.Join(t.TempDir(), "collector")
	build := exec.Command("go", "build", "-o", binary, ".")
	build.Dir = filepath.Join("testdata", "collector")
	build.Env = append(os.Environ(), "GOWORK=off", "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		if strings.Contains(string(out), "dial tcp") || strings.Contains(string(out), "module lookup disabled") {
			testenv.Lack(t, testenv.Collector)
		}
		t.Fatalf("go build: %v\n%s", err, out)
	}
	c := &runningCollector{cmd: exec.Command(binary)}
	in, err1 := c.cmd.StdinPipe()
	out, err2 := c.cmd.StdoutPipe()
	if err1 != nil || err2 != nil {
		t.Fatal(err1, err2)
	}
	c.cmd.Stderr = os.Stderr
	if err := c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.cmd.Process.Kill() })
	c.ends, c.out = in, bufio.NewReader(out)
	line, err := c.out.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	c.url = strings.TrimSpace(line)
	return c
}

// stop returns the requests that have arrived, by their signal.
func (c *runningCollector) stop(t *testing.T) map[string][]string {
	t.Helper()
	if err := c.ends.Close(); err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(c.out)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	got := map[string][]string{}
	for line := range strings.Lines(string(text)) {
		signal, data, _ := strings.Cut(line, " ")
		got[signal] = append(got[signal], data)
	}
	return got
}

// received is what of the JSON of OTLP is compared. Its fields are those of all three signals.
type received struct {
	ResourceMetrics []struct {
		Resource     struct{ Attributes attributes }
		ScopeMetrics []struct{ Metrics []json.RawMessage }
	}
	ResourceLogs []struct {
		ScopeLogs []struct {
			LogRecords []struct {
				EventName string
				Body      struct{ KvlistValue struct{ Values attributes } }
			}
		}
	}
	ResourceSpans []struct {
		ScopeSpans []struct{ Spans []receivedSpan }
	}
}

type receivedSpan struct {
	TraceID, SpanID, ParentSpanID, Name string
	StartTimeUnixNano, EndTimeUnixNano  string
	Attributes                          attributes
}

type attributes []struct {
	Key   string
	Value map[string]any
}

func (a attributes) String() string {
	var parts []string
	for _, one := range a {
		for _, v := range one.Value {
			parts = append(parts, fmt.Sprintf("%s=%v", one.Key, v))
		}
	}
	return strings.Join(parts, " ")
}

func decoded(t *testing.T, requests []string) (all []received) {
	t.Helper()
	for _, text := range requests {
		var r received
		if err := json.Unmarshal([]byte(text), &r); err != nil {
			t.Fatal(err)
		}
		all = append(all, r)
	}
	return all
}

// shopCalls is how often main calls check: with 1, 2 and so on.
const shopCalls = 5

func checkMetrics(t *testing.T, requests []string) {
	last := map[string]string{} // each metric's points as they were sent last
	for _, r := range decoded(t, requests) {
		for _, one := range r.ResourceMetrics {
			if what := one.Resource.Attributes.String(); !strings.Contains(what, "service.name=gotap") || !strings.Contains(what, "process.executable.name=shop") {
				t.Errorf("a resource is %s", what)
			}
			for _, scope := range one.ScopeMetrics {
				for _, raw := range scope.Metrics {
					name, text := metricText(t, raw)
					last[name] = text
				}
			}
		}
	}
	for name, want := range map[string]string{
		"gotap_calls":  "sum cumulative monotonic: 5",
		"gotap_prices": "exponentialHistogram cumulative: count 5 from 2^0: [1 2 2]", // 1, 2 and 3, 4 and 5
		"gotap_ranges": "histogram cumulative: count 5 bounds [-1 4 9]: [0 4 1 0]",
		"gotap_sums":   "gauge: key=even 6, key=odd 9",
	} {
		if last[name] != want {
			t.Errorf("%s is %q, want %q", name, last[name], want)
		}
	}
}

// metricText is a metric's name, and its type and points.
func metricText(t *testing.T, raw json.RawMessage) (name, text string) {
	t.Helper()
	var m map[string]json.RawMessage
	if err := json.Unmarshal(raw, &m); err != nil {
		t.Fatal(err)
	}
	name = strings.Trim(string(m["name"]), `"`)
	for _, kind := range []string{"sum", "gauge", "histogram", "exponentialHistogram"} {
		if m[kind] == nil {
			continue
		}
		var data struct {
			AggregationTemporality int
			IsMonotonic            bool
			DataPoints             []struct {
				Attributes     attributes
				AsDouble       float64
				Count          string
				BucketCounts   []string
				ExplicitBounds []float64
				Scale          int
				Positive       struct {
					Offset       int
					BucketCounts []string
				}
			}
		}
		if err := json.Unmarshal(m[kind], &data); err != nil {
			t.Fatal(err)
		}
		text = kind
		if data.AggregationTemporality == 2 {
			text += " cumulative"
		}
		if data.IsMonotonic {
			text += " monotonic"
		}
		var points []string
		for _, p := range data.DataPoints {
			switch kind {
			case "histogram":
				points = append(points, fmt.Sprintf("count %s bounds %v: %v", p.Count, p.ExplicitBounds, p.BucketCounts))
			case "exponentialHistogram":
				points = append(points, fmt.Sprintf("count %s from 2^%d: %v", p.Count, p.Positive.Offset, p.Positive.BucketCounts))
			default:
				points = append(points, strings.TrimSpace(fmt.Sprintf("%v %v", p.Attributes, p.AsDouble)))
			}
		}
		slices.Sort(points)
		text += ": " + strings.Join(points, ", ")
	}
	return name, text
}

func checkLogs(t *testing.T, requests []string) {
	var got, want []string
	for _, r := range decoded(t, requests) {
		for _, one := range r.ResourceLogs {
			for _, scope := range one.ScopeLogs {
				for _, log := range scope.LogRecords {
					got = append(got, log.EventName+": "+log.Body.KvlistValue.Values.String())
				}
			}
		}
	}
	for n := 1; n <= shopCalls; n++ {
		want = append(want, fmt.Sprintf("price: what=%s n=%d", []string{"even", "odd"}[n%2], n))
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
}

// checkSpans looks for a span of each call of check, and inside it one of price.
func checkSpans(t *testing.T, requests []string) {
	byID := map[string]receivedSpan{}
	for _, r := range decoded(t, requests) {
		for _, one := range r.ResourceSpans {
			for _, scope := range one.ScopeSpans {
				for _, s := range scope.Spans {
					byID[s.SpanID] = s
				}
			}
		}
	}
	var got, want []string
	for _, s := range byID {
		if s.Name != "price" {
			continue
		}
		outer := byID[s.ParentSpanID]
		if outer.TraceID != s.TraceID || outer.StartTimeUnixNano > s.StartTimeUnixNano || outer.EndTimeUnixNano < s.EndTimeUnixNano || s.StartTimeUnixNano > s.EndTimeUnixNano {
			t.Errorf("%+v is not inside of %+v", s, outer)
		}
		got = append(got, resultOf(outer)+" calls "+resultOf(s))
	}
	for n := 1; n <= shopCalls; n++ {
		want = append(want, fmt.Sprintf(`gotap.call=check(n=%[1]d) gotap.result=%[2]d calls gotap.call=price(what="%[4]s", n=%[1]d) gotap.result=%[3]d`, n, 3*n+1, 3*n, []string{"even", "odd"}[n%2]))
	}
	slices.Sort(got)
	if !slices.Equal(got, want) || len(byID) != 2*shopCalls {
		t.Errorf("%d spans, got %q\nwant %q", len(byID), got, want)
	}
}

// resultOf has the attributes of a span that tell of its call.
func resultOf(s receivedSpan) string {
	return slices.DeleteFunc(slices.Clone(s.Attributes), func(a struct {
		Key   string
		Value map[string]any
	}) bool {
		return a.Key != "gotap.call" && a.Key != "gotap.result"
	}).String()
}
