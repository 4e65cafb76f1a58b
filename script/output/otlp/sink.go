package otlp

import (
	"context"
	"sync"
	"time"

	logs "go.opentelemetry.io/proto/otlp/logs/v1"
	trace "go.opentelemetry.io/proto/otlp/trace/v1"

	"gotap/script/output"
	"gotap/script/output/metric"
	"gotap/script/output/picture"
)

// How often and how much is sent.
const (
	metricsTime = 10 * time.Second
	recordsTime = time.Second
	mostWaiting = 10_000          // logs, and as many spans
	mostAtOnce  = 1000            // in a request
	endTime     = 3 * time.Second // for what is left at the end of the run
)

// A Sink sends what a run produces. It is safe for concurrent use.
type Sink struct {
	output.Sink // drops the rest
	client      *client
	metrics     func() metric.Set
	identity    func() metric.Identity
	clock       clock
	start       uint64 // when the probes were armed, in nanoseconds since 1970

	mu    sync.Mutex // guards what follows
	logs  []*logs.LogRecord
	nest  nester
	spans []*trace.Span
	lost  map[string]uint64
	ready bool

	quit, done chan struct{}
	once       sync.Once
}

// From is where a sink has metrics from.
type From interface {
	Metrics() metric.Set // as they are at the moment
	Identity() metric.Identity
}

// New makes a sink that sends to a collector. complain gets the first error of sending.
func New(to Endpoint, from From, complain func(error)) *Sink {
	return &Sink{Sink: output.Discard, client: newClient(to, complain), metrics: from.Metrics, identity: from.Identity, clock: newClock(), nest: newNester(), lost: map[string]uint64{},
		quit: make(chan struct{}), done: make(chan struct{})}
}

// Ready implements output.Sink: from now on there is something to send.
func (s *Sink) Ready() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.ready {
		s.ready, s.start = true, uint64(time.Now().UnixNano())
		go s.run()
	}
}

// Event implements output.Sink.
func (s *Sink) Event(e output.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c, ok := picture.CallOf(e); ok {
		if len(s.spans)+s.nest.waiting() >= mostWaiting {
			s.lost["calls that --otlp had no room for"]++
			return
		}
		s.spans = append(s.spans, s.nest.add(s.clock.span(c), c)...)
		return
	}
	if len(s.logs) >= mostWaiting {
		s.lost["events that --otlp had no room for"]++
		return
	}
	s.logs = append(s.logs, s.clock.log(e))
}

// run sends from time to time.
func (s *Sink) run() {
	defer close(s.done)
	tick := time.NewTicker(recordsTime)
	defer tick.Stop()
	for metricsAt := time.Now(); ; {
		select {
		case <-s.quit:
			return
		case <-tick.C:
		}
		ctx, cancel := context.WithTimeout(context.Background(), requestTime)
		s.sendRecords(ctx, false)
		if time.Since(metricsAt) >= metricsTime {
			metricsAt = time.Now()
			s.sendMetrics(ctx)
		}
		cancel()
	}
}

// Finish sends what is left, for three seconds at most, and returns what was not sent, by cause. The run is over;
// calling again returns the same.
func (s *Sink) Finish() map[string]uint64 {
	s.mu.Lock()
	ready := s.ready
	s.mu.Unlock()
	if ready {
		s.once.Do(s.finish)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lost
}

func (s *Sink) finish() {
	close(s.quit)
	<-s.done
	ctx, cancel := context.WithTimeout(context.Background(), endTime)
	defer cancel()
	if !s.sendMetrics(ctx) {
		s.lose("last metrics that --otlp could not send", 1)
	}
	s.sendRecords(ctx, true)
	s.lose("events that --otlp could not send", len(s.logs))
	s.lose("calls that --otlp could not send", len(s.spans))
}

// End implements output.Sink.
func (s *Sink) End(output.End) { s.Finish() }

func (s *Sink) lose(cause string, n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n > 0 {
		s.lost[cause] += uint64(n)
	}
}

// sendMetrics reports whether a collector has taken the metrics as they are now.
func (s *Sink) sendMetrics(ctx context.Context) bool {
	set := s.metrics()
	rejected, sent := s.client.post(ctx, "metrics", metricsOf(set, s.start, uint64(time.Now().UnixNano())))
	s.lose("points of metrics that the collector of --otlp refused", rejected)
	return sent
}

// sendRecords sends logs and spans until there are no more, or the collector does not take them. All spans are due at
// the end.
func (s *Sink) sendRecords(ctx context.Context, all bool) {
	id := s.identity()
	for s.sendSome(ctx, "logs", "events", func() (message, int) { return logsOf(id, s.logs[:min(len(s.logs), mostAtOnce)]) },
		func(n int) { s.logs = s.logs[n:] }) {
	}
	s.mu.Lock()
	s.spans = append(s.spans, s.nest.overdue(all)...)
	s.mu.Unlock()
	for s.sendSome(ctx, "traces", "calls", func() (message, int) { return spansOf(id, s.spans[:min(len(s.spans), mostAtOnce)]) },
		func(n int) { s.spans = s.spans[n:] }) {
	}
}

// sendSome sends a request with the first records that wait and drops these when they have been taken. It reports
// whether there was anything and it was taken.
func (s *Sink) sendSome(ctx context.Context, signal, what string, first func() (message, int), drop func(n int)) bool {
	s.mu.Lock()
	m, n := first()
	s.mu.Unlock()
	if n == 0 {
		return false
	}
	rejected, sent := s.client.post(ctx, signal, m)
	s.lose(what+" that the collector of --otlp refused", rejected)
	if !sent {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	drop(n)
	return true
}
