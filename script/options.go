package script

import (
	"io/fs"
	"time"

	"gotap/compile/diag"
	"gotap/runtime"
	"gotap/runtime/facility"
	"gotap/script/output"
)

// Options say what to load and how to run it.
type Options struct {
	Name string // the script as the user knows it: the path given, or "-e"
	Text string
	Dir  string // where relative imports start; "": the working directory

	Std    fs.FS             // the standard library, "gotap/NAME" is NAME.js or NAME.ts in it; may be nil
	Args   map[string]string // values given with --arg
	Arena  *runtime.Arena    // nil: an arena of its own, closed with the script
	Unsafe bool              // destructive builtins are allowed in programs
	Output output.Sink       // nil: everything is discarded
	Own    *diag.Controls    // nil or where the control sequences in the script's own texts are added to, which it may print
	Check  bool              // nothing will run: options without a value are no error

	Deadline  time.Duration // of one callback; the top level has five times as long; 0: 2 s
	HeapLimit uint64        // bytes the heap may grow by while the script runs; 0: 256 MB
	// Stuck is called on the watchdog's goroutine when a callback cannot be interrupted: a long built-in is at work. The
	// process cannot go on; what is left to do is to let the targets go and end.
	Stuck func(err error)

	// Columns is the width of the terminal that output goes to, 0 when it is none; nil: none. It is called on the host's goroutine.
	Columns func() int

	// FirstProbe is the number of the first probe; 0: 1. A script that joins another's run needs numbers of its own.
	FirstProbe uint32

	// Others is offered, on the host's goroutine, each record of a probe that is neither the script's nor a guest's, and
	// reports whether it took it. Threads are held for no such record. It may be nil.
	Others func(rec *runtime.Record) bool

	// Facilities are where callbacks of facility() are registered, and taken back from at Close; nil: a table of its own.
	Facilities *facility.Table

	// Journal is told what the script gets from outside; Replay gives it, instead of a run. Either may be nil.
	Journal Journal
	Replay  Replay

	// Keep is for a script that may be followed by a next version: numbers, text and truth values that its callbacks keep in top-level
	// variables go on there.
	Keep bool

	// Previous is the running version of the script, whose variables and aggregations of the same name and type go on
	// in this one. It needs the same Arena.
	Previous *Script
}

const (
	defaultDeadline  = 2 * time.Second
	defaultHeapLimit = 256 << 20
	callStackLimit   = 2000
	checkArena       = 64 << 20
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

// Option is a script argument that the script declared with option().
type Option struct {
	Name    string
	Default string // "" when it has none
	Type    string // "text", "integer", "number", "boolean"
	Help    string
	Span    diag.Span
}
