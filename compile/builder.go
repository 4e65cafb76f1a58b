package compile

import (
	"fmt"
	"slices"

	"gotap/compile/diag"
	"gotap/runtime/opcode"
	"gotap/runtime/outcome"
	"gotap/runtime/record"
)

// Builder writes a program command by command. It numbers texts, formats, objects, registers
// and scratch words, shares equal ones, and resolves labels. The zero Builder is not ready; use
// NewBuilder. It is not safe for concurrent use.
//
//	b := compile.NewBuilder("malloc enter")
//	done := b.NewLabel()
//	b.A(opcode.Arg, 0)
//	b.Jump(opcode.Jz, done)
//	b.Place(done)
//	b.Exit(outcome.ExitPlain)
//	p, err := b.Program()
type Builder struct {
	p      Program
	pos    diag.Span
	labels []int // index of the command that follows each label, -1 while the label is not placed
	jumps  []int // commands whose A is still a label
	free   []uint32

	texts   map[string]uint32
	objects map[int]uint32
	regs    map[string]uint32
}

// Label is a place in the program that jumps can target. It may not be placed yet.
type Label int

// NewBuilder returns a Builder for a program called name.
func NewBuilder(name string) *Builder {
	return &Builder{
		p:       Program{Name: name},
		texts:   map[string]uint32{},
		objects: map[int]uint32{},
		regs:    map[string]uint32{},
	}
}

// At sets the position of the following commands and returns the previous one.
func (b *Builder) At(pos diag.Span) diag.Span {
	before := b.pos
	b.pos = pos
	return before
}

// Emit appends a command with the operands that the table describes, and returns its index. Jumps are written with
// Jump.
func (b *Builder) Emit(op opcode.Op, a uint32, v uint64, pos diag.Span) int {
	b.p.Code = append(b.p.Code, Command{op, a, v, pos})
	return len(b.p.Code) - 1
}

// Op appends a command without operand.
func (b *Builder) Op(op opcode.Op) int { return b.Emit(op, 0, 0, b.pos) }

// A appends a command with operand A.
func (b *Builder) A(op opcode.Op, a uint32) int { return b.Emit(op, a, 0, b.pos) }

// Push appends a command that pushes a constant word.
func (b *Builder) Push(v uint64) int { return b.Emit(opcode.PushD, 0, v, b.pos) }

// PushText appends a command that pushes a constant text.
func (b *Builder) PushText(s string) int { return b.A(opcode.PushS, b.Text(s)) }

// PushReg appends a command that pushes a register.
func (b *Builder) PushReg(name string) int { return b.A(opcode.PushR, b.Reg(name)) }

// Object appends a command on the arena object with the ID id.
func (b *Builder) Object(op opcode.Op, id int) int { return b.A(op, b.ObjectRef(id)) }

// Exit appends the end of the program.
func (b *Builder) Exit(kind outcome.ExitKind) int { return b.A(opcode.Exit, uint32(kind)) }

// TakeBack removes the last command. No label may follow it, and it must not be a jump. It is for front ends that learn
// only from the next word that the previous one was an operand.
func (b *Builder) TakeBack() { b.p.Code = b.p.Code[:len(b.p.Code)-1] }

// Len returns the number of commands so far, which is the index of the next one.
func (b *Builder) Len() int { return len(b.p.Code) }

// NewLabel returns a label that is not placed yet.
func (b *Builder) NewLabel() Label {
	b.labels = append(b.labels, -1)
	return Label(len(b.labels) - 1)
}

// Place places a label before the next command. A label is placed once.
func (b *Builder) Place(l Label) { b.labels[l] = len(b.p.Code) }

// Jump appends a jump, a loop or a call to a label.
func (b *Builder) Jump(op opcode.Op, to Label) int {
	at := b.A(op, uint32(to))
	b.jumps = append(b.jumps, at)
	return at
}

// Text returns the number of a constant text.
func (b *Builder) Text(s string) uint32 { return number(&b.p.Texts, b.texts, s) }

// Reg returns the number of a register name.
func (b *Builder) Reg(name string) uint32 { return number(&b.p.Regs, b.regs, name) }

// ObjectRef returns the program's number of the arena object with the ID id.
func (b *Builder) ObjectRef(id int) uint32 { return number(&b.p.Objects, b.objects, id) }

// number finds or appends a value. Sharing keeps files small and listings readable; it does not change the behaviour of
// a program.
func number[T comparable](list *[]T, known map[T]uint32, v T) uint32 {
	if n, ok := known[v]; ok {
		return n
	}
	n := uint32(len(*list))
	*list = append(*list, v)
	known[v] = n
	return n
}

// Format returns the number of a format. Equal formats are shared.
func (b *Builder) Format(f record.Format) uint32 {
	for i, g := range b.p.Formats {
		if f.Kind == g.Kind && f.Text == g.Text && slices.Equal(f.Fields, g.Fields) {
			return uint32(i)
		}
	}
	b.p.Formats = append(b.p.Formats, f)
	return uint32(len(b.p.Formats) - 1)
}

// Temp returns an unused scratch word and reserves it until Release.
func (b *Builder) Temp() uint32 {
	if n := len(b.free); n > 0 {
		t := b.free[n-1]
		b.free = b.free[:n-1]
		return t
	}
	b.p.Temps++
	return uint32(b.p.Temps - 1)
}

// Release frees a scratch word. A later Temp may return it again.
func (b *Builder) Release(temp uint32) { b.free = append(b.free, temp) }

// UseThis requests at least n bytes of storage for each call.
func (b *Builder) UseThis(n int) { b.p.This = max(b.p.This, n) }

// Limits sets what the program requests; 0 keeps the default.
func (b *Builder) Limits(stack int, fuel uint32, logMax int) {
	b.p.Stack, b.p.Fuel, b.p.LogMax = stack, fuel, logMax
}

// SetWrap makes the operand stack circular.
func (b *Builder) SetWrap(wrap bool) { b.p.Wrap = wrap }

// SetExceptions sets which exceptions go to handlers (0: runtime.DefaultMask), the size of the trace in bytes (0:
// runtime.MaxTrace), and whether each exception appends to the trace.
func (b *Builder) SetExceptions(mask uint32, trace int, auto bool) {
	b.p.Mask, b.p.TraceMax, b.p.AutoTrace = mask, trace, auto
}

// SetLogData sets how many bytes of data the program may log (0: limited only by Limits).
func (b *Builder) SetLogData(n int) { b.p.LogData = n }

// SetHeap sets the size of the heap in bytes.
func (b *Builder) SetHeap(n int) { b.p.Heap = n }

// SetUnsafe allows destructive commands.
func (b *Builder) SetUnsafe(unsafe bool) { b.p.Unsafe = unsafe }

// Program replaces the labels with indexes and returns the program. The Builder must not be used afterwards. It returns
// an error if the target label of a jump was never placed.
func (b *Builder) Program() (*Program, error) {
	for _, at := range b.jumps {
		c := &b.p.Code[at]
		target := b.labels[c.A]
		if target < 0 {
			return nil, fmt.Errorf("cannot build program %q: command %d jumps to a label that was never placed", b.p.Name, at)
		}
		c.A = uint32(target)
	}
	return &b.p, nil
}
