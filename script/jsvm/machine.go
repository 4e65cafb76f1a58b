package jsvm

import (
	"sync/atomic"
	"time"

	"github.com/dop251/goja"

	"gotap/compile/diag"
	"gotap/script/output"
	"gotap/script/source"
	"gotap/script/watchdog"
)

// CallStackLimit is how deep calls may nest.
const CallStackLimit = 2000

// Options say how a Machine runs.
type Options struct {
	Files     *source.Files
	Out       output.Sink   // exceptions of callbacks are reported there
	Deadline  time.Duration // of one callback
	HeapLimit uint64        // bytes by which the heap may grow
	Stuck     func(error)   // called when a callback cannot be interrupted; may be nil
	Exhausted func()        // called when the script used too much memory; may be nil
}

// Machine is the JavaScript machine of one script.
type Machine struct {
	VM    *goja.Runtime
	Files *source.Files
	Dog   *watchdog.Watchdog

	Loading bool      // the top level runs
	Diags   diag.List // errors and warnings of loading
	Faults  Faults    // exceptions of callbacks
	Stopped atomic.Bool
	Pid     int // the process of the event that a callback handles; 0: none

	out        output.Sink
	exhausted  func()
	disabled   bool // the script used too much memory: no callback runs any more
	rejected   []*goja.Promise
	plus       goja.Callable // (a, b) => a + b
	object     *goja.Object  // Object.prototype
	uint8Array goja.Value
	symDiag    *goja.Symbol
	symBuiltin *goja.Symbol
	members    []Members
	forms      []Form
}

// New makes a Machine that has run nothing yet. Close frees it.
func New(o Options) *Machine {
	m := &Machine{VM: goja.New(), Files: o.Files, out: o.Out, exhausted: o.Exhausted,
		symDiag: goja.NewSymbol("diagnostic"), symBuiltin: goja.NewSymbol("builtin")}
	m.VM.SetMaxCallStackSize(CallStackLimit)
	m.VM.SetPromiseRejectionTracker(m.trackRejection)
	m.Dog = watchdog.New(watchdog.Options{Deadline: o.Deadline, HeapLimit: o.HeapLimit, Stuck: o.Stuck,
		Interrupt: func(reason error) { m.VM.Interrupt(reason) }, Clear: m.VM.ClearInterrupt})
	m.object = m.VM.Get("Object").ToObject(m.VM).Get("prototype").ToObject(m.VM)
	m.uint8Array = m.VM.Get("Uint8Array")
	// This cannot fail: the text is ours. BigInt has no form in JSON of its own; ours is the one of all output.
	plus, _ := m.VM.RunString("BigInt.prototype.toJSON = function() { return String(this); }; (a, b) => a + b")
	m.plus, _ = goja.AssertFunction(plus)
	return m
}

// Close frees the machine. No callback may run.
func (m *Machine) Close() { m.Dog.Close() }

// Plus returns a + b as JavaScript has it. Since it runs code, the machine also looks for an interrupt.
func (m *Machine) Plus(a, b goja.Value) goja.Value { return OrThrow(m.plus(goja.Undefined(), a, b)) }

// IsPlain reports whether an object is a plain one, made by { … } or without a prototype.
func (m *Machine) IsPlain(obj *goja.Object) bool {
	proto := obj.Prototype()
	return obj.ClassName() == "Object" && (proto == nil || proto == m.object)
}
