package register

import (
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"gotap/arch"
	"gotap/arch/arm"
	"gotap/engine/isa"
	"gotap/engine/remote/rsp"
)

// stub is a stub whose thread's registers are bytes in the order of its description.
type stub struct {
	desc   *rsp.Description
	data   []byte // all registers
	packet int    // how many of these bytes one packet holds
	whole  bool   // it sets all registers at once, and no single ones
	keepSP bool   // it ignores a changed stack pointer
	chosen string
	asked  []string // the registers that were read or set alone, or "all"
}

// newStub returns a stub with the registers of GDB's own table, and more behind them that the packet leaves out.
func newStub(t *testing.T, architecture string, more ...rsp.Register) *stub {
	t.Helper()
	d := rsp.Classic(architecture)
	last := d.Registers[len(d.Registers)-1]
	end := last.Offset + last.Bytes()
	s := &stub{desc: d, packet: end}
	for _, r := range more {
		r.Number, r.Offset = len(d.Registers), end
		d.Registers = append(d.Registers, r)
		end += r.Bytes()
	}
	s.data = make([]byte, end)
	return s
}

// numbered returns count registers of one size.
func numbered(prefix string, count, bits int) (all []rsp.Register) {
	for i := range count {
		all = append(all, rsp.Register{Name: fmt.Sprint(prefix, i), Bits: bits})
	}
	return all
}

func (s *stub) at(r rsp.Register) []byte { return s.data[r.Offset:][:r.Bytes()] }

// named returns the bytes of a register.
func (s *stub) named(t *testing.T, name string) []byte {
	t.Helper()
	r, ok := s.desc.Find(name)
	if !ok {
		t.Fatalf("no register %s", name)
	}
	return s.at(r)
}

func (s *stub) Choose(thread string) error { s.chosen = thread; return nil }

func (s *stub) ReadRegisters() ([]byte, error) { return slices.Clone(s.data[:s.packet]), nil }

func (s *stub) WriteRegisters(data []byte) error {
	s.asked = append(s.asked, "all")
	copy(s.data, data)
	return nil
}

func (s *stub) ReadRegister(r rsp.Register) ([]byte, error) {
	s.asked = append(s.asked, r.Name)
	return slices.Clone(s.at(r)), nil
}

func (s *stub) WriteRegister(r rsp.Register, data []byte) error {
	if s.whole {
		return rsp.ErrUnsupported
	}
	s.asked = append(s.asked, r.Name)
	if !s.keepSP || r.Name != "rsp" {
		copy(s.at(r), data)
	}
	return nil
}

// stopped returns the registers of a thread that has stopped.
func stopped(t *testing.T, s *stub) *File {
	t.Helper()
	a := Named(s.desc.Architecture)
	layout, err := a.Bind(s.desc)
	if err != nil {
		t.Fatal(err)
	}
	f := new(File)
	f.Init(s, layout, "p1.2")
	if err := f.Read(); err != nil {
		t.Fatal(err)
	}
	s.asked = nil
	return f
}

// TestGeneral: what has changed is written, alone or with all others, and nothing else is.
func TestGeneral(t *testing.T) {
	for _, whole := range []bool{false, true} {
		s := newStub(t, "arm")
		s.whole = whole
		binary.LittleEndian.PutUint32(s.named(t, "sp"), 0x8000)
		binary.LittleEndian.PutUint32(s.named(t, "pc"), 0xfffffff0)
		f := stopped(t, s)
		if s.chosen != "p1.2" || f.SP() != 0x8000 || *f.PC() != 0xfffffff0 {
			t.Fatalf("thread %q, sp %#x, pc %#x", s.chosen, f.SP(), *f.PC())
		}
		if err := f.Write(); err != nil || len(s.asked) != 0 {
			t.Errorf("unchanged registers: wrote %v: %v", s.asked, err)
		}
		*f.PC(), f.General[3] = 0x9000, 0x1_0000_0007
		if err := f.Write(); err != nil {
			t.Fatal(err)
		}
		if got := binary.LittleEndian.Uint32(s.named(t, "r3")); got != 7 {
			t.Errorf("r3 = %#x", got)
		}
		want := []string{"r3", "pc"}
		if whole {
			want = []string{"all", "all"}
		}
		if !slices.Equal(s.asked, want) {
			t.Errorf("wrote %v, not %v", s.asked, want)
		}
		if f.Write(); len(s.asked) != 2 {
			t.Errorf("wrote again: %v", s.asked)
		}
	}
}

// TestStackPointer: a stub that ignores a changed stack pointer is found out.
func TestStackPointer(t *testing.T) {
	for _, keep := range []bool{false, true} {
		s := newStub(t, "i386:x86-64")
		s.keepSP = keep
		f := stopped(t, s)
		f.General[Named("i386:x86-64").SP()] = 0x7000
		if takes, known := f.TakesSP(); takes == keep || !known {
			t.Errorf("keeps its own: %v; takes ours: %v, %v", keep, takes, known)
		}
	}
}

// TestVectors: vector registers are read once, when they are needed; changed ones are written with their modes.
func TestVectors(t *testing.T) {
	for _, c := range []struct {
		architecture, prefix string
		count, bits          int
		modes                []string
	}{
		{"arm", "d", 32, 64, []string{"fpscr"}}, {"arm", "d", 16, 64, []string{"fpscr"}},
		{"aarch64", "v", 32, 128, []string{"fpsr", "fpcr"}}, {"aarch64", "z", 32, 256, []string{"fpsr", "fpcr"}},
		{"i386", "xmm", 8, 128, nil}, {"i386:x86-64", "xmm", 16, 128, nil},
	} {
		more := numbered(c.prefix, c.count, c.bits)
		for _, name := range c.modes {
			more = append(more, rsp.Register{Name: name, Bits: 32})
		}
		s := newStub(t, c.architecture, more...)
		binary.LittleEndian.PutUint64(s.named(t, c.prefix+"1"), math.Float64bits(1.5))
		f := stopped(t, s)
		v, ok := f.Float(1)
		word := 2
		if c.prefix == "d" {
			word = 1
		}
		bits, _ := f.FloatWord(word)
		if !ok || v != 1.5 || bits != math.Float64bits(1.5) || len(s.asked) != c.count+len(c.modes) {
			t.Errorf("%s, %d × %s: %v, %#x, read %v", c.architecture, c.count, c.prefix, v, bits, s.asked)
		}
		if _, ok := f.Float(-1); ok {
			t.Errorf("%s has a register before the first", c.architecture)
		}
		if _, ok := f.FloatWord(isa.FPCR); ok != (c.modes != nil) {
			t.Errorf("%s: modes: %v", c.architecture, ok)
		}
		s.asked = nil
		f.Vectors.V[word/2][word%2] = math.Float64bits(2.5)
		f.Vectors.Control = 1
		if err := f.Write(); err != nil {
			t.Fatal(err)
		}
		if got := math.Float64frombits(binary.LittleEndian.Uint64(s.named(t, c.prefix+"1"))); got != 2.5 {
			t.Errorf("%s: wrote %v", c.architecture, got)
		}
		if want := 1 + min(len(c.modes), 1); len(s.asked) != want {
			t.Errorf("%s: wrote %v", c.architecture, s.asked)
		}
	}
}

// TestNoVectors: a stub need not show them.
func TestNoVectors(t *testing.T) {
	f := stopped(t, newStub(t, "aarch64"))
	_, float := f.Float(0)
	_, word := f.FloatWord(0)
	_, top := f.FloatTop(func() bool { t.Error("there is no stack to ask for"); return false })
	if float || word || top || f.LoadVectors() {
		t.Error("there are vector registers")
	}
}

// TestFloatTop: the top of the stack is its first register, or the one that a flag names.
func TestFloatTop(t *testing.T) {
	s := newStub(t, "i386", append(numbered("st", 8, 80), rsp.Register{Name: "fstat", Bits: 32})...)
	one := []byte{9: 0x3f, 8: 0xff, 7: 0x80} // 1.0
	copy(s.named(t, "st0"), one)
	copy(s.named(t, "st5"), one)
	s.named(t, "st5")[8], s.named(t, "st5")[9] = 0, 0x40 // 2.0
	binary.LittleEndian.PutUint16(s.named(t, "fstat"), 5<<11)
	f := stopped(t, s)
	for physical, want := range map[bool]float64{false: 1, true: 2} {
		if v, ok := f.FloatTop(func() bool { return physical }); !ok || v != want {
			t.Errorf("physical: %v: %v, not %v", physical, v, want)
		}
		low, ok := f.FloatStackWord(isa.FloatStack, func() bool { return physical })
		high, ok2 := f.FloatStackWord(isa.FloatStack+1, func() bool { return physical })
		if !ok || !ok2 || low != 1<<63 || high != map[bool]uint64{false: 0x3fff, true: 0x4000}[physical] {
			t.Errorf("physical: %v: %#x %#x", physical, high, low)
		}
		below, ok := f.FloatStackWord(isa.FloatStack+2*3, func() bool { return physical }) // fr3: st3, or st0
		if !ok || below != map[bool]uint64{false: 0, true: 1 << 63}[physical] {
			t.Errorf("physical: %v: %#x", physical, below)
		}
	}
}

// TestBind: a description without what every thread has is refused.
func TestBind(t *testing.T) {
	if _, err := Named("arm").Bind(rsp.Classic("i386")); err == nil {
		t.Error("registers of another processor are accepted")
	}
	failing := newStub(t, "arm")
	layout, err := Named("arm").Bind(failing.desc)
	if err != nil {
		t.Fatal(err)
	}
	failing.packet = 8
	f := new(File)
	f.Init(broken{failing}, layout, "1")
	if err := f.Read(); !errors.Is(err, errBroken) {
		t.Errorf("reading without the program counter: %v", err)
	}
}

// broken is a stub that reads no single register.
type broken struct{ *stub }

var errBroken = errors.New("broken")

func (broken) ReadRegister(rsp.Register) ([]byte, error) { return nil, errBroken }

// TestNames: instruction sets are found by GDB's name and by the file's processor.
func TestNames(t *testing.T) {
	for name, machine := range map[string]elf.Machine{"arm": elf.EM_ARM, "armv7": elf.EM_ARM, "aarch64": elf.EM_AARCH64,
		"i386": elf.EM_386, "i386:x86-64": elf.EM_X86_64} {
		if Named(name) == nil || Named(name) != Of(machine) {
			t.Errorf("%s is not %v", name, machine)
		}
	}
	if Named("mips") != nil || Of(elf.EM_MIPS) != nil {
		t.Error("there is an instruction set that is not supported")
	}
	for _, c := range []struct {
		of        elf.Machine
		set       arch.Arch
		len, kind int
	}{{elf.EM_ARM, arm.Thumb, 2, 2}, {elf.EM_ARM, arm.Thumb, 4, 3}, {elf.EM_AARCH64, nil, 4, 4}, {elf.EM_X86_64, nil, 5, 1}} {
		if got := Of(c.of).Kind(c.set, arch.Insn{Len: c.len}); got != c.kind {
			t.Errorf("%v, %d bytes: kind %d, not %d", c.of, c.len, got, c.kind)
		}
	}
}
