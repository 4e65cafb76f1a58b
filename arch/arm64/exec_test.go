package arm64

import (
	"encoding/binary"
	"errors"
	"testing"

	"gotap/arch"
)

// decoded returns an instruction at codePC.
func decoded(t testing.TB, w uint32) arch.Insn {
	t.Helper()
	var code [4]byte
	binary.LittleEndian.PutUint32(code[:], w)
	in, err := A64.Decode(code[:], codePC)
	if err != nil {
		t.Fatal(err)
	}
	return in
}

// TestRefused checks the reasons for one instruction of every class that Prepare refuses.
func TestRefused(t *testing.T) {
	for w, class := range map[uint32]Class{
		0xc85f7c20: Exclusive,  // ldxr x0, [x1]
		0xc8027c20: Exclusive,  // stxr w2, x0, [x1]
		0xd4200000: Breakpoint, // brk #0
		0x00000000: Breakpoint, // udf #0
		0xd4000002: Privileged, // hvc #0
		0xd5033fdf: Ordinary,   // isb, which is not refused
		0xd5381000: Privileged, // mrs x0, sctlr_el1
		0x04a0e3e0: Scalable,   // cntw x0
		0xd9200820: MemoryTag,  // stg x0, [x1]
		0x19010440: MemoryCopy, // cpyfp
		0xf83fd020: Beyond,     // ld64b x0, [x1]
	} {
		in := decoded(t, w)
		if ClassOf(in) != class {
			t.Errorf("%#08x is of class %v, want %v", w, ClassOf(in), class)
		}
		_, err := A64.Prepare(in)
		var refused *arch.RefusedError
		if class == Ordinary != (err == nil) || err != nil && (!errors.As(err, &refused) || !errors.Is(err, arch.ErrUnsupported)) {
			t.Errorf("%#08x: %v", w, err)
		}
	}
}

// TestUnpredictable checks that unpredictable encodings are refused.
func TestUnpredictable(t *testing.T) {
	for _, w := range []uint32{
		0xf8408421, // ldr x1, [x1], #8
		0xf8008c21, // str x1, [x1, #8]!
		0xa9400000, // ldp x0, x0, [x0]
		0xa8c10822, // ldp x2, x2, [x1], #16
		0xa9810421, // stp x1, x1, [x1, #16]!
		0xc8017c20, // stxr w1, x0, [x1]
	} {
		in := decoded(t, w)
		if _, err := A64.Prepare(in); err == nil {
			t.Errorf("%#08x was prepared", w)
		}
		if err := Exec(in, new(arch.Regs), new(arch.Vectors), &arena{}); !errors.Is(err, arch.ErrUnsupported) {
			t.Errorf("%#08x was executed: %v", w, err)
		}
	}
}

// TestStackAlignment checks that an unaligned stack pointer faults as a base, not as a source, and only if the
// machine checks it.
func TestStackAlignment(t *testing.T) {
	regs := arch.Regs{regSP: arenaBase + 8, regPC: codePC}
	before := regs
	plain := struct{ arch.Memory }{&arena{}} // does not answer ChecksStack
	for _, w := range []uint32{0xf94003e0, 0xa9bf7bfd, 0xf84107e0, 0x3ce06be0 | 1<<11} {
		var align *AlignmentError
		err := Exec(decoded(t, w), &regs, new(arch.Vectors), plain)
		if !errors.As(err, &align) || !align.Stack || regs != before {
			t.Errorf("%#08x: %v", w, err)
		}
		var fault *arch.FaultError
		if !errors.As(err, &fault) || fault.Addr != regs[regSP] {
			t.Errorf("%#08x: not a fault: %v", w, err)
		}
	}
	if err := Exec(decoded(t, 0x910043ff), &regs, nil, plain); err != nil || regs[regSP] != arenaBase+24 { // add sp, sp, #16
		t.Errorf("add: %v, sp %#x", err, regs[regSP])
	}
}

// TestBranchType checks that indirect branches leave their type for the landing pad, and other instructions none.
func TestBranchType(t *testing.T) {
	for w, want := range map[uint32]uint64{0xd61f0020: btypeJump, 0xd63f0020: btypeCall, 0xd65f0020: 0, 0xd503201f: 0, 0x14000004: 0} {
		regs := arch.Regs{regPC: codePC, regPState: btypeMask | flagN}
		if err := Exec(decoded(t, w), &regs, nil, &arena{}); err != nil || regs[regPState] != want|flagN {
			t.Errorf("%#08x: %v, pstate %#x", w, err, regs[regPState])
		}
	}
}

// TestSyscall checks that Emulate changes nothing at a system call.
func TestSyscall(t *testing.T) {
	in := decoded(t, 0xd4000001)
	s, err := A64.Prepare(in)
	if err != nil || in.Control != arch.Syscall {
		t.Fatal(err, in.Control)
	}
	regs := arch.Regs{regPC: codePC, regPState: btypeJump}
	before := regs
	if err := s.Emulate(&regs, &arena{}); err != nil || regs != before {
		t.Errorf("%v, registers changed: %v", err, regs != before)
	}
	if err := Exec(in, &regs, nil, &arena{}); !errors.Is(err, arch.ErrUnsupported) {
		t.Errorf("executed: %v", err)
	}
}

// TestSystem checks that the error names registers that the memory does not provide, that provided values are used,
// and that cache maintenance is passed on.
func TestSystem(t *testing.T) {
	regs := arch.Regs{regPC: codePC, 3: 0x1234}
	plain := struct{ arch.Memory }{&arena{}}
	for w, r := range map[uint32]Register{0xd53bd040: TPIDR, 0xd53be040: CNTVCT, 0xd50b7420: DCZID, 0xd53b2400: RNDR, 0xd53b0020: CTR} {
		var unknown *SystemError
		if err := Exec(decoded(t, w), &regs, nil, plain); !errors.As(err, &unknown) || unknown.Register != r {
			t.Errorf("%#08x: %v, want %v", w, err, r)
		}
	}
	m := &systemMemory{}
	for _, w := range []uint32{0xd51bd043, 0xd53bd044, 0xd50b7b23, 0xd53b2405} { // msr tpidr, mrs tpidr, dc cvau, mrs rndr
		if err := Exec(decoded(t, w), &regs, nil, m); err != nil {
			t.Errorf("%#08x: %v", w, err)
		}
	}
	if regs[4] != 0x1234 || m.op != DCCVAU || m.addr != 0x1234 || regs[5] != 77 {
		t.Errorf("x4 %#x, x5 %d, maintenance %#x at %#x", regs[4], regs[5], m.op, m.addr)
	}
}

// systemMemory is a System with one register and a random number.
type systemMemory struct {
	arena
	tpidr uint64
	op    Operation
	addr  uint64
}

func (m *systemMemory) ReadSystem(r Register) (uint64, error) {
	if r == RNDR {
		return 77, nil
	}
	return m.tpidr, nil
}
func (m *systemMemory) WriteSystem(_ Register, v uint64) error { m.tpidr = v; return nil }
func (m *systemMemory) MaintainCache(op Operation, addr uint64) error {
	m.op, m.addr = op, addr
	return nil
}

// TestPointerAuth checks that without keys, signing does nothing, returns and calls follow the pointer, and
// stripping works.
func TestPointerAuth(t *testing.T) {
	regs := arch.Regs{regPC: codePC, regLR: 0x40_0000, 1: 0x00a5_0000_0040_1000, 2: 0xff25_8000_0000_0000}
	for _, w := range []uint32{0xd503233f, 0xd50323bf, 0xdac103e3, 0xd65f0bff} { // paciasp, autiasp, pacia x3, sp; retaa
		in := decoded(t, w)
		if ClassOf(in) != PointerAuth {
			t.Errorf("%#08x is of class %v", w, ClassOf(in))
		}
		if err := Exec(in, &regs, nil, &arena{}); err != nil {
			t.Error(err)
		}
	}
	if regs[regLR] != 0x40_0000 || regs[regPC] != 0x40_0000 {
		t.Errorf("lr %#x, pc %#x", regs[regLR], regs[regPC])
	}
}

// TestStrip compares stripping with the processor, for pointers that do not depend on keys.
func TestStrip(t *testing.T) {
	r := newRand(t, 6)
	states := append(statesFor(r, 0xfffffbe0, 0xdac143e0, 500), statesFor(r, 0xffffffff, 0xd50320ff, 100)...)
	if n := differential(t, states); n != 0 {
		t.Errorf("%d refused", n)
	}
}

// TestKeepsOnFault checks that an instruction that fails changes neither registers nor memory.
func TestKeepsOnFault(t *testing.T) {
	for _, w := range []uint32{0xa9817c20, 0xf8010c20, 0xa8c10820, 0xf8200041, 0xc8a07c41, 0x48207c22, 0xd50b7422} {
		regs := arch.Regs{1: arenaBase + arenaSize - 4, 2: arenaBase + arenaSize, regPC: codePC}
		before, m := regs, &arena{dirty: map[uint64]bool{}}
		var fault *arch.FaultError
		if err := Exec(decoded(t, w), &regs, new(arch.Vectors), m); !errors.As(err, &fault) || regs != before || len(m.dirty) != 0 {
			t.Errorf("%#08x: %v, changed: %v %v", w, err, regs != before, m.dirty)
		}
	}
}

// flat is memory that never fails and never allocates.
type flat [4096]byte

func (f *flat) ReadMemory(addr uint64, p []byte) error  { copy(p, f[addr&2047:]); return nil }
func (f *flat) WriteMemory(addr uint64, p []byte) error { copy(f[addr&2047:], p); return nil }

// mixture is an ordinary mix: arithmetic, loads, stores, branches, atomics.
var mixture = []uint32{
	0x8b020020, 0xf1000421, 0x9a820020, 0xd3441c20, 0xf9400020, 0xa9bf7bfd, 0xa8c17bfd, 0xb8626820, 0x54000040, 0x37000040,
	0xd63f0020, 0xd65f03c0, 0xf8200041, 0x9ac20820, 0x9b020c20, 0xdac01020, 0x92401c20, 0xd2800020, 0x1e602820, 0x3dc00020,
}

func TestExecAllocates(t *testing.T) {
	regs, v, mem := arch.Regs{regPC: codePC}, arch.Vectors{}, &flat{}
	for _, w := range mixture {
		in := decoded(t, w)
		regs[regSP], regs[1] = 0, 64
		if n := testing.AllocsPerRun(100, func() {
			if err := Exec(in, &regs, &v, mem); err != nil {
				t.Errorf("%#08x: %v", w, err)
			}
		}); n != 0 {
			t.Errorf("%#08x allocates %v times", w, n)
		}
	}
}

func BenchmarkDecodeExec(b *testing.B) {
	regs, v, mem := arch.Regs{}, arch.Vectors{}, &flat{}
	var code [4]byte
	for i := 0; b.Loop(); i++ {
		binary.LittleEndian.PutUint32(code[:], mixture[i%len(mixture)])
		in, err := A64.Decode(code[:], codePC)
		if err != nil {
			b.Fatal(err)
		}
		regs[regSP], regs[1], regs[regPC] = 0, 64, codePC
		if err := Exec(in, &regs, &v, mem); err != nil {
			b.Fatal(err)
		}
	}
}
