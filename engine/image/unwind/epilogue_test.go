package unwind_test

import (
	"debug/elf"
	"encoding/binary"
	"slices"
	"testing"

	"gotap/arch"
	"gotap/engine/image/unwind"
)

// sparse is memory: bytes at addresses.
type sparse map[uint64][]byte

func (m sparse) ReadMemory(addr uint64, p []byte) error {
	clear(p)
	for at, data := range m {
		for i, v := range data {
			if k := int64(at-addr) + int64(i); k >= 0 && k < int64(len(p)) {
				p[k] = v
			}
		}
	}
	return nil
}

// TestFramesThatAreLeft walks through functions without call-frame information and frame pointers from where nothing
// follows but their end, as in the trampolines that CPython makes for perf.
func TestFramesThatAreLeft(t *testing.T) {
	const callee, caller, stack = 0x10000, 0x20000, 0x7000
	for _, c := range []struct {
		name string
		code []byte // behind a call
		skip int    // words on the stack below the return address
		lost bool   // the caller is not known
	}{
		{"return", []byte{0xc3}, 0, false},
		{"add, as in CPython", []byte{0x48, 0x83, 0xc4, 0x08, 0xc3}, 1, false},
		{"add of 32 bits, pops", []byte{0x48, 0x81, 0xc4, 0x00, 0x01, 0, 0, 0x5b, 0x41, 0x5f, 0x5d, 0xc3}, 35, false},
		{"return with a prefix", []byte{0x5b, 0xf3, 0xc3}, 1, false},
		{"pop of the stack pointer", []byte{0x5c, 0xc3}, 1, true},
		{"other code first", []byte{0x90, 0x48, 0x83, 0xc4, 0x08, 0xc3}, 1, true},
		{"a jump", []byte{0x48, 0x83, 0xc4, 0x08, 0xeb, 0x00, 0xc3}, 1, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			words := make([]byte, 8*(c.skip+1))
			for i := range c.skip {
				binary.LittleEndian.PutUint64(words[8*i:], uint64(i+1))
			}
			binary.LittleEndian.PutUint64(words[8*c.skip:], caller)
			mem := sparse{
				callee - 2: append([]byte{0xff, 0xd1}, c.code...), // call *%rcx
				caller - 2: {0xff, 0xd0},                          // call *%rax
				stack:      words,
			}
			var regs arch.Regs
			for name, v := range map[string]uint64{"rip": callee, "rsp": stack, "rbp": 1} {
				regs[slices.Index(registers[elf.EM_X86_64], name)] = v
			}
			none := func(uint64) (*unwind.Table, uint64, bool) { return nil, 0, false }
			out := make([]uint64, 2)
			n := unwind.NewWalker(layout(t, elf.EM_X86_64)).Walk(&regs, mem, none, out)
			want := []uint64{callee, caller}
			if c.lost {
				want = want[:1]
			}
			if !slices.Equal(out[:n], want) {
				t.Errorf("%#x, not %#x", out[:n], want)
			}
		})
	}
}
