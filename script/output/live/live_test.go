package live

import (
	"bufio"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"gotap/runtime/object"
	"gotap/runtime/snapshot"
	"gotap/script/output"
	"gotap/script/output/metric"
)

func calls(n int64) output.Aggregate {
	return output.Aggregate{Snapshot: snapshot.Snapshot{Object: object.Object{Name: "calls", Kind: object.KindCount},
		Entries: []snapshot.Entry{{Data: snapshot.Data{Kind: object.KindCount, Int: n, Count: n}}}}}
}

// board returns a board of a session that has counted up to n.
func board(n int64) *Board {
	b := NewBoard("prog")
	b.Describe("a.js", "probe()")
	b.Ready()
	b.Attach(metric.Identity{Program: "prog"}, func() (metric.Source, error) {
		return metric.Source{Aggregates: []output.Aggregate{calls(n)}, Probes: []metric.Probe{{Name: "f", Hits: 7}}}, nil
	})
	return b
}

func listen(t *testing.T, b *Board, token string) *Server {
	t.Helper()
	s, err := Listen(b, "127.0.0.1:0", token)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

func get(t *testing.T, url string, change func(*http.Request)) (status int, body string) {
	t.Helper()
	r, err := http.NewRequest(http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	change(r)
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, string(text)
}

// TestAddresses: an address without a host is this machine's, and what else is so.
func TestAddresses(t *testing.T) {
	for text, want := range map[string]string{"9100": "127.0.0.1:9100", ":9100": "127.0.0.1:9100", "localhost:1": "127.0.0.1:1", "127.0.0.2:1": "127.0.0.2:1", "[::1]:1": "[::1]:1"} {
		if got, local, err := ParseAddress(text); got != want || !local || err != nil {
			t.Errorf("%s is %s, %v, %v", text, got, local, err)
		}
	}
	for _, text := range []string{"0.0.0.0:1", "[::]:1", "10.0.0.1:1", "example.org:1"} {
		if _, local, err := ParseAddress(text); local || err != nil {
			t.Errorf("%s is local: %v, %v", text, local, err)
		}
	}
	for _, text := range []string{"", "x", ":x", "1:2:3", "127.0.0.1", ":65536"} {
		if _, _, err := ParseAddress(text); err == nil {
			t.Errorf("%q is an address", text)
		}
	}
}

// TestGuard: requests that name another host, as a page of another site does, are refused; with a token those without
// it are.
func TestGuard(t *testing.T) {
	open, closed := listen(t, board(1), ""), listen(t, board(1), "secret word")
	none := func(*http.Request) {}
	host := func(name string) func(*http.Request) { return func(r *http.Request) { r.Host = name } }
	bearer := func(word string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+word) }
	}
	for _, c := range []struct {
		url    string
		change func(*http.Request)
		want   int
	}{
		{open.URL(false), none, 200}, {open.URL(false), host("localhost:9100"), 200}, {open.URL(false), host("evil.example:9100"), 403},
		{open.URL(false) + "metrics", host("evil.example"), 403}, {open.URL(false) + "else", none, 404},
		{closed.URL(false), none, 401}, {closed.URL(false) + "metrics", bearer("secret wor"), 401}, {closed.URL(false) + "events", none, 401},
		{closed.URL(false) + "metrics", bearer("secret word"), 200}, {closed.URL(true), host("any.example"), 200},
	} {
		if got, body := get(t, c.url, c.change); got != c.want {
			t.Errorf("%s: status %d, want %d: %.100s", c.url, got, c.want, body)
		}
	}
}

// TestServed: the page and the metrics have what the session has now.
func TestServed(t *testing.T) {
	s := listen(t, board(42), "")
	none := func(*http.Request) {}
	if _, page := get(t, s.URL(false), none); !strings.Contains(page, `data-live="events"`) || !strings.Contains(page, "connect-src 'self'") || !strings.Contains(page, `"name":"calls","value":42`) {
		t.Errorf("the page is %.300s", page)
	}
	if _, text := get(t, s.URL(false)+"metrics", none); !strings.Contains(text, "\ngotap_calls_total{program=\"prog\"} 42\n") || !strings.Contains(text, "\ngotap_probe_hits_total{probe=\"f\",program=\"prog\"} 7\n") {
		t.Errorf("the metrics are\n%s", text)
	}
}

// TestEvents: an open page gets the data, and the last ones at the end of the run; then the server is gone.
func TestEvents(t *testing.T) {
	defer func(d time.Duration) { pageTime = d }(pageTime)
	pageTime = time.Millisecond
	b := board(1)
	s := listen(t, b, "")
	answer, err := http.Get(s.URL(false) + "events")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	lines := bufio.NewScanner(answer.Body)
	lines.Buffer(nil, 1<<20)
	next := func() string {
		for lines.Scan() {
			if text, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
				return text
			}
		}
		return ""
	}
	var d struct{ Aggregates []struct{ Value int } }
	if err := json.Unmarshal([]byte(next()), &d); err != nil || len(d.Aggregates) != 1 || d.Aggregates[0].Value != 1 {
		t.Fatalf("%v: %v", d, err)
	}
	b.Detach()
	b.Aggregate(calls(5))
	b.End(output.End{Status: 3})
	s.End(output.End{})
	last, ended := "", false
	for lines.Scan() {
		if text, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
			last = text
		}
		ended = ended || lines.Text() == "event: end"
	}
	if err := json.Unmarshal([]byte(last), &d); err != nil || d.Aggregates[0].Value != 5 || !ended || !strings.Contains(last, `"Status":3`) {
		t.Errorf("%v, end %v: %.200s", err, ended, last)
	}
	if _, err := http.Get(s.URL(false)); err == nil {
		t.Error("the server goes on after the end")
	}
}

// TestPagesBounded: more pages than there is room for are refused.
func TestPagesBounded(t *testing.T) {
	s := listen(t, board(1), "")
	for range mostPages {
		s.pages <- struct{}{}
	}
	if status, _ := get(t, s.URL(false)+"events", func(*http.Request) {}); status != http.StatusServiceUnavailable {
		t.Errorf("status %d", status)
	}
}

// TestLatest: a board has the latest events.
func TestLatest(t *testing.T) {
	b := NewBoard("")
	for i := range 5 * keptEvents {
		b.Event(output.Event{Probe: "p", Time: uint64(i)})
	}
	p := b.Picture()
	if len(p.Events) != keptEvents || p.Events[keptEvents-1].Time != 5*keptEvents-1 || b.Dropped() != 0 {
		t.Errorf("%d events, the last %d; %d dropped", len(p.Events), p.Events[len(p.Events)-1].Time, b.Dropped())
	}
}
