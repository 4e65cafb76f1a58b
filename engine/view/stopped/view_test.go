package stopped

import (
	"encoding/binary"
	"iter"
	"slices"
	"testing"

	"gotap/arch"
	"gotap/arch/arm"
	"gotap/engine/image/module"
	"gotap/engine/isa"
	"gotap/engine/place"
	"gotap/engine/registry"
	"gotap/engine/registry/hit"
	"gotap/engine/registry/retprobe"
	"gotap/engine/syscallprobe"
	"gotap/runtime"
)

// words is memory that begins at an address, and the back end of a thread at an instruction.
type words struct {
	start  uint64
	data   []uint32
	regs   *arch.Regs
	site   arch.Site
	walked int
	called []*retprobe.Thread
	points map[uint64]*retprobe.Point
}

func (w *words) ReadMemory(addr uint64, p []byte) error {
	var all []byte
	for _, v := range w.data {
		all = binary.LittleEndian.AppendUint32(all, v)
	}
	if at := addr - w.start; at < uint64(len(all)) && copy(p, all[at:]) == len(p) {
		return nil
	}
	return &arch.FaultError{Addr: addr}
}

func (w *words) WriteMemory(addr uint64, _ []byte) error {
	return &arch.FaultError{Addr: addr, Write: true}
}

func (w *words) Pointer(addr uint64) (uint64, bool) {
	var p [4]byte
	err := w.ReadMemory(addr, p[:])
	return uint64(binary.LittleEndian.Uint32(p[:])), err == nil
}

func (w *words) Walk(_ *arch.Regs, pcs []uint64) int {
	w.walked++
	return copy(pcs, []uint64{1, 0x7770})
}

func (w *words) Leaving() (*arch.Regs, bool) {
	left := *w.regs
	return &left, isa.ARM.Leave(&left, w.site, w)
}

func (w *words) Emulated() arch.Memory { return w }

func (w *words) PointTo(pointer uint64) (*retprobe.Point, error) { return w.points[pointer], nil }

func (w *words) Siblings() iter.Seq[*retprobe.Thread] { return slices.Values(w.called) }

// inARM returns the view of a 32-bit ARM thread at an instruction, and what is behind it. The code is as GNU as
// assembles it.
func inARM(t *testing.T, code uint32, stack ...uint32) (*View, *words, *hit.Hit) {
	t.Helper()
	const at, sp = 0x8000, 0x1000
	insn, err := arm.A32.Decode(binary.LittleEndian.AppendUint32(nil, code), at)
	if err != nil {
		t.Fatal(err)
	}
	site, err := arm.A32.Prepare(insn)
	if err != nil {
		t.Fatal(err)
	}
	regs := &arch.Regs{}
	regs[13], regs[14], regs[15] = sp, 0x9001, at
	w := &words{start: sp, data: stack, regs: regs, site: site}
	h := &hit.Hit{Now: &hit.Run{Placement: &registry.Placement{Target: place.Target{}, Func: "f", Module: "/bin/m", Probe: &registry.Probe{}}}}
	v := &View{}
	v.Init(Parts{Thread: w, Regs: regs, Hit: h, Calls: &retprobe.Thread{}, Call: &syscallprobe.Calls{}})
	v.Enter(Image{ISA: isa.ARM, Memory: w, Pointers: w, Modules: &[]module.Loaded{}, Errno: &isa.ErrnoFunction{}})
	v.At(&retprobe.Point{}, at)
	return v, w, h
}

// TestLeavingByLoad: `pop {r4, pc}` removes the frame and loads the program counter in one instruction, so the stack
// pointer at the function's entry and its caller are those behind it.
func TestLeavingByLoad(t *testing.T) {
	v, w, h := inARM(t, 0xe8bd8010, 44, 0x5554)
	h.Now.Leave = true
	if got := v.ExitSP(); got != 0x1008 {
		t.Errorf("the stack pointer at entry is %#x", got)
	}
	if got := v.Field(runtime.FieldCaller); got != 0x5554 || w.walked != 0 {
		t.Errorf("the caller is %#x, after %d walks", got, w.walked)
	}
	if w.regs[13] != 0x1000 || w.regs[4] != 0 {
		t.Error("the registers have changed")
	}
}

// TestCaller: behind `bx lr`, whose stack cannot be read, the link register has the caller in Thumb code; without a
// point, and inside a function, it is found by unwinding.
func TestCaller(t *testing.T) {
	v, w, h := inARM(t, 0xe12fff1e)
	h.Now.Leave = true
	if got := v.Field(runtime.FieldCaller); got != 0x9000 {
		t.Errorf("at the exit the caller is %#x", got)
	}
	h.Now.Leave = false
	if got := v.Field(runtime.FieldCaller); got != 0x7770 || w.walked != 1 {
		t.Errorf("inside the caller is %#x, after %d walks", got, w.walked)
	}
	h.Now.Leave = true
	if v.At(nil, 0); v.Field(runtime.FieldCaller) != 0x7770 || w.walked != 2 {
		t.Errorf("without a point: %d walks", w.walked)
	}
}

// TestArguments: the procedure call standard passes four words in registers and others on the stack; words are signed.
func TestArguments(t *testing.T) {
	v, w, _ := inARM(t, 0xe12fff1e, 0xfffffffe, 6)
	for i := range 4 {
		w.regs[i] = uint64(10 + i)
	}
	for n, want := range []uint64{10, 11, 12, 13, ^uint64(1), 6} {
		if got, ok := v.Arg(n); !ok || got != want {
			t.Errorf("argument %d is %#x (%v)", n, got, ok)
		}
	}
	if _, ok := v.Arg(6); ok {
		t.Error("an argument outside memory was read")
	}
	if v.SetReturn(0x80000000); v.Return() != 0xffffffff80000000 {
		t.Errorf("the result is %#x", v.Return())
	}
}

// TestNames: a probe's names are those of its place; for an access to data without a module there are none.
func TestNames(t *testing.T) {
	v, _, h := inARM(t, 0xe12fff1e)
	h.Now.Placement.Probe.Spec.Name = "mine"
	text := func(f runtime.TextField) string {
		var p [16]byte
		return string(p[:v.Text(f, p[:])])
	}
	if f, m, n := text(runtime.TextFunc), text(runtime.TextModule), text(runtime.TextProbe); f != "f" || m != "/bin/m" || n != "mine" {
		t.Errorf("%q in %q by %q", f, m, n)
	}
	h.Now.Placement.Data = true
	if f, m := text(runtime.TextFunc), text(runtime.TextModule); f+m != "" {
		t.Errorf("%q in %q", f, m)
	}
}

// TestReturnPoint looks up the point of a return address whose lowest bit chooses the instruction set, and that of a
// function without a caller.
func TestReturnPoint(t *testing.T) {
	v, w, _ := inARM(t, 0xe12fff1e)
	p := &retprobe.Point{}
	w.points = map[uint64]*retprobe.Point{0x9001: p}
	if v.ReturnPoint() != p {
		t.Error("another point")
	}
	if w.regs[14] = 0; v.ReturnPoint() != nil {
		t.Error("a point at 0")
	}
}
