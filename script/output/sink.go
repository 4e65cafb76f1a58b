package output

import (
	"gotap/compile/diag"
	"gotap/runtime/snapshot"
)

// Sink receives everything a run produces.
type Sink interface {
	Print(text string)     // text of the script, end of line included
	Clear()                // the next print replaces what was printed, in a text file
	Complain(text string)  // text of the script for standard error, end of line included
	Event(e Event)         // a record that no callback took
	Table(t Table)         // a table of the script
	Aggregate(a Aggregate) // an aggregation or map as it is now
	Error(d diag.Diagnostic)
	Lost(cause string, count uint64)
	Ready()
	End(e End)
	Flush()
	Err() error // the first failed write of data
}

// End is how a run has ended.
type End struct {
	Status  int // of gotap
	Targets []Target
	Stops   *Stops // nil: not asked for
}

// Stops are the stops of a session's targets.
type Stops struct {
	All      uint64
	Together uint64 // handled on the target's CPU
	Apart    string // why the target and the session do not share a CPU, or did not; "" if they do, or did until the target ended
}

// Target is a process that the user named, and how it has ended. A process that still runs has neither a status nor a
// signal.
type Target struct {
	Pid    int
	Ended  bool
	Status int  // when Signal is 0
	Signal int  // that ended it
	Dumped bool // and the kernel wrote a core
}

// Event is one record of a program.
type Event struct {
	Probe    string
	Pid, Tid uint32
	Time     uint64 // monotonic nanoseconds
	Comm     string
	Fields   []Field
	Text     string // the event as text, end of line included; "": it is formatted from the other fields
	Hidden   bool   // a record without text
	Codes    *Codes // of a definition file's probe; nil for others
}

// Codes are the numbers that a definition file gives its probes and records, all from 0 to 65535.
type Codes struct {
	Major, Minor uint64
	Group, Type  int
}

// Field is a named value of a record: int64, uint64, float64, bool, string, []string or []Field.
type Field struct {
	Name  string
	Value any
}

// Table is what a script found, in rows under columns. Without columns it is only text, and no record.
type Table struct {
	Name    string
	Columns []string
	Rows    [][]any // cells as the values of fields, or nil
	Text    string  // the table for people, end of line included
}

// Aggregate is a snapshot with the options for printing it.
type Aggregate struct {
	Snapshot snapshot.Snapshot
	Options  snapshot.Options
}

// Discard drops everything.
var Discard Sink = discard{}

type discard struct{}

func (discard) Print(string)          {}
func (discard) Clear()                {}
func (discard) Complain(string)       {}
func (discard) Event(Event)           {}
func (discard) Table(Table)           {}
func (discard) Aggregate(Aggregate)   {}
func (discard) Error(diag.Diagnostic) {}
func (discard) Lost(string, uint64)   {}
func (discard) Ready()                {}
func (discard) End(End)               {}
func (discard) Flush()                {}
func (discard) Err() error            { return nil }
