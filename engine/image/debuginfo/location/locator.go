package location

import (
	"debug/dwarf"
	"debug/elf"
	"errors"
	"fmt"

	"gotap/compile"
	"gotap/engine/image/debuginfo/entry"
	"gotap/engine/image/debuginfo/function"
	"gotap/engine/image/unwind"
)

// UsesFrame reports whether an expression starts from the function's frame: with fbreg, or, as clang writes it, with a
// register that points to the frame.
func (fd *Finder) UsesFrame(expr []byte) bool {
	const fbreg, breg0 = 0x91, 0x70
	if len(expr) == 0 {
		return false
	}
	if arm := fd.entries.Machine() == elf.EM_ARM || fd.entries.Machine() == elf.EM_AARCH64; arm && expr[0] >= breg0 && expr[0] < fbreg {
		return true // even the address of an argument passed by reference is in a register that the prologue sets
	}
	name, _ := unwind.RegisterName(fd.entries.Machine(), uint64(expr[0])-breg0)
	switch name {
	case "rbp", "rsp", "ebp", "esp", "x29", "sp":
		return true
	}
	return expr[0] == fbreg
}

// ErrEntryOnly reports that only the value at the function's entry is described.
var ErrEntryOnly = errors.New("the compiler describes only the value it had when the function was entered")

// ErrPointee reports that a pointer was optimised away although the value it points to is described.
var ErrPointee = errors.New("the pointer itself was optimised away")

// errComplex reports that a location needs more than an access can represent.
var errComplex = errors.New("its location is a computation that an access cannot represent")

// locator evaluates location expressions (DWARF 5, 2.5 and 2.6). Its stack holds places instead of numbers. It refuses
// expressions that depend on more than one register or load.
type locator struct {
	fd    *Finder
	fn    *function.Function
	pc    uint64
	stack []Place
	done  Place // pieces gathered so far
	value bool  // the top of the stack is a value, not an address
	base  bool  // the expression is the frame base, so it cannot refer to the frame base
}

// maxExpr bounds the length of an expression in bytes. Compilers write up to about fifty. Expressions nest, and each
// operation may copy what the operations before it built.
const maxExpr = 1 << 12

// Finder finds where the values of one module are. It is not safe for concurrent use.
type Finder struct {
	entries *entry.Reader
	frames  *unwind.Table // nil when the architecture has none
}

// New returns a finder of the values that entries describes. On architectures without call-frame information it knows
// frames only at the entries of functions.
func New(entries *entry.Reader) *Finder {
	frames, _ := unwind.New(entries)
	return &Finder{entries: entries, frames: frames}
}

// Locate evaluates a location expression at pc.
func (fd *Finder) Locate(fn *function.Function, pc uint64, expr []byte) (Place, error) {
	return (&locator{fd: fd, fn: fn, pc: pc}).locate(expr)
}

// locate evaluates expr on an empty stack.
func (l *locator) locate(expr []byte) (Place, error) {
	if len(expr) > maxExpr {
		return Place{}, errComplex
	}
	c := &entry.Cursor{Data: expr}
	for c.More() {
		if err := l.op(c.U8(), c); err != nil {
			return Place{}, err
		}
	}
	if c.Err != nil {
		return Place{}, c.Err
	}
	if len(l.done.Pieces) > 0 { // a value is described by pieces completely or not at all
		return l.done, nil
	}
	return l.top()
}

// top returns the result. It is an address unless the expression marked it as the value.
func (l *locator) top() (Place, error) {
	if len(l.stack) == 0 {
		return Place{}, ErrNowhere
	}
	p := l.stack[len(l.stack)-1]
	if !l.value {
		p.Memory = true
	}
	return p, nil
}

// push pushes p. It returns an error, which is always nil, so that operations can end with it.
func (l *locator) push(p Place) error {
	l.stack = append(l.stack, p)
	return nil
}

// pop returns the top of the stack, or an error for an expression that pops more than it pushed.
func (l *locator) pop() (Place, error) {
	n := len(l.stack) - 1
	if n < 0 {
		return Place{}, errComplex
	}
	p := l.stack[n]
	l.stack = l.stack[:n]
	return p, nil
}

// frameBase pushes the function's frame base plus an offset.
func (l *locator) frameBase(off int64) error {
	f, _, err := l.fd.entries.Attr(l.fn.DIE, dwarf.AttrFrameBase)
	if err != nil || f == nil || l.base {
		return errComplex
	}
	loc, ok, err := l.fd.Of(l.fn.Unit, &dwarf.Entry{Field: []dwarf.Field{{Attr: dwarf.AttrLocation, Val: f.Val, Class: f.Class}}}, l.pc)
	if err != nil || !ok {
		return errComplex
	}
	base, err := (&locator{fd: l.fd, fn: l.fn, pc: l.pc, base: true}).locate(loc.Expr)
	if err != nil {
		return err
	}
	base.Memory = false // the frame base is the value of a register
	return l.push(base.Add(off))
}

// entryValue pushes the value that an expression had at the function's entry. It is known only there.
func (l *locator) entryValue(expr []byte) error {
	if l.pc != l.fn.Low {
		return ErrEntryOnly
	}
	p, err := (&locator{fd: l.fd, fn: l.fn, pc: l.pc, base: l.base}).locate(expr)
	if err != nil {
		return err
	}
	p.Memory = false
	return l.push(p)
}

// isConst reports whether p is a constant.
func (p Place) isConst() bool { return p.Base == compile.BaseConst && len(p.steps) == 0 }

// FrameAddress returns the canonical frame address at pc. At the entry of a function it is BaseFrame; elsewhere the
// call-frame information computes it from a register.
func (fd *Finder) FrameAddress(fn *function.Function, pc uint64) (Place, error) {
	if pc == fn.Low {
		return Place{Base: compile.BaseFrame}, nil
	}
	if fd.frames == nil {
		return Place{}, errComplex
	}
	reg, off, err := fd.frames.CFA(pc)
	if err != nil {
		return Place{}, fmt.Errorf("cannot find the frame: %w", err)
	}
	return InRegister(reg).Add(off), nil
}
