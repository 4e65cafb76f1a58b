package picture

import (
	"bytes"
	"io"
	"slices"
	"sync"

	"gotap/compile/diag"
	"gotap/script/output"
)

// A Format writes a picture to a file of its kind. It returns a *NothingError, and writes nothing, when the picture has
// nothing that the format can show.
type Format func(w io.Writer, p *Picture) error

// A NothingError reports that a run has produced nothing that a format can show.
type NothingError struct {
	Missing string // what there is none of, as in "stacks"
	Advice  string // how a run produces it
}

// Error implements error.
func (e *NothingError) Error() string {
	return "nothing is written, because the run has produced no " + e.Missing
}

// Hint is what the user can do.
func (e *NothingError) Hint() string { return e.Advice }

// Limits are how much a picture keeps of events and calls.
type Limits struct {
	Events int // events and calls together
	Bytes  int // of their texts, about
}

// A Sink keeps what a run produces. It writes the picture when the run has ended, or gives it while the run goes on.
type Sink struct {
	to     io.Writer
	format Format

	mu      sync.Mutex
	p       Picture
	calls   *nester
	last    map[uint32]uint64 // the latest time of each thread
	left    Limits            // room for further events
	dropped uint64
	latest  bool           // the latest events are kept, and not the first
	recent  []output.Event // with calls, when latest
	ready   bool
	done    bool
	err     error
}

// New makes a sink that writes a picture, which has so far what is known before the run, to a writer. It keeps events
// and calls until a limit is reached, and counts further ones, which the caller reports as lost.
func New(to io.Writer, format Format, most Limits, known Picture) *Sink {
	return &Sink{to: to, format: format, left: most, p: known, calls: newNester(), last: map[uint32]uint64{}}
}

// NewLive makes a sink of which pictures can be taken while the run goes on. It keeps the latest events and calls,
// counts none as lost, and writes nothing.
func NewLive(events int, known Picture) *Sink {
	s := New(nil, nil, Limits{Events: events}, known)
	s.latest = true
	return s
}

// Print implements output.Sink.
func (s *Sink) Print(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.print(text)
}

// print keeps the last of the text.
func (s *Sink) print(text string) {
	s.p.Text = append(s.p.Text, text...)
	if len(s.p.Text) > 2*MaxText {
		s.p.Text = append([]byte(nil), s.p.Text[len(s.p.Text)-MaxText:]...)
	}
}

// Clear implements output.Sink: what is printed next takes the place of the text so far.
func (s *Sink) Clear() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.p.Text = nil
}

// Complain implements output.Sink: complaints go to standard error, where another sink writes them.
func (s *Sink) Complain(string) {}

// Event implements output.Sink. Its text, if it has one, is printed.
func (s *Sink) Event(e output.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.print(e.Text)
	if s.latest {
		s.remember(e)
		return
	}
	size := sizeOf(e.Fields)
	if s.left.Events == 0 || s.left.Bytes < size {
		s.left = Limits{} // smaller events that follow are not kept either: the picture ends at one time
		s.dropped++
		return
	}
	s.left.Events--
	s.left.Bytes -= size
	s.put(e)
}

// put adds an event, or the call that it reports.
func (s *Sink) put(e output.Event) {
	s.last[e.Tid] = max(s.last[e.Tid], e.Time)
	if c, ok := CallOf(e); ok {
		s.last[c.Tid] = max(s.last[c.Tid], c.Start+c.Took)
		s.calls.add(c)
		return
	}
	s.p.Events = append(s.p.Events, e)
}

// remember keeps the latest events. Twice as many are kept for a while, so that they are moved seldom.
func (s *Sink) remember(e output.Event) {
	if len(s.recent) >= 2*s.left.Events {
		s.recent = append(s.recent[:0], s.recent[len(s.recent)-s.left.Events+1:]...)
	}
	s.recent = append(s.recent, e)
}

// Picture returns what there is so far. The sink does not change it; its lists are not to be changed by others either.
func (s *Sink) Picture() *Picture {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := &Sink{p: s.p, calls: newNester(), last: map[uint32]uint64{}}
	for _, e := range s.recent[max(0, len(s.recent)-s.left.Events):] {
		now.put(e)
	}
	p := now.p
	p.Text = bytes.Clone(s.p.Text[max(0, len(s.p.Text)-MaxText):])
	p.Tables, p.Aggregates = slices.Clone(s.p.Tables), slices.Clone(s.p.Aggregates)
	p.Losses, p.Errors = slices.Clone(s.p.Losses), slices.Clone(s.p.Errors)
	p.Calls = now.calls.nested(now.last)
	return &p
}

// Table implements output.Sink: of each name the last is kept. One without columns is text.
func (s *Sink) Table(t output.Table) {
	if len(t.Columns) == 0 {
		s.Print(t.Text)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.p.Tables = replaced(s.p.Tables, t, func(o output.Table) bool { return o.Name == t.Name })
}

// Aggregate implements output.Sink: of each name the last is kept.
func (s *Sink) Aggregate(a output.Aggregate) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.p.Aggregates = replaced(s.p.Aggregates, a, func(o output.Aggregate) bool {
		return o.Snapshot.Object.Name == a.Snapshot.Object.Name && o.Snapshot.Object.Kind == a.Snapshot.Object.Kind
	})
}

// Aggregates returns the last aggregation of each name.
func (s *Sink) Aggregates() []output.Aggregate {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.p.Aggregates)
}

// replaced puts one into a list in place of its predecessor, or at the end.
func replaced[T any](list []T, one T, same func(T) bool) []T {
	if i := slices.IndexFunc(list, same); i >= 0 {
		list[i] = one
		return list
	}
	return append(list, one)
}

// Error implements output.Sink.
func (s *Sink) Error(d diag.Diagnostic) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.p.Errors) < maxErrors {
		s.p.Errors = append(s.p.Errors, d.String())
	}
}

// Lost implements output.Sink.
func (s *Sink) Lost(cause string, count uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.p.Losses = append(s.p.Losses, Loss{diag.Escape(cause), count})
}

// Ready implements output.Sink.
func (s *Sink) Ready() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ready = true
}

// End implements output.Sink: it writes the picture. A run whose probes were never armed writes nothing: the file keeps
// the data of an earlier run.
func (s *Sink) End(e output.End) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.done || !s.ready {
		return
	}
	s.done, s.p.End = true, e
	s.p.Text = s.p.Text[max(0, len(s.p.Text)-MaxText):]
	if s.format == nil {
		return
	}
	s.p.Calls = s.calls.nested(s.last)
	s.err = s.format(s.to, &s.p)
}

// maxErrors is how many errors are kept; all of them are on standard error.
const maxErrors = 1000

// sizeOf returns about how many bytes the fields of an event take.
func sizeOf(fields []output.Field) int {
	size := 0
	for _, f := range fields {
		size += 32
		switch v := f.Value.(type) {
		case string:
			size += len(v)
		case []string:
			for _, text := range v {
				size += 16 + len(text)
			}
		case []output.Field:
			size += sizeOf(v)
		}
	}
	return size
}

// DroppedCause is the cause of the loss of events that are more than a picture has room for.
const DroppedCause = "events for which the format has no room"

// Describe says what the picture is of: the name of the script and its text. A nil sink ignores it.
func (s *Sink) Describe(title, script string) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.p.Title, s.p.Script = title, script
}

// Dropped returns how many events were more than the picture has room for; of a nil sink none.
func (s *Sink) Dropped() uint64 {
	if s == nil {
		return 0
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.dropped
}

// Flush implements output.Sink.
func (s *Sink) Flush() {}

// Err implements output.Sink: why the picture could not be written.
func (s *Sink) Err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}
