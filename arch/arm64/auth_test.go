package arm64

import (
	"encoding/binary"
	"errors"
	"testing"

	"gotap/arch"
)

// signing is the memory of a process whose pointers are signed.
type signing struct{ arch.Memory }

func (signing) SignsPointers() bool { return true }

// TestSignedPointers checks that with signed pointers only the thread itself signs or authenticates, and that
// branches drop the signature.
func TestSignedPointers(t *testing.T) {
	const signed, plain = 0x0034_aaaa_bbbb_ccc0, 0x0000_aaaa_bbbb_ccc0
	for name, c := range map[string]struct {
		word uint32
		pc   uint64 // 0: refused
	}{
		"paciasp": {0xd503233f, 0}, "autiasp": {0xd50323bf, 0}, "autia1716": {0xd503219f, 0}, "pacia": {0xdac10041, 0}, "autdza": {0xdac13be1, 0},
		"ldraa": {0xf8200441, 0}, "retaa": {0xd65f0bff, plain}, "braa": {0xd71f0841, plain}, "blraaz": {0xd63f083f, plain},
		"ret": {0xd65f03c0, signed},
	} {
		in, err := A64.Decode(binary.LittleEndian.AppendUint32(nil, c.word), 0x1000)
		if err != nil {
			t.Fatal(err)
		}
		var regs arch.Regs
		for i := range 31 {
			regs[i] = signed
		}
		regs[regPC], regs[regSP] = 0x1000, 0x8000
		site, err := A64.Prepare(in)
		if err != nil {
			t.Fatal(err)
		}
		err = site.Emulate(&regs, signing{})
		switch {
		case c.pc == 0 && (!errors.Is(err, arch.ErrUnsupported) || regs[regPC] != 0x1000):
			t.Errorf("%s: emulated, to %#x: %v", name, regs[regPC], err)
		case c.pc != 0 && (err != nil || regs[regPC] != c.pc):
			t.Errorf("%s: goes to %#x, not %#x: %v", name, regs[regPC], c.pc, err)
		}
	}
	var regs arch.Regs
	regs[regLR] = signed
	if ret, _ := A64.ReturnAddress(&regs, nil); ret != plain {
		t.Errorf("the return address is %#x, not %#x", ret, uint64(plain))
	}
}
