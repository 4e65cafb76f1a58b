package arm64

import (
	"encoding/binary"
	"testing"

	"gotap/arch"
)

// TestCopyOfCall: the copy of a system call is the call, and a branch that leads behind the original, as far as a
// branch reaches.
func TestCopyOfCall(t *testing.T) {
	const svc, reach = 0xd4000001, 1 << 27
	site, err := A64.Prepare(decoded(t, svc))
	if err != nil {
		t.Fatal(err)
	}
	for _, slot := range []uint64{codePC + 8, codePC - 8, codePC + reach, codePC - reach + 4} {
		code, err := site.OutOfLine(slot)
		if err != nil || len(code) > A64.SlotSize() || binary.LittleEndian.Uint32(code) != svc {
			t.Fatalf("%#x: % x, %v", slot, code, err)
		}
		branch, err := A64.Decode(code[4:], slot+4)
		if err != nil {
			t.Fatal(err)
		}
		var regs arch.Regs
		regs[regPC] = slot + 4
		if err := Exec(branch, &regs, nil, nil); err != nil || regs[regPC] != codePC+4 {
			t.Errorf("%#x: the thread goes on at %#x, %v; want %#x", slot, regs[regPC], err, codePC+4)
		}
	}
	for _, slot := range []uint64{codePC + reach + 4, codePC - reach} {
		if _, err := site.OutOfLine(slot); err == nil {
			t.Errorf("%#x: a branch reaches that far", slot)
		}
	}
	nop, _ := A64.Prepare(decoded(t, 0xd503201f))
	if _, err := nop.OutOfLine(codePC + 8); err == nil {
		t.Error("an instruction has a copy that is not a system call")
	}
}
