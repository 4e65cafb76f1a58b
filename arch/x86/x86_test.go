package x86

import (
	"encoding/binary"
	"errors"
	"io"
	"testing"

	"gotap/arch"
)

// flat is a contiguous memory for tests.
type flat struct {
	base uint64
	b    []byte
}

func (m *flat) piece(addr uint64, n int) []byte {
	if off := addr - m.base; off+uint64(n) <= uint64(len(m.b)) && off < uint64(len(m.b)) {
		return m.b[off : off+uint64(n)]
	}
	return nil
}

func (m *flat) ReadMemory(addr uint64, p []byte) error {
	b := m.piece(addr, len(p))
	if b == nil {
		return &arch.FaultError{Addr: addr}
	}
	copy(p, b)
	return nil
}

func (m *flat) WriteMemory(addr uint64, p []byte) error {
	b := m.piece(addr, len(p))
	if b == nil {
		return &arch.FaultError{Addr: addr, Write: true}
	}
	copy(b, p)
	return nil
}

func TestRegIndex(t *testing.T) {
	for _, c := range []struct {
		a           arch.Arch
		name        string
		index, bits int
		shift       int
	}{
		{New64(), "rax", RAX, 64, 0}, {New64(), "eax", RAX, 32, 0}, {New64(), "ax", RAX, 16, 0},
		{New64(), "al", RAX, 8, 0}, {New64(), "ah", RAX, 8, 8}, {New64(), "sil", RSI, 8, 0},
		{New64(), "r8d", R8, 32, 0}, {New64(), "r15b", R15, 8, 0}, {New64(), "sp", RSP, 64, 0},
		{New64(), "pc", RIP, 64, 0}, {New64(), "fp", RBP, 64, 0}, {New64(), "flags", EFLAGS, 32, 0},
		{New64(), "rflags", EFLAGS, 64, 0}, {New64(), "fs_base", FSBase, 64, 0}, {New64(), "orig_rax", OrigRAX, 64, 0},
		{New32(), "eax", RAX, 32, 0}, {New32(), "sp", RSP, 32, 0}, {New32(), "bh", RBX, 8, 8}, {New32(), "ip", RIP, 32, 0},
	} {
		index, bits, shift, ok := c.a.RegIndex(c.name)
		if !ok || index != c.index || bits != c.bits || shift != c.shift {
			t.Errorf("%s %s is %d, %d bits, shift %d, %v", c.a.Name(), c.name, index, bits, shift, ok)
		}
	}
	for _, name := range []string{"rax", "r8", "sil", "xyz", ""} {
		if _, _, _, ok := New32().RegIndex(name); ok {
			t.Errorf("ia32 has no %q", name)
		}
	}
}

func TestConventions(t *testing.T) {
	stack := &flat{0x1000, make([]byte, 64)}
	for i := range 16 {
		binary.LittleEndian.PutUint32(stack.b[4*i:], uint32(100+i))
	}
	regs := &arch.Regs{RDI: 1, RSI: 2, RDX: 3, RCX: 4, R8: 5, R9: 6, R10: 7, RSP: 0x1000, RAX: ^uint64(0) - 8, OrigRAX: 39}
	want := func(got uint64, err error, want uint64) {
		t.Helper()
		if err != nil || got != want {
			t.Errorf("got %#x, %v, want %#x", got, err, want)
		}
	}
	for i := range 6 {
		v, err := New64().Arg(i, regs, stack)
		want(v, err, uint64(i+1))
	}
	v, err := New64().Arg(6, regs, stack)
	want(v, err, 103<<32|102)
	v, err = New64().ReturnAddress(regs, stack)
	want(v, err, 101<<32|100)
	v, err = New32().Arg(0, regs, stack)
	want(v, err, 101)
	v, err = New32().Arg(2, regs, stack)
	want(v, err, 103)
	v, err = New32().ReturnAddress(regs, stack)
	want(v, err, 100)
	want(New64().SyscallArg(3, regs), nil, 7)
	want(New32().SyscallArg(1, regs), nil, 4)
	want(New64().SyscallNumber(regs), nil, 39)
	want(New32().SyscallRet(regs), nil, ^uint64(0)-8)
	if _, err := New64().Arg(20, regs, stack); err == nil {
		t.Error("read an argument above the stack")
	}
	if _, err := New64().Arg(-1, regs, stack); err == nil {
		t.Error("read argument -1")
	}
}

// TestRefused checks that every refusal names its reason and matches arch.ErrUnsupported.
func TestRefused(t *testing.T) {
	for _, c := range []struct {
		a    arch.Arch
		code string
	}{
		{New64(), "\xcc"}, {New64(), "\xcd\x03"}, {New64(), "\xf1"}, {New32(), "\xf1"},
		{New64(), "\x66\xe8\x00\x00"}, {New64(), "\x66\x74\x00"}, {New32(), "\x66\xe9\x00\x00"}, {New64(), "\x66\xff\xd0"},
		{New64(), "\x06"}, {New64(), "\xea\x00\x00\x00\x00\x00\x00"}, {New64(), "\x0f\x04"}, {New64(), "\xd5\x00\x90"},
		{New64(), "\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x90"},
	} {
		in, err := c.a.Decode(append([]byte(c.code), make([]byte, 16)...), 0x1000)
		if err == nil {
			_, err = c.a.Prepare(in)
		}
		var refused *arch.RefusedError
		if !errors.Is(err, arch.ErrUnsupported) || !errors.As(err, &refused) || refused.Addr != 0x1000 || refused.Reason == "" {
			t.Errorf("%s % x: %v", c.a.Name(), c.code, err)
		}
	}
	if _, err := New32().Prepare(arch.Insn{}); !errors.Is(err, arch.ErrUnsupported) {
		t.Errorf("an instruction that nobody decoded: %v", err)
	}
}

func TestShortCode(t *testing.T) {
	for _, code := range []string{"", "\x48", "\xe8\x00\x00", "\x0f", "\x0f\x38", "\x8b\x05\x00", "\x62\xf1", "\xc4"} {
		if _, err := New64().Decode([]byte(code), 0); err != io.ErrUnexpectedEOF {
			t.Errorf("% x: %v", code, err)
		}
	}
}

func TestText(t *testing.T) {
	for code, want := range map[string]string{
		"\x55":                 "push %rbp",
		"\xf3\x0f\x1e\xfa":     "endbr64",
		"\xc5\xf8\x77":         "vzeroupper",
		"\xe8\x10\x00\x00\x00": "call 0x1015",
		"\x74\xfe":             "je 0x1000",
		"\x66\x0f\x38\xf6\xc1": "? 66 0f 38 f6 c1", // adcx
		"\x06":                 "(bad)",
	} {
		if got := New64().Text([]byte(code), 0x1000); got != want {
			t.Errorf("% x: %q, want %q", code, got, want)
		}
	}
}

// emulated lists one instruction for each action that exists in 64-bit mode.
var emulated = []string{"\x90", "\x48\x89\xe5", "\x48\x8b\x07", "\x89\x07", "\x0f\xb6\x07", "\x48\x8d\x47\x08", "\x48\x87\xd8", "\x0f\xc8",
	"\x01\x07", "\x48\xff\xc0", "\xff\x07", "\x48\xc1\xe0\x03", "\x0f\xba\xe0\x03", "\x0f\x44\x07", "\x0f\x94\x07", "\x48\x98",
	"\x48\x99", "\xf9", "\x9e", "\x9f", "\x55", "\xff\x37", "\x5d", "\xc9", "\x9c", "\x9d", "\xeb\x10", "\x74\x10", "\xe2\x10", "\xff\xe0",
	"\xe8\x00\x00\x00\x00", "\xff\x17", "\xc3", "\xc7\xf8\x10\x00\x00\x00"}

// TestEmulateAllocates checks that no action allocates.
func TestEmulateAllocates(t *testing.T) {
	mem := &flat{0x10000, make([]byte, 256)}
	seen := map[action]bool{}
	for _, code := range emulated {
		s := prepared(t, WithTransactions(New64()), code)
		seen[s.form.do] = true
		start := arch.Regs{RIP: 0x1000, RDI: 0x10040, RSP: 0x10080, RBP: 0x10080, EFLAGS: 0x202, FS: 7}
		n := testing.AllocsPerRun(20, func() {
			regs := &start
			regs[RSP], regs[RBP], regs[RDI], regs[RIP] = 0x10080, 0x10080, 0x10040, 0x1000
			mem.b[0x81] = 0
			if err := s.Emulate(regs, mem); err != nil {
				t.Fatalf("% x: %v", code, err)
			}
		})
		if n != 0 {
			t.Errorf("% x: %v allocations", code, n)
		}
		if start[bufferWord] != 0 {
			t.Errorf("% x: left %#x behind the registers", code, start[bufferWord])
		}
	}
	for a := doNop; a < numAction; a++ {
		if !seen[a] {
			t.Errorf("action %d has no instruction here", a)
		}
	}
}

func prepared(t testing.TB, a arch.Arch, code string) *site {
	t.Helper()
	in, err := a.Decode([]byte(code), 0x1000)
	if err != nil {
		t.Fatalf("% x: %v", code, err)
	}
	s, err := a.Prepare(in)
	if err != nil {
		t.Fatalf("% x: %v", code, err)
	}
	return s.(*site)
}

// TestFailedEmulation checks that a fault changes neither registers nor memory.
func TestFailedEmulation(t *testing.T) {
	for _, code := range []string{"\x55", "\x5d", "\xc3", "\xe8\x00\x00\x00\x00", "\xff\x17", "\x01\x07", "\xc9", "\x48\x8b\x07", "\x9d", "\xff\x37"} {
		s := prepared(t, New64(), code)
		regs := arch.Regs{RIP: 0x1000, EFLAGS: 0x202, RSP: 0x4000}
		before := regs
		var fault *arch.FaultError
		if err := s.Emulate(&regs, &flat{}); !errors.As(err, &fault) || regs != before {
			t.Errorf("% x: %v", code, err)
		}
	}
}

// TestFaultsOfWrites checks that a fault is reported as a write if the operand would have been written, even if the
// read before failed. Processors report it so in the error code of the page fault.
func TestFaultsOfWrites(t *testing.T) {
	for code, want := range map[string]bool{
		"\x48\x01\x07": true, "\x80\x27\x01": true, "\x83\x17\x01": true, "\xfe\x07": true, "\x48\xff\x0f": true, "\xf7\x17": true, "\xf6\x1f": true,
		"\xc1\x27\x03": true, "\xd1\x3f": true, "\x88\x07": true, "\x0f\x94\x07": true, "\x55": true, "\xff\xd0": true,
		"\x48\x39\x07": false, "\x80\x3f\x01": false, "\x85\x07": false, "\xf6\x07\x01": false, "\x03\x07": false, "\x8b\x07": false,
		"\x0f\xb6\x07": false, "\x0f\x44\x07": false, "\xff\x37": false, "\xff\x17": false, "\xff\x27": false, "\x5d": false, "\xc9": false,
	} {
		regs := arch.Regs{RIP: 0x1000, EFLAGS: 0x202, RSP: 0x4000, RDI: 0x5000}
		var fault *arch.FaultError
		if err := prepared(t, New64(), code).Emulate(&regs, &flat{}); !errors.As(err, &fault) || fault.Write != want {
			t.Errorf("% x: %v, want a fault of a write: %v", code, err, want)
		}
	}
}

// TestOwnFlags checks that programs that single-step themselves, or check alignment, are left to the processor.
func TestOwnFlags(t *testing.T) {
	s := prepared(t, New64(), "\x90")
	for _, flag := range []uint64{flagTF, flagAC} {
		regs := arch.Regs{EFLAGS: flag, RIP: 0x1000}
		if err := s.Emulate(&regs, &flat{}); !errors.Is(err, arch.ErrUnsupported) || regs[RIP] != 0x1000 {
			t.Errorf("flag %#x: %v", flag, err)
		}
	}
}

// TestStrategies checks that emulation is preferred, except for writes that other threads may see.
func TestStrategies(t *testing.T) {
	for code, want := range map[string]arch.Strategy{
		"\x55": arch.Emulated, "\xf3\x0f\x1e\xfa": arch.Emulated, "\x48\x8b\x07": arch.Emulated, "\x89\x45\x08": arch.Emulated,
		"\x89\x07": arch.OutOfLine, "\xff\x07": arch.OutOfLine, "\xf0\xff\x07": arch.OutOfLine, "\x39\x07": arch.Emulated,
		"\x0f\x05": arch.OutOfLine, "\xf3\xa4": arch.OutOfLine, "\x0f\x28\x07": arch.OutOfLine, "\xc3": arch.Emulated,
	} {
		s := prepared(t, New64(), code)
		if got := s.Strategy(); got != want || !s.Allowed(got) || !s.Allowed(arch.OutOfLine) || s.Allowed(arch.Refused) {
			t.Errorf("% x: %v, want %v", code, got, want)
		}
	}
}

// FuzzDecode checks that any bytes are an instruction of 1 to 15 bytes or an error, and that every instruction can
// be shown and prepared.
func FuzzDecode(f *testing.F) {
	for _, code := range emulated {
		f.Add([]byte(code), true)
	}
	f.Add([]byte("\x62\xf1\xfe\x48\x6f\x05\x00\x00\x00\x00"), true)
	f.Add([]byte("\xc4\xe2\x7d\x18\x05\x00\x00\x00\x00"), false)
	f.Fuzz(func(t *testing.T, code []byte, long bool) {
		a := New32()
		if long {
			a = New64()
		}
		in, err := a.Decode(code, 0x1000)
		if err != nil {
			if err != io.ErrUnexpectedEOF && !errors.Is(err, arch.ErrUnsupported) {
				t.Fatal(err)
			}
			return
		}
		if in.Len < 1 || in.Len > maxLen || in.Len > len(code) {
			t.Fatalf("length %d of %d", in.Len, len(code))
		}
		fuzzSite(t, a, in, code)
	})
}

func fuzzSite(t *testing.T, a arch.Arch, in arch.Insn, code []byte) {
	a.Text(code, in.Addr)
	s, err := a.Prepare(in)
	if err != nil {
		return
	}
	regs := arch.Regs{RIP: in.Addr, RSP: 0x10080}
	_ = s.Emulate(&regs, &flat{0x10000, make([]byte, 256)})
	_ = Exec(in, &regs, &flat{0x10000, make([]byte, 256)})
	for _, slot := range []uint64{0x2000, 0x7f000000} {
		b, err := s.OutOfLine(slot)
		if err != nil {
			continue
		}
		copied, err := a.Decode(b, slot)
		widened := (in.Control == arch.Jump || in.Control == arch.CondJump) && copied.Target == in.Target
		if err != nil || copied.Len != in.Len && !widened || len(b) > a.SlotSize() {
			t.Fatalf("% x became % x", in.Bytes[:in.Len], b)
		}
	}
}

func BenchmarkEmulatePush(b *testing.B) {
	s := prepared(b, New64(), "\x55")
	mem := &flat{0x10000, make([]byte, 256)}
	regs := &arch.Regs{RSP: 0x10080, RIP: 0x1000}
	for b.Loop() {
		regs[RSP] = 0x10080
		if err := s.Emulate(regs, mem); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkDecode(b *testing.B) {
	code := []byte("\x48\x8b\x05\xa5\xef\x0c\x00")
	for b.Loop() {
		if _, err := decodeInst(code, true); err != nil {
			b.Fatal(err)
		}
	}
}
