package script

import (
	rtvalue "gotap/runtime/value"
	"gotap/script/environ"
	"gotap/script/expect"
	"gotap/script/journal"
	"gotap/script/listen"
	"gotap/script/option"
	"gotap/script/probe"
	"gotap/script/shared"
	"gotap/script/value"
)

// Tracer places the probes of a script and answers its questions about processes. It is implemented where the engine
// and the script are joined, so that this package knows nothing of processes. All methods are safe for concurrent use.
type Tracer interface {
	probe.Tracer
	value.Symbolizer
	environ.Memory
	// Release resumes a thread that exit.hold has stopped.
	Release(ticket uint32)
	// Stop ends the run with a status; it returns at once.
	Stop(status int)
}

// The types of the parts of a script, for its users.
type (
	// Probe is one probe that the script declared.
	Probe = probe.Probe
	// SpecText is a place as the script names it.
	SpecText = probe.SpecText
	// ProbeOption is a property of the object given to probe.
	ProbeOption = probe.Option
	// Checked is one program of a probe, compiled without a place and verified.
	Checked = probe.Checked
	// Symbol is an address with its names.
	Symbol = value.Symbol
	// Event is something that happened to a traced process.
	Event = journal.Event
	// EventKind is a kind of event that on() listens to.
	EventKind = listen.Kind
	// Journal records what a script gets from outside.
	Journal = journal.Journal
	// Replay answers a script's questions from a journal.
	Replay = journal.Replay
	// Played is a record of a journal.
	Played = journal.Played
	// Option is an argument that the script declared with option().
	Option = option.Option
	// Verdict is the result of a script's expectations.
	Verdict = expect.Verdict
)

// StateQuestion begins questions about objects that programs change; see package shared.
const StateQuestion = shared.StateQuestion

// ProbeOptions lists the properties of the object given to probe.
func ProbeOptions() []ProbeOption { return probe.Options() }

// SampleOptions lists the properties of the object given to sample.
func SampleOptions() []ProbeOption { return probe.SampleOptions() }

// EventKinds lists the kinds of events that on() listens to.
func EventKinds() []EventKind { return listen.Kinds() }

// StackLines returns a stack for the output, a text for each frame; named is the result of Tracer.Stack for its
// addresses.
func StackLines(v rtvalue.Value, named []Symbol) []string { return value.StackLines(v, named) }
