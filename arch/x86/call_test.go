package x86

import (
	"encoding/binary"
	"testing"

	"gotap/arch"
)

// words is memory of 8-byte words. The others fault.
type words map[uint64]uint64

func (m words) ReadMemory(addr uint64, p []byte) error {
	w, ok := m[addr]
	if !ok {
		return &arch.FaultError{Addr: addr}
	}
	copy(p, binary.LittleEndian.AppendUint64(nil, w))
	return nil
}

func (m words) WriteMemory(addr uint64, p []byte) error {
	m[addr] = binary.LittleEndian.Uint64(p)
	return nil
}

// TestFaultingCall steps calls that fault. Some processors have written the return address by then, which must not be
// the slot's.
func TestFaultingCall(t *testing.T) {
	const at, slot, sp = 0x1000, 0x2000, 0x10080
	for _, c := range []struct {
		name, code string
		memory     words
		addr, want uint64
	}{
		{"written", "\xff\x10", words{sp - 8: slot + 2}, sp - 8, at + 2},
		{"not written", "\xff\x10", words{sp - 8: 77}, sp - 8, 77},
		{"a far call", "\x48\xff\x18", words{sp - 8: 0x33, sp - 16: slot + 3}, sp - 16, at + 3},
		{"no memory", "\xff\x10", words{}, sp - 8, 0},
	} {
		s := prepared(t, New64(), c.code)
		regs := arch.Regs{RIP: at, RSP: sp, EFLAGS: 0x202}
		st := s.BeforeStep(&regs, slot)
		done, err := s.AfterStep(&regs, c.memory, slot, st)
		if done || err != nil || regs[RIP] != at || regs[RSP] != sp || c.memory[c.addr] != c.want {
			t.Errorf("%s: done %v, %v, at %#x; %#x is %#x, want %#x", c.name, done, err, regs[RIP], c.addr, c.memory[c.addr], c.want)
		}
	}
}
