package amd64

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"syscall"
	"time"
	"unsafe"

	"gotap/runtime"
	"gotap/runtime/calls"
	"gotap/runtime/native"
	"gotap/runtime/native/amd64/asm"
	"gotap/runtime/outcome"
	"gotap/runtime/record"
)

// hit is how the programs of a hit ended, by their indexes, with 0 for a predicate and 1 for a program.
type hit map[[2]int]ran

type ran struct {
	out outcome.Outcome
	log []byte
}

// context returns the context of a hit with registers from the place.
func (w *world) context(regs *regFile) *runtime.Context {
	at := *regs
	at[fileRIP] = testPlace
	return &runtime.Context{Thread: &thread{&at, &w.fp, w.c.data(), w.c.stack(), w.names}, Regs: at[:], Word: 8, Tid: testTid}
}

// interpret runs programs as the engine does, on the interpreter alone.
func (w *world) interpret(programs []native.Program, regs *regFile) hit {
	h := hit{}
	run := func(key [2]int, c *runtime.Code) outcome.Outcome {
		var log record.Log
		log.Reset()
		ctx := w.context(regs)
		if key[1] == 1 && programs[key[0]].Call != nil {
			clear(w.memory[w.this:][:thisBytes])
			ctx.This = w.this
		}
		out := w.machine.Run(c, ctx, &log)
		h[key] = ran{out, log.Items()}
		return out
	}
	for i, p := range programs {
		if p.When != nil {
			if out := run([2]int{i, 0}, p.When.Code); out.Trap != outcome.NoTrap || out.Abort {
				if p.Gate != nil {
					p.Gate.Reject()
				}
				continue
			}
		}
		if p.Gate != nil {
			if ok, _ := p.Gate.Admit(); !ok {
				continue
			}
		}
		run([2]int{i, 1}, p.Run.Code)
	}
	w.wanted = w.used(w.wanted[:0])
	return h
}

// execute runs the stub in the tracee, and answers its doorbells as an engine would. It returns an error if something
// is not as it would be after the interpreter alone.
func (w *world) execute(s *native.Stub, programs []native.Program, site Site, regs *regFile, want hit) error {
	live, state := *regs, runtime.State{}
	live[fileRIP] = site.Addr
	w.stack.Clear()
	answered := map[[2]int]bool{}
	if w.floats {
		w.c.ptrace(syscall.PTRACE_SETFPREGS, unsafe.Pointer(&w.fp))
	}
	for {
		sig := w.c.run(&live)
		faulted := false
		if f := s.ReadAt(int(live[fileRIP] - site.Addr)); f != nil && (sig == syscall.SIGSEGV || sig == syscall.SIGBUS) {
			w.counts.faults++
			Ring(f, site.Addr, live[:])
			sig, faulted = syscall.SIGTRAP, true
		}
		if sig != syscall.SIGTRAP {
			return fmt.Errorf("signal %v at %#x", sig, live[fileRIP]-site.Addr)
		}
		at := int(live[fileRIP] - site.Addr - 1)
		if err := w.sameVectors(); err != nil && !faulted {
			return fmt.Errorf("at %#x: %w", at, err)
		}
		if at == s.Tail {
			break
		}
		d := s.DoorbellAt(at)
		if d == nil {
			return fmt.Errorf("a breakpoint at %#x", at)
		}
		w.counts.bells++
		key := [2]int{d.Program, 1}
		if d.When {
			key[1] = 0
		}
		answered[key] = true
		out, err := w.answer(d, programs, &live, regs, &state, want[key])
		if err != nil {
			return fmt.Errorf("doorbell of program %v at operation %d: %w", key, d.PC, err)
		}
		live[fileRIP] = site.Addr + uint64(d.Resume)
		if g := programs[d.Program].Gate; d.When && (out.Trap != outcome.NoTrap || out.Abort) {
			if g != nil {
				g.Reject()
			}
		} else if d.When {
			live[fileRIP] = site.Addr + uint64(d.Pass)
		}
	}
	for key, r := range want {
		if !answered[key] && (r.out.Trap != outcome.NoTrap || r.out.Kind > outcome.ExitEvent || r.out.Remove) {
			return fmt.Errorf("program %v ended without a doorbell, and not with %+v", key, r.out)
		}
	}
	if err := w.compareRecords(programs, want, answered); err != nil {
		return err
	}
	if err := sameRegs(&live, regs, site.Flags); err != nil {
		return err
	}
	if err := w.compareCalls(programs, want); err != nil {
		return err
	}
	w.collect(programs)
	w.got = w.used(w.got[:0])
	w.ignoreRing(w.got)
	w.ignoreRing(w.wanted)
	w.dropChanges(w.got)
	w.dropChanges(w.wanted)
	if w.normalize != nil {
		w.normalize(w.got)
		w.normalize(w.wanted)
	}
	if !bytes.Equal(w.got, w.wanted) {
		return fmt.Errorf("the arena differs: %s", difference(w.got, w.wanted))
	}
	return nil
}

// compareCalls takes the call that has begun from the thread's stack of calls, and compares its storage.
func (w *world) compareCalls(programs []native.Program, want hit) error {
	f, ok := w.stack.Newest()
	if _, ran := want[[2]int{0, 1}]; programs[0].Call == nil || !ran {
		if ok {
			return errors.New("a call has begun")
		}
		return nil
	}
	if !ok || f.Busy {
		return fmt.Errorf("the call is %+v", f)
	}
	if got, want := w.memory[f.This:][:thisBytes], w.memory[w.this:][:thisBytes]; !bytes.Equal(got, want) {
		return fmt.Errorf("the storage of the call differs: %s", difference(got, want))
	}
	return nil
}

// compareRecords takes the records out of the ring that native code has written, and compares them with the logs of the
// programs that it has finished. Those of predicates are never seen.
func (w *world) compareRecords(programs []native.Program, want hit, answered map[[2]int]bool) error {
	l := w.arena.RingLayout()
	word := func(off uint64) *uint64 { return (*uint64)(unsafe.Pointer(&w.memory[off])) }
	head, tail := *word(l.Head), *word(l.Tail)
	for i := range programs {
		r, ran := want[[2]int{i, 1}]
		if !ran || answered[[2]int{i, 1}] || len(r.log) == 0 {
			continue
		}
		at := l.Data + tail%l.Size
		if first := *word(at); first>>48&0xff == 0xff { // a filler
			clear(w.memory[at:][:first&(1<<32-1)])
			tail += first & (1<<32 - 1)
			at = l.Data + tail%l.Size
		}
		size := uint64(record.HeaderSize + len(r.log))
		hdr := record.Header{Size: uint32(size), Kind: r.out.Kind, Program: programs[i].Run.Code.ID, Probe: programs[i].Probe, Pid: testPid, Tid: testTid,
			Time: *word(at + record.TimeAt), Comm: [16]byte{'n', 'a', 'm', 'e'}}
		if r.out.Kind == outcome.ExitEvent {
			hdr.Flags = record.FlagEvent
		}
		first, others := hdr.Words()
		wanted := binary.LittleEndian.AppendUint64(nil, first)
		for _, v := range others {
			wanted = binary.LittleEndian.AppendUint64(wanted, v)
		}
		wanted = append(wanted, r.log...)
		if got := w.memory[at:][:size]; !bytes.Equal(got, wanted) {
			return fmt.Errorf("the record of program %d is\n%x, not\n%x", i, got, wanted)
		}
		if now := w.clock.Now(); hdr.Time > now || now-hdr.Time > uint64(time.Minute) {
			return fmt.Errorf("a record of %d at %d", hdr.Time, now)
		}
		clear(w.memory[at:][:size])
		tail += size
	}
	if tail != head {
		return fmt.Errorf("%d bytes in the ring that no program has logged", head-tail)
	}
	*word(l.Tail) = tail
	return nil
}

// ignoreRing removes the words of the ring from used parts of the arena. Their ends move only natively.
func (w *world) ignoreRing(used []byte) {
	l := w.arena.RingLayout()
	for _, off := range []uint64{l.Head, l.Tail} {
		binary.LittleEndian.PutUint64(used[off:], 0)
	}
}

// answer lets the interpreter finish a program.
func (w *world) answer(d *native.Bell, programs []native.Program, live, regs *regFile, s *runtime.State, want ran) (out outcome.Outcome, err error) {
	frame := w.c.words(live[fileRSP], d.FrameWords())
	d.State(live[:], frame, s)
	was := *live
	d.Restore(was[:], frame)
	if err := sameRegs(&was, regs, d.Flags >= 0); err != nil {
		return out, err
	}
	code := programs[d.Program].Run.Code
	if d.When {
		code = programs[d.Program].When.Code
	}
	var log record.Log
	log.Reset()
	ctx := w.context(&was)
	if d.Call == native.InCall {
		ctx.This = d.FrameOffset(live[:], frame, arenaAddr) + calls.ThisAt
	} else if d.Call != native.NoCall {
		return out, fmt.Errorf("the call is not recorded: %v", d.Call)
	}
	out = w.machine.Resume(code, ctx, &log, s)
	if out != want.out || string(log.Items()) != string(want.log) {
		return out, fmt.Errorf("state %+v\nends as   %+v, log %x\nand not %+v, log %x", *s, out, log.Items(), want.out, want.log)
	}
	return out, nil
}

// sameRegs compares registers with those from the place.
func sameRegs(got, want *regFile, flags bool) error {
	for i, v := range want {
		mask := ^uint64(0)
		switch {
		case i == fileRIP || i == fileOrigRAX:
			continue
		case i == fileEFLAGS && !flags:
			mask = ^uint64(flagsLow | flagOF)
		}
		if (got[i]^v)&mask != 0 {
			return fmt.Errorf("register %d is %#x, not %#x", i, got[i], v)
		}
	}
	return nil
}

// difference describes the first difference of two used parts.
func difference(got, want []byte) string {
	for i := 0; i < len(want); i += 8 {
		if a, b := binary.LittleEndian.Uint64(got[i:]), binary.LittleEndian.Uint64(want[i:]); a != b {
			return fmt.Sprintf("word %#x is %#x, not %#x", i, a, b)
		}
	}
	return "nowhere"
}

// compare lets both executors run one hit from the same start.
func (w *world) compare(stub *native.Stub, programs []native.Program, site Site, regs *regFile) error {
	w.counts.hits++
	w.fp = fpRegs{}
	if w.floats {
		w.fp = anyVectors(rand.New(rand.NewPCG(regs[fileIndex[asm.RDI]], regs[fileIndex[asm.RSI]])))
	}
	stack := w.c.stack()
	for i := 0; i < len(stack); i += 8 {
		binary.LittleEndian.PutUint64(stack[i:], uint64(i+1)*0x9e3779b97f4a7c15)
	}
	before := slices.Clone(stack)
	w.start = w.used(w.start[:0])
	want := w.interpret(programs, regs)
	w.restore(w.start)
	if err := w.execute(stub, programs, site, regs, want); err != nil {
		return err
	}
	keep := int(regs[fileRSP] - stackAddr)
	if site.RedZone {
		keep -= redZone
	}
	if !bytes.Equal(stack[keep:], before[keep:]) {
		return errors.New("the stack has changed")
	}
	if low := keep - 3072; !bytes.Equal(stack[:low], before[:low]) {
		return errors.New("the stack has changed far below")
	}
	return nil
}
