package arm64

import (
	"fmt"

	"gotap/runtime/arena"
	"gotap/runtime/gate"
	"gotap/runtime/native"
)

// Site is the place in the target for which code is made. Arena and Control must be within 4 GiB of the code.
type Site struct {
	Addr    uint64           // where the code will lie
	Place   uint64           // the address of the probed instruction, which is field pc
	Arena   uint64           // where the target maps the arena
	Control uint64           // the address of the control word, of 32 bits
	Pid     uint32           // field pid
	Owners  uint64           // calls.Owners of the address space, as an offset in the arena
	Stacks  uint64           // calls.Stacks, as an offset in the arena
	Ring    arena.RingLayout // where records are written
	Clock   uint64           // clock.Clock, as an offset in the arena; 0: no program needs the time
	Ranges  uint64           // ranges.Table of the address space, as an offset in the arena
	Atomics bool             // the processor has atomic additions (FEAT_LSE)
	// Scalable is set if the processor has scalable vectors (FEAT_SVE).
	Scalable bool
	// Tail returns what runs at the end: the displaced instruction and the branch back. at is the address at which it
	// will lie. Tail may be called more than once.
	Tail func(at uint64) ([]byte, error)
}

// Emit makes the code that runs programs at a place, one after another. The error is a *native.Refused if one of them
// cannot run natively.
func Emit(programs []native.Program, s Site) (*native.Stub, error) {
	for _, p := range programs {
		if err := native.Admits(p.Gate); err != nil {
			return nil, err
		}
	}
	first := newEmitter(s, frame{})
	if _, err := first.emit(programs); err != nil {
		return nil, err
	}
	found := first.used
	found.flags = first.flags
	return newEmitter(s, found).emit(programs)
}

// frame is what the stub has on the stack, besides x16 and x17, from the stack pointer upwards: slots for words, saved
// registers, the flags, vector registers.
type frame struct {
	slots   int
	saved   [xzr]bool
	flags   bool
	vectors bool
}

// frameSize is the size of the frame in bytes, a multiple of 16.
func (e *emitter) frameSize() int {
	n := e.frame.vectorsAt()
	if e.frame.vectors {
		n += 2*e.vectorSize() + controlBytes
	}
	return n
}

// vectorsAt is the offset of saved vector registers from the stack pointer, a multiple of 16.
func (f *frame) vectorsAt() int {
	n := f.slots
	for x := range f.saved {
		if f.saved[x] {
			n++
		}
	}
	if f.flags {
		n++
	}
	return (8*n + 15) &^ 15
}

// each calls visit for every saved register, with its offset from the stack pointer, and returns the offset of the
// flags.
func (f *frame) each(visit func(x reg, off int)) (flags int) {
	off := 8 * f.slots
	for x := range f.saved {
		if f.saved[x] {
			visit(reg(x), off)
			off += 8
		}
	}
	return off
}

// emitter makes the code of one place in one pass.
type emitter struct {
	vectorAsm
	site  Site
	frame frame // as the pass before has found it
	used  frame // what this pass finds

	abandoned label    // nobody answers a doorbell
	cold      []func() // make the code behind the tail
	bells     []bell
	reads     []read
	records   bool // there are records
}

func newEmitter(s Site, f frame) *emitter {
	return &emitter{vectorAsm: vectorAsm{orderedAsm{asm{addr: s.Addr}}}, site: s, frame: f}
}

func (e *emitter) emit(programs []native.Program) (*native.Stub, error) {
	end := e.newLabel()
	e.abandoned = e.newLabel()
	e.pushPair(x16, x17)
	e.adrp(x16, e.site.Control)
	e.ldr32(x16, x16, uint32(e.site.Control&0xfff))
	e.low(x16, x16, 30, false) // native.ControlMask
	e.cbz(x16, end)
	e.enter()
	for i := range programs {
		e.program(i, &programs[i])
	}
	e.place(e.abandoned)
	e.leave()
	e.place(end)
	e.popPair(x16, x17)
	stub := &native.Stub{Tail: len(e.code)}
	tail, err := e.site.Tail(e.here())
	if err != nil {
		return nil, fmt.Errorf("cannot place the displaced instruction at %#x: %w", e.here(), err)
	}
	stub.TailLen = len(tail)
	e.code = append(e.code, tail...)
	for len(e.cold) > 0 {
		f := e.cold[0]
		e.cold = e.cold[1:]
		f()
	}
	if stub.Code, err = e.finish(); err != nil {
		return nil, fmt.Errorf("cannot make code at %#x: %w", e.site.Addr, err)
	}
	stub.Records = e.records
	for i := range e.reads {
		stub.Reads = append(stub.Reads, e.reads[i].resolve(&e.asm))
	}
	for i := range e.bells {
		stub.Doorbells = append(stub.Doorbells, e.bells[i].resolve(&e.asm))
	}
	return stub, nil
}

// enter makes room and saves what programs change.
func (e *emitter) enter() {
	f := &e.frame
	if e.frameSize() == 0 {
		return
	}
	e.subImm(sp, sp, uint32(e.frameSize()))
	flags := f.each(func(x reg, off int) { e.str(x, sp, off) })
	if f.flags {
		e.mrsFlags(x16)
		e.str(x16, sp, flags)
	}
}

// leave undoes enter.
func (e *emitter) leave() {
	f := &e.frame
	if e.frameSize() == 0 {
		return
	}
	flags := f.each(func(x reg, off int) { e.ldr(x, sp, off) })
	if f.flags {
		e.ldr(x16, sp, flags)
		e.msrFlags(x16)
	}
	e.addImm(sp, sp, uint32(e.frameSize()))
}

// uses notes that a register is written, and returns it.
func (e *emitter) uses(x reg) reg {
	if x != x16 && x != x17 {
		e.used.saved[x] = true
	}
	return x
}

// original loads a register as it was at the place.
func (e *emitter) original(d, x reg) {
	switch {
	case x == sp:
		e.addImm(d, sp, uint32(e.frameSize()+16))
	case x == x16 || x == x17:
		e.ldr(d, sp, e.frameSize()+8*int(x-x16))
	case e.frame.saved[x]:
		e.frame.each(func(y reg, off int) {
			if x == y {
				e.ldr(d, sp, off)
			}
		})
	default:
		e.mov(d, x)
	}
}

// arena loads the address of a word of the arena.
func (e *emitter) arena(d reg, offset uint64) {
	addr := e.site.Arena + offset
	e.adrp(d, addr)
	e.addImm(d, d, uint32(addr&0xfff))
}

// atomicAdd adds a register to the word at an address, and loads what was there. x14 is changed; all registers must
// differ from it and from one another.
func (e *emitter) atomicAdd(at, v, was reg) {
	if e.site.Atomics {
		e.ldaddal(v, was, at)
		return
	}
	again, status := e.newLabel(), e.uses(x14)
	e.place(again)
	e.ldaxr(was, at)
	e.add(was, was, v)
	e.stlxr(status, was, at)
	e.cbnz32(status, again)
	e.sub(was, was, v)
}

// increment adds 1 to a word of the arena. x14 to x17 are changed.
func (e *emitter) increment(offset uint64) {
	e.arena(x16, offset)
	e.movImm(x17, 1)
	e.atomicAdd(x16, x17, e.unwanted())
}

// unwanted is the register for what atomicAdd has found, where nobody wants it.
func (e *emitter) unwanted() reg {
	if e.site.Atomics {
		return xzr
	}
	return e.uses(x15)
}

// program makes the code of one program: predicate, gate, program. Whatever happens, control arrives behind it.
func (e *emitter) program(index int, p *native.Program) {
	next, rejected := e.newLabel(), e.newLabel()
	if p.When != nil {
		pass := e.newLabel()
		e.part(&part{plan: p.When, index: index, when: true, done: pass, abort: rejected, resume: next})
		e.place(rejected)
		if p.Gate != nil {
			e.increment(p.Gate.Offset() + gate.RejectedOffset)
		}
		e.b(next)
		e.place(pass)
	}
	if p.Call != nil {
		e.call(index, p, next)
		return
	}
	if p.Gate != nil {
		e.due(p.Gate, next)
		e.hit(p.Gate)
	}
	if p.Run != nil {
		e.part(&part{plan: p.Run, index: index, probe: p.Probe, done: next, abort: next, resume: next})
	}
	e.place(next)
}

// hit counts a hit that counts.
func (e *emitter) hit(g *gate.Gate) { e.increment(g.Offset() + gate.HitsOffset) }

// due decides whether a hit counts: it counts it as seen, and goes on to the next program unless After and Every let it
// pass.
func (e *emitter) due(g *gate.Gate, next label) {
	l := g.Limits()
	if l != (gate.Limits{}) {
		e.arena(x16, g.Offset()+gate.SeenOffset)
		e.movImm(x17, 1)
		e.atomicAdd(x16, x17, e.uses(x15)) // x15: the number of hits before this one
		if l.After > 0 {
			e.movImm(x17, l.After)
			e.cmp(x15, x17)
			e.bIf(condLO, next)
			e.sub(x15, x15, x17)
		}
		if l.Every > 1 {
			e.addImm(x15, x15, 1)
			e.movImm(x17, l.Every)
			e.udiv(x16, x15, x17)
			e.msub(x15, x16, x17, x15)
			e.cbnz(x15, next)
		}
	}
}
