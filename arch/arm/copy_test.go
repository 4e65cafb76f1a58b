package arm

import (
	"encoding/binary"
	"testing"

	"gotap/arch"
)

// copied is memory with a copy at address 0x2000.
type copied []byte

func (c copied) ReadMemory(addr uint64, p []byte) error { copy(p, c[addr-0x2000:]); return nil }

func (copied) WriteMemory(uint64, []byte) error { return nil }

// TestCopyOfCall: the copy of a system call is A32 code with the call, and a load that leads behind the original, in
// its instruction set.
func TestCopyOfCall(t *testing.T) {
	for _, c := range []struct {
		set  arch.Arch
		code []byte
	}{{A32, []byte{0x05, 0, 0, 0xef}}, {Thumb, []byte{0, 0xdf}}} {
		site, err := prepare(t, c.set, c.code)
		if err != nil {
			t.Fatal(err)
		}
		code, err := site.OutOfLine(0x2000)
		if err != nil || len(code) > c.set.SlotSize() {
			t.Fatalf("% x, %v", code, err)
		}
		if call := binary.LittleEndian.Uint32(code); call>>24 != 0xef || c.set == A32 && call != binary.LittleEndian.Uint32(c.code) {
			t.Errorf("the copy calls with %#x", call)
		}
		jump, err := A32.Decode(code[4:], 0x2004)
		if err != nil {
			t.Fatal(err)
		}
		var regs arch.Regs
		regs[regPC] = 0x2004
		if err := Exec(jump, &regs, nil, copied(code)); err != nil || regs[regPC] != 0x1000+uint64(len(c.code)) || regs[regCPSR]>>5&1 == 1 != (c.set == Thumb) {
			t.Errorf("the thread goes on at %#x with CPSR %#x, %v", regs[regPC], regs[regCPSR], err)
		}
	}
	nop, _ := prepare(t, A32, []byte{0, 0xf0, 0x20, 0xe3})
	if _, err := nop.OutOfLine(0x2000); err == nil {
		t.Error("an instruction has a copy that is not a system call")
	}
}
