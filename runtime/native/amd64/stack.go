package amd64

// word is a word of the operand stack while code is made.
type word struct {
	kind wordKind
	n    uint64 // the constant, the register of the target, the scratch word, or the index of the home
}

type wordKind uint8

const (
	constant     wordKind = iota
	original              // a register of the target, with its value at the place
	temporary             // a scratch word, until that is assigned
	inField               // of the log
	threadNumber          // of the thread
	atHome                // except while a key is built, n is the place of the word on the stack
)

// operandOf returns where a word lies that is not a constant.
func (p *part) operandOf(w word) operand {
	switch w.kind {
	case original:
		return p.originalOf(reg(w.n))
	case temporary:
		return p.homeOperand(p.temps[w.n])
	case threadNumber:
		return p.homeOperand(p.thread)
	case inField:
		return p.homeOperand(p.fields[w.n])
	}
	return p.homeOperand(p.homes[w.n])
}

// originalOf returns where a register's value at the place is: in the register, or where it was saved.
func (p *part) originalOf(x reg) operand {
	if d := p.saved[x]; d > 0 {
		return at(rsp, int32(p.below-d))
	}
	return r(x)
}

func (p *part) homeOperand(h home) operand {
	if h.onSlot {
		return at(rsp, int32(8*h.slot))
	}
	return r(h.reg)
}

// used notes that a register is written, and returns it.
func (p *part) used(x reg) reg {
	p.found[p.index].regs.add(x)
	return x
}

// written notes that a home is written, and returns it as an operand.
func (p *part) written(h home) operand {
	if h.onSlot {
		p.found[p.index].slots = max(p.found[p.index].slots, h.slot+1)
	} else {
		p.used(h.reg)
	}
	return p.homeOperand(h)
}

// pop pops a word.
func (p *part) popWord() word {
	w := p.stack[len(p.stack)-1]
	p.stack = p.stack[:len(p.stack)-1]
	return w
}

func (p *part) pushWord(w word)       { p.stack = append(p.stack, w) }
func (p *part) pushConst(v uint64)    { p.pushWord(word{constant, v}) }
func (p *part) pushOriginal(x reg)    { p.pushWord(word{original, uint64(x)}) }
func (p *part) isConst32(w word) bool { return w.kind == constant && fits32(w.n) }

// load loads a word into a register. The flags stay.
func (p *part) load(x reg, w word) {
	p.used(x)
	if w.kind == constant {
		p.movImm(x, w.n)
		return
	}
	p.mov(r(x), p.operandOf(w))
}

// source returns a word as an operand. A constant is loaded into the given register.
func (p *part) source(w word, spare reg) operand {
	if w.kind == constant {
		p.load(spare, w)
		return r(spare)
	}
	return p.operandOf(w)
}

// register returns a register that holds a word: its own, or the given one.
func (p *part) register(w word, spare reg) reg {
	if w.kind != constant {
		if o := p.operandOf(w); o.isReg() {
			return o.reg
		}
	}
	p.load(spare, w)
	return spare
}

// spare returns a register for single operations other than x.
func spare(x reg) reg {
	if x == rax {
		return rdx
	}
	return rax
}

// setHome stores a word in a home. The flags stay; rax may change.
func (p *part) setHome(h home, w word) {
	to := p.written(h)
	switch {
	case !h.onSlot:
		p.load(h.reg, w)
	case p.isConst32(w):
		p.storeImm(to, int32(w.n))
	default:
		p.mov(to, r(p.register(w, rax)))
	}
}

// toHome moves the word at an index of the stack to its home.
func (p *part) toHome(i int) {
	if home := (word{atHome, uint64(i)}); p.stack[i] != home {
		p.setHome(p.homes[i], p.stack[i])
		p.stack[i] = home
	}
}

// settle moves all words of the stack, and the fields of the log, to their homes.
func (p *part) settle() {
	p.settleFields()
	for i := range p.stack {
		p.toHome(i)
	}
}

// nextHome returns the index of the home of the next result: its place on the stack. While a key is built, all homes stay
// as they are, because a doorbell may stand before its first part, and each result gets another one.
func (p *part) nextHome() int {
	if p.key.begun {
		return p.key.nextHome
	}
	return len(p.stack)
}

// target returns the register in which the next result is computed: its home, or rax if that is a slot or holds one of
// the words that are still needed.
func (p *part) target(needed ...word) reg {
	h := p.homes[p.nextHome()]
	if h.onSlot {
		return p.used(rax)
	}
	for _, w := range needed {
		if w.kind == atHome && p.homes[w.n] == h {
			return p.used(rax)
		}
	}
	return p.used(h.reg)
}

// result pushes the result that is in a register.
func (p *part) result(x reg) {
	i := p.nextHome()
	p.mov(p.written(p.homes[i]), r(x))
	p.pushWord(word{atHome, uint64(i)})
	if p.key.begun {
		p.key.nextHome++
	}
}

// copyOf pushes a copy of the word at an index.
func (p *part) copyOf(i int) {
	w := p.stack[i]
	p.pushWord(w)
	if w.kind == atHome && !p.key.begun {
		p.toHome(len(p.stack) - 1)
	}
}

// exchange exchanges the two top words.
func (p *part) exchange() {
	top := len(p.stack) - 1
	a, b := p.stack[top-1], p.stack[top]
	if a.kind == atHome && b.kind == atHome {
		x, y := p.register(a, rax), p.register(b, rdx)
		if x != rax && y != rdx {
			p.xchg(x, y)
			return
		}
		p.load(rax, a)
		p.load(rdx, b)
		p.mov(p.homeOperand(p.homes[top-1]), r(rdx))
		p.mov(p.homeOperand(p.homes[top]), r(rax))
		return
	}
	p.stack[top-1], p.stack[top] = b, a
	if a.kind == atHome {
		p.toHome(top)
	}
	if b.kind == atHome {
		p.toHome(top - 1)
	}
}

// poke stores the top word, which is popped, at an index.
func (p *part) poke(i int) {
	w := p.popWord()
	if i == len(p.stack) {
		return
	}
	p.stack[i] = w
	if w.kind == atHome {
		p.toHome(i)
	}
}

// assign pops a word into a scratch word. Words on the stack that stand for its old value are moved to their homes.
func (p *part) assign(n uint32) {
	w, old := p.popWord(), word{temporary, uint64(n)}
	for i := range p.stack {
		if p.stack[i] == old {
			p.toHome(i)
		}
	}
	p.assigned.Add(n)
	if w != old {
		p.setHome(p.temps[n], w)
	}
}
