package facility

import (
	"strconv"

	"gotap/runtime/hook"
	"gotap/runtime/outcome"
	"gotap/runtime/record"
)

// The facilities that are always there.
const (
	Log       = 0 // the log is committed, which is all that a plain exit does
	Stop      = 1 // the process is left stopped for a debugger
	Hold      = 2 // the thread waits until the callback has returned
	Dump      = 3 // an ELF core is written, and the target goes on
	FirstFree = 4
	Count     = 256 // numbers are below
)

var names = [FirstFree]string{"log", "stop", "hold", "dump"}

// Name is how people call a facility: one of gotap's own by its word, others by their number.
func Name(n uint32) string {
	if n < FirstFree {
		return names[n]
	}
	return strconv.FormatUint(uint64(n), 10)
}

// Of is the facility that the end of a program leads to.
func Of(out *outcome.Outcome) uint32 {
	switch out.Kind {
	case outcome.ExitStop:
		return Stop
	case outcome.ExitHold:
		return Hold
	case outcome.ExitDump:
		return Dump
	case outcome.ExitFacility:
		return out.Facility
	}
	return Log
}

// Request is one exit at the hit. Those who are registered set what is to be done when the instruction has completed.
type Request struct {
	Number           uint32
	Pid, Tid         int
	Hold, Stop, Dump bool
}

// Delivery is the log of one exit at the host.
type Delivery struct {
	Number       uint32
	Probe        string
	Major, Minor uint64
	Group, Type  int
	Record       *record.Record
	Items        []record.Item // what was logged, without the items that set codes
}

// Table is a session's facilities. Safe for concurrent use. It must not be copied.
type Table struct {
	hits    [Count]hook.Hook[*Request]
	records [Count]hook.Hook[*Delivery]
}

// NewTable makes a table in which gotap's own facilities are armed.
func NewTable() *Table {
	t := new(Table)
	for n, do := range map[uint32]func(*Request){
		Stop: func(r *Request) { r.Stop = true },
		Hold: func(r *Request) { r.Hold = true },
		Dump: func(r *Request) { r.Dump = true },
	} {
		x := &hook.Exit[*Request]{Name: Name(n), Func: func(r *Request) hook.Code {
			do(r)
			return hook.Continue
		}}
		if err := t.hits[n].Register(x); err != nil {
			panic(err) // the table is new
		}
		if err := t.hits[n].Arm(x); err != nil {
			panic(err)
		}
	}
	return t
}

// Hits is the hook of a facility at the hit; nil for a number that is not below Count.
func (t *Table) Hits(n uint32) *hook.Hook[*Request] {
	if n >= Count {
		return nil
	}
	return &t.hits[n]
}

// Records is the hook of a facility at the host; nil as for Hits.
func (t *Table) Records(n uint32) *hook.Hook[*Delivery] {
	if n >= Count {
		return nil
	}
	return &t.records[n]
}

// Served reports whether anything is registered with a facility. Gotap's own always are.
func (t *Table) Served(n uint32) bool {
	return n < FirstFree || n < Count && (len(t.hits[n].Exits()) > 0 || len(t.records[n].Exits()) > 0)
}

// Hit asks the facility of an exit what is to be done. Tracing thread.
func (t *Table) Hit(r *Request) {
	if h := t.Hits(r.Number); h != nil {
		h.Dispatch(r)
	}
}

// Deliver hands a record to those who are registered, and reports whether one of them has taken it.
func (t *Table) Deliver(d *Delivery) (taken bool) {
	h := t.Records(d.Number)
	return h != nil && h.Dispatch(d) != hook.Continue
}
