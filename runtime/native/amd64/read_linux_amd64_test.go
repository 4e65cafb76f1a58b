package amd64

import (
	"encoding/binary"
	"syscall"
	"testing"

	"gotap/runtime"
	"gotap/runtime/native"
	"gotap/runtime/native/amd64/asm"
	"gotap/runtime/object"
	"gotap/runtime/opcode"
)

// reads places a program that adds what it reads at its first argument to a variable.
func (w *world) reads(load opcode.Op) (stub *native.Stub, variable int) {
	w.t.Helper()
	off, id := w.object(object.Object{Kind: object.KindInt})
	return w.place(w.c, []native.Program{{Run: w.plan(opA(opcode.Arg, 0), runtime.Inst{Op: load}, opV(opcode.AddGV, off), op(opcode.Exit))}},
		Site{Addr: codeAddr, Flags: true, RedZone: true}), id
}

// begin returns the registers of a hit with a first argument.
func (c *tracee) begin(arg uint64) regFile {
	regs := c.ready
	regs[fileRIP], regs[fileIndex[asm.RDI]], regs[fileRSP] = codeAddr, arg, stackAddr+stackSize/2
	return regs
}

// TestReads: what the table has is read natively, whether the hint is right or wrong. Everything else rings, and what
// is not readable any more faults at an instruction that is known.
func TestReads(t *testing.T) {
	w := newWorld(t)
	const fifth = dataAddr + 4*pageSize
	for _, load := range loadOps {
		stub, id := w.reads(load)
		n := uint64(native.ReadSize(load))
		for _, c := range []struct {
			addr uint64
			sig  syscall.Signal // 0: it is read
		}{
			{dataAddr, 0}, {dataAddr + pageSize - n, 0}, {dataAddr + pageSize - 9, 0}, {fifth + 7, 0}, {dataAddr + 2*pageSize, 0},
			{dataAddr - 1, syscall.SIGTRAP}, {dataAddr + pageSize, syscall.SIGTRAP}, {dataAddr + pageSize - n + 1, syscall.SIGTRAP}, {0, syscall.SIGTRAP}, {1, syscall.SIGTRAP},
			{^uint64(0), syscall.SIGTRAP}, {^uint64(n - 2), syscall.SIGTRAP}, {1 << 47, syscall.SIGTRAP}, {1 << 63, syscall.SIGTRAP}, {codeAddr, syscall.SIGTRAP},
			{fifth - n, syscall.SIGSEGV}, {fifth + pageSize, syscall.SIGBUS}, {fifth + 3*pageSize, syscall.SIGSEGV},
		} {
			regs, before := w.c.begin(c.addr), w.counted(id)
			start := regs
			var sig syscall.Signal
			w.c.do(func() { sig = w.c.run(&regs) })
			at := int(regs[fileRIP] - codeAddr)
			switch {
			case c.sig == 0:
				word := make([]byte, 8)
				copy(word, w.c.data()[c.addr-dataAddr:][:n])
				v := binary.LittleEndian.Uint64(word)
				if signed := load >= opcode.LoadS8 && load <= opcode.LoadS32; signed {
					v = uint64(int64(v<<(64-8*n)) >> (64 - 8*n))
				}
				if sig != syscall.SIGTRAP || at != stub.Tail+1 || w.counted(id)-before != int64(v) {
					t.Errorf("%v at %#x: %v at %#x, read %#x, not %#x", load, c.addr, sig, at, w.counted(id)-before, v)
				}
				if err := sameRegs(&regs, &start, true); err != nil {
					t.Error(err)
				}
			case c.sig == syscall.SIGTRAP:
				if sig != c.sig || stub.DoorbellAt(at-1) == nil {
					t.Errorf("%v at %#x: %v at %#x", load, c.addr, sig, at)
				}
			default:
				if f := stub.ReadAt(at); sig != c.sig || f == nil || stub.DoorbellAt(f.Bell) == nil {
					t.Errorf("%v at %#x: %v at %#x", load, c.addr, sig, at)
				}
			}
		}
	}
}

// TestReadsAreSilenced: a thread that is in a program when the session ends does not read any more, but goes on behind
// the stub.
func TestReadsAreSilenced(t *testing.T) {
	w := newWorld(t)
	stub, id := w.reads(opcode.Load64)
	defer w.c.setControl(1)
	w.c.do(func() {
		regs := w.c.begin(dataAddr + 3*pageSize) // it would fault
		start := regs
		for regs[fileRIP] != codeAddr+uint64(stub.Reads[0].Test) {
			w.c.step(&regs)
		}
		w.c.setControl(1 << 30)
		sig := w.c.run(&regs)
		if at := int(regs[fileRIP] - codeAddr); sig != syscall.SIGTRAP || at != stub.Tail+1 || w.counted(id) != 0 {
			t.Errorf("%v at %#x, value %d", sig, at, w.counted(id))
		}
		if err := sameRegs(&regs, &start, true); err != nil {
			t.Error(err)
		}
	})
}

// TestWildHints: whatever a program has written over the hints, reads are what they were.
func TestWildHints(t *testing.T) {
	w := newWorld(t)
	stub, _ := w.reads(opcode.Load64)
	for _, hint := range []uint64{0, 1, 15, 16, 1 << 20, 1<<63 + 5, ^uint64(0)} {
		for i := range uint64(256) {
			binary.LittleEndian.PutUint64(w.memory[w.ranges.Offset()+8*i:], hint)
		}
		regs := w.c.begin(dataAddr + 2*pageSize + 3)
		w.c.do(func() { w.c.run(&regs) })
		if at := int(regs[fileRIP] - codeAddr); at != stub.Tail+1 {
			t.Errorf("hint %#x: stopped at %#x", hint, at)
		}
	}
}

// TestComparisons: text in memory is compared with constants of all lengths without a stop, unless the interpreter
// might read where nothing is.
func TestComparisons(t *testing.T) {
	w := newWorld(t)
	const at, long = dataAddr + 5, "0123456789abcdefghijklmnopqrstuvwxyz"
	copy(w.c.data()[5:], long+"\x00")
	off, id := w.object(object.Object{Kind: object.KindInt})
	for n := 1; n <= len(long); n++ {
		for _, c := range []struct {
			op   opcode.Op
			text string
			same int64
		}{
			{opcode.Sprefix, long[:n], 1}, {opcode.Seq, long[:n], int64(n / len(long))}, {opcode.Seq, long[36-n:], int64(n / len(long))},
			{opcode.Sprefix, long[:n-1] + "~", 0}, {opcode.Seq, "~" + long[1:n], 0},
		} {
			code := &runtime.Code{Bounded: true, Texts: []string{c.text}, Insts: []runtime.Inst{opA(opcode.Arg, 0), push(64), op(opcode.Str), opA(opcode.PushS, 0), op(c.op), opV(opcode.AddGV, off), op(opcode.Exit)}}
			plan, err := native.PlanOf(code, w.arena, Features, w.inTracee())
			if err != nil {
				t.Fatal(err)
			}
			stub := w.place(w.c, []native.Program{{Run: plan}}, Site{Addr: codeAddr})
			regs, before := w.c.begin(at), w.counted(id)
			w.c.do(func() { w.c.run(&regs) })
			if got := w.counted(id) - before; int(regs[fileRIP]-codeAddr) != stub.Tail+1 || got != c.same {
				t.Errorf("%v with %q: %d, stopped at %#x", c.op, c.text, got, regs[fileRIP]-codeAddr)
			}
			regs = w.c.begin(dataAddr + pageSize - 64)
			w.c.do(func() { w.c.run(&regs) })
			if stub.DoorbellAt(int(regs[fileRIP]-codeAddr)-1) == nil {
				t.Errorf("%v with %q at the end of memory: stopped at %#x", c.op, c.text, regs[fileRIP]-codeAddr)
			}
		}
	}
}
