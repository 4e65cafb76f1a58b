package amd64

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"os"
	"testing"

	"gotap/runtime"
	"gotap/runtime/native"
	"gotap/runtime/object"
	"gotap/runtime/opcode"
)

// textTrials is how many texts or numbers each of the tests below tries.
func textTrials() int {
	if os.Getenv("GOTAP_LONG") != "" {
		return 200_000
	}
	return 1500
}

// trial compares native code with the interpreter, and reports doorbells.
func (w *world) trial(r *rand.Rand, stub *native.Stub, programs []native.Program, site Site) (err error) {
	regs := w.anyRegs(r)
	w.c.do(func() { err = w.compare(stub, programs, site, &regs) })
	return err
}

// TestComparedTexts compares texts in memory that are equal, begin alike, or differ in one byte, and measures them.
// None of that rings.
func TestComparedTexts(t *testing.T) {
	w := newWorld(t)
	w.c.setControl(1)
	const first, second = dataAddr + 8, dataAddr + 2*pageSize + 16
	results, _ := w.object(object.Object{Kind: object.KindArray, Size: 4})
	list := []runtime.Inst{push(first), push(256), op(opcode.Str), opA(opcode.PopTV, 0), push(second), push(256), op(opcode.Str), opA(opcode.PopTV, 1)}
	for i, o := range []opcode.Op{opcode.Scmp, opcode.Seq, opcode.Sprefix} {
		list = append(list, opA(opcode.PushTV, 0), opA(opcode.PushTV, 1), op(o), push(int64(i)), opV(opcode.PopLV, results))
	}
	list = append(list, opA(opcode.PushTV, 0), op(opcode.Slen), push(3), opV(opcode.PopLV, results), op(opcode.Exit))
	programs, site := []native.Program{{Run: w.plan(list...)}}, Site{Addr: codeAddr}
	stub := w.place(w.c, programs, site)
	r := rand.New(rand.NewPCG(1, 7))
	for range textTrials() {
		s := make([]byte, r.IntN(40))
		for i := range s {
			s[i] = pick[byte](r, 'a', 'b', 1, 0x7f, 0x80, 0xff)
		}
		u := bytes.Clone(s[:len(s)-r.IntN(len(s)+1)*r.IntN(2)])
		if len(u) > 0 && r.IntN(3) == 0 {
			u[r.IntN(len(u))] ^= 1 << r.IntN(8)
		}
		if r.IntN(2) == 0 {
			s, u = u, s
		}
		copy(w.c.data()[first-dataAddr:], append(s, 0, byte(r.Uint32()), 0xff))
		copy(w.c.data()[second-dataAddr:], append(u, 0, byte(r.Uint32()), 0))
		if err := w.trial(r, stub, programs, site); err != nil {
			t.Fatalf("%q and %q: %v", s, u, err)
		}
	}
	if w.counts.bells > 0 {
		t.Errorf("%d doorbells", w.counts.bells)
	}
}

// TestDigits compares the digits of numbers of all lengths. None of them rings.
func TestDigits(t *testing.T) {
	w := newWorld(t)
	w.c.setControl(1)
	results, _ := w.object(object.Object{Kind: object.KindArray, Size: 3})
	var list []runtime.Inst
	for i, o := range []opcode.Op{opcode.Sdec, opcode.Sudec, opcode.Shex} {
		list = append(list, push(dataAddr), op(opcode.Load64), op(o), op(opcode.Hash), push(int64(i)), opV(opcode.PopLV, results))
	}
	programs, site := []native.Program{{Run: w.plan(append(list, op(opcode.Exit))...)}}, Site{Addr: codeAddr}
	stub := w.place(w.c, programs, site)
	r := rand.New(rand.NewPCG(2, 7))
	edges := []uint64{0, 9, 10, math.MaxInt64, 1 << 63, 1<<63 + 1, math.MaxUint64}
	for n := uint64(10); n < math.MaxUint64/10; n *= 10 {
		edges = append(edges, n-1, n, n+1, -n, -n-1, -n+1)
	}
	for i := range textTrials() {
		v := r.Uint64() >> r.IntN(64)
		if i < len(edges) {
			v = edges[i]
		}
		for b := range 8 {
			w.c.data()[b] = byte(v >> (8 * b))
		}
		if err := w.trial(r, stub, programs, site); err != nil {
			t.Fatalf("%#x: %v", v, err)
		}
	}
	if w.counts.bells > 0 {
		t.Errorf("%d doorbells", w.counts.bells)
	}
}

// TestJoined joins texts of all lengths, which may be cut.
func TestJoined(t *testing.T) {
	w := newWorld(t)
	w.c.setControl(1)
	const first, second = dataAddr + 8, dataAddr + 2*pageSize + 16
	result, _ := w.object(object.Object{Kind: object.KindInt})
	programs, site := []native.Program{{Run: w.plan(push(first), push(256), op(opcode.Str), push(second), push(100), op(opcode.Str), op(opcode.Scat),
		op(opcode.Dup), op(opcode.Slen), opV(opcode.AddGV, result), op(opcode.Hash), opV(opcode.AddGV, result), op(opcode.Exit))}}, Site{Addr: codeAddr}
	stub := w.place(w.c, programs, site)
	r := rand.New(rand.NewPCG(3, 7))
	for range textTrials() {
		n, m := r.IntN(20)*(1+r.IntN(16)), r.IntN(20)*(1+r.IntN(5))
		for i := range 400 {
			w.c.data()[first-dataAddr+i], w.c.data()[second-dataAddr+i] = 'a'+byte(r.IntN(26)), 'a'+byte(r.IntN(26))
		}
		w.c.data()[first-dataAddr+n], w.c.data()[second-dataAddr+m] = 0, 0
		bells := w.counts.bells
		if err := w.trial(r, stub, programs, site); err != nil {
			t.Fatalf("%d and %d bytes: %v", n, m, err)
		}
		if w.counts.bells > bells && n <= 256 {
			t.Fatalf("%d and %d bytes: %d doorbells", n, m, w.counts.bells-bells)
		}
	}
}

// TestCutTexts copies texts of which the program asks for a number of bytes that is not known when code is made. What
// rings are numbers above the bound, and below 0.
func TestCutTexts(t *testing.T) {
	w := newWorld(t)
	w.c.setControl(1)
	const first = dataAddr + 16
	result, _ := w.object(object.Object{Kind: object.KindInt})
	programs, site := []native.Program{{Run: w.plan(push(first), push(dataAddr), op(opcode.Load64), op(opcode.Str),
		op(opcode.Dup), op(opcode.Slen), opV(opcode.AddGV, result), op(opcode.Dup), opA(opcode.PopTV, 0), push(first), push(64), op(opcode.Str), op(opcode.Scat),
		op(opcode.Hash), opV(opcode.AddGV, result), op(opcode.Exit))}}, Site{Addr: codeAddr}
	stub := w.place(w.c, programs, site)
	r := rand.New(rand.NewPCG(4, 7))
	for range textTrials() {
		n, asked := r.IntN(60), r.IntN(64)
		switch r.IntN(20) {
		case 0:
			asked = pick(r, 256, 257, -1, 1<<32, math.MinInt64)
		case 1:
			asked = n
		}
		binary.LittleEndian.PutUint64(w.c.data(), uint64(asked))
		for i := range n {
			w.c.data()[first-dataAddr+i] = 'a' + byte(r.IntN(26))
		}
		w.c.data()[first-dataAddr+n] = 0
		bells := w.counts.bells
		if err := w.trial(r, stub, programs, site); err != nil {
			t.Fatalf("%d of %d bytes: %v", asked, n, err)
		}
		if rings := asked < n || asked > 256 || asked < 0; (w.counts.bells > bells) != rings {
			t.Fatalf("%d of %d bytes: %d doorbells", asked, n, w.counts.bells-bells)
		}
	}
}
