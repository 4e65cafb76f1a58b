package isa

import (
	"debug/elf"
	"encoding/binary"
	"errors"
	"testing"

	"gotap/arch"
	"gotap/arch/arm64"
	"gotap/arch/x86"
	"gotap/engine/image/module"
	"gotap/engine/testenv"
)

// image is the memory of a static program before its first instruction, with a thread pointer.
type image struct {
	segments []segment
	thread   uint64
}

type segment struct {
	addr uint64
	data []byte
}

var errNoMemory = errors.New("nothing is mapped")

func (m *image) ReadMemory(addr uint64, p []byte) error {
	for _, s := range m.segments {
		if addr >= s.addr && addr+uint64(len(p)) <= s.addr+uint64(len(s.data)) {
			copy(p, s.data[addr-s.addr:])
			return nil
		}
	}
	return errNoMemory
}

func (m *image) WriteMemory(uint64, []byte) error                  { return errNoMemory }
func (m *image) ThreadPointer() (uint32, error)                    { return uint32(m.thread), nil }
func (m *image) WriteSystem(arm64.Register, uint64) error          { return errNoMemory }
func (m *image) MaintainCache(arm64.Operation, uint64) error       { return errNoMemory }
func (m *image) ReadSystem(r arm64.Register) (v uint64, err error) { return m.thread, nil }

// threads is where the test's thread has its thread-local storage.
const threads = 0x7f000000

// TestErrno: errno is found where the ELF specification of thread-local storage puts the symbol (ELF Handling For
// Thread-Local Storage, 3.4: variant I behind the thread pointer and its block of two words, variant II before it).
func TestErrno(t *testing.T) {
	testenv.Require(t, testenv.GCC, testenv.AMD64, testenv.GCCARM, testenv.GCCARM64)
	for _, c := range []struct {
		name, compiler string
		flags          []string
		isa            *ISA
		words          uint64 // bytes of the block behind the thread pointer; 0: variant II
	}{
		{"amd64", "gcc", nil, AMD64, 0},
		{"arm64", "aarch64-linux-gnu-gcc", nil, ARM64, 16},
		{"a32", "arm-linux-gnueabihf-gcc", []string{"-marm"}, ARM, 8},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := build(t, c.compiler, append(c.flags, "-Wl,-u,__errno_location")...)
			mem, offset, whole := tlsImage(t, f.Path)
			addr := threads + c.words + offset
			if c.words == 0 {
				addr = threads - whole + offset
			}
			word := make([]byte, 8)
			binary.LittleEndian.PutUint32(word, 0xfffffff9)
			self := binary.LittleEndian.AppendUint64(nil, threads) // on x86 the block begins with its own address
			mem.segments = append(mem.segments, segment{addr, word}, segment{threads, self})
			mods := []module.Loaded{{Path: f.Path, File: f, Mappings: []module.Mapping{{Start: 0, End: 1 << 30}}}}
			entry, ok := findErrno(mods)
			if !ok {
				t.Fatal("the program has no errno")
			}
			var regs arch.Regs
			regs[c.isa.SP()] = 0x60000000
			if c.isa == AMD64 {
				regs[x86.FSBase] = threads
			}
			before := regs
			n, ok := c.isa.Errno(entry, &regs, mem, mods)
			if !ok || int64(n) != -7 || regs != before {
				t.Errorf("errno is %d, %v; its word at %#x holds -7", int64(n), ok, addr)
			}
			if at, ok := c.isa.ErrnoOffset(entry, mem, mods); ok != (c.isa == AMD64) || ok && threads+uint64(at) != addr {
				t.Errorf("the offset of errno is %#x, %v; its word is at %#x", at, ok, addr)
			}
			if _, ok := c.isa.Errno(entry, &regs, &image{thread: threads}, mods); ok {
				t.Error("errno was found in memory that is not there")
			}
		})
	}
}

// TestErrnoOffset: an offset is given if it follows from the address of the thread's own data alone.
func TestErrnoOffset(t *testing.T) {
	for _, c := range []struct {
		name string
		code []byte
		want int64
	}{
		{"as in musl", []byte{0x64, 0x48, 0x8b, 0x04, 0x25, 0, 0, 0, 0, 0x48, 0x83, 0xc0, 0x34, 0xc3}, 0x34},               // mov rax, fs:0; add rax, 0x34; ret
		{"as in glibc", []byte{0x48, 0x8b, 0x05, 0xf9, 0x0f, 0, 0, 0x64, 0x48, 0x03, 0x04, 0x25, 0, 0, 0, 0, 0xc3}, -0x40}, // mov rax, [rip+0xff9]; add rax, fs:0; ret
		{"not relocated", []byte{0x48, 0x8b, 0x05, 0x01, 0x10, 0, 0, 0x64, 0x48, 0x03, 0x04, 0x25, 0, 0, 0, 0, 0xc3}, 0},   // mov rax, [rip+0x1001]; add rax, fs:0; ret
		{"by a vector", []byte{0x64, 0x48, 0x8b, 0x04, 0x25, 8, 0, 0, 0, 0xc3}, 0},                                         // mov rax, fs:8; ret
		{"one for all", []byte{0x48, 0xc7, 0xc0, 0, 0, 0, 0x10, 0xc3}, 0},                                                  // mov rax, 0x10000000; ret
		{"far", []byte{0x64, 0x48, 0x8b, 0x04, 0x25, 0, 0, 0, 0, 0x48, 0x05, 0, 0, 0, 0x10, 0xc3}, 0},                      // mov rax, fs:0; add rax, 0x10000000; ret
		{"no code", []byte{0x0f, 0x05}, 0}, // syscall
	} {
		code := append(c.code, make([]byte, 0x2000)...)
		binary.LittleEndian.PutUint64(code[0x1000:], ^uint64(0x3f))
		at, ok := AMD64.ErrnoOffset(0x1000, &image{segments: []segment{{0x1000, code}}}, nil)
		if at != c.want || ok != (c.want != 0) {
			t.Errorf("%s: %#x, %v", c.name, at, ok)
		}
	}
}

// tlsImage is what a static program's segments hold, with the offset of errno in its thread-local storage and the size
// of all of that. Offset and size are aligned as the segment is.
func tlsImage(t *testing.T, path string) (mem *image, offset, whole uint64) {
	t.Helper()
	f, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	mem = &image{thread: threads}
	for _, p := range f.Progs {
		switch p.Type {
		case elf.PT_LOAD:
			data := make([]byte, p.Filesz)
			if _, err := p.ReadAt(data, 0); err != nil {
				t.Fatal(err)
			}
			mem.segments = append(mem.segments, segment{p.Vaddr, data})
		case elf.PT_TLS:
			whole = (p.Memsz + p.Align - 1) &^ (p.Align - 1)
		}
	}
	symbols, err := f.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range symbols {
		if s.Name == "errno" && elf.ST_TYPE(s.Info) == elf.STT_TLS {
			return mem, s.Value, whole
		}
	}
	t.Fatal("the program has no errno")
	return nil, 0, 0
}
