package amd64

import (
	"gotap/runtime/native"
	"gotap/runtime/native/amd64/asm"
)

// checkOperand rings unless the first of the displaced instructions can access its operand. No record must be seen if
// that instruction faults. Whoever answers the doorbell finds out whether it will.
//
// If a table of ranges has the memory, the code accesses it in the way in which the instruction will, because its pages
// may have been protected since. This access is one of the reads that may fault (read.go).
func (w *recordWriter) checkOperand(o *native.Operand) {
	x := w.used(asm.RDX)
	w.MovImm(x, o.Disp)
	if base, ok := general(uint64(o.Base)); ok {
		w.addOriginal(x, base)
	}
	if index, ok := general(uint64(o.Index)); ok {
		w.used(asm.RAX)
		w.Mov(asm.R(asm.RAX), w.originalOf(index))
		if o.Scale > 0 {
			w.Shift(asm.Shl, asm.R(asm.RAX), o.Scale)
		}
		w.Alu(asm.Add, asm.R(x), asm.R(asm.RAX))
	}
	w.reading = &native.ReadOf{Addr: w.locateOperand(asm.R(x)), Size: o.Size, Operand: true, Writes: o.Writes}
	bell := w.bell()
	w.reading = nil
	table := w.site.Ranges
	if o.Writes {
		table = w.site.Writable
	}
	w.memory.check(table, x, bell, o.Size)
	for _, off := range []int{0, o.Size - 1}[:min(o.Size, 2)] { // they may be in two pages
		w.mayFault(bell, false, func() {
			if o.Writes {
				w.LockTouch(asm.At(x, int32(off)))
			} else {
				w.Extend(asm.RAX, asm.At(x, int32(off)), 8, false)
			}
		})
	}
}

// addOriginal adds to a register what another had at the place.
func (w *recordWriter) addOriginal(to, x asm.Reg) {
	w.Alu(asm.Add, asm.R(to), w.originalOf(x))
	if x == asm.RSP {
		w.AluImm(asm.Add, asm.R(to), int32(w.below))
	}
}
