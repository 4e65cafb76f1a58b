package arm64

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"gotap/engine/testenv"
	"gotap/runtime"
	"gotap/runtime/arena"
	"gotap/runtime/calls"
	"gotap/runtime/clock"
	"gotap/runtime/native"
	"gotap/runtime/opcode"
	"gotap/runtime/outcome"
	"gotap/runtime/record"
)

// anyPrograms returns one to three random programs with predicates and gates.
func (w *world) anyPrograms(t *testing.T, r *rand.Rand, executed map[opcode.Op]bool) (list []native.Program) {
	call := r.IntN(4) == 0 // the first program is one of a call that begins
	for i := range 1 + r.IntN(3)*r.IntN(2) {
		p := native.Program{}
		if call = call && i == 0; call {
			p.Call = &native.Call{Func: 5, This: thisBytes, Timed: r.IntN(2) == 0}
		}
		parts := []**native.Plan{&p.Run, &p.When}[:r.IntN(3)]
		if call {
			parts = []**native.Plan{&p.Run, &p.When}[:1+r.IntN(2)]
		}
		for k, plan := range parts {
			*plan = w.anyPlan(t, r, call && k == 0)
			for pc, o := range (*plan).Ops {
				executed[(*plan).Insts[pc].Op] = executed[(*plan).Insts[pc].Op] || o.Verdict == native.Native
			}
		}
		if n := r.IntN(len(w.gates) + 1); n < len(w.gates) {
			p.Gate = w.gates[n]
		}
		p.Probe = r.Uint32()
		list = append(list, p)
	}
	return list
}

// anyPlan returns the plan of a random program. Some may run out of fuel, and some have operations that ring.
func (w *world) anyPlan(t *testing.T, r *rand.Rand, call bool) *native.Plan {
	for {
		g := &generator{Rand: r, world: w, call: call, rings: r.IntN(2) == 0, floating: r.IntN(4) == 0, writing: r.IntN(3) == 0}
		code := &runtime.Code{ID: 7, Insts: g.program(), Bounded: true, Fuel: 1 << 20, LogMax: 400, Texts: genTexts}
		if g.rings && r.IntN(3) == 0 {
			code.Bounded, code.Fuel = false, 1+r.Uint32N(200)
		}
		p, err := native.PlanOf(code, w.Arena, Features, native.Place{Names: w.names, Thread: true, Clock: true, Reads: true, Call: call, This: thisBytes, Returns: true, Texts: pick(r, 1024, 1024, 600, 0)})
		if err == nil {
			return p
		}
		if !strings.Contains(err.Error(), "words on the stack") {
			t.Fatalf("%v\n%v", err, code.Insts)
		}
	}
}

// TestRandomPrograms compares native code with the interpreter, in an emulated processor: random programs and
// registers. Of every other case the code has loops of exclusive accesses in place of atomic additions. Programs that
// ring are finished by the interpreter.
func TestRandomPrograms(t *testing.T) {
	testenv.Require(t, testenv.GCCARM64, testenv.QEMUARM64)
	w := newWorld(t)
	cases := uint64(1000)
	if os.Getenv("GOTAP_LONG") != "" {
		cases = 50_000
	}
	executed, bells, first := map[opcode.Op]bool{}, 0, w.used(nil)
	for seed := range cases {
		if seed%8 == 0 { // else sums of floats are no numbers any more
			w.restore(first)
		}
		r := rand.New(rand.NewPCG(seed, 64))
		programs, regs := w.anyPrograms(t, r, executed), anyRegisters(r)
		w.vectors, w.scalable = anyVectors(r), seed%4 < 2
		stub := w.emitted(t, programs, seed%2 == 0)
		n, err := w.compare(stub, programs, &regs)
		if bells += n; err != nil {
			t.Fatalf("case %d: %v\n%s", seed, err, describe(programs))
		}
	}
	if bells < int(cases/10) || w.faults < int(cases/100) {
		t.Errorf("%d doorbells and %d faults in %d cases", bells, w.faults, cases)
	}
	for _, op := range nativeOps {
		if !executed[op] {
			t.Errorf("%s has not been executed", opcode.RowOf(op).Name)
		}
	}
	for op := range opcode.NumOps {
		if executed[op] && !hasOp(op) {
			t.Errorf("%s is native, and not in the list", opcode.RowOf(op).Name)
		}
	}
}

// TestTime: native code calculates the time from the counter as package clock says, with rates of all sizes.
func TestTime(t *testing.T) {
	testenv.Require(t, testenv.GCCARM64, testenv.QEMUARM64)
	w := newWorld(t)
	field := runtime.Inst{Op: opcode.Field, A: uint32(runtime.FieldTime)}
	plan, err := native.PlanOf(&runtime.Code{Insts: []runtime.Inst{field, {Op: opcode.PopGV, V: w.numbers[0]}, {Op: opcode.Exit}}, Bounded: true}, w.Arena, Features, native.Place{Clock: true})
	if err != nil {
		t.Fatal(err)
	}
	stub := w.emitted(t, []native.Program{{Run: plan}}, true)
	l, _ := w.LayoutOf(w.numbers[0])
	now := func(rate, counter, nanos uint64) uint64 {
		w.bank[clock.RateAt/8], w.bank[clock.CounterAt/8], w.bank[clock.NanosAt/8] = rate, counter, nanos
		regs := anyRegisters(rand.New(rand.NewPCG(rate, 3)))
		w.runner.start(stub.Code, &regs, &vectorFile{}, false)
		w.runner.next()
		return *w.word(l.Word)
	}
	const nanos = 1 << 60
	for _, rate := range []uint64{1, 1 << 31, 1<<32 - 1, 1 << 32, 41 << 32 / 3, 16 << 32, 1<<37 + 12345} {
		before := now(1<<32, 0, 0)
		from := before - before>>3
		got := now(rate, from, nanos)
		after := now(1<<32, 0, 0)
		at := func(counter uint64) uint64 {
			hi, lo := bits.Mul64(counter-from, rate)
			return nanos + (hi<<32 | lo>>32)
		}
		if got < at(before) || got > at(after) {
			t.Errorf("rate %#x: %#x is not in %#x to %#x", rate, got, at(before), at(after))
		}
	}
}

// TestNobodyAnswers: a thread whose doorbell nobody answers gets to the tail with its registers. No other program runs.
func TestNobodyAnswers(t *testing.T) {
	testenv.Require(t, testenv.GCCARM64, testenv.QEMUARM64)
	w := newWorld(t)
	bells := 0
	for seed := range uint64(100) {
		r := rand.New(rand.NewPCG(seed, 65))
		programs, regs := w.anyPrograms(t, r, map[opcode.Op]bool{}), anyRegisters(r)
		stub := w.emitted(t, programs, true)
		w.runner.start(stub.Code, &regs, anyVectors(r), false)
		stopped, live, _ := w.runner.next()
		if stopped {
			bells++
			if f := stub.ReadAt(int(live[filePC] - codeAddr)); f != nil {
				Ring(f, codeAddr, live[:])
			} else {
				live[filePC] += 4 // a handler has made it a nop
			}
			w.runner.put(live[filePC])
			stopped, live, _ = w.runner.next()
		}
		w.block.Clear()
		if stopped {
			t.Fatalf("case %d: another breakpoint at %#x\n%s", seed, live[filePC], describe(programs))
		}
		if err := sameRegisters(&live, &regs); err != nil {
			t.Fatalf("case %d: %v\n%s", seed, err, describe(programs))
		}
	}
	if bells == 0 {
		t.Error("no doorbell rang")
	}
}

func anyRegisters(r *rand.Rand) (regs regFile) {
	for i := range 31 {
		regs[i] = anyWord(r)
	}
	regs[fileSP], regs[filePC], regs[filePState] = stackTop, testPlace, uint64(r.IntN(16))<<28
	return regs
}

// anyVectors returns a floating-point state: floats, whatever rounds them, and exceptions that there were.
func anyVectors(r *rand.Rand) *vectorFile {
	const fpcr, fpsr, modes, exceptions = 64, 65, 0x1f << 22, 0x800009f // half words, rounding, denormal numbers; saturation, and all of IEEE 754
	var v vectorFile
	for i := range v[:fpcr] {
		v[i] = anyFloat(r)
	}
	if r.IntN(2) == 0 {
		v[fpcr] = r.Uint64() & modes
	}
	v[fpsr] = r.Uint64() & exceptions
	return &v
}

// dropSigns gives numbers that are none the sign that they have in other processors, if they differ in nothing else:
// the word of a cell that the interpreter has computed here.
func dropSigns(got, want []byte) {
	const noNumber = 0x7ff8000000000000
	for i := 0; i+8 <= min(len(got), len(want)); i += 8 {
		if binary.LittleEndian.Uint64(want[i:]) == noNumber && binary.LittleEndian.Uint64(got[i:]) == noNumber|1<<63 {
			binary.LittleEndian.PutUint64(got[i:], noNumber)
		}
	}
}

func (w *world) emitted(t *testing.T, programs []native.Program, atomics bool) *native.Stub {
	t.Helper()
	stub, err := Emit(programs, Site{Addr: codeAddr, Place: testPlace, Arena: arenaAddr, Control: arenaAddr + arena.ControlOffset, Pid: testPid,
		Owners: w.owners, Stacks: w.stacks, Ring: w.RingLayout(), Clock: w.clock, Ranges: w.ranges, Atomics: atomics, Scalable: w.scalable, Tail: leave})
	if err != nil {
		t.Fatalf("%v\n%s", err, describe(programs))
	}
	return stub
}

// compare lets both executors run one hit from the same start, and returns how many doorbells rang.
func (w *world) compare(stub *native.Stub, programs []native.Program, regs *regFile) (bells int, err error) {
	w.start = w.used(w.start[:0])
	want := w.interpret(programs, regs)
	w.wanted = w.used(w.wanted[:0])
	w.restore(w.start)
	answered, state := map[partOf]bool{}, runtime.State{}
	w.runner.start(stub.Code, regs, w.vectors, w.scalable)
	for {
		stopped, live, frame := w.runner.next()
		if !stopped {
			if err := cmp.Or(sameRegisters(&live, regs), sameVectors(&w.runner.vectors, w.vectors)); err != nil {
				return bells, err
			}
			break
		}
		at := int(live[filePC] - codeAddr)
		if f := stub.ReadAt(at); f != nil {
			w.faults++
			at = f.Bell
		} else if err := sameVectors(&w.runner.vectors, w.vectors); err != nil {
			return bells, err
		}
		d := stub.DoorbellAt(at)
		if d == nil {
			return bells, fmt.Errorf("a breakpoint at %#x", live[filePC])
		}
		bells++
		of := partOf{d.Program, d.When}
		answered[of] = true
		to, err := w.answer(d, programs, &live, regs, frame, &state, want[of])
		if err != nil {
			return bells, fmt.Errorf("doorbell of %+v at operation %d: %w", of, d.PC, err)
		}
		w.runner.put(codeAddr + uint64(to))
	}
	for of, r := range want {
		if !answered[of] && (r.out.Trap != outcome.NoTrap || r.out.Kind > outcome.ExitEvent) {
			return bells, fmt.Errorf("%+v ended without a doorbell, and not with %+v, log %x", of, r.out, r.log)
		}
	}
	if err := w.compareCall(programs, want); err != nil {
		return bells, err
	}
	if err := w.compareRecords(programs, want, answered); err != nil {
		return bells, err
	}
	w.got = w.used(w.got[:0])
	w.dropChanges(w.got)
	w.dropChanges(w.wanted)
	dropSigns(w.got, w.wanted)
	if !bytes.Equal(w.got, w.wanted) {
		return bells, fmt.Errorf("the arena differs: %s", difference(w.got, w.wanted))
	}
	return bells, nil
}

// answer lets the interpreter finish a program, and returns the offset at which the thread continues.
func (w *world) answer(d *native.Bell, programs []native.Program, live, regs *regFile, frame []uint64, s *runtime.State, want ran) (to int, err error) {
	if d.FrameWords() > frameWords {
		return 0, fmt.Errorf("a frame of %d words", d.FrameWords())
	}
	d.State(live[:], frame, s)
	was := *live
	d.Restore(was[:], frame)
	if err := sameRegisters(&was, regs); err != nil {
		return 0, err
	}
	code := programs[d.Program].Run
	if d.When {
		code = programs[d.Program].When
	}
	var log record.Log
	log.Reset()
	ctx := w.context(&was)
	if d.Call == native.InCall {
		ctx.This = d.FrameOffset(live[:], frame, arenaAddr) + calls.ThisAt
	} else if d.Call != native.NoCall {
		return 0, fmt.Errorf("the call is not recorded: %v", d.Call)
	}
	out := w.machine.Resume(code.Code, ctx, &log, s)
	if out != want.out || string(log.Items()) != want.log {
		return 0, fmt.Errorf("state %+v\nends as   %+v, log %x\nand not %+v, log %x", *s, out, log.Items(), want.out, want.log)
	}
	if d.When && !rejects(out) {
		return d.Pass, nil
	}
	if g := programs[d.Program].Gate; d.When && g != nil {
		g.Reject()
	}
	return d.Resume, nil
}

// sameVectors compares the floating-point state with that from the place.
func sameVectors(got, want *vectorFile) error {
	for i, v := range want {
		if got[i] != v {
			return fmt.Errorf("word %d of the floating-point state is %#x, not %#x", i, got[i], v)
		}
	}
	return nil
}

// sameRegisters compares registers with those from the place, except for the program counter.
func sameRegisters(got, want *regFile) error {
	for i, v := range want {
		if got[i] != v && i != filePC {
			return fmt.Errorf("register %d is %#x, not %#x", i, got[i], v)
		}
	}
	return nil
}

func describe(programs []native.Program) string {
	var s strings.Builder
	for _, p := range programs {
		for name, plan := range map[string]*native.Plan{"when": p.When, "run": p.Run} {
			if plan == nil {
				continue
			}
			fmt.Fprintf(&s, "%s: fuel %d\n", name, plan.Code.Fuel)
			for pc, in := range plan.Insts {
				fmt.Fprintf(&s, "  %d %s A=%d V=%#x %s\n", pc, opcode.RowOf(in.Op).Name, in.A, in.V, plan.Ops[pc].Why)
			}
		}
		if p.Gate != nil {
			fmt.Fprintf(&s, "gate %+v\n", p.Gate.Limits())
		}
	}
	return s.String()
}
