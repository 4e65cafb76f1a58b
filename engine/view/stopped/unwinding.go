package stopped

import (
	"gotap/arch"
	"gotap/engine/history"
	"gotap/engine/image/module"
	"gotap/engine/image/unwind"
	"gotap/engine/isa"
)

// Unwinding is what it takes to find the call stacks of a session's threads: an unwinder for each instruction set, and
// the call-frame information of files. All threads of a session share it.
type Unwinding struct {
	names   *history.History
	walkers map[*isa.ISA]*unwind.Walker
	tables  map[*module.File]*unwind.Table
}

// NewUnwinding returns one that has seen no files yet.
func NewUnwinding(names *history.History) *Unwinding {
	return &Unwinding{names: names, walkers: map[*isa.ISA]*unwind.Walker{}, tables: map[*module.File]*unwind.Table{}}
}

// Table returns the call-frame information of a file. After the first call for a file it needs no lock.
func (u *Unwinding) Table(f *module.File) *unwind.Table {
	if t, ok := u.tables[f]; ok {
		return t
	}
	t := u.names.Table(f)
	u.tables[f] = t
	return t
}

// TableOf returns the call-frame information for an address of a module, as unwind.Find does. Without a readable file
// there is none.
func (u *Unwinding) TableOf(m *module.Loaded) (t *unwind.Table, bias uint64, ok bool) {
	if m.File == nil || m.Err != nil {
		return nil, 0, true
	}
	return u.Table(m.File), m.Bias, true
}

// Walker returns the unwinder of an instruction set, or nil if it has none.
func (u *Unwinding) Walker(a *isa.ISA) *unwind.Walker {
	w, known := u.walkers[a]
	if !known {
		if layout, err := unwind.LayoutOf(a.Arch); err == nil {
			w = unwind.NewWalker(layout)
		}
		u.walkers[a] = w
	}
	return w
}

// Walk finds the return addresses of a thread with the given registers, innermost first, starting with its program
// counter, and the canonical frame addresses if cfas is not nil. It returns how many it has found.
func (u *Unwinding) Walk(a *isa.ISA, regs *arch.Regs, mem unwind.Memory, find unwind.Find, pcs, cfas []uint64) int {
	w := u.Walker(a)
	if w == nil {
		return copy(pcs, regs[a.PC():][:1])
	}
	return w.WalkFrames(regs, mem, find, pcs, cfas)
}
