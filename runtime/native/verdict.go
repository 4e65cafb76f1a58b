package native

import (
	"fmt"

	"gotap/runtime"
	"gotap/runtime/arena"
	"gotap/runtime/object"
	"gotap/runtime/opcode"
	"gotap/runtime/outcome"
)

// lacks returns why native code cannot execute an operation, or "". It records the layout of the object.
func (p *planner) lacks(pc int) string {
	in := &p.Insts[pc]
	row := opcode.RowOf(in.Op)
	switch row.Group {
	case opcode.Inline:
		if in.Op == opcode.Exit && p.Ops[pc].Log.Fields+len(p.Ops[pc].Log.Items) > 0 {
			p.Ops[pc].Thread = true // the record names it
		}
		return p.lacksInline(pc, row)
	case opcode.Log:
		return p.lacksLog(pc, row)
	case opcode.Context:
		return p.lacksContext(pc, row)
	case opcode.Calls:
		return p.lacksStorage(pc, row)
	case opcode.PerThread:
		return p.lacksOwn(pc, row)
	case opcode.Shared:
		return p.needs(pc, object.KindInt)
	case opcode.Arrays:
		return p.needs(pc, object.KindArray)
	case opcode.Keys:
		return p.lacksKey(pc)
	case opcode.Keyed:
		return p.lacksKeyed(pc)
	case opcode.Texts:
		return p.lacksText(pc, row)
	case opcode.Floats:
		if p.floats() && IsFloat(in.Op) {
			return ""
		}
	case opcode.Loads:
		if ReadSize(in.Op) > 0 && p.Place.Reads && (in.Op != opcode.LoadF32 || p.floats()) {
			return ""
		}
	case opcode.Access:
		if _, ok := p.Probed(pc); ok && p.Place.Reads {
			return ""
		}
	case opcode.Stores, opcode.Changes:
		return row.Name + " changes the target, which is left to the interpreter"
	}
	return interpreted(row)
}

// ReadSize returns how many bytes of the target's memory a native operation reads, or 0 for other operations.
func ReadSize(op opcode.Op) int {
	switch op {
	case opcode.Load8, opcode.LoadS8:
		return 1
	case opcode.Load16, opcode.LoadS16:
		return 2
	case opcode.Load32, opcode.LoadS32, opcode.LoadF32:
		return 4
	case opcode.Load64, opcode.LoadPtr:
		return 8
	}
	return 0
}

// maxProbed is how many bytes Readable may ask for natively: they lie in two pages at most.
const maxProbed = 4096

// Probed returns how many bytes a native operation asks for whether they can be read, 1 to 4096; ok is false for other
// operations.
func (p *Plan) Probed(pc int) (n int, ok bool) {
	if p.Insts[pc].Op != opcode.Readable || pc == 0 || p.targets[pc] || p.Insts[pc-1].Op != opcode.PushD {
		return 0, false
	}
	v := p.Insts[pc-1].V
	return int(v), v >= 1 && v <= maxProbed
}

// interpreted is the reason of operations that native code never executes.
func interpreted(row *opcode.Row) string { return row.Name + " is left to the interpreter" }

// lacksInline decides about the operations that move words and calculate, and those that jump and end.
func (p *planner) lacksInline(pc int, row *opcode.Row) string {
	switch in := &p.Insts[pc]; in.Op {
	case opcode.Call, opcode.Ret, opcode.SetX, opcode.Remove, opcode.LogWords:
		return interpreted(row)
	case opcode.Exit:
		// An event without a log notifies nobody.
		if in.A == uint32(outcome.ExitHold) {
			return "exit.hold keeps the thread until its callback returns"
		}
		if in.A > uint32(outcome.ExitEvent) || p.Ops[pc].Log.Open {
			return interpreted(row)
		}
	case opcode.PushTV, opcode.PopTV:
		if in.A >= runtime.MaxTemps {
			return "there is no such scratch word"
		}
	}
	if op := p.Insts[pc].Op; !calculates(op) && !(IsFloat(op) && p.floats()) {
		return interpreted(row)
	}
	return ""
}

// calculates reports whether native code executes an operation that moves words, calculates with integers, or jumps. An
// operation that is new is left to the interpreter until it is added here.
func calculates(op opcode.Op) bool {
	switch op {
	case opcode.Nop, opcode.Jmp, opcode.Jlt, opcode.Jle, opcode.Jgt, opcode.Jge, opcode.Jz, opcode.Jnz, opcode.Loop, opcode.Abort, opcode.Exit,
		opcode.PushD, opcode.Dup, opcode.DupN, opcode.Xchg, opcode.Over, opcode.Drop, opcode.Pick, opcode.Poke, opcode.Depth, opcode.PushTV, opcode.PopTV,
		opcode.Within:
		return true
	}
	return isInteger(op)
}

// isInteger reports whether an operation calculates with integers.
func isInteger(op opcode.Op) bool { return op >= opcode.Add && op <= opcode.Zext }

// lacksContext decides about what is in registers, or the same at every hit of a place.
func (p *planner) lacksContext(pc int, row *opcode.Row) string {
	switch in := &p.Insts[pc]; in.Op {
	case opcode.PushR:
		if p.features.Register(in.V) {
			return ""
		}
		return "the register is not among those that native code reads"
	case opcode.Arg:
		n := int(in.A & 0xffff)
		if p.Ops[pc].Unsure = n >= p.features.Args; n >= p.features.Args && !p.Place.Returns || n >= p.features.Args+p.features.StackArgs {
			return fmt.Sprintf("argument %d is not in a register", n)
		}
		return ""
	case opcode.ArgF:
		if n := in.A & 0xffff; in.A != runtime.NoNumber && int(n) < p.features.FloatArgs {
			return ""
		}
		return "the argument is not in a vector register that native code reads"
	case opcode.Retval:
		return ""
	case opcode.Text:
		if _, ok := p.Text(pc); ok {
			return ""
		}
	case opcode.Field:
		return p.lacksField(pc, row)
	}
	return interpreted(row)
}

// lacksField decides about what the context of a hit is asked for.
func (p *planner) lacksField(pc int, row *opcode.Row) string {
	field := p.Insts[pc].A
	if field >= uint32(runtime.NumFields) {
		return "there is no such field"
	}
	switch runtime.Field(field) {
	case runtime.FieldPid, runtime.FieldPC, runtime.FieldSP:
		return ""
	case runtime.FieldFrame:
		// At the exits of a function that have native code, the stack pointer is what it was at the entry.
		return ""
	case runtime.FieldTid:
		if p.Place.Thread {
			p.Ops[pc].Thread = true
			return ""
		}
	case runtime.FieldErrno:
		if p.Place.Thread && p.Place.Errno != 0 {
			p.Ops[pc].Thread, p.Ops[pc].Unsure = true, true
			return ""
		}
	case runtime.FieldCaller:
		if p.Place.Returns && (p.features.Link || p.Place.Reads && p.features.StackArgs > 0) {
			return ""
		}
	case runtime.FieldTime:
		if p.Place.Clock {
			return ""
		}
	case runtime.FieldElapsed:
		if p.Place.Clock && p.Place.Call && p.Place.Ends {
			return ""
		}
	}
	return interpreted(row)
}

// lacksStorage decides about the storage of a call.
func (p *planner) lacksStorage(pc int, row *opcode.Row) string {
	switch in := &p.Insts[pc]; {
	case in.Op == opcode.PushThisS || in.Op == opcode.PopThisS:
		return p.lacksThisText(pc, row)
	case in.Op != opcode.PushThis && in.Op != opcode.PopThis:
		return interpreted(row)
	case !p.Place.Call:
		return "no call is followed natively"
	case 8*(int(in.A)+1) > p.Place.This:
		return "the storage of the call has no such word"
	}
	return ""
}

// needs looks up the object of an operation, which must be of a kind.
func (p *planner) needs(pc int, kind object.Kind) string {
	if why := p.object(pc); why != "" {
		return why
	}
	if p.Ops[pc].Object.Object.Kind != kind {
		return "its object is of another kind"
	}
	return ""
}

// lacksOwn decides about a variable that each thread has its own value of.
func (p *planner) lacksOwn(pc int, row *opcode.Row) string {
	switch p.Insts[pc].Op {
	case opcode.PushPT, opcode.PopPT, opcode.AddPT:
	default:
		return interpreted(row)
	}
	why := p.needs(pc, object.KindPerThread)
	switch {
	case why != "":
		return why
	case !p.Place.Thread:
		return interpreted(row)
	case p.Ops[pc].Object.Table == nil || p.Ops[pc].Object.Table.KeyWords != 1:
		return "its object has no table of threads"
	}
	p.Ops[pc].Thread, p.Ops[pc].Own = true, true
	return ""
}

// object looks up the object of an operation.
func (p *planner) object(pc int) string {
	l, ok := p.arena.LayoutOf(p.Insts[pc].V)
	if !ok {
		return "its object has no storage yet"
	}
	p.Ops[pc].Object = &l
	return ""
}

// lacksKeyed decides about operations on aggregations and maps. Those that use a key are reached only if all that
// builds it is native.
func (p *planner) lacksKeyed(pc int) string {
	in := &p.Insts[pc]
	if p.Ops[pc].Key {
		return ""
	}
	if why := p.object(pc); why != "" {
		return why
	}
	if l := p.Ops[pc].Object; p.adds(in.Op) && l.Table == nil && isAggregation(l) {
		p.Ops[pc].Rings = l.Spread != nil
		return ""
	}
	return interpreted(opcode.RowOf(in.Op))
}

// isAggregation reports whether native code adds to an object: not to series. Stats need memory for their buckets.
func isAggregation(l *arena.Layout) bool {
	kind := l.Object.Kind
	return kind >= object.KindCount && kind <= object.KindLhist && (kind != object.KindStats || l.Spread != nil)
}

// adds reports whether native code executes an operation if it adds to an aggregation.
func (p *planner) adds(op opcode.Op) bool {
	return op == opcode.Agg || op == opcode.AggFloat && p.floats()
}

// DividesByConstant reports whether an operation is a division by a constant other than 0, which the operation before
// pushes. It does not ring.
func (p *Plan) DividesByConstant(pc int) bool {
	switch p.Insts[pc].Op {
	case opcode.Quo, opcode.Rem, opcode.Udivmod, opcode.Sdivmod:
		v, ok := p.pushed(pc)
		return ok && v != 0
	}
	return false
}

// MayRing reports whether native code may stop before an operation that it can execute.
func MayRing(in *runtime.Inst) bool {
	switch in.Op {
	case opcode.Field:
		return runtime.Field(in.A) == runtime.FieldCaller // it is read from the stack
	case opcode.PushThisS, opcode.PopThisS, opcode.LogText, opcode.Within, opcode.Quo, opcode.Rem, opcode.Udivmod, opcode.Sdivmod, opcode.PushLV, opcode.PopLV, opcode.AddLV, opcode.KeyInt, opcode.KeyText, opcode.Fadd, opcode.Fsub, opcode.Fmul, opcode.Fdiv:
		return true
	}
	return in.Op == opcode.Str || in.Op == opcode.Bytes || in.Op == opcode.Hash || in.Op == opcode.Readable || ReadSize(in.Op) > 0
}
