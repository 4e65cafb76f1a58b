package script

import (
	"maps"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/dop251/goja"

	"gotap/compile/diag"
	"gotap/runtime"
	"gotap/script/output"
)

// host is the goroutine that owns the machine while a run lasts, with what reaches it.
type host struct {
	queue   chan func()   // posted functions and lifecycle events
	asked   chan func()   // what to print now, which does not wait behind them
	records chan struct{} // the pump has seen a record
	resume  chan struct{} // the ring has been emptied: the pump may wait again
	quit    chan struct{} // closed by End
	done    chan struct{} // closed when the loop has ended
	rested  chan struct{} // closed when the pump has ended
	started bool
	dropped atomic.Uint64 // lifecycle events that found the queue full
	left    atomic.Uint64 // records that were not delivered when time was up at the end
	busy    bool          // there may be records in the ring: the loop reads it, and the pump rests
	waiting []due         // lifecycle events that came after records which are still in the ring
	guests  []*Script     // further scripts whose machines run on this goroutine
	joined  atomic.Int32  // how many they are, for others
}

const (
	queueSize  = 4096                  // posted functions and lifecycle events that can wait
	batchSize  = 256                   // records handled before timers and the queue are looked at
	batchTime  = 20 * time.Millisecond // what they may take, so that slow callbacks hold up neither timers nor the end
	drainTime  = 10 * time.Second
	flushEvery = 50 * time.Millisecond
)

func (h *host) init() {
	h.queue, h.asked = make(chan func(), queueSize), make(chan func(), 1)
	h.revive()
}

// revive makes the channels of one life of the loop; the queue outlives a hand-over.
func (h *host) revive() {
	h.records, h.resume = make(chan struct{}), make(chan struct{})
	h.quit, h.done, h.rested = make(chan struct{}), make(chan struct{}), make(chan struct{})
}

// Begin runs the begin callbacks. It is called before the first target may run.
func (s *Script) Begin() {
	for _, fn := range s.begins {
		s.call(fn)
	}
	s.out.Flush()
}

// Start hands the machine to a goroutine of its own, which delivers records and runs timers until End.
func (s *Script) Start() {
	s.host.started = true
	s.dog.rebase()
	s.restartTimers()
	go s.loop()
}

// pump waits for records, so that the loop can wait for several things at once. While the loop reads the ring it rests:
// the ring has one consumer at a time.
func (s *Script) pump() {
	defer close(s.host.rested)
	for s.arena.Wait(s.host.quit) {
		select {
		case s.host.records <- struct{}{}:
		case <-s.host.quit:
			return
		}
		select {
		case <-s.host.resume:
		case <-s.host.quit:
			return
		}
	}
}

// loop is the host.
func (s *Script) loop() {
	defer close(s.host.done)
	for len(s.backlog) > 0 {
		s.drain(len(s.backlog))
	}
	go s.pump()
	s.host.busy = false
	for flushed := time.Now(); ; {
		if s.host.busy {
			if s.host.busy = s.drain(batchSize); !s.host.busy {
				s.wakePump()
			}
			if now := time.Now(); now.Sub(flushed) > flushEvery {
				s.out.Flush()
				flushed = now
			}
			if !s.poll() {
				return
			}
			continue
		}
		s.out.Flush()
		if !s.wait() {
			return
		}
	}
}

func (s *Script) wakePump() {
	select {
	case s.host.resume <- struct{}{}:
	case <-s.host.quit:
	}
}

// poll does what is due without waiting; it reports false at the end.
func (s *Script) poll() bool {
	s.tickAll(time.Now())
	for {
		select {
		case f := <-s.host.queue:
			f()
		case f := <-s.host.asked:
			f()
		case <-s.host.quit:
			return false
		default:
			return true
		}
	}
}

// wait waits for the next thing to do; it reports false at the end.
func (s *Script) wait() bool {
	var due <-chan time.Time
	if d, ok := s.nextTick(); ok {
		timer := time.NewTimer(d)
		defer timer.Stop()
		due = timer.C
	}
	select {
	case <-s.host.records:
		s.host.busy = true
	case f := <-s.host.queue:
		f()
	case f := <-s.host.asked:
		f()
	case now := <-due:
		s.tickAll(now)
	case <-s.host.quit:
		return false
	}
	return true
}

// post has a function run on the host's goroutine, or at the end of the run when the host has ended meanwhile. It reports false when
// the queue is full. Safe for concurrent use; it does not block.
func (s *Script) post(f func()) bool {
	select {
	case s.host.queue <- f:
		return true
	default:
		return false
	}
}

// Event is something that happened to a traced process, for on(…).
type Event struct {
	Kind   string         // "exec", "exit", "fork", "thread", "signal", "module"
	Fields map[string]any // what the callback sees: integers, text
}

// Lifecycle tells the script of an event. Safe for concurrent use; it does not block: an event that finds the queue full is
// counted as lost.
func (s *Script) Lifecycle(e Event) {
	if s.Stopped() {
		return
	}
	dumps := s.capture(e)
	if h := s.listeners[e.Kind]; h == nil || !h.Armed() && s.host.joined.Load() == 0 && len(dumps) == 0 {
		return
	}
	tell := func() {
		s.deliverEvent(e, dumps)
		for _, g := range s.host.guests {
			g.deliverEvent(e, g.capture(e))
		}
	}
	if at := s.arena.Written(); !s.post(func() { s.tellAfter(at, tell) }) {
		s.host.dropped.Add(1)
	}
}

// deliverEvent calls the listeners, then tells what the recorders held when it happened.
func (s *Script) deliverEvent(e Event, dumps []dump) {
	if s.opts.Journal != nil {
		s.opts.Journal.Event(e)
	}
	s.listeners[e.Kind].Dispatch(e)
	for _, d := range dumps {
		s.tell(d)
	}
}

func (s *Script) eventObject(e Event) goja.Value {
	obj := s.vm.NewObject()
	for _, name := range slices.Sorted(maps.Keys(e.Fields)) { // always in the same order
		obj.Set(name, s.fieldValue(e.Fields[name]))
	}
	return obj
}

func (s *Script) fieldValue(v any) goja.Value {
	switch v := v.(type) {
	case uint64:
		return s.unsigned(v)
	case int64:
		return s.integer(v)
	}
	return s.vm.ToValue(v)
}

// Lost counts what this package has dropped, by cause. Safe for concurrent use.
func (s *Script) Lost() map[string]uint64 {
	lost := map[string]uint64{}
	if n := s.host.dropped.Load(); n > 0 {
		lost["events of processes: the script's queue was full"] = n
	}
	if n := s.host.left.Load(); n > 0 {
		lost["records left when the run ended: the script's callbacks are too slow"] = n
	}
	return lost
}

// drain delivers records, at most so many and for about batchTime; it reports whether there may be more.
func (s *Script) drain(most int) bool {
	for began := time.Now(); most > 0 && time.Since(began) < batchTime; most-- {
		if len(s.host.queue) > 0 {
			s.takePosted()
		}
		s.tellDue(false)
		rec, ok := s.next()
		if !ok {
			return false
		}
		s.Deliver(rec)
	}
	s.tellDue(false)
	return true
}

// tickAll runs the timers of this script and its guests.
func (s *Script) tickAll(now time.Time) {
	s.tick(now)
	for _, g := range s.host.guests {
		g.tick(now)
	}
}

// Deliver handles one record: its lines are printed and its event goes to the probe's callback, in the order logged. A held
// thread is released whatever happens. It is for the host, and for tests and replays that have no ring.
func (s *Script) Deliver(rec runtime.Record) {
	if rec.Flags&runtime.RecordHold != 0 {
		defer s.release(rec.Hold)
	}
	if s.stopped.Load() {
		return
	}
	p := s.byID[rec.Probe]
	if p == nil {
		for _, g := range s.host.guests {
			if g.byID[rec.Probe] != nil {
				rec.Flags &^= runtime.RecordHold // the ticket is released here
				g.Deliver(rec)
				return
			}
		}
	}
	if p == nil && s.opts.Others != nil && s.opts.Others(&rec) {
		return
	}
	if p != nil {
		s.journalRecord(p, &rec)
	}
	name := s.probeName(p, &rec)
	for i := range rec.Items {
		if s.stopped.Load() {
			return
		}
		item := &rec.Items[i]
		if item.Format.Kind == runtime.ItemEvent {
			s.deliverRecord(p, name, &rec, item)
			continue
		}
		s.out.Print(item.Print(s.stackLines))
	}
}

func (s *Script) probeName(p *Probe, rec *runtime.Record) string {
	if p != nil {
		return p.Name
	}
	info, _ := s.arena.Program(rec.Program)
	return info.Name
}

func (s *Script) release(ticket uint32) {
	if s.tracer != nil {
		s.tracer.Release(ticket)
	}
}

func (s *Script) deliverRecord(p *Probe, name string, rec *runtime.Record, item *runtime.Item) {
	if p == nil || p.callback == nil {
		s.out.Event(output.Event{Probe: name, Pid: rec.Pid, Tid: rec.Tid, Time: rec.Time, Comm: commText(&rec.Header),
			Fields: s.fields(s.layoutOf(item.Format), item)})
		return
	}
	s.eventPid = int(rec.Pid)
	s.call(p.callback, s.event(rec, item, name))
	s.eventPid = 0
}

// call runs a callback under the watchdog; what it throws is reported and the run goes on. The result is nil then.
func (s *Script) call(fn goja.Callable, args ...goja.Value) (result goja.Value) {
	if s.disabled {
		return nil
	}
	err := s.protect(false, func() (err error) {
		result, err = fn(goja.Undefined(), args...)
		return err
	})
	if err != nil && !s.isStop(err) {
		s.fault(err)
	}
	for _, p := range s.rejected {
		s.faults.report(s.out, s.rejection(p))
	}
	s.rejected = nil
	return result
}

// End ends the run: what is in the ring is delivered, as far as ten seconds suffice, the end callbacks run, aggregations that
// were not printed are, and everything is written out. It returns when all that is done, and is called once, after Start
// or instead of it.
func (s *Script) End() {
	s.halt()
	for _, g := range s.host.guests {
		g.conclude()
	}
	s.conclude()
}

// halt ends the loop, then delivers what is left.
func (s *Script) halt() {
	if s.host.started {
		close(s.host.quit)
		<-s.host.done
		<-s.host.rested
	}
	until := time.Now().Add(drainTime)
	for s.drain(batchSize) && time.Now().Before(until) {
	}
	for {
		rec, ok := s.next()
		if !ok {
			break
		}
		s.host.left.Add(1)
		if rec.Flags&runtime.RecordHold != 0 {
			s.release(rec.Hold)
		}
	}
	s.emptyQueue()
}

// conclude runs the end callbacks and prints what is left to print.
func (s *Script) conclude() {
	s.journalEnd()
	s.stopped.Store(false) // stop ends events, not the end callbacks
	for _, fn := range s.ends {
		s.call(fn)
	}
	s.dumpAtEnd()
	s.stopped.Store(true)
	s.printRest()
	s.runTests()
	s.faults.summary(s.out)
	s.out.Flush()
}

// emptyQueue runs what was posted before the end.
func (s *Script) emptyQueue() {
	s.takePosted()
	s.tellDue(true)
}

// takePosted runs what has been posted.
func (s *Script) takePosted() {
	for {
		select {
		case f := <-s.host.queue:
			f()
		default:
			return
		}
	}
}

// Faults counts the exceptions of callbacks so far: of this script, of the versions before it, and of those that have joined it. It
// is to be read when the host is at rest.
func (s *Script) Faults() uint64 {
	n := s.faults.total + s.faults.earlier
	for _, g := range s.host.guests {
		n += g.Faults()
	}
	return n
}

// fault reports an exception of a callback. Too much memory is the end of all callbacks and of the run.
func (s *Script) fault(err error) {
	d := s.explain(err)
	s.faults.report(s.out, d)
	if isHeap(err) {
		s.disabled = true
		if s.tracer != nil {
			s.tracer.Stop(1)
		}
		s.status = 1
		s.stopped.Store(true)
	}
}

// faults are the exceptions of callbacks: the first few of each place are shown, all are counted.
type faults struct {
	total   uint64
	earlier uint64 // those of versions before this one, and of scripts that have left
	others  uint64 // of total, those of places that are not told apart any more
	places  map[diag.Diagnostic]uint64
	order   []diag.Diagnostic
}

const (
	faultsShown  = 3   // of one place and text
	faultsPlaces = 100 // places that are told apart
)

func (f *faults) report(out output.Sink, d diag.Diagnostic) {
	f.total++
	if f.places == nil {
		f.places = map[diag.Diagnostic]uint64{}
	}
	if _, known := f.places[d]; !known {
		if len(f.places) >= faultsPlaces {
			f.others++
			return
		}
		f.order = append(f.order, d)
	}
	if f.places[d]++; f.places[d] <= faultsShown {
		out.Error(d)
	}
}

// summary tells how many there were of each that was not the only one, and of those that were not shown.
func (f *faults) summary(out output.Sink) {
	for _, d := range f.order {
		if n := f.places[d]; n > 1 {
			d.Text = d.Text + " (" + strconv.Itoa(int(n)) + " times in all)"
			out.Error(d)
		}
	}
	if f.others > 0 {
		out.Lost("exceptions of callbacks, beside those shown", f.others)
	}
}
