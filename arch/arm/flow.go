package arm

import (
	"encoding/binary"
	"errors"
	"maps"
	"slices"

	"gotap/arch"
)

// Decoding whole functions along their flow of control. ARM code has literals and jump tables between instructions,
// which a linear sweep would take for code.

// node is one instruction of a function.
type node struct {
	in          arch.Insn
	op          *inst
	conditional bool // by itself, or by an IT block
	inBlock     int  // number of instructions left in the IT block, this one included
	prev        *node
	next        []uint64 // possible successors inside the function
}

// flow is the part of a function that could be followed from its start.
type flow struct {
	a      arch.Arch
	code   []byte
	start  uint64
	end    uint64
	own    func(addr uint64) bool
	nodes  map[uint64]*node
	data   map[uint64]bool // bytes that are known to be data
	work   []pending
	exits  []arch.Exit
	framed bool // some instruction pushes or lowers the stack pointer
	err    error
}

// pending is an instruction still to be decoded: its address, and how it is reached.
type pending struct {
	addr    uint64
	inBlock int
	prev    *node
}

// follow decodes a function. Code behind a call that does not return may be data. If such code turns out to be
// loaded as a literal, follow decodes the function again without it.
func follow(code []byte, start uint64, a arch.Arch, own func(uint64) bool) *flow {
	data := map[uint64]bool{}
	for {
		known := len(data)
		f := &flow{a: a, code: code, start: start, end: start + uint64(len(code)), own: own, nodes: map[uint64]*node{}, data: data}
		f.push(start, 0, nil)
		f.run()
		if len(data) == known {
			f.judge()
			return f
		}
	}
}

// run visits the pending instructions.
func (f *flow) run() {
	for len(f.work) > 0 {
		p := f.work[len(f.work)-1]
		f.work = f.work[:len(f.work)-1]
		f.visit(p)
	}
}

// push records an address of the function that may be reached.
func (f *flow) push(addr uint64, inBlock int, prev *node) {
	if prev != nil {
		prev.next = append(prev.next, addr)
	}
	if f.data[addr] && prev != nil && addr == prev.in.Addr+uint64(prev.in.Len) {
		f.intoData(prev)
	}
	if addr >= f.start && addr < f.end && f.nodes[addr] == nil && !f.data[addr] {
		f.work = append(f.work, pending{addr, inBlock, prev})
	}
}

// intoData marks the instructions that lead straight into data, back to the call that does not return.
func (f *flow) intoData(n *node) {
	last := n
	for n != nil && n.in.Control == arch.Plain {
		n = n.prev
	}
	if n == nil || n.in.Control != arch.Call && n.in.Control != arch.IndirCall {
		return
	}
	for ; last != n; last = last.prev {
		f.mark(last.in.Addr, uint64(last.in.Len))
	}
}

// fail records the first error.
func (f *flow) fail(addr uint64, reason string) {
	if f.err == nil {
		f.err = &arch.ScanError{Start: f.start, Addr: addr, Reason: reason}
	}
}

// visit decodes one instruction and records its successors.
func (f *flow) visit(p pending) {
	if f.nodes[p.addr] != nil {
		return
	}
	in, err := f.a.Decode(f.code[p.addr-f.start:], p.addr)
	if err != nil {
		if p.prev == nil || p.prev.in.Control != arch.Call {
			f.fail(p.addr, "bytes that are no instruction")
		}
		return
	}
	op, ok := in.Op.(*inst)
	if !ok {
		f.fail(p.addr, "an instruction of another architecture")
		return
	}
	n := &node{in: in, op: op, inBlock: p.inBlock, prev: p.prev}
	n.conditional = p.inBlock > 0 || !op.thumb && op.cond < 14
	f.nodes[p.addr] = n
	f.framed = f.framed || op.makesFrame()
	f.literal(n)
	f.successors(n)
}

// successors pushes the possible successors of an instruction. judge handles indirect jumps, except those through
// tables.
func (f *flow) successors(n *node) {
	next, block := n.in.Addr+uint64(n.in.Len), max(n.inBlock-1, 0)
	if n.op.row.name == "IT" {
		block = blockLength(n.op.word)
	}
	goesOn := n.conditional
	switch n.in.Control {
	case arch.Jump:
		f.push(n.in.Target, 0, n)
	case arch.CondJump:
		f.push(n.in.Target, 0, n)
		goesOn = true
	case arch.IndirJump:
		f.table(n)
	case arch.Return, arch.Trap:
	default:
		goesOn = true
	}
	if goesOn {
		f.push(next, block, n)
	}
}

// blockLength returns how many instructions an IT block has.
func blockLength(w uint32) int {
	n := 4
	for ; w&1 == 0; w >>= 1 {
		n--
	}
	return n
}

// literal records the data that an instruction loads relative to r15.
func (f *flow) literal(n *node) {
	pc := n.in.Addr + 8
	if n.op.thumb {
		pc = (n.in.Addr + 4) &^ 3
	}
	offset, size := n.op.literal()
	if size == 0 {
		return
	}
	if n.op.size == 4 && !bit(n.op.word, 23) {
		offset = -offset
	}
	f.mark(pc+offset, size)
}

// literal returns the offset, without its sign, and the size of a load relative to r15. For other instructions the
// size is 0.
func (in *inst) literal() (offset, size uint64) {
	w := in.word
	word, quarter := uint64(w&0xfff), uint64(w&0xff*4)
	switch {
	case in.size == 2 && w>>11 == 9: // LDR
		return quarter, 4
	case in.size == 2:
		return 0, 0
	case in.row.vectors && w&0x0f3f0e00 == 0x0d1f0a00: // VLDR
		return quarter, 4 << (w >> 8 & 1)
	case in.row.vectors:
		return 0, 0
	case in.thumb && w&0xff7f0000 == 0xf85f0000, !in.thumb && w&0x0f7f0000 == 0x051f0000: // LDR
		return word, 4
	case in.thumb && w&0xff7f0000 == 0xe95f0000: // LDRD
		return quarter, 8
	case !in.thumb && w&0x0f7f00f0 == 0x014f00d0:
		return uint64(field(w, 8, 4)<<4 | w&15), 8
	}
	return 0, 0
}

// mark records bytes as data if they belong to the function.
func (f *flow) mark(addr, size uint64) {
	for i := range size {
		if at := addr + i; at >= f.start && at < f.end {
			f.data[at] = true
		}
	}
}

// table follows a jump through a table whose length a preceding comparison gives.
func (f *flow) table(n *node) {
	w, count := n.op.word, n.bound()
	if count == 0 {
		return
	}
	switch {
	case n.op.isTableBranch():
		f.offsetTable(n, count, 1+uint64(field(w, 4, 1)))
	case !n.op.thumb && w&0x0ffffff0 == 0x079ff100: // ldr pc, [pc, rm, lsl #2]
		for i := range count {
			f.entry(n, n.in.Addr+8+4*i)
		}
		f.mark(n.in.Addr+8, 4*count)
	case !n.op.thumb && w&0x0ffffff0 == 0x008ff100: // add pc, pc, rm, lsl #2
		for i := range count {
			f.push(n.in.Addr+8+4*i, 0, n)
		}
	}
}

// isTableBranch reports TBB and TBH whose table follows immediately.
func (in *inst) isTableBranch() bool {
	return in.thumb && in.size == 4 && in.word&0xffffffe0 == 0xe8dff000
}

// offsetTable follows the entries of TBB and TBH.
func (f *flow) offsetTable(n *node, count, size uint64) {
	base := n.in.Addr + 4
	f.mark(base, (count*size+1)&^1)
	for i := range count {
		if at := base + i*size - f.start; at+size <= uint64(len(f.code)) {
			v := uint64(f.code[at])
			if size == 2 {
				v = uint64(binary.LittleEndian.Uint16(f.code[at:]))
			}
			f.push(base+2*v, 0, n)
		}
	}
}

// entry follows an absolute address in a table.
func (f *flow) entry(n *node, addr uint64) {
	if at := addr - f.start; at+4 <= uint64(len(f.code)) {
		f.push(uint64(binary.LittleEndian.Uint32(f.code[at:])), 0, n)
	}
}

// lookBack is the number of instructions in which the parts of a jump through a table are searched.
const lookBack = 24

// bound returns the number of entries of a jump table: one more than the number with which the index was last
// compared, or 0 if no such comparison is found.
func (n *node) bound() uint64 {
	for i := 0; i < lookBack && n.prev != nil; i++ {
		n = n.prev
		w := n.op.word
		switch {
		case n.op.size == 2 && w>>11 == 5:
			return uint64(w&0xff) + 1
		case n.op.thumb && n.op.size == 4 && w&0xfbf08f00 == 0xf1b00f00:
			v, _ := expandT32(w, 0)
			return tableSize(v)
		case !n.op.thumb && w&0x0ff00000 == 0x03500000:
			v, _ := expandA32(w, 0)
			return tableSize(v)
		}
	}
	return 0
}

// tableSize limits the number of entries, so that an unrelated number is not taken for a bound.
func tableSize(last uint32) uint64 {
	if last >= 1<<16 {
		return 0
	}
	return uint64(last) + 1
}

// judge collects the exits. It fails at an indirect jump that it cannot classify.
func (f *flow) judge() {
	for _, addr := range slices.Sorted(maps.Keys(f.nodes)) {
		n := f.nodes[addr]
		switch n.in.Control {
		case arch.Return:
			f.exits = append(f.exits, arch.Exit{Insn: n.in})
		case arch.Jump, arch.CondJump:
			if (n.in.Target < f.start || n.in.Target >= f.end) && !f.own(n.in.Target) {
				f.exits = append(f.exits, arch.Exit{Insn: n.in, Tail: true})
			}
		case arch.IndirJump:
			f.judgeJump(n)
		}
	}
}

// judgeJump recognizes tail calls: a jump to a register by BX, or a load of r15 without an index. If the function
// has a frame, the frame must have been released before. A computed goto differs only in that.
func (f *flow) judgeJump(n *node) {
	followed := len(n.next) > int(ones(n.conditional))
	switch {
	case followed:
	case n.op.tailCall() && (!f.framed || n.unframed()):
		f.exits = append(f.exits, arch.Exit{Insn: n.in, Tail: true})
	default:
		f.fail(n.in.Addr, "an indirect jump")
	}
}

// tailCall reports BX, BXJ, LDR of r15 with an immediate offset from another register, and the addition of zero to
// a register, which Go uses as a move.
func (in *inst) tailCall() bool {
	w := in.word
	switch {
	case in.row.name == "BX", in.row.name == "BXJ":
		return true
	case in.thumb && in.size == 4:
		return w&0xfe70f000 == 0xf850f000 && (bit(w, 23) || bit(w, 11))
	}
	return !in.thumb && (w&0x0e50f000 == 0x0410f000 || addsZero(w) && field(w, 12, 4) == 15 && field(w, 16, 4) != 15)
}

// makesFrame reports instructions that lower the stack pointer.
func (in *inst) makesFrame() bool { return in.movesSP(true) }

// movesSP reports pushes and subtractions from the stack pointer, or pops and additions to it.
func (in *inst) movesSP(down bool) bool {
	w := in.word
	switch {
	case in.size == 2 && down:
		return w>>9 == 0x5a || w>>7 == 0x161 // push, sub sp
	case in.size == 2:
		return w>>9 == 0x5e || w>>7 == 0x160 // pop, add sp
	case in.thumb && down:
		return w>>16 == 0xe92d || w>>16&0xfbff == 0xf1ad && w>>8&15 == 13 || w>>16&0xfbff == 0xf2ad && w>>8&15 == 13 || w&0xffff0f00 == 0xf84d0d00
	case in.thumb:
		return w>>16 == 0xe8bd || w>>16&0xfbff == 0xf10d && w>>8&15 == 13 || w>>16&0xfbff == 0xf20d && w>>8&15 == 13 || w&0xffff0f00 == 0xf85d0b00
	case down:
		return w&0x0fff0000 == 0x092d0000 || w&0x0ffff000 == 0x024dd000 || w&0x0fff0000 == 0x052d0000
	}
	return w&0x0fff0000 == 0x08bd0000 || w&0x0ffff000 == 0x028dd000 || w&0x0fff0000 == 0x049d0000
}

// unframed reports whether the code that leads straight to the jump releases stack.
func (n *node) unframed() bool {
	for i := 0; i < lookBack && n.prev != nil; i++ {
		n = n.prev
		switch n.in.Control {
		case arch.Call, arch.IndirCall, arch.Jump, arch.IndirJump:
			return false
		}
		if n.op.movesSP(false) {
			return true
		}
	}
	return false
}

// errNotARM refuses functions of other architectures.
var errNotARM = errors.New("cannot read a function that is neither A32 nor Thumb")
