package gotap

import (
	"os"

	"gotap/compile/diag"
	"gotap/engine"
	"gotap/engine/image/module"
	"gotap/script"
	"gotap/script/definition"
	"gotap/script/output"
)

// A Script is a script or a definition file before it is loaded.
type Script struct {
	Name string // as diagnostics show it: a path, or "-e"
	Dir  string // where relative imports start; "": the working directory
	Text string
}

// isDefinition reports whether the text is a definition file.
func (s Script) isDefinition() bool { return definition.Is(s.Name, s.Text) }

// Options say what a session traces and how. The zero value of every field is useful, but there must be a target:
// Command, Pids or Remote.
type Options struct {
	// Command is started stopped before its first instruction, and gets SIGTERM when the session ends before it.
	Command               []string
	Stdin, Stdout, Stderr *os.File // of Command; nil: those of this process
	Pids                  []int    // processes to attach to; they go on when the session ends
	Remote                string   // HOST:PORT of a GDB stub
	Exe                   string   // with Remote, the file of the program or kernel that runs there

	Args       map[string]string  // values that the script reads with option()
	Definition definition.Options // what of a definition file runs
	Beside     Script             // with a definition file, a script whose callbacks of facility() get its exits

	Follow    Follow
	ByScript  bool // what the script asks for with follow() counts instead of Follow
	Engine    Engine
	Affinity  Affinity
	MaxProbes int     // probed places at most; 0: 1000, and any number with Inline
	Unsafe    bool    // programs may change the target
	Budget    float64 // the share of time for which targets may be stopped, above 0 to 1; 0: no limit
	Missing   Missing

	Event  func(Event)       // gets records that no callback of the script takes; nil: they are dropped
	Print  func(text string) // gets what the script prints; nil: it is dropped
	Output output.Sink       // gets everything a run produces, instead of Event and Print

	Tool  Tool
	Hooks Hooks
}

// Tool has settings for a tool around a session, such as the command line.
type Tool struct {
	Path       string  // the file of Command's program; "": Command[0], looked up in PATH
	Title      string  // what messages call Command; "": the base name of Command[0]
	Quiet      bool    // inlined copies are not looked for, which takes time
	Silent     bool    // no warning that targets run slowly
	Verbose    bool    // every change of a target is a note
	Keep       bool    // the script may be replaced: its top-level variables keep their values then
	MayAppear  bool    // missing places may appear in what the target goes on to run: the session starts without any
	MayEnd     bool    // of the processes of Pids some may have ended by now: they are not traced
	Supervised bool    // something else takes the probes out when this process is killed
	Explain    bool    // Probe.Stops has the places that could never run programs without a stop, and why, which takes time
	Fetch      Fetcher // fetches debug files that are not on this machine; nil: nothing is fetched
	Own        []int   // processes that wait for this one: they cannot be attached to
}

// Fetcher fetches the debug file of a module, and returns its path, or "".
type Fetcher = module.Fetcher

// Follow says which processes and threads are traced besides the named ones.
type Follow = engine.Follow

// What a session follows.
const (
	FollowNone     = engine.FollowNone
	FollowThreads  = engine.FollowThreads
	FollowChildren = engine.FollowChildren
)

// Engine says how probed instructions are completed.
type Engine = engine.Engine

// Affinity says whether a session may share a CPU with its target, which makes stops cheaper.
type Affinity = engine.Affinity

// Whether a CPU may be shared.
const (
	AffinityAuto = engine.AffinityAuto // where the target cannot notice it
	AffinityOff  = engine.AffinityOff
)

// Event is a record of a probe's program.
type Event = output.Event

// Missing says what a probe whose place is not found is.
type Missing string

// What a missing place is.
const (
	MissingIsError Missing = "" // the session does not start
	MissingWarns   Missing = "warn"
	MissingIgnored Missing = "ignore"
)

// Hooks are called while a session runs. Each may be nil. They run on one goroutine of the session, one after the
// other, unless they say otherwise.
type Hooks struct {
	Note     func(text string)          // what the user should know, a line
	Warn     func(diag.List)            // warnings about the script
	Complain func(err error)            // errors that do not end the session; nil: they go to Options.Output
	Outcome  func(line string)          // how a target failed: "ls: exit status 2"
	Progress func(what string)          // what Arm and Close are doing; "" when they have done it. Any goroutine
	Process  func(pid int, probed bool) // a process gets probes, or has ended. Any goroutine, the tracing thread too: it must not block
	Stub     func(address string)       // the session traces through a stub; "": nobody else may detach from it now. Any goroutine
	// Stuck is called when a callback of the script cannot be interrupted. The session has detached from the targets.
	// The script's goroutine cannot be stopped, so the process should end. nil: Wait returns the error.
	Stuck    func(err error)
	Columns  func() int               // the width of the terminal that output goes to; 0: none. The script's host
	Lost     func() map[string]uint64 // further losses, by cause; asked by Close
	Journal  script.Journal           // records what the script gets, for `gotap test`
	Controls *diag.Controls           // gets the control sequences of the script's own texts
}

// withDefaults fills in what is nil.
func (o Options) withDefaults() Options {
	if o.Output == nil {
		o.Output = callbacks{output.Discard, o.Event, o.Print}
	}
	h := &o.Hooks
	if h.Note == nil {
		h.Note = func(string) {}
	}
	if h.Warn == nil {
		h.Warn = func(diag.List) {}
	}
	if h.Complain == nil {
		h.Complain = func(err error) {
			for _, d := range diagnosticsOf(err) {
				o.Output.Error(d)
			}
		}
	}
	if h.Outcome == nil {
		h.Outcome = func(string) {}
	}
	if h.Progress == nil {
		h.Progress = func(string) {}
	}
	if h.Process == nil {
		h.Process = func(int, bool) {}
	}
	if h.Stub == nil {
		h.Stub = func(string) {}
	}
	if h.Lost == nil {
		h.Lost = func() map[string]uint64 { return nil }
	}
	return o
}

// callbacks is a sink for Options.Event and Options.Print.
type callbacks struct {
	output.Sink
	event func(Event)
	print func(string)
}

// Event implements output.Sink.
func (c callbacks) Event(e Event) {
	if c.event != nil {
		c.event(e)
	}
}

// Table implements output.Sink: a table is printed.
func (c callbacks) Table(t output.Table) { c.Print(t.Text) }

// Print implements output.Sink.
func (c callbacks) Print(text string) {
	if c.print != nil {
		c.print(text)
	}
}
