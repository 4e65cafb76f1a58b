package amd64

import (
	"encoding/binary"

	"gotap/runtime/native/amd64/asm"
	"gotap/runtime/opcode"
)

// Texts that are known when code is made are words on the stack like numbers: the interpreter's references to them,
// which are constants. An operation that uses such a text takes its bytes from the plan.

// lookAtTexts makes an operation that compares two texts, or measures one.
func (p *part) lookAtTexts(op opcode.Op) {
	v, known := p.plan.Compared(p.pc)
	switch {
	case !known && op == opcode.Slen:
		p.texts.length()
		return
	case !known:
		p.texts.compare(op)
		return
	}
	pops, _ := opcode.RowOf(op).Effect(0)
	for range pops {
		p.popWord()
	}
	p.pushConst(v)
}

// compareText makes the code of a comparison of text in memory with a constant, which is three operations
// (native.Comparison). It rings unless all bytes that the interpreter might read are readable: then none of them would
// make it trap.
func (p *part) compareText() {
	c, _ := p.plan.Comparison(p.pc)
	w, text := p.stack[len(p.stack)-2], []byte(c.Text)
	bell := p.readBell(w, 1)
	x := p.memory.checked(w, bell, c.Most+1)
	if c.Whole {
		text = append(text, 0)
	}
	differs := p.NewLabel()
	for off := 0; off < len(text); {
		n := 8
		for n > len(text)-off {
			n /= 2
		}
		from := asm.At(x, int32(off))
		p.mayFault(bell, false, func() {
			if n == 8 {
				p.Mov(asm.R(asm.RAX), from)
			} else {
				p.Extend(asm.RAX, from, 8*n, false)
			}
		})
		var part [8]byte
		copy(part[:], text[off:off+n])
		p.MovImm(asm.RCX, binary.LittleEndian.Uint64(part[:]))
		p.Alu(asm.Cmp, asm.R(asm.RAX), asm.R(asm.RCX))
		if off += n; off < len(text) {
			p.Jcc(asm.NE, differs)
		}
	}
	p.Place(differs)
	p.popWord()
	p.popWord()
	p.skip()
	p.skip()
	p.truth(asm.E)
}
