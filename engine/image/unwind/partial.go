package unwind

// The tables of 32-bit ARM describe a frame at calls. A thread may be stopped in the prologue, which builds the frame,
// or in an epilogue, which removes it: most probes are at the first instruction and at returns. So for the innermost
// frame the instructions that change the stack pointer are decoded: from the program counter to a near return without
// branches, or otherwise from the start of the function.

// maxEpilogue is the maximum number of instructions in an epilogue. maxPrologue is that of a prologue, including
// instructions of the body between its own.
const (
	maxEpilogue = 8
	maxPrologue = 24
)

// stackEffect is the effect of an instruction on the stack.
type stackEffect struct {
	size     uint64 // of the instruction
	down     int64  // number of bytes by which the stack grows; negative: shrinks
	pops     uint32 // registers popped, before the stack shrinks
	makesFP  bool   // r7 or r11 becomes the frame pointer
	returns  bool
	anything bool // its effect on the stack is known
}

// partial returns candidates for the row of the innermost frame, most likely first. r is the row of the table.
func (w *Walker) partial(r *row) []*row {
	thumb := w.thumbHere()
	var all []*row
	if e := w.epilogue(thumb); e != nil {
		all = append(all, e)
	}
	if p := w.prologue(r, thumb); p != nil {
		all = append(all, p)
	}
	return append(all, r, &row{cfa: rule{kind: ruleRegister, reg: armSP}, ra: armLR})
}

// epilogue returns a row made from the instructions between the program counter and a near return, or nil.
func (w *Walker) epilogue(thumb bool) *row {
	r := &row{cfa: rule{kind: ruleRegister, reg: armSP}, ra: armLR}
	up := int64(0)
	at := w.cur.pc
	for range maxEpilogue {
		e := w.effect(at, thumb)
		if !e.anything || e.down > 0 {
			return nil
		}
		off := up
		for reg := uint8(0); reg < 16; reg++ {
			if e.pops>>reg&1 == 0 {
				continue
			}
			r.rules = append(r.rules, rule{target: reg, kind: ruleOffset, off: off})
			if off += 4; reg == armPC {
				r.ra = armPC
			}
		}
		up -= e.down
		if e.returns {
			break
		}
		at += e.size
	}
	if !w.effect(at, thumb).returns {
		return nil
	}
	r.cfa.off = up
	for i := range r.rules {
		r.rules[i].off -= up
	}
	return r
}

// prologue returns the row of a partly built frame, or nil if the frame is complete.
func (w *Walker) prologue(r *row, thumb bool) *row {
	made := int64(0)
	at := r.start + w.bias
	for n := 0; at < w.cur.pc; n++ {
		e := w.effect(at, thumb)
		if n == maxPrologue || e.makesFP && r.cfa.reg != armSP {
			return nil
		}
		if e.anything && e.down > 0 {
			made += e.down
		}
		at += e.size
	}
	if r.cfa.reg == armSP && made >= r.cfa.off {
		return nil
	}
	p := &row{cfa: rule{kind: ruleRegister, reg: armSP, off: made}, ra: armLR}
	for _, one := range r.rules {
		if one.kind == ruleOffset && one.off >= -made {
			p.rules = append(p.rules, one)
		}
	}
	return p
}

// thumbHere reports whether the innermost frame runs Thumb code, which bit 5 of CPSR indicates.
func (w *Walker) thumbHere() bool { return w.status>>5&1 != 0 }

// effect decodes the stack effect of the instruction at an address.
func (w *Walker) effect(at uint64, thumb bool) stackEffect {
	code, err := w.pages.load(at, 2)
	if err != nil {
		return stackEffect{size: 2}
	}
	if thumb && code < 0xe800 {
		return effect16(uint32(code))
	}
	second, err := w.pages.load(at+2, 2)
	if err != nil {
		return stackEffect{size: 4}
	}
	if thumb {
		return effectThumb(uint32(code<<16 | second))
	}
	return effectA32(uint32(second<<16 | code))
}

// effect16 decodes a Thumb instruction of 16 bits (DDI 0406, A6.2).
func effect16(code uint32) stackEffect {
	e := stackEffect{size: 2, anything: true}
	list := code & 0xff
	switch {
	case code&0xfe00 == 0xb400: // push
		e.down = 4 * int64(bits(list|code&0x100))
	case code&0xfe00 == 0xbc00: // pop
		e.pops = list | code&0x100<<7
		e.down = -4 * int64(bits(e.pops))
		e.returns = code&0x100 != 0
	case code&0xff80 == 0xb080: // sub sp
		e.down = int64(code&0x7f) << 2
	case code&0xff80 == 0xb000: // add sp
		e.down = -int64(code&0x7f) << 2
	case code == 0x4770: // bx lr
		e.returns = true
	case code&0xff00 == 0xaf00 || code == 0x466f: // add r7, sp; mov r7, sp
		e.makesFP = true
	default:
		e.anything = false
	}
	return e
}

// effectList decodes push and pop, whose 32-bit forms are the same in both sets (DDI 0406, A8.8.131 and A8.8.133).
func effectList(code uint32) (e stackEffect, known bool) {
	e = stackEffect{size: 4, anything: true}
	switch code >> 16 {
	case 0xe92d:
		e.down = 4 * int64(bits(code&0xffff))
	case 0xe8bd:
		e.pops = code & 0xffff
		e.down = -4 * int64(bits(e.pops))
		e.returns = code>>15&1 != 0
	default:
		return e, false
	}
	return e, true
}

// effectThumb decodes a Thumb instruction of 32 bits (DDI 0406, A6.3).
func effectThumb(code uint32) stackEffect {
	e, known := effectList(code)
	switch {
	case known:
	case code&0xffff0fff == 0xf84d0d04: // str rt, [sp, #-4]!
		e.down = 4
	case code&0xffff0fff == 0xf85d0b04: // ldr rt, [sp], #4
		e.pops = 1 << (code >> 12 & 15)
		e.down, e.returns = -4, code>>12&15 == armPC
	case code&0xfbff8f00 == 0xf1ad0d00 || code&0xfbff8f00 == 0xf2ad0d00: // sub sp, sp, #
		e.down = thumbImmediate(code)
	case code&0xfbff8f00 == 0xf10d0d00 || code&0xfbff8f00 == 0xf20d0d00: // add sp, sp, #
		e.down = -thumbImmediate(code)
	default:
		return effectVector(code, e)
	}
	return e
}

// thumbImmediate returns the constant of an addition in Thumb: 12 bits, plain or expanded (DDI 0406, A6.3.2). The
// patterns that repeat a byte are never the size of a frame.
func thumbImmediate(code uint32) int64 {
	v := code>>26&1<<11 | code>>12&7<<8 | code&0xff
	if code>>25&1 != 0 || v>>8 == 0 {
		return int64(v)
	}
	rotated := 0x80 | v&0x7f
	return int64(rotated>>(v>>7) | rotated<<(32-v>>7))
}

// effectA32 decodes an unconditional A32 instruction (DDI 0406, A5).
func effectA32(code uint32) stackEffect {
	e, known := effectList(code)
	constant := int64(code&0xff>>(code>>8&15*2) | code&0xff<<(32-code>>8&15*2))
	switch {
	case known:
	case code&0xffff0fff == 0xe52d0004: // str rt, [sp, #-4]!
		e.down = 4
	case code&0xffff0fff == 0xe49d0004: // ldr rt, [sp], #4
		e.pops = 1 << (code >> 12 & 15)
		e.down, e.returns = -4, code>>12&15 == armPC
	case code&0xfffff000 == 0xe24dd000: // sub sp, sp, #
		e.down = constant
	case code&0xfffff000 == 0xe28dd000: // add sp, sp, #
		e.down = -constant
	case code == 0xe12fff1e: // bx lr
		e.returns = true
	case code&0xfffff000 == 0xe28db000 || code&0xfffff000 == 0xe24cb000 || code == 0xe1a0b00d: // sets the frame pointer
		e.makesFP = true
	default:
		return effectVector(code, e)
	}
	return e
}

// effectVector decodes vpush and vpop, which are the same in both sets (DDI 0406, A8.8.367 and A8.8.368).
func effectVector(code uint32, e stackEffect) stackEffect {
	bytes := int64(code&0xff) << 2
	switch code & 0xffbf0e00 {
	case 0xed2d0a00:
		e.down = bytes
	case 0xecbd0a00:
		e.down = -bytes
	default:
		e.anything = false
	}
	return e
}

func bits(v uint32) (n int) {
	for ; v != 0; v &= v - 1 {
		n++
	}
	return n
}
