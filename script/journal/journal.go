package journal

import (
	"encoding/json"
	"fmt"

	"gotap/runtime/record"
	"gotap/runtime/snapshot"
)

// Event is something that happened to a traced process.
type Event struct {
	Kind   string         // "exec", "exit", "fork", "thread", "threadend", "signal", "module"
	Fields map[string]any // what the callback sees: integers (int64, uint64), texts, and []uint64 for call stacks of the process "pid"
}

// Journal records what a script gets from outside, so that it can be replayed. Its methods are called on the host's
// goroutine, in the order in which the script gets things.
type Journal interface {
	// Record is a record that is about to be delivered.
	Record(r Played)
	// Event is an event of a process whose listeners are about to be called.
	Event(e Event)
	// Timer is the nth timer of the script, counted from 0, that is about to be called.
	Timer(nth int)
	// Dump is the content of a recorder when it was dumped.
	Dump(recorder string, records []Played, overwritten uint64)
	// Values are the present values of the objects that programs use.
	Values(list []snapshot.Snapshot)
	// Answer is the answer to a question: a symbol, memory, a file. A steady answer never changes.
	Answer(question string, answer []byte, steady bool)
	// End comes before the end callbacks.
	End()
}

// Played is a record of a journal. It names its probe by name and position, since probe numbers differ between runs.
type Played struct {
	Probe  string // name of the probe
	Nth    int    // among the script's probes of that name, from 0
	Record *record.Record
}

// Replay answers a script's questions from a journal.
type Replay interface {
	Answer(question string) (answer []byte, known bool)
	Dump(recorder string) (records []Played, overwritten uint64)
	// Arg is the argument that the recorded run was given, for options that have none now.
	Arg(name string) (value string, given bool)
	// Printed is what the script has printed, for its expectations.
	Printed() string
}

// World is what is outside of a script: the real world, or the replay of a journal. Journal and Replay may be nil.
type World struct {
	Journal Journal
	Replay  Replay
	Fail    func(err error) // raises an error as an exception of the script; it does not return
}

// Journalled reports whether questions are recorded or replayed.
func (w *World) Journalled() bool { return w.Journal != nil || w.Replay != nil }

// Ask gets an answer from the world, or from the journal that is replayed. A question without an answer in the journal
// gives the zero value. The text of the question is made only when there is a journal or a replay.
func Ask[T any](w *World, question func() string, steady bool, world func() T) (answer T) {
	if w.Replay != nil {
		if raw, known := w.Replay.Answer(question()); known {
			w.Read(question(), raw, &answer)
		}
		return answer
	}
	answer = world()
	if w.Journal != nil {
		w.Note(question(), answer, steady)
	}
	return answer
}

// Read decodes a recorded answer.
func (w *World) Read(question string, raw []byte, answer any) {
	if err := json.Unmarshal(raw, answer); err != nil {
		w.Fail(fmt.Errorf("cannot read the recorded answer to %s: %w", question, err))
	}
}

// Note records an answer. Answers that JSON cannot express, such as infinite floats, are not recorded.
func (w *World) Note(question string, answer any, steady bool) {
	if raw, err := json.Marshal(answer); err == nil {
		w.Journal.Answer(question, raw, steady)
	}
}
