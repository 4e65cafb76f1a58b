package otlp

import (
	"crypto/rand"
	"time"

	trace "go.opentelemetry.io/proto/otlp/trace/v1"

	"gotap/script/output/picture"
)

// patience is how long a call waits for the one around it, which is reported later.
const patience = 5 * time.Second

// A nester finds the call that each call was made in. Calls are reported as they return, so a thread's deeper ones come
// before. A call that waits too long, because the outer one goes on, is a span without the outer one, in the same
// trace.
//
// A span ends at the earliest when those inside of it do. The times of two calls do not tell exactly: durations are
// measured from the functions' beginnings, and the record with the time of a beginning is made some microseconds later.
type nester struct {
	threads map[uint32]*nested
	count   int
}

// nested are the calls of a thread that wait.
type nested struct {
	trace []byte
	calls []inner
}

type inner struct {
	span  *trace.Span
	depth int
	since time.Time
}

func newNester() nester { return nester{threads: map[uint32]*nested{}} }

// waiting returns how many calls wait.
func (n *nester) waiting() int { return n.count }

// add gives a call its identity. It returns the spans that are complete.
func (n *nester) add(s *trace.Span, c picture.Call) []*trace.Span {
	t := n.threads[c.Tid]
	if t == nil {
		t = &nested{trace: random(16)}
		n.threads[c.Tid] = t
	}
	s.TraceId, s.SpanId = t.trace, random(8)
	var done []*trace.Span
	for len(t.calls) > 0 && t.calls[len(t.calls)-1].depth > c.Depth {
		last := t.calls[len(t.calls)-1].span
		last.ParentSpanId = s.SpanId
		s.EndTimeUnixNano = max(s.EndTimeUnixNano, last.EndTimeUnixNano)
		done, t.calls = append(done, last), t.calls[:len(t.calls)-1]
		n.count--
	}
	if c.Depth > outermost {
		t.calls = append(t.calls, inner{s, c.Depth, time.Now()})
		n.count++
		return done
	}
	delete(n.threads, c.Tid) // the next call is another trace
	return append(done, n.rest(t, s)...)
}

// outermost is the depth of a call that is in no other.
const outermost = 0

// rest returns what waits of a thread whose outermost call has come, and that call.
func (n *nester) rest(t *nested, s *trace.Span) (done []*trace.Span) {
	for _, c := range t.calls {
		done = append(done, c.span)
	}
	n.count -= len(t.calls)
	return append(done, s)
}

// overdue returns the calls that have waited too long, or all.
func (n *nester) overdue(all bool) (done []*trace.Span) {
	for tid, t := range n.threads {
		for len(t.calls) > 0 && (all || time.Since(t.calls[0].since) > patience) {
			done, t.calls = append(done, t.calls[0].span), t.calls[1:]
			n.count--
		}
		if all {
			delete(n.threads, tid)
		}
	}
	return done
}

// random returns bytes that are different each time.
func random(n int) []byte {
	b := make([]byte, n)
	rand.Read(b) // never fails
	return b
}
