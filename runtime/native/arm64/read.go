package arm64

import (
	"encoding/binary"
	"math/bits"

	"gotap/runtime"
	"gotap/runtime/native"
	"gotap/runtime/opcode"
	"gotap/runtime/ranges"
)

// Reads of the target's memory. Native code reads what the table of ranges has (package ranges), and rings for all
// other addresses. The table may be out of date, so a read may fault. Whoever runs the stub then takes the signal away
// and has the doorbell answered instead (native.Read): the read has changed nothing.
//
// A fault that no tracer sees would be the program's. So the control word is tested once more right before each read:
// between its owner's death and the end of the tracing lies the end of a process.

// read is an instruction that may fault, whose labels have no offsets yet.
type read struct {
	native.Read
	test, at, bell label
}

// resolve replaces labels by their offsets in the code.
func (f *read) resolve(a *asm) native.Read {
	f.Test, f.At, f.Bell = a.labels[f.test], a.labels[f.at], a.labels[trapOf(f.bell)]
	return f.Read
}

// Ring moves a thread whose read has faulted behind the doorbell, where a way to the end of the stub begins. Its other
// registers are those with which the doorbell would have rung. stub is the address of the stub.
func Ring(f *native.Read, stub uint64, regs []uint64) { regs[filePC] = stub + uint64(f.Bell) + 4 }

// reader makes the code that reads the target's memory. An address is in its home or in x6; x7, x8, x16 and x17 are for
// what lies in between.
type reader struct{ *part }

// loads are the instructions that read memory: t = [n].
var loads = map[opcode.Op]uint32{opcode.Load8: 0x39400000, opcode.LoadS8: 0x39800000, opcode.Load16: 0x79400000, opcode.LoadS16: 0x79800000,
	opcode.Load32: 0xb9400000, opcode.LoadS32: 0xb9800000, opcode.Load64: 0xf9400000, opcode.LoadPtr: 0xf9400000, opcode.LoadF32: 0xb9400000}

// load replaces the address on top by the value there.
func (g *reader) load(op opcode.Op, depth int) {
	size := native.ReadSize(op)
	x := g.get(depth-1, g.uses(x6))
	bell := g.bellFor(g.wordAt(depth-1), size)
	g.checked(x, size, bell)
	g.mayFault(loads[op], x7, x, 0, bell)
	if op == opcode.LoadF32 {
		g.widen(vectorA, x7)
		g.fromFloat(x7, vectorA)
	}
	g.set(depth-1, x7)
}

// stackArg pushes a word that lies at the stack pointer or above, from 0 on: an argument that is in no register, at the
// entry of a function. The table of ranges is not asked: it is in the frame of the caller. A function that has fewer
// arguments may have been called from the highest frame of a stack; what is above that is other data, or the read
// faults and rings. Memory tags are not checked where the stack pointer is the base.
func (g *reader) stackArg(n, depth int) {
	bell := g.bellBefore()
	g.mayFault(loads[opcode.Load64], g.uses(x7), sp, g.frameSize()+16+8*n, bell)
	g.reads[len(g.reads)-1].Own = true
	g.set(depth, x7)
}

// probe replaces an address and a number of bytes by 1 if they can be read, and rings if they may not be readable.
func (g *reader) probe(depth int) {
	n, _ := g.plan.Probed(g.pc)
	x := g.get(depth-2, g.uses(x6))
	bell := g.bellFor(g.wordAt(depth-2), n)
	g.checked(x, n, bell)
	for _, off := range []int{0, n - 1}[:min(n, 2)] {
		g.mayFault(loads[opcode.Load8], x7, x, off, bell)
	}
	g.constant(depth-2, 1)
}

// compareText makes the code of a comparison of text in memory with a constant, which is three operations
// (native.Comparison). It rings unless all bytes that the interpreter might read are readable: then none of them would
// make it trap.
func (g *reader) compareText(depth int) {
	c, _ := g.plan.Comparison(g.pc)
	text := []byte(c.Text)
	if c.Whole {
		text = append(text, 0)
	}
	x := g.get(depth-2, g.uses(x6))
	bell, differs := g.bellFor(g.wordAt(depth-2), 1), g.newLabel()
	g.checked(x, c.Most+1, bell)
	for off := 0; off < len(text); {
		n := 8
		for n > len(text)-off {
			n /= 2
		}
		load := map[int]opcode.Op{1: opcode.Load8, 2: opcode.Load16, 4: opcode.Load32, 8: opcode.Load64}[n]
		if off%n == 0 {
			g.mayFault(loads[load], x7, x, off, bell)
		} else { // offsets count in units of what is read
			g.addImm(x8, x, uint32(off))
			g.mayFault(loads[load], x7, x8, 0, bell)
		}
		var part [8]byte
		copy(part[:], text[off:off+n])
		g.movImm(x16, binary.LittleEndian.Uint64(part[:]))
		g.cmp(x7, x16)
		if off += n; off < len(text) {
			g.bIf(condNE, differs)
		}
	}
	g.place(differs)
	g.cset(x7, condEQ)
	g.set(depth-2, x7)
	g.pc += 2
	g.executed += 2
}

// bellFor makes a doorbell for a read of some bytes at an address, before the current operation or before the key that
// is being built.
func (g *reader) bellFor(word, size int) label {
	g.reading = &native.ReadOf{Addr: g.locate(word), Size: size}
	defer func() { g.reading = nil }()
	return g.bellBefore()
}

// mayFault makes an instruction that reads memory, behind a test of the control word. The offset is a multiple of what
// it reads.
func (g *reader) mayFault(load uint32, t, n reg, off int, bell label) {
	f := read{test: g.newLabel(), at: g.newLabel(), bell: bell}
	g.adrp(x16, g.site.Control)
	g.place(f.test)
	g.ldr32(x16, x16, uint32(g.site.Control&0xfff))
	g.low(x16, x16, 30, false) // native.ControlMask
	g.cbz(x16, g.abandoned)
	g.place(f.at)
	g.word(load | uint32(off)>>(load>>30)<<10 | uint32(n)<<5 | uint32(t))
	g.reads = append(g.reads, f)
}

// checked makes sure that some bytes at the address in a register may be read, or rings. The hint names a range that
// may have the address; whatever is in it leads to a range.
func (g *reader) checked(x reg, size int, bell label) {
	g.uses(x7)
	g.uses(x8)
	search, found := g.newLabel(), g.newLabel()
	g.hintOf(x)
	g.ldr(x7, x7, 0)
	g.movImm(x16, ranges.HintMask)
	g.three(opAnd, x7, x7, x16)
	g.arena(x8, g.site.Ranges+ranges.Ranges)
	g.add(x8, x8, x7)
	g.offsetInRange(x)
	g.endsInRange(size, search)
	g.place(found)
	g.cold = append(g.cold, func() {
		g.place(search)
		g.searchRange(x, size, bell)
		g.b(found)
	})
}

// hintOf loads x7 with the address of the hint for the address in a register.
func (g *reader) hintOf(x reg) {
	g.field(x16, x, ranges.HintShift, uint32(bits.TrailingZeros(ranges.Hints)))
	g.arena(x7, g.site.Ranges)
	g.addShifted(x7, x7, x16, 3)
}

// offsetInRange loads x7 with the distance of the address in a register from the start of the range at x8, and x16 with
// the range's limit.
func (g *reader) offsetInRange(x reg) {
	g.ldr(x16, x8, ranges.StartAt)
	g.sub(x7, x, x16)
	g.ldr(x16, x8, ranges.LimitAt)
}

// endsInRange jumps if some bytes, at least Wide, at the distance in x7 are not all below the limit in x16.
func (g *reader) endsInRange(size int, outside label) {
	g.cmp(x7, x16)
	g.bIf(condHS, outside)
	if size > ranges.Wide {
		g.movImm(x17, uint64(size-ranges.Wide))
		g.add(x7, x7, x17)
		g.cmp(x7, x16)
		g.bIf(condHS, outside)
	}
}

// searchRange finds the range of the address in a register, and notes it as a hint, or rings.
func (g *reader) searchRange(x reg, size int, bell label) {
	again, below, found := g.newLabel(), g.newLabel(), g.newLabel()
	first := g.site.Ranges + ranges.Ranges
	g.arena(x8, first)
	g.movImm(x7, ranges.Max/2*ranges.RangeSize)
	g.place(again)
	g.add(x16, x8, x7)
	g.ldr(x17, x16, ranges.StartAt)
	g.cmp(x, x17)
	g.bIf(condLO, below)
	g.mov(x8, x16)
	g.place(below)
	g.shr(x7, x7, 1)
	g.cmpImm(x7, ranges.RangeSize/2)
	g.bIf(condNE, again)
	g.offsetInRange(x)
	if size < ranges.Wide { // a narrow read also fits in the last bytes
		g.cmp(x7, x16)
		g.bIf(condLO, found)
		g.subImm(x7, x7, uint32(ranges.Wide-size))
	}
	g.endsInRange(size, bell)
	g.place(found)
	g.arena(x7, first)
	g.sub(x8, x8, x7)
	g.hintOf(x)
	g.str(x8, x7, 0)
}

// isLoad reports whether an operation reads memory.
func isLoad(in *runtime.Inst) bool { return loads[in.Op] != 0 }
