package executor

import (
	"bytes"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"gotap/arch"
	"gotap/engine/image/module"
	"gotap/engine/isa"
	"gotap/engine/testenv"
)

// memory is code at an address.
type memory struct {
	start uint64
	code  []byte
}

func (m memory) read(addr uint64, n int) []byte {
	if addr < m.start || addr-m.start >= uint64(len(m.code)) {
		return nil
	}
	code := m.code[addr-m.start:]
	return bytes.Clone(code[:min(n, len(code))])
}

func (m memory) target(set *isa.ISA) *Target {
	return &Target{ISA: set, Code: m.read, Exclusives: &isa.Exclusives{}, Absent: "nothing is mapped there"}
}

// TestPrepare: a place has the instruction, the breakpoint for it and the bytes that the breakpoint displaces.
func TestPrepare(t *testing.T) {
	for _, c := range []struct {
		isa        *isa.ISA
		code       string
		len        int
		trap, orig string
	}{
		{isa.AMD64, "\x48\x89\xe5\xc3", 3, "\xcc", "\x48"},
		{isa.ARM64, "\xc0\x03\x5f\xd6", 4, "\x00\x00\x20\xd4", "\xc0\x03\x5f\xd6"},
	} {
		s, err := Prepare(memory{0x1000, []byte(c.code)}.target(c.isa), 0x1000, c.isa.Arch, nil)
		if err != nil {
			t.Errorf("%s: %v", c.isa.Title, err)
			continue
		}
		if s.Insn.Insn().Len != c.len || string(s.Orig) != c.orig || len(s.Trap) != len(s.Orig) || !c.isa.IsTrap(s.Trap) {
			t.Errorf("%s: %d bytes, %x displaced by %x", c.isa.Title, s.Insn.Insn().Len, s.Orig, s.Trap)
		}
	}
}

// TestRefused: what cannot be probed is refused with its reason.
func TestRefused(t *testing.T) {
	testenv.Require(t, testenv.AMD64) // this test's own file is compared with
	file, m := ourselves(t)
	code, err := file.Code(m.Vaddr(m.Mappings[0].Start), 64)
	if err != nil {
		t.Fatal(err)
	}
	start := m.Mappings[0].Start
	changed := bytes.Clone(code)
	changed[0] ^= 0xff
	trapped := append([]byte{0xcc}, code[1:]...)
	nops := bytes.Repeat([]byte("\x1f\x20\x03\xd5"), 1<<12)
	exclusive := []byte("\x00\x7c\x5f\xc8\x00\x04\x00\x91\x00\x7c\x01\xc8\xc0\x03\x5f\xd6") // ldxr, add, stxr, ret
	for _, c := range []struct {
		name string
		isa  *isa.ISA
		at   uint64
		mem  memory
		set  arch.Arch
		mod  *module.Loaded
		want string
	}{
		{"data", isa.ARM64, 0x1000, memory{0x1000, exclusive}, nil, nil, "data between the code"},
		{"no memory", isa.AMD64, 0x1000, memory{}, isa.AMD64.Arch, nil, "nothing is mapped there"},
		{"the file has other code", isa.AMD64, start, memory{start, changed}, isa.AMD64.Arch, m, "is not that of the file"},
		{"a debugger's breakpoint", isa.AMD64, start, memory{start, trapped}, isa.AMD64.Arch, m, "another debugger"},
		{"between exclusives", isa.ARM64, 0x11004, memory{0x11000 - uint64(len(nops)), slices.Concat(nops, exclusive, nops)}, isa.ARM64.Arch, nil, "load-exclusive"},
	} {
		_, err := Prepare(c.mem.target(c.isa), c.at, c.set, c.mod)
		var refused *arch.RefusedError
		if !errors.As(err, &refused) || !strings.Contains(refused.Reason, c.want) || refused.Addr != c.at {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	if _, err := Prepare(memory{0x1000, []byte{0x06}}.target(isa.AMD64), 0x1000, isa.AMD64.Arch, nil); err == nil || !strings.Contains(err.Error(), "cannot probe 0x1000") {
		t.Errorf("bytes that are no instruction: %v", err)
	}
	// A target that changes its own code is not compared with its file.
	target := memory{start, append([]byte{0x90}, code[1:]...)}.target(isa.AMD64)
	target.ChangesCode = true
	if _, err := Prepare(target, start, isa.AMD64.Arch, m); err != nil {
		t.Errorf("code that changes itself: %v", err)
	}
}

// ourselves returns this test's file as it might be mapped: its code begins with a function.
func ourselves(t *testing.T) (*module.File, *module.Loaded) {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	file, err := module.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	fn := file.Lookup("main.main")
	if len(fn) == 0 || fn[0].Func == nil {
		t.Fatal("this test has no function main.main")
	}
	const bias = 0x10000000
	at := fn[0].Func.Addr
	return file, &module.Loaded{Path: path, File: file, Bias: bias, Mappings: []module.Mapping{{Start: at + bias, End: at + bias + 64}}}
}
