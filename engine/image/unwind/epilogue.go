package unwind

// A frame without call-frame information and without a frame pointer is known if control is about to leave it: the
// instructions from the program counter to a near return tell where the return address is. So it is in trampolines, as
// CPython makes them for perf, which do nothing after the call that they make.

// maxLeaving is the maximum number of instructions of x86 that are read in front of a return.
const maxLeaving = 10

// guessEpilogue assumes that the instructions at the program counter are executed up to the return that they lead to
// without a branch. They restore the caller's registers.
func (w *Walker) guessEpilogue() bool {
	n := w.layout.names
	if n.lr != noReg {
		return false
	}
	sp, _ := w.cur.get(n.sp)
	w.next = w.cur
	for at, i := w.cur.pc, 0; i < maxLeaving; i++ {
		code, err := w.pages.load(at, 8)
		if err != nil {
			return false
		}
		if op := byte(code); op == 0xc3 || op == 0xc2 || code&0xffff == 0xc3f3 {
			return w.returnAt(sp)
		}
		size, up, reg := leaving(code, n.word == 8)
		if size == 0 {
			return false
		}
		if reg != noReg {
			v, err := w.pages.load(sp, n.word)
			if err != nil {
				return false
			}
			w.next.set(reg, v)
		}
		at, sp = at+size, w.mask(sp+up)
	}
	return false
}

// returnAt makes the caller whose return address is at sp the current frame.
func (w *Walker) returnAt(sp uint64) bool {
	n := w.layout.names
	ra, err := w.pages.load(sp, n.word)
	if err != nil {
		return false
	}
	cfa := w.mask(sp + uint64(n.word))
	w.next.set(n.sp, cfa)
	return w.accept(ra, cfa)
}

// leaving decodes an instruction of x86 that shrinks the stack by up bytes: add to the stack pointer, or pop into reg,
// which is noReg for the former. size is 0 for other instructions.
func leaving(code uint64, long bool) (size, up uint64, reg uint8) {
	if b := byte(code); b >= 0x58 && b <= 0x5f && b != 0x5c {
		return 1, wordOf(long), poppedBy(b-0x58, long)
	}
	if b := code & 0xffff; long && b&0xff == 0x41 && b>>8 >= 0x58 && b>>8 <= 0x5f {
		return 2, wordOf(long), uint8(b>>8-0x58) + 8
	}
	if long {
		if code&0xff != 0x48 {
			return 0, 0, 0
		}
		code, size = code>>8, 1
	}
	switch code & 0xffff {
	case 0xc483:
		return size + 3, uint64(int8(code >> 16)), noReg
	case 0xc481:
		return size + 6, uint64(int32(code >> 16)), noReg
	}
	return 0, 0, 0
}

func wordOf(long bool) uint64 {
	if long {
		return 8
	}
	return 4
}

// poppedBy returns the number in DWARF of one of the first eight registers.
func poppedBy(reg uint8, long bool) uint8 {
	if long {
		return [8]uint8{0, 2, 1, 3, 7, 6, 4, 5}[reg]
	}
	return reg
}
