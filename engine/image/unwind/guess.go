package unwind

import "fmt"

// guess makes the caller's frame the current one without call-frame information: for hand-written assembly, code
// generated at run time, and programs built without tables. cause is the error of the look-up.
func (w *Walker) guess(cause error) error {
	if w.guessEpilogue() || w.exact && w.guessLeaf() {
		return nil
	}
	if w.guessFramePointer() {
		return nil
	}
	return fmt.Errorf("%w: %w", ErrNoCaller, cause)
}

// guessLeaf assumes that the function has no frame yet, or never makes one: its return address is on top of the stack,
// or in the link register. The address is accepted if a call precedes it.
func (w *Walker) guessLeaf() bool {
	n := w.layout.names
	sp, _ := w.cur.get(n.sp)
	w.next = w.cur
	if n.lr != noReg {
		lr, _ := w.cur.get(n.lr)
		return lr != w.cur.pc && w.accept(stripPAC(lr), sp)
	}
	return w.returnAt(sp)
}

// guessFramePointer assumes that the frame pointer points to a pair: the caller's frame pointer and the return address.
func (w *Walker) guessFramePointer() bool {
	n := w.layout.names
	word := uint64(n.word)
	sp, _ := w.cur.get(n.sp)
	fp, ok := w.cur.get(n.fp)
	if n.thumb { // compilers for 32-bit ARM have different layouts
		return false
	}
	if !ok || fp < sp || fp%word != 0 || fp == 0 {
		return false
	}
	caller, err := w.pages.load(fp, n.word)
	if err != nil {
		return false
	}
	ra, err := w.pages.load(w.mask(fp+word), n.word)
	if err != nil {
		return false
	}
	w.next = w.cur
	w.next.set(n.fp, caller)
	w.next.set(n.sp, w.mask(fp+2*word))
	if n.lr != noReg {
		ra = stripPAC(ra)
	}
	return w.accept(ra, fp+2*word)
}

// accept makes next the current frame if ra looks like a return address.
func (w *Walker) accept(ra, cfa uint64) bool {
	w.toThumb = w.layout.names.thumb && ra&1 != 0
	ra = w.layout.names.address(ra)
	if w.cfa != 0 && cfa <= w.cfa || !w.afterCall(ra) && !w.returnsToSignal(ra) {
		return false
	}
	w.next.pc = ra
	if n := w.layout.names; n.lr == noReg {
		w.next.set(n.ra, ra)
	}
	w.cur, w.cfa, w.exact = w.next, cfa, false
	return true
}

// returnsToSignal reports whether a signal handler returns to ra. No call precedes such an address.
func (w *Walker) returnsToSignal(ra uint64) bool {
	t, bias, ok := w.find(ra)
	return ok && t != nil && t.ReturnsToSignal(w.mask(ra-bias))
}

// ReturnsToSignal reports whether signal handlers return to pc, an address in the file. The code there resumes what the
// signal interrupted.
func (t *Table) ReturnsToSignal(pc uint64) bool {
	r, err := t.row(pc)
	return err == nil && r.signal
}

// afterCall reports whether the instruction before ra is a call.
func (w *Walker) afterCall(ra uint64) bool {
	if ra < pageSize {
		return false
	}
	switch {
	case w.layout.names.thumb:
		return w.afterCallARM(ra)
	case w.layout.names.lr != noReg:
		return w.afterCallARM64(ra)
	}
	if op, err := w.pages.load(ra-5, 1); err == nil && op == 0xe8 {
		return true
	}
	for n := uint64(2); n <= 7; n++ { // ff /2 with its addressing forms
		code, err := w.pages.load(ra-n, 2)
		if err == nil && code&0xff == 0xff && code>>8&0x38 == 0x10 && callLength(byte(code>>8), w, ra-n) == n {
			return true
		}
	}
	return false
}

// callLength returns the length of the indirect call at addr, whose ModRM byte is given (Intel SDM vol. 2, table 2-2).
func callLength(modrm byte, w *Walker, addr uint64) uint64 {
	mod, rm, n := modrm>>6, modrm&7, uint64(2)
	if mod == 3 {
		return n
	}
	if rm == 4 {
		sib, _ := w.pages.load(addr+2, 1)
		if n++; mod == 0 && sib&7 == 5 {
			return n + 4
		}
	}
	switch {
	case mod == 1:
		n++
	case mod == 2, mod == 0 && rm == 5:
		n += 4
	}
	return n
}

// afterCallARM64 reports whether bl or blr, with or without authentication, precedes ra.
func (w *Walker) afterCallARM64(ra uint64) bool {
	code, err := w.pages.load(ra-4, 4)
	return err == nil && ra%4 == 0 && (code>>26 == 0x25 || code&0xfffffc1f == 0xd63f0000 || code&0xfefff800 == 0xd63f0800)
}

// afterCallARM reports whether bl or blx precedes ra, in the instruction set to which the call returns (Arm ARM DDI
// 0406, A8.8.25 and A8.8.26).
func (w *Walker) afterCallARM(ra uint64) bool {
	code, err := w.pages.load(ra-4, 4)
	if err != nil {
		return false
	}
	if !w.toThumb {
		return ra%4 == 0 && (code>>24&0xf == 0xb || code>>25 == 0x7d || code&0x0ffffff0 == 0x012fff30)
	}
	first, second := code&0xffff, code>>16
	return second&0xff87 == 0x4780 || first>>11 == 0x1e && second>>14 == 3
}
