package amd64

import (
	"fmt"
	"math/bits"
	"slices"

	"gotap/runtime"
	"gotap/runtime/arena"
	"gotap/runtime/gate"
	"gotap/runtime/native"
	"gotap/runtime/native/amd64/asm"
	"gotap/runtime/opcode"
)

// Site is the place in the target for which code is made. Arena and Control must be within 2 GiB of the code.
type Site struct {
	Addr    uint64           // where the code will lie
	Place   uint64           // the address of the probed instruction, which is field pc
	Arena   uint64           // where the target maps the arena
	Control uint64           // the address of the control word, of 32 bits
	Pid     uint32           // field pid
	Owners  uint64           // calls.Owners of the address space, as an offset in the arena; 0: no program needs the stack of its thread
	Stacks  uint64           // calls.Stacks, as an offset in the arena
	Ring    arena.RingLayout // where records are written
	Clock   uint64           // clock.Clock, as an offset in the arena; 0: no program needs the time
	Ranges  uint64           // ranges.Table of the address space, as an offset in the arena; 0: no program reads memory
	// Operand is the memory that the instruction at the place accesses, by which it may fault; nil: it does not fault,
	// or no program writes records. Then Ranges is set, and Writable too if it writes: the same of what can be written.
	Operand  *native.Operand
	Writable uint64
	RedZone  bool // the code at the place may use the 128 bytes below the stack pointer
	Flags    bool // the code at the place uses the status flags, so that they must be kept
	// SelfAddressed says that the first word of the threads' own data, at the base of fs, is its address, as the ABI
	// has it.
	SelfAddressed bool
	// Shares says that each block in Stacks belongs to one thread that runs: two that run have different own data if
	// Owners has them. Then threads count in their shares. Owners must be set.
	Shares bool

	Pairs bool // the processor compares and swaps 16 bytes
	Room  int  // bytes of the stack that the code may use; 0: as many as it needs
	// Head returns what runs first: displaced instructions in front of the place. Nil: there are none. It is like Tail.
	Head func(at uint64) ([]byte, error)
	// Tail returns what runs at the end: the displaced instructions and the jump back. at is the address at which it
	// will lie. Tail may be called more than once.
	Tail func(at uint64) ([]byte, error)
}

// redZone is the number of bytes below the stack pointer that System V lets functions use.
const redZone = 128

// Emit makes the code that runs programs at a place, one after another. The error is a *native.Refused if one of them
// cannot run natively.
func Emit(programs []native.Program, s Site) (*native.Stub, error) { return emit(programs, s, nil) }

// emit is Emit. It calls mark, unless that is nil, before it makes the code of a native operation, for code of the
// caller that must change neither flags nor registers.
func emit(programs []native.Program, s Site, mark func(*asm.Assembler, *runtime.Inst)) (*native.Stub, error) {
	for i := range programs {
		if err := native.Admits(programs[i].Gate); err != nil {
			return nil, err
		}
	}
	s.Flags = s.Flags || slices.ContainsFunc(programs, readsFlags)
	// Which registers have to be saved is known only when the code has been made. What a pass finds is saved in the
	// next one, until a pass finds nothing more.
	needs := make([]usage, 2*len(programs))
	for {
		e := &emitter{Assembler: asm.New(s.Addr), site: s, programs: programs, needs: needs, found: make([]usage, len(needs)), mark: mark}
		stub, err := e.emit()
		grown := false
		for i := range needs {
			grown = needs[i].join(e.found[i]) || grown
		}
		if !grown {
			if used := stackOf(needs); err == nil && s.Room > 0 && used > s.Room {
				return nil, &native.Refused{Reason: fmt.Sprintf("it needs %d bytes of the stack, and %d are free", used, s.Room)}
			}
			return stub, err
		}
	}
}

// stackOf returns how many bytes of the stack parts use at most, with what is saved around them.
func stackOf(parts []usage) (most int) {
	const around = 8 * 8 // the flags, and registers of the gate
	for _, u := range parts {
		most = max(most, 8*(bits.OnesCount64(uint64(u.regs))+u.slots)+around)
	}
	return most
}

// readsFlags reports whether the interpreter may need the flags, to finish a program.
func readsFlags(p native.Program) bool {
	reads := func(in runtime.Inst) bool { return in.Op == opcode.PushR && in.V>>16 == fileEFLAGS }
	return p.Run != nil && slices.ContainsFunc(p.Run.Insts, reads) || p.When != nil && slices.ContainsFunc(p.When.Insts, reads)
}

// emitter makes the code of one place in one pass.
type emitter struct {
	*asm.Assembler
	site     Site
	programs []native.Program
	needs    []usage // of the parts, as found before this pass: predicates at even indexes, programs at odd ones
	found    []usage // in this pass

	below   int              // bytes of the stack pointer below its value at the place
	savedAt [asm.NumRegs]int // bytes below that value where a register was saved; 0: it still has its value
	flagsAt int              // the same for the flags
	end     asm.Label        // only the tail follows
	cold    []func()         // make the code behind the tail
	bells   []bell
	reads   []read
	records bool                                // there are records
	mark    func(*asm.Assembler, *runtime.Inst) // see emit; may be nil
}

// usage is what a part uses.
type usage struct {
	regs  regSet
	slots int // words of the stack
}

// join adds another usage and reports whether it was more.
func (u *usage) join(o usage) bool {
	old := *u
	u.regs, u.slots = u.regs|o.regs, max(u.slots, o.slots)
	return *u != old
}

// emit makes the code: the programs, the tail, and behind it what seldom runs.
func (e *emitter) emit() (*native.Stub, error) {
	e.end = e.NewLabel()
	if e.site.Head != nil {
		head, err := e.site.Head(e.site.Addr)
		if err != nil {
			return nil, fmt.Errorf("cannot place the displaced instructions at %#x: %w", e.site.Addr, err)
		}
		e.Bytes(head...)
	}
	e.enter()
	e.TestBits32(asm.Address(e.site.Control), native.ControlMask)
	e.Jcc(asm.E, e.end)
	for i := range e.programs {
		e.program(i)
	}
	e.Place(e.end)
	e.leave()
	stub := &native.Stub{Tail: e.Len()}
	tail, err := e.site.Tail(e.site.Addr + uint64(stub.Tail))
	if err != nil {
		return nil, fmt.Errorf("cannot place the displaced instructions at %#x: %w", e.site.Addr+uint64(stub.Tail), err)
	}
	e.Bytes(tail...)
	stub.TailLen = len(tail)
	for len(e.cold) > 0 {
		f := e.cold[0]
		e.cold = e.cold[1:]
		f()
	}
	if stub.Code, err = e.Finish(); err != nil {
		return nil, fmt.Errorf("cannot make code at %#x: %w", e.site.Addr, err)
	}
	stub.Records = e.records
	for i := range e.bells {
		stub.Doorbells = append(stub.Doorbells, e.bells[i].resolve(e.Assembler))
	}
	for i := range e.reads {
		stub.Reads = append(stub.Reads, e.reads[i].resolve(e.Assembler))
	}
	return stub, nil
}

// usesStack reports whether anything is pushed.
func (e *emitter) usesStack() bool {
	for i := range e.needs {
		if e.needs[i] != (usage{}) {
			return true
		}
	}
	for i := range e.programs {
		if counts(e.programs[i].Gate) {
			return true
		}
	}
	return e.site.Flags
}

// enter steps over the red zone and saves the flags.
func (e *emitter) enter() {
	if e.site.RedZone && e.usesStack() {
		e.Lea(asm.RSP, asm.At(asm.RSP, -redZone))
		e.below = redZone
	}
	if !e.site.Flags {
		return
	}
	e.save(asm.RAX)
	e.Lahf()
	e.SetOF()
	e.Push(asm.RAX)
	e.below += 8
	e.flagsAt = e.below
}

// leave undoes enter.
func (e *emitter) leave() {
	if e.site.Flags {
		e.Pop(asm.RAX)
		e.AddAL(127)
		e.Sahf()
		e.Pop(asm.RAX)
	}
	if e.site.RedZone && e.usesStack() {
		e.Lea(asm.RSP, asm.At(asm.RSP, redZone))
	}
}

// save pushes a register.
func (e *emitter) save(x asm.Reg) {
	e.Push(x)
	e.below += 8
	e.savedAt[x] = e.below
}

// program makes the code of one program: predicate, gate, program. Whatever happens, control arrives behind it.
func (e *emitter) program(i int) {
	p, next := &e.programs[i], e.NewLabel()
	if p.When != nil {
		e.when(i, next)
	}
	ends := p.Call != nil && p.Call.Ends // then the gate is asked only for calls that were seen to begin
	if p.Gate != nil && !ends {
		e.due(p.Gate, next)
	}
	switch {
	case ends:
		e.leaveCall(i)
	case p.Call != nil:
		e.enterCall(i)
	default:
		e.run(i)
	}
	e.Place(next)
}

// run makes the code of a program for the hits that count.
func (e *emitter) run(i int) {
	g := e.programs[i].Gate
	if e.programs[i].Run == nil && !e.site.Shares {
		e.hit(g)
		return
	}
	p := e.newPart(2*i+1, e.programs[i].Run)
	p.done = e.NewLabel()
	p.abort, p.resume = p.done, p.done
	p.prologue()
	hit := func() {
		if g != nil {
			p.countGate(g, gate.HitsOffset, gate.ShareOfHits)
		}
	}
	if p.countsInShares(g) {
		p.frames.findShare(hit)
	} else {
		hit()
	}
	p.body()
	e.Place(p.done)
	p.epilogue()
	p.close()
}

// when makes the code of a predicate. Hits that pass arrive behind it.
func (e *emitter) when(i int, next asm.Label) {
	w := e.newPart(2*i, e.programs[i].When)
	w.done, w.abort, w.resume = e.NewLabel(), e.NewLabel(), e.NewLabel()
	w.prologue()
	w.body()
	e.Place(w.done)
	w.epilogue()
	g, passes := e.programs[i].Gate, e.NewLabel()
	shared := e.sharesGate(g)
	if shared {
		e.Jmp(passes)
		e.Place(w.abort)
		w.frames.findShare(func() { w.countGate(g, gate.RejectedOffset, gate.ShareOfRejected) })
		w.epilogue()
		e.Jmp(next)
		e.Place(passes)
	}
	w.close()
	e.cold = append(e.cold, func() {
		if !shared {
			e.Place(w.abort)
			w.epilogue()
			if g != nil {
				e.LockInc(e.arena(g.Offset() + gate.RejectedOffset))
			}
			e.Jmp(next)
		}
		if w.rings {
			e.Place(w.resume)
			w.epilogue()
			e.Jmp(next)
		}
	})
}

// arena returns a word of the arena as an operand.
func (e *emitter) arena(offset uint64) asm.Operand { return asm.Address(e.site.Arena + offset) }

// counts reports whether a gate lets only some hits pass.
func counts(g *gate.Gate) bool { return g != nil && (g.Limits().After != 0 || g.Limits().Every > 1) }

// hit counts a hit that counts.
func (e *emitter) hit(g *gate.Gate) {
	if g != nil {
		e.LockInc(e.arena(g.Offset() + gate.HitsOffset))
	}
}

// due decides whether a hit counts: it counts it as seen, and goes on to the next program unless After and Every let it
// pass.
func (e *emitter) due(g *gate.Gate, next asm.Label) {
	switch {
	case counts(g):
		e.number(g, next)
	case g.Limits() != gate.Limits{}:
		e.LockInc(e.arena(g.Offset() + gate.SeenOffset))
	}
}

// number is due for a gate that lets only some hits pass.
func (e *emitter) number(g *gate.Gate, next asm.Label) {
	l, not := g.Limits(), e.NewLabel()
	used := [...]asm.Reg{asm.RAX, asm.RCX, asm.RDX}
	restore := func() {
		for i := range used {
			e.Pop(used[len(used)-1-i])
		}
	}
	for _, x := range used {
		e.Push(x)
	}
	e.MovImm(asm.RAX, 1)
	e.LockXadd(e.arena(g.Offset()+gate.SeenOffset), asm.RAX) // the number of hits before this one
	if l.After > 0 {
		e.MovImm(asm.RCX, l.After)
		e.Alu(asm.Sub, asm.R(asm.RAX), asm.R(asm.RCX))
		e.Jcc(asm.B, not)
	}
	if l.Every > 1 {
		e.Inc(asm.R(asm.RAX))
		e.Clear(asm.RDX)
		e.MovImm(asm.RCX, l.Every)
		e.Div(asm.R(asm.RCX))
		e.Test(asm.RDX)
		e.Jcc(asm.NE, not)
	}
	restore()
	e.cold = append(e.cold, func() {
		e.Place(not)
		restore()
		e.Jmp(next)
	})
}
