package native

import (
	"fmt"

	"gotap/runtime"
	"gotap/runtime/arena"
	"gotap/runtime/opcode"
)

// Verdict says what native code does at an operation.
type Verdict uint8

// The verdicts.
const (
	Unreached Verdict = iota // native code does not get there
	Native                   // executes it
	Doorbell                 // stops before it
)

// Limits of what native code is made of.
const (
	MaxWords = 64   // words of stack and scratch words together, which may all lie on the target's stack
	MaxOps   = 4096 // operations
)

// Varies as a number of steps means that it depends on the way.
const Varies = -1

// Op is one operation of a plan. All that is said of it holds when native code is about to execute it.
type Op struct {
	Verdict  Verdict
	Why      string        // Doorbell: the reason
	Depth    int           // words on the stack
	Steps    int           // operations executed before; or Varies
	Block    bool          // a block begins: control may come from elsewhere than from the operation before
	Join     bool          // a block to which several ways lead, or one from behind
	Length   int           // Block: operations that are executed natively from here to the end of the block
	Assigned TempSet       // Block: scratch words that are assigned on every way
	Key      bool          // it is one of those from the first part of a key to the use of the key
	Thread   bool          // native code looks up its thread, and stops before the operation if it does not know it
	Own      bool          // it is about a variable of its thread
	Rings    bool          // native code may stop before the operation, because of its object
	Unsure   bool          // the same, because it reads an argument from the stack, or because the log may become too long
	Log      *Log          // never nil where native code gets to
	Object   *arena.Layout // its object; nil if it has none, or native code does not use it
}

// Features describes the native code of an architecture.
type Features struct {
	// Args is the number of integer arguments that are passed in registers.
	Args int
	// StackArgs is the number of those behind them that native code reads from the stack, above the return address if
	// that is there.
	StackArgs int
	// Link is set if the return address is in a register, and not at the stack pointer.
	Link bool
	// Floats reports whether native code calculates with floats.
	Floats bool
	// FloatArgs is the number of floating-point arguments that are passed in registers which native code reads.
	FloatArgs int
	// Register reports whether native code can read a register, given as the operand of opcode.PushR.
	Register func(operand uint64) bool
}

// Names are the texts that are the same at every hit of a place.
type Names struct{ Func, Module, Probe string }

// Place is what native code finds at a place besides the registers.
type Place struct {
	Names  *Names // nil: they are not known
	Thread bool   // the stack of calls of its thread, by which it knows the thread
	Clock  bool   // the time
	Reads  bool   // which memory can be read
	// Returns is set where the return address of the function is where its caller has put it: at its entry, and at its
	// end.
	Returns bool
	Errno   int64 // where errno of each thread lies, from the start of its own data on; 0: that is not known
	Texts   int   // bytes of the thread's stack that texts may take
	Call    bool  // a call begins or ends, which has a frame
	Ends    bool  // Call: it ends
	This    int   // Call: bytes of its storage
}

// Plan is what native code does for one program. It is immutable.
type Plan struct {
	Code     *runtime.Code
	Insts    []runtime.Inst // what native code executes: the operations of the program, or of the split program
	Ops      []Op           // one for each of Insts
	MaxDepth int            // the most words on the stack, counting those that the operations of a key leave
	Temps    int            // scratch words in use are below this
	Fields   int            // the most fields that are logged
	Counted  bool           // steps are counted at run time
	Fuel     int            // steps that the program may take
	Limited  bool           // Counted: the program may run out of fuel
	Texts    int            // bytes of memory for texts that are made when the program runs
	Place    Place
	origin   []uint32 // of each of Insts, its operation in the program; nil: Insts are the program's
	targets  []bool   // those of Insts that are named by a label
}

// Origin returns the operation of the program that one of Insts is a copy of.
func (p *Plan) Origin(pc int) uint32 {
	if p.origin == nil {
		return uint32(pc)
	}
	return p.origin[pc]
}

// Refused reports that a program cannot run natively at all.
type Refused struct {
	PC     uint32    // the operation, if one is at fault
	Op     opcode.Op // the same; opcode.Nop: it is the program as a whole
	Reason string
}

func (r *Refused) Error() string {
	if r.Op == opcode.Nop {
		return r.Reason
	}
	return fmt.Sprintf("%s (command %d): %s", opcode.RowOf(r.Op).Name, r.PC, r.Reason)
}

// PlanOf decides what native code does at a place for a program that is bound to an arena. The error is a *Refused.
func PlanOf(c *runtime.Code, a *arena.Arena, f Features, at Place) (*Plan, error) {
	if err := refuse(c); err != nil {
		return nil, err
	}
	p := newPlanner(c, c.Insts, a, f, at)
	err := p.follow()
	if p.logsDiffer {
		if s := p.split(); s != nil {
			p = *s
			err = p.follow()
		}
	}
	if p.logsDiffer { // still: then the log is left to the interpreter
		p = newPlanner(c, c.Insts, a, f, at)
		p.logsDiffer = true
		err = p.follow()
	}
	if err != nil {
		return nil, err
	}
	p.divide()
	if err := p.assign(); err != nil {
		return nil, err
	}
	p.count()
	p.Plan.Texts = p.textMemory()
	return p.Plan, nil
}

// newPlanner returns a planner for a program, or for the operations into which it was split.
func newPlanner(c *runtime.Code, insts []runtime.Inst, a *arena.Arena, f Features, at Place) planner {
	plan := &Plan{Code: c, Insts: insts, Ops: make([]Op, len(insts)), Fuel: int(c.StepLimit()), Place: at}
	return planner{Plan: plan, arena: a, features: f, logs: logs{}}
}

// refuse refuses programs by what they declare.
func refuse(c *runtime.Code) error {
	switch {
	case len(c.Insts) == 0:
		return &Refused{Reason: "the program is empty"}
	case c.Wrap:
		return &Refused{Reason: "its stack is circular"}
	}
	return nil
}

// Changes reports whether a program may change the target. Native code does not: it rings before the operation that
// does.
func Changes(c *runtime.Code) bool { return c != nil && runtime.NeedsOf(c)&opcode.NeedUnsafe != 0 }

// Doorbells returns those of Insts before which native code always stops.
func (p *Plan) Doorbells() []uint32 {
	var list []uint32
	for pc := range p.Ops {
		if p.Ops[pc].Verdict == Doorbell {
			list = append(list, uint32(pc))
		}
	}
	return list
}

// AlwaysRings reports whether every way through the program ends at a doorbell, so that a breakpoint is cheaper than
// native code.
func (p *Plan) AlwaysRings() bool {
	for pc := range p.Ops {
		if in := &p.Insts[pc]; p.Ops[pc].Verdict == Native && ends(in) {
			return false
		}
	}
	return true
}

// ends reports whether a native operation ends the program.
func ends(in *runtime.Inst) bool { return in.Op == opcode.Exit || in.Op == opcode.Abort }

// TempSet is a set of scratch words.
type TempSet [runtime.MaxTemps / 64]uint64

// Has reports whether a word is in the set.
func (s *TempSet) Has(n uint32) bool { return s[n/64]>>(n%64)&1 != 0 }

// Add adds a word.
func (s *TempSet) Add(n uint32) { s[n/64] |= 1 << (n % 64) }

// meet removes the words that are not in another set and reports whether there were any.
func (s *TempSet) meet(o *TempSet) (changed bool) {
	for i := range s {
		both := s[i] & o[i]
		changed = changed || both != s[i]
		s[i] = both
	}
	return changed
}
