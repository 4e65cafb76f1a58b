package compile

import (
	"errors"
	"fmt"

	"gotap/compile/diag"
	"gotap/runtime"
	"gotap/runtime/element"
	"gotap/runtime/object"
	"gotap/runtime/opcode"
	"gotap/runtime/record"
	rtvalue "gotap/runtime/value"
)

// Arena is the interface of an arena that Lower needs; *arena.Arena implements it.
type Arena interface {
	// Lookup returns an object and its offset in the arena by the ID from its declaration.
	Lookup(id int) (object object.Object, offset uint64)
	// RefineUse declares the keys and values that an object is used with. It returns an error if they conflict with
	// other uses.
	RefineUse(id int, keys []rtvalue.Kind, value rtvalue.Kind) error
	// Register makes a program's formats and positions known to the reader of the ring.
	Register(info record.Program) uint32
}

// Env is the machine and the arena that a program is bound to.
type Env struct {
	Arena Arena
	// Register finds a register of the target's architecture, as arch.Arch.RegIndex does.
	Register func(name string) (index, bits, shift int, ok bool)
	WordSize int // bytes of a pointer in the target: 4 or 8
}

// UnknownRegisterError reports that a program names a register that the target's architecture does not have.
type UnknownRegisterError struct {
	Program string
	Name    string
	Pos     diag.Span // where the script names it
	Write   bool      // the register exists but cannot be written
}

func (e *UnknownRegisterError) Error() string {
	if e.Write {
		return fmt.Sprintf("cannot bind program %q: register %q cannot be written: floating-point and vector registers can only be read",
			e.Program, e.Name)
	}
	return fmt.Sprintf("cannot bind program %q: this architecture has no register %q", e.Program, e.Name)
}

// HalfRegisterError reports that a program for a 64-bit target names the lower half of a register that holds an
// address.
type HalfRegisterError struct {
	Program string
	Name    string
	Whole   string    // the name to use instead, in programs for both widths
	Pos     diag.Span // where the script names it
}

func (e *HalfRegisterError) Error() string {
	return fmt.Sprintf("cannot bind program %q: %s is half of an address in a 64-bit program; %s is the whole of it", e.Program, e.Name, e.Whole)
}

// halves are the registers of IA-32 that always hold an address, with their names in programs for both widths. (ebp
// holds whatever the compiler chooses, as eax does: a script that names them may want 32 bits.)
var halves = map[string]string{"esp": "sp", "eip": "pc"}

// ObjectError reports that a program uses an arena object in an unsupported way.
type ObjectError struct {
	Program string
	Command string
	Object  object.Object
	Reason  string
	Cause   error // the arena's, or nil
}

func (e *ObjectError) Error() string {
	return fmt.Sprintf("cannot bind program %q: %s on %s %q: %s", e.Program, e.Command, e.Object.Kind, e.Object.Name, e.Reason)
}

func (e *ObjectError) Unwrap() error { return e.Cause }

// ErrNotVerified is returned if the program to be lowered has not been accepted by Verify.
var ErrNotVerified = errors.New("the program has not been verified")

// Lower binds a verified program to a machine and an arena. It replaces object numbers with offsets and register names
// with indexes, and registers the program in the arena. The result runs only in that arena. Errors match
// *UnknownRegisterError, *HalfRegisterError, *ObjectError or ErrNotVerified; they occur before anything is registered.
func Lower(p *Program, env Env) (*runtime.Code, error) {
	if !p.Bound.Verified {
		return nil, fmt.Errorf("cannot bind program %q: %w", p.Name, ErrNotVerified)
	}
	l := lowering{p: p, env: env}
	// There is one instruction for each command, at the same index, so the place of a trap is that of the command.
	insts := make([]runtime.Inst, len(p.Code))
	for i, c := range p.Code {
		inst, err := l.inst(c)
		if err != nil {
			return nil, err
		}
		insts[i] = inst
	}
	id := env.Arena.Register(record.Program{Name: p.Name, Formats: p.Formats, Where: p.Where, Fuel: int(p.fuel())})
	stack := p.Bound.Stack
	if p.Wrap {
		stack = p.stackSize()
	}
	code := &runtime.Code{
		ID: id, Insts: insts, Texts: p.Texts, Layouts: l.layouts, Stack: stack, Temps: p.Temps,
		Fuel: p.Fuel, LogMax: p.LogMax, LogData: p.LogData, Wrap: p.Wrap, Unsafe: p.Unsafe,
		Mask: p.Mask, Trace: p.traceFormat(), Room: p.TraceMax, Auto: p.AutoTrace, Heap: p.Heap,
		Bounded: p.Bound.Proved && p.Bound.Steps <= uint64(p.fuel()),
	}
	code.Needs = runtime.NeedsOf(code)
	return code, nil
}

// Where returns the position of a command for people, "file:line:col", or the program's name and the index if there is
// no position, and the calls of the function that it is in.
func (p *Program) Where(pc uint32) (place string, calls []string) {
	if int(pc) < len(p.Code) {
		if pos := p.Code[pc].Pos; pos.Source != nil {
			return pos.Source.Position(pos.Start).String(), pos.Calls()
		}
	}
	return fmt.Sprintf("%s: command %d", p.Name, pc), nil
}

// classOf returns which of DProbes' two arrays an array represents: the global variables are called gv, all others are
// local.
func classOf(o object.Object) uint32 {
	if o.Name == "gv" {
		return runtime.ClassGlobal
	}
	return runtime.ClassLocal
}

// traceFormat returns the number of the format of the trace, plus 1, or 0 if the program has no trace.
func (p *Program) traceFormat() uint32 {
	for i, f := range p.Formats {
		if f.Kind == record.ItemTrace {
			return uint32(i) + 1
		}
	}
	return 0
}

// lowering binds the commands of one program.
type lowering struct {
	p       *Program
	env     Env
	layouts []element.Layout
}

// inst binds one command.
func (l *lowering) inst(c Command) (runtime.Inst, error) {
	inst := runtime.Inst{Op: c.Op, A: c.A, V: c.V}
	switch row := opcode.RowOf(c.Op); {
	case row.Operand == opcode.RegisterOperand:
		name := l.p.Regs[c.A]
		index, bits, shift, ok := l.env.Register(name)
		if !ok {
			return inst, &UnknownRegisterError{l.p.Name, name, c.Pos, false}
		}
		if whole := halves[name]; whole != "" && l.env.WordSize == 8 {
			return inst, &HalfRegisterError{l.p.Name, name, whole, c.Pos}
		}
		if c.Op == opcode.PopR && index >= runtime.FloatWords {
			return inst, &UnknownRegisterError{l.p.Name, name, c.Pos, true}
		}
		inst.V = uint64(index)<<16 | uint64(shift&0xff)<<8 | uint64(bits&0xff)
	case row.Operand.IsObject():
		id := l.p.Objects[c.A]
		obj, offset := l.env.Arena.Lookup(id)
		if why := unfit(row, obj, offset); why != "" {
			return inst, &ObjectError{l.p.Name, row.Name, obj, why, nil}
		}
		if err := l.refine(c, id); err != nil {
			return inst, &ObjectError{l.p.Name, row.Name, obj, err.Error(), err}
		}
		inst.V = offset
		if obj.Kind == object.KindArray {
			inst.A = classOf(obj)
		}
	}
	switch c.Op {
	case opcode.LoadPtr:
		inst.A = uint32(l.env.WordSize)
	case opcode.Element:
		layout, err := element.Parse(l.p.Texts[c.A])
		if err != nil {
			return inst, err
		}
		inst.A, l.layouts = uint32(len(l.layouts)), append(l.layouts, layout)
	}
	return inst, nil
}

// refine declares to the arena the keys that a command uses an object with. It skips objects that are used only by
// unreachable commands.
func (l *lowering) refine(c Command, id int) error {
	u, used := l.p.uses[int(c.A)]
	if !c.Op.Has(opcode.UsesKey) || !used {
		return nil
	}
	kinds := make([]rtvalue.Kind, len(u.key))
	for i := range kinds {
		kinds[i] = rtvalue.Kind(u.key[i])
	}
	return l.env.Arena.RefineUse(id, kinds, u.value)
}

// unfit returns why a command cannot work on an object of its kind, or "". Offset 0 means that there is no object.
func unfit(row *opcode.Row, o object.Object, offset uint64) string {
	if offset == 0 {
		return "unknown object"
	}
	switch row.Operand {
	case opcode.NumberOperand:
		return unless(o.Kind == object.KindInt, "it is not a shared number")
	case opcode.CellOperand:
		return unless(o.Kind == object.KindText, "it is not a shared text")
	case opcode.ArrayOperand:
		return unless(o.Kind == object.KindArray, "it is not an array of variables")
	case opcode.PerThreadOperand:
		return unless(o.Kind == object.KindPerThread, "it is not a per-thread variable")
	case opcode.DeferredOperand:
		return unless(o.Kind == object.KindTrail || o.Kind == object.KindRecorder, "it is neither a trail nor a recorder")
	case opcode.TrailOperand:
		return unless(o.Kind == object.KindTrail, "it is not a trail")
	case opcode.AggregationOperand:
		return unless(o.Kind >= object.KindCount, "it is not an aggregation")
	case opcode.MapOperand:
		return unless(o.Kind == object.KindMap, "it is not a map")
	}
	return "commands on such objects are not known"
}

func unless(fits bool, why string) string {
	if fits {
		return ""
	}
	return why
}
