package runtime

import (
	"gotap/runtime/opcode"
	"gotap/runtime/outcome"
)

// turn is called if the stack has too few words, or no room, for an instruction. It returns the stack pointer for
// another attempt at the instruction, or -1 for a trap.
//
// Only a circular stack can be rotated: all its limit words always exist, and the word below the lowest is the highest.
// It is rotated so that the words that the instruction pops are the lowest, with all others above them as room.
func (m *Machine) turn(in *Inst, sp, limit int) int {
	pops, pushes := need(in)
	if !m.code.Wrap || pops > limit || pushes > limit {
		return -1
	}
	var turned [MaxStack]uint64
	for i := range limit {
		turned[i] = m.stack[(i+sp-pops+2*limit)%limit]
	}
	copy(m.stack[:limit], turned[:limit])
	return pops
}

// shuffle executes the operations that reach deeper into the stack; need has been checked.
func (m *Machine) shuffle(in *Inst) outcome.Trap {
	top, n := m.sp-1, int(in.A)
	switch in.Op {
	case opcode.DupN:
		for i := range n {
			m.stack[(m.sp+i)&stackMask] = m.stack[top&stackMask]
		}
		m.sp += n
	case opcode.Pick:
		m.push(m.stack[(top-n)&stackMask])
	case opcode.Poke:
		m.stack[(top-n)&stackMask] = m.stack[top&stackMask]
		m.sp--
	case opcode.LogWords:
		return m.logWords(in)
	}
	return outcome.NoTrap
}

// pop pops the top word. pop and push serve operations outside the loop; their stack effects have been checked.
func (m *Machine) pop() uint64 {
	m.sp--
	return m.stack[m.sp&stackMask]
}

// push pushes a word.
func (m *Machine) push(v uint64) {
	m.stack[m.sp&stackMask] = v
	m.sp++
}

// top points to the top word, which a result replaces.
func (m *Machine) top() *uint64 { return &m.stack[(m.sp-1)&stackMask] }
