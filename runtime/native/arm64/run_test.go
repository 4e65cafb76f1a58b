package arm64

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gotap/engine/testenv"
	"gotap/runtime"
	"gotap/runtime/arena"
	"gotap/runtime/gate"
	"gotap/runtime/native"
	"gotap/runtime/object"
	"gotap/runtime/opcode"
	"gotap/runtime/record"
	"gotap/runtime/value"
)

// Where testdata/runner.c has what native code uses.
const (
	arenaAddr = 0x10000000
	codeAddr  = 0x20000000
	leaveAddr = 0x20100000
	stackTop  = 0x40008000
	testPid   = 4711
	testPlace = 0x5555_5555_4321
)

// regFile is x0 to x30, sp, pc and nzcv in the places of pstate.
type regFile [34]uint64

// world is an arena with objects and gates. Native code runs on a copy of it in the runner.
type world struct {
	*arena.Arena
	words        []uint64
	numbers      []uint64 // offsets of variables
	aggregations []uint64
	gates        []*gate.Gate
	machine      *runtime.Machine
}

func newWorld(t *testing.T) *world {
	w := &world{words: make([]uint64, 1280<<10/8)}
	var err error
	if w.Arena, err = arena.NewOn(w.words, 4<<10); err != nil {
		t.Fatal(err)
	}
	declare := func(list *[]uint64, o object.Object) {
		id, err := w.Declare(o)
		if err != nil {
			t.Fatal(err)
		}
		_, off := w.Lookup(id)
		*list = append(*list, off)
		w.Handle(id).Set(value.Int(int64(id) * 0x1234567))
		if o.Kind != object.KindInt && id%2 == 0 {
			w.Handle(id).Get() // selects the other bank
		}
	}
	for range 3 {
		declare(&w.numbers, object.Object{Kind: object.KindInt})
	}
	for _, k := range []object.Kind{object.KindCount, object.KindSum, object.KindAvg, object.KindMin, object.KindMax, object.KindMin, object.KindAvg} {
		declare(&w.aggregations, object.Object{Kind: k})
	}
	for _, bits := range []int{0, 1, 3, 5} {
		declare(&w.aggregations, object.Object{Kind: object.KindHist, Bits: bits})
	}
	for _, l := range [][3]int64{{0, 10, 2}, {-100, 1000, 7}, {-1 << 62, 1 << 62, 1 << 58}, {-1 << 63, 1<<63 - 1, 1 << 59}, {5, 6, 1}} {
		declare(&w.aggregations, object.Object{Kind: object.KindLhist, Lo: l[0], Hi: l[1], Step: l[2]})
	}
	for _, l := range []gate.Limits{{}, {}, {After: 2}, {Every: 2}, {Every: 3, After: 1}, {After: 1 << 40}, {Every: 1}} {
		w.gates = append(w.gates, w.NewGate(l))
	}
	w.words[arena.ControlOffset/8] = 1
	w.machine = runtime.NewMachine(w.Arena)
	return w
}

// hash is that of the runner.
func (w *world) hash() uint64 {
	h := uint64(14695981039346656037)
	for _, v := range w.words {
		h = (h ^ v) * 1099511628211
	}
	return h
}

// thread is the thread of a hit as the interpreter sees it.
type thread struct{ regs *regFile }

func (thread) ReadMemory(uint64, []byte) int      { return 0 }
func (thread) WriteMemory(uint64, []byte) bool    { return false }
func (h thread) Arg(n int) (uint64, bool)         { return h.regs[n&7], n < 8 }
func (thread) ArgFloat(int) (float64, bool)       { return 0, false }
func (thread) FloatWord(int) (uint64, bool)       { return 0, false }
func (h thread) Return() uint64                   { return h.regs[0] }
func (thread) SetReturn(uint64)                   {}
func (thread) Text(runtime.TextField, []byte) int { return 0 }
func (thread) Stack([]uint64) int                 { return 0 }
func (h thread) Field(f runtime.Field) (value uint64) {
	switch f {
	case runtime.FieldPid:
		return testPid
	case runtime.FieldPC:
		return testPlace
	}
	return h.regs[fileSP]
}

// interpret runs programs as the engine does.
func (w *world) interpret(programs []native.Program, regs *regFile) {
	run := func(p *native.Plan) bool {
		var log record.Log
		log.Reset()
		out := w.machine.Run(p.Code, &runtime.Context{Thread: thread{regs}, Regs: regs[:], Word: 8}, &log)
		return !out.Abort
	}
	for _, p := range programs {
		if p.When != nil && !run(p.When) {
			if p.Gate != nil {
				p.Gate.Reject()
			}
			continue
		}
		if p.Gate != nil {
			if ok, _ := p.Gate.Admit(); !ok {
				continue
			}
		}
		if p.Run != nil {
			run(p.Run)
		}
	}
}

// anyPrograms returns one to three random programs with predicates and gates.
func (w *world) anyPrograms(t *testing.T, r *rand.Rand, executed map[opcode.Op]bool) (list []native.Program) {
	for range 1 + r.IntN(3)*r.IntN(2) {
		p := native.Program{}
		for _, plan := range []**native.Plan{&p.Run, &p.When}[:r.IntN(3)] {
			*plan = w.anyPlan(t, r)
			for pc, o := range (*plan).Ops {
				executed[(*plan).Insts[pc].Op] = executed[(*plan).Insts[pc].Op] || o.Verdict == native.Native
			}
		}
		if n := r.IntN(len(w.gates) + 1); n < len(w.gates) {
			p.Gate = w.gates[n]
		}
		list = append(list, p)
	}
	return list
}

func (w *world) anyPlan(t *testing.T, r *rand.Rand) *native.Plan {
	for {
		g := &generator{Rand: r, world: w}
		code := &runtime.Code{Insts: g.program(), Bounded: true, Fuel: 1 << 20}
		p, err := native.PlanOf(code, w.Arena, Features, native.Place{})
		if err == nil {
			err = Fits(p)
		}
		if err == nil {
			return p
		}
		if !strings.Contains(err.Error(), "words on the stack") {
			t.Fatalf("%v\n%v", err, code.Insts)
		}
	}
}

// TestRandomPrograms compares native code with the interpreter, in an emulated processor: random programs and registers. Of every other case
// the code has loops of exclusive accesses in place of atomic additions.
func TestRandomPrograms(t *testing.T) {
	testenv.Require(t, testenv.GCCARM64, testenv.QEMUARM64)
	w := newWorld(t)
	var in bytes.Buffer
	put := func(v any) { binary.Write(&in, binary.LittleEndian, v) }
	put(uint64(8 * len(w.words)))
	put(w.words)
	type result struct {
		Regs [33]uint64 // x0 to x30, sp, nzcv
		Hash uint64
	}
	const cases = 600
	var want []result
	var texts []string
	executed := map[opcode.Op]bool{}
	for seed := range uint64(cases) {
		r := rand.New(rand.NewPCG(seed, 64))
		programs, regs := w.anyPrograms(t, r, executed), regFile{fileSP: stackTop, filePC: testPlace}
		for i := range 31 {
			regs[i] = anyWord(r)
		}
		flags := uint64(r.IntN(16)) << 28
		stub, err := Emit(programs, Site{Addr: codeAddr, Place: testPlace, Arena: arenaAddr, Control: arenaAddr + arena.ControlOffset, Pid: testPid, Atomics: seed%2 == 0, Tail: leave})
		if err != nil {
			t.Fatal(err)
		}
		put(regs[:31])
		put(flags)
		put(uint64(len(stub.Code)))
		put(stub.Code)
		w.interpret(programs, &regs)
		res := result{Hash: w.hash()}
		copy(res.Regs[:], regs[:32])
		res.Regs[32] = flags
		want, texts = append(want, res), append(texts, describe(programs))
	}
	out := bytes.NewReader(runInQEMU(t, &in))
	for i := range want {
		var got result
		if err := binary.Read(out, binary.LittleEndian, &got); err != nil {
			t.Fatalf("case %d: %v\n%s", i, err, texts[i])
		}
		if got != want[i] {
			t.Fatalf("case %d: %#x\nand not %#x\n%s", i, got, want[i], texts[i])
		}
	}
	last := make([]uint64, len(w.words))
	binary.Read(out, binary.LittleEndian, last)
	for i, v := range last {
		if v != w.words[i] {
			t.Fatalf("word %#x of the arena is %#x, not %#x", 8*i, v, w.words[i])
		}
	}
	for op := range opcode.NumOps {
		if in := (runtime.Inst{Op: op}); known(&in) != executed[op] && op != opcode.Within {
			t.Errorf("%s is native: %v; executed: %v", opcode.RowOf(op).Name, known(&in), executed[op])
		}
	}
}

// leave is the tail of stubs here: a branch to where the runner takes the registers.
func leave(at uint64) ([]byte, error) {
	return binary.LittleEndian.AppendUint32(nil, 0x14000000|uint32(int64(leaveAddr-at)/4)&0x3ffffff), nil
}

// runInQEMU runs testdata/runner.c.
func runInQEMU(t *testing.T, in *bytes.Buffer) []byte {
	t.Helper()
	runner := filepath.Join(t.TempDir(), "runner")
	if out, err := exec.Command(string(testenv.GCCARM64), "-O2", "-static", "-o", runner, "testdata/runner.c", "testdata/runner.S").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 15*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, string(testenv.QEMUARM64), runner)
	cmd.Stdin = in
	out, err := cmd.Output()
	if err != nil {
		t.Errorf("the runner: %v", err)
	}
	return out
}

func describe(programs []native.Program) string {
	var s strings.Builder
	for _, p := range programs {
		for name, plan := range map[string]*native.Plan{"when": p.When, "run": p.Run} {
			if plan == nil {
				continue
			}
			fmt.Fprintf(&s, "%s:\n", name)
			for pc, in := range plan.Insts {
				fmt.Fprintf(&s, "  %d %s A=%d V=%#x\n", pc, opcode.RowOf(in.Op).Name, in.A, in.V)
			}
		}
		if p.Gate != nil {
			fmt.Fprintf(&s, "gate %+v\n", p.Gate.Limits())
		}
	}
	return s.String()
}
