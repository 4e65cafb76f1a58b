package script

import (
	"io/fs"
	"time"

	"gotap/compile/diag"
	"gotap/runtime/arena"
	"gotap/runtime/facility"
	"gotap/runtime/record"
	"gotap/script/limits"
	"gotap/script/output"
)

// Options say what to load and how to run it.
type Options struct {
	Name string // the script as the user knows it: the path given, or "-e"
	Text string
	Dir  string // where relative imports start; "": the working directory

	Std    fs.FS             // the standard library, "gotap/NAME" is NAME.js or NAME.ts in it; may be nil
	Args   map[string]string // values given with --arg
	Arena  *arena.Arena      // nil: an arena of its own, closed with the script
	Unsafe bool              // destructive built-in functions are allowed in programs
	Output output.Sink       // nil: everything is discarded
	Own    *diag.Controls    // collects the control sequences in the script's own texts, which it may print; may be nil
	Check  bool              // nothing will run: an option without a value is not an error

	Deadline  time.Duration // of one callback; the top level has five times as long; 0: 2 s
	HeapLimit uint64        // bytes the heap may grow by while the script runs; 0: 256 MB
	// Stuck is called on the watchdog's goroutine when a callback cannot be interrupted because it is in a long
	// built-in function. The process cannot continue: it has to detach from its targets and end.
	Stuck func(err error)

	// Columns is the width of the terminal that output goes to, 0 without one; nil: without one. It is called on the
	// host's goroutine.
	Columns func() int

	// FirstProbe is the number of the first probe; 0: 1. A script that joins another's run needs numbers of its own.
	FirstProbe uint32

	// Others is offered, on the host's goroutine, each record of a probe that is neither the script's nor a guest's,
	// and reports whether it took it. No thread waits for such a record. It may be nil.
	Others func(rec *record.Record) bool

	// Facilities is where callbacks of facility() are registered, until Close; nil: a table of its own.
	Facilities *facility.Table

	// Journal records what the script gets from outside; Replay gives that to it without a run. Either may be nil.
	Journal Journal
	Replay  Replay

	// Keep is for a script that may be followed by a next version: numbers, texts and booleans that its callbacks keep
	// in top-level variables keep their values there.
	Keep bool

	// Previous is the running version of the script. This one takes over its variables and aggregations of the same
	// name and type. It needs the same Arena.
	Previous *Script
}

const (
	defaultDeadline  = limits.Deadline
	defaultHeapLimit = 256 << 20
)

func (o Options) withDefaults() Options {
	if o.Deadline <= 0 {
		o.Deadline = defaultDeadline
	}
	if o.HeapLimit == 0 {
		o.HeapLimit = defaultHeapLimit
	}
	if o.Facilities == nil {
		o.Facilities = facility.NewTable()
	}
	if o.Output == nil {
		o.Output = output.Discard
	}
	return o
}
