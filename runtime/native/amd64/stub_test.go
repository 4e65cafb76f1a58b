package amd64

import (
	"errors"
	"flag"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gotap/arch"
	"gotap/arch/x86"
	"gotap/engine/testenv"
	"gotap/runtime"
	"gotap/runtime/arena"
	"gotap/runtime/calls"
	"gotap/runtime/gate"
	"gotap/runtime/native"
	"gotap/runtime/native/amd64/asm"
	"gotap/runtime/native/amd64/objdump"
	"gotap/runtime/object"
	"gotap/runtime/opcode"
	"gotap/runtime/value"
)

// testAddress is where stubs lie that do not run.
const testAddress = 0x10000000

// Shorthands for programs.
func push(v int64) runtime.Inst              { return runtime.Inst{Op: opcode.PushD, V: uint64(v)} }
func op(o opcode.Op) runtime.Inst            { return runtime.Inst{Op: o} }
func opA(o opcode.Op, a uint32) runtime.Inst { return runtime.Inst{Op: o, A: a} }
func opV(o opcode.Op, v uint64) runtime.Inst { return runtime.Inst{Op: o, V: v} }

var update = flag.Bool("update", false, "write files that tests compare with")

// shelf is an arena for programs that are only compiled.
type shelf struct {
	testing.TB
	*arena.Arena
}

func newShelf(t testing.TB) *shelf {
	a, err := arena.NewOn(make([]uint64, 4<<20/8), 64<<10)
	if err != nil {
		t.Fatal(err)
	}
	return &shelf{t, a}
}

// object declares an object and returns its offset.
func (s *shelf) object(o object.Object, keys ...value.Kind) uint64 {
	s.Helper()
	id, err := s.Declare(o)
	if err == nil && len(keys) > 0 {
		err = s.Refine(id, keys, value.KindInt)
	}
	if err != nil {
		s.Fatal(err)
	}
	_, off := s.Lookup(id)
	return off
}

func (s *shelf) plan(list ...runtime.Inst) *native.Plan {
	s.Helper()
	p, err := native.PlanOf(&runtime.Code{Insts: list, Bounded: true}, s.Arena, Features, native.Place{})
	if err != nil {
		s.Fatal(err)
	}
	return p
}

// TestStubs compares the instructions of whole stubs, as objdump shows them, with files.
func TestStubs(t *testing.T) {
	testenv.Require(t, testenv.Objdump)
	s := newShelf(t)
	s.OpenShares(1<<20, calls.BlockSize, 4096, 4096)
	count := s.object(object.Object{Kind: object.KindCount})
	hist := s.object(object.Object{Kind: object.KindHist})
	keyed := s.object(object.Object{Kind: object.KindCount, Keys: 1, Max: 10}, value.KindInt)
	sums := s.object(object.Object{Kind: object.KindSum, Keys: 1, Max: 10}, value.KindInt)
	exit, abort := op(opcode.Exit), op(opcode.Abort)
	when := s.plan(opA(opcode.Arg, 0), push(100), op(opcode.Gt), opA(opcode.Jz, 5), exit, abort)
	counts := s.plan(push(1), opV(opcode.Agg, count), exit)
	free, limited := s.NewGate(gate.Limits{}), s.NewGate(gate.Limits{After: 100, Every: 10})
	sum := s.object(object.Object{Kind: object.KindSum})
	for name, c := range map[string]struct {
		programs []native.Program
		site     Site
	}{
		"count":     {[]native.Program{{Run: counts, Gate: free}}, Site{}},
		"predicate": {[]native.Program{{Run: counts, When: when, Gate: free}}, Site{Flags: true, RedZone: true}},
		"every":     {[]native.Program{{Gate: limited}}, Site{RedZone: true}},
		"share":     {[]native.Program{{Run: counts, Gate: free}}, Site{Owners: 0x2000, Stacks: 0x10000, Shares: true, SelfAddressed: true}},
		"rejected":  {[]native.Program{{Run: counts, When: when, Gate: free}}, Site{Owners: 0x2000, Stacks: 0x10000, Shares: true, SelfAddressed: true}},
		"hist":      {[]native.Program{{Run: s.plan(opA(opcode.Arg, 1), opV(opcode.Agg, hist), exit), Gate: free}}, Site{}},
		"keyed":     {[]native.Program{{Run: s.plan(opA(opcode.Arg, 0), op(opcode.KeyInt), push(1), opV(opcode.Agg, keyed), exit)}}, Site{}},
		"paired":    {[]native.Program{{Run: s.plan(opA(opcode.Arg, 0), op(opcode.KeyInt), push(1), opV(opcode.Agg, keyed), exit)}}, Site{Pairs: true}},
		"own":       {[]native.Program{{Run: s.plan(opA(opcode.Arg, 0), op(opcode.KeyInt), opA(opcode.Arg, 1), opV(opcode.Agg, sums), exit)}}, Site{Owners: 0x2000, Stacks: 0x10000, Shares: true}},
		"doorbell":  {[]native.Program{{Run: s.plan(opA(opcode.Arg, 0), opA(opcode.Arg, 1), op(opcode.Add), opA(opcode.Arg, 2), op(opcode.Quo), op(opcode.Load64), exit)}}, Site{}},
		"float":     {[]native.Program{{Run: s.plan(opA(opcode.Arg, 0), op(opcode.Itof), opV(opcode.PushD, math.Float64bits(1e6)), op(opcode.Fdiv), opV(opcode.AggFloat, sum), exit)}}, Site{}},
		"loop": {[]native.Program{{Run: s.plan(push(0), opA(opcode.PopTV, 0), push(5), opA(opcode.Arg, 0), opA(opcode.PushTV, 0), op(opcode.Add),
			opA(opcode.PopTV, 0), opA(opcode.Loop, 3), opA(opcode.PushTV, 0), opV(opcode.Agg, hist), exit)}}, Site{}},
	} {
		c.site.Addr, c.site.Place, c.site.Arena, c.site.Control = testAddress, 0x401000, testAddress+0x100000, testAddress+0x10000
		c.site.Tail = func(uint64) ([]byte, error) { return []byte{0x55, 0xc3}, nil } // push rbp; ret
		stub, err := Emit(c.programs, c.site)
		if err != nil {
			t.Fatal(err)
		}
		text := strings.Join(objdump.Lines(t, stub.Code, c.site.Addr), "\n") + "\n"
		file := filepath.Join("testdata", name+".txt")
		if *update {
			if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if want, err := os.ReadFile(file); err != nil || string(want) != text {
			t.Errorf("%s is\n%s\nand not\n%s", name, text, want)
		}
	}
}

// TestEmitRefuses: gates that native code cannot ask, addresses out of reach, and a tail that has no place are errors.
func TestEmitRefuses(t *testing.T) {
	s := newShelf(t)
	run := s.plan(opV(opcode.IncGV, s.object(object.Object{})), op(opcode.Exit))
	site := Site{Addr: testAddress, Arena: testAddress + 0x100000, Control: testAddress - 0x1000, Tail: func(uint64) ([]byte, error) { return nil, nil }}
	for _, l := range []gate.Limits{{Rate: 1}, {Limit: 1}, {Limit: 5, After: 2}} {
		var refused *native.Refused
		if _, err := Emit([]native.Program{{Run: run, Gate: s.NewGate(l)}}, site); !errors.As(err, &refused) {
			t.Errorf("%+v: %v", l, err)
		}
	}
	if err := native.Admits(gate.New(nil, 0, gate.Limits{}, nil)); err == nil || err.Error() != "the counters of the probe are not in the arena" {
		t.Error(err)
	}
	for name, change := range map[string]func(s *Site){
		"a far arena":   func(s *Site) { s.Arena += 1 << 32 },
		"far control":   func(s *Site) { s.Control -= 1 << 32 },
		"a failed tail": func(s *Site) { s.Tail = func(uint64) ([]byte, error) { return nil, asm.ErrReach } },
	} {
		far := site
		if change(&far); true {
			if _, err := Emit([]native.Program{{Run: run}}, far); !errors.Is(err, asm.ErrReach) {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	stub, err := Emit(nil, site)
	if err != nil || len(stub.Doorbells) != 0 || stub.TailLen != 0 {
		t.Errorf("without programs: %+v, %v", stub, err)
	}
}

// TestRegisterFile: the register file has the order of package x86, whose indexes lowered programs contain.
func TestRegisterFile(t *testing.T) {
	want := [asm.NumRegs]uint8{asm.RAX: x86.RAX, asm.RCX: x86.RCX, asm.RDX: x86.RDX, asm.RBX: x86.RBX, asm.RSP: x86.RSP, asm.RBP: x86.RBP, asm.RSI: x86.RSI, asm.RDI: x86.RDI, asm.R8: x86.R8,
		asm.R9: x86.R9, asm.R10: x86.R10, asm.R11: x86.R11, asm.R12: x86.R12, asm.R13: x86.R13, asm.R14: x86.R14, asm.R15: x86.R15}
	if fileIndex != want || fileRIP != x86.RIP || fileEFLAGS != x86.EFLAGS {
		t.Errorf("%v", fileIndex)
	}
	for n, x := range args {
		var regs arch.Regs
		regs[fileIndex[x]] = 5
		if v, err := x86.New64().Arg(n, &regs, nil); v != 5 || err != nil {
			t.Errorf("argument %d: %d, %v", n, v, err)
		}
	}
}
