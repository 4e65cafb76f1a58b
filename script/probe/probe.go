package probe

import (
	"github.com/dop251/goja"

	"gotap/compile/diag"
	"gotap/compile/js"
	"gotap/runtime/hook"
)

// Probe is one probe that the script declared. Its exported fields, except Disabled, do not change once the script has
// been loaded.
type Probe struct {
	ID         uint32 // unique in the script, and in a watched script unique over its versions
	Name       string // the option, or the first spec
	Named      bool   // the script gave the name
	Specs      []SpecText
	Not        []SpecText // left out
	From       []SpecText // modules that make the calls that count
	After      uint64
	Limit      uint64
	Every      uint64
	Rate       uint64
	MaxActive  int
	LogMax     int
	Fuel       int
	LogOnFault bool
	Optional   bool
	NoCopies   bool // names of functions do not stand for their inlined copies
	Disabled   bool
	Order      hook.Order // among the probes of one place
	Span       diag.Span  // the call of probe

	unit     js.Unit
	callback goja.Callable // exit; nil when there is none
	handlers []handler     // as given, until they are folded
	set      *Set

	compiled compiled
}

// SpecText is a place as the script names it.
type SpecText struct {
	Text string
	Span diag.Span
}

// handler is a function value given for a program.
type handler struct {
	kind js.HandlerKind
	fn   *goja.Object
	span diag.Span
}

// Has reports whether the probe has a handler of a kind.
func (p *Probe) Has(k js.HandlerKind) bool { return p.unit.Handlers[k] != nil }

// HasExit reports whether the probe has a callback for its events.
func (p *Probe) HasExit() bool { return p.callback != nil }
