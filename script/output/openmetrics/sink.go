package openmetrics

import (
	"bytes"
	"sync"
	"time"

	"gotap/script/output"
	"gotap/script/output/metric"
)

// How often a file is written while the run goes on: when the script has printed aggregations, but not more often than
// every second, and else every ten seconds.
const (
	soonest = time.Second
	latest  = 10 * time.Second
)

// A Sink writes metrics to a file while a run goes on, and when it has ended. It is safe for concurrent use.
type Sink struct {
	output.Sink // drops the rest
	metrics     func() metric.Set
	put         func(text []byte) error
	repeated    bool

	mu      sync.Mutex
	printed bool      // aggregations, since the file was written
	at      time.Time // of the latest writing
	ready   bool
	ended   chan struct{} // closed at the end
	done    bool
	err     error // the first of writing
}

// NewSink makes a sink. put replaces the content of the file; when it is not repeated, it is called at the end alone.
func NewSink(metrics func() metric.Set, put func(text []byte) error, repeated bool) *Sink {
	return &Sink{Sink: output.Discard, metrics: metrics, put: put, repeated: repeated, ended: make(chan struct{})}
}

// Aggregate implements output.Sink: the script prints what it has.
func (s *Sink) Aggregate(output.Aggregate) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.printed = true
}

// Flush implements output.Sink.
func (s *Sink) Flush() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.repeated && s.ready && !s.done && s.printed && time.Since(s.at) >= soonest {
		s.write()
	}
}

// Ready implements output.Sink: the file of an earlier run is kept until then.
func (s *Sink) Ready() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.ready && s.repeated {
		s.at = time.Now()
		go s.keep()
	}
	s.ready = true
}

// keep writes the file from time to time.
func (s *Sink) keep() {
	tick := time.NewTicker(soonest)
	defer tick.Stop()
	for {
		select {
		case <-s.ended:
			return
		case <-tick.C:
		}
		s.mu.Lock()
		if since := time.Since(s.at); !s.done && (since >= latest || s.printed && since >= soonest) {
			s.write()
		}
		s.mu.Unlock()
	}
}

// End implements output.Sink.
func (s *Sink) End(output.End) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.done || !s.ready {
		return
	}
	s.done = true
	close(s.ended)
	s.write()
}

// write writes the file; mu is held. After an error it is tried again the next time.
func (s *Sink) write() {
	var b bytes.Buffer
	err := Write(&b, s.metrics())
	if err == nil {
		err = s.put(b.Bytes())
	}
	if s.err == nil {
		s.err = err
	}
	s.at, s.printed = time.Now(), false
}

// Err implements output.Sink.
func (s *Sink) Err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}
