package x86

import (
	"encoding/binary"
	"encoding/hex"
	"testing"

	"gotap/arch"
)

// TestRepairAddress checks the repair of the state that a processor leaves which always records the address.
func TestRepairAddress(t *testing.T) {
	const home, near, far = 0x401000, 0x501000, 0x7f0000001000
	for _, c := range []struct {
		m              *isa
		code           string
		slot, fip      uint64
		fop            uint16
		leaves, change bool
		wantFIP        uint64
		wantFOP        uint16
	}{
		{mode64, "d9e8", near, near, 0x1e8, true, true, home, 0x1e8},
		{mode64, "66d9e8", near, near, 0x1e8, true, true, home, 0x1e8},
		{mode64, "66d9e8", near, near + 1, 0x1e8, true, true, home + 1, 0x1e8}, // were a prefix not counted in
		{mode64, "d9e8", near, home - 7, 0x1e8, true, false, home - 7, 0x1e8},  // of an instruction before: this one has not run
		{mode64, "d9e8", near, near + 2, 0x1e8, true, false, near + 2, 0x1e8},
		{mode64, "d9e8", near, 0, 0, true, true, 0, 0},                                                // the x87 unit may still hold the address
		{mode64, "dc0500100000", near, near, 0x405, true, true, home, 0x405},                          // faddl rip+0x1000
		{mode64, "dc0500100000", far, far, 0x486, true, true, home, 0x405},                            // the same from a slot that borrows a register
		{mode64, "dc0500100000", far, far, 0x123, true, true, home, 0x123},                            // it was not written
		{mode64, "d9e8", home, home, 0x1e8, true, false, home, 0x1e8},                                 // in place
		{mode32, "d9e8", near, 0x23<<32 | near, 0x1e8, true, true, 0x23<<32 | home, 0x1e8},            // with the code segment
		{mode64, "d9e8", far, far & 0xffffffff, 0x1e8, true, true, home, 0x1e8},                       // without its upper half
		{mode64, "d9e8", far, 0x33<<32 | far&0xffffffff, 0x1e8, true, true, 0x33<<32 | home, 0x1e8},   // and with the code segment
		{mode64, "d9e8", far, 0x7e00<<32 | far&0xffffffff, 0x1e8, true, false, 0x7e0000001000, 0x1e8}, // of another instruction
		{mode64, "9b", near, near, 0, false, true, home, 0},                                           // fwait
		{mode64, "d933", near, near, 0, false, true, home, 0},                                         // fnstenv
		{mode64, "dd33", near, near, 0, false, true, home, 0},                                         // fnsave
		{mode64, "dd23", near, near, 0, false, true, home, 0},                                         // frstor
		{mode64, "d923", near, near, 0, false, true, home, 0},                                         // fldenv
		{mode64, "dbe2", near, near, 0, false, true, home, 0},                                         // fnclex
		{mode64, "dfe0", near, near, 0, false, true, home, 0},                                         // fnstsw %ax
		{mode64, "dd3b", near, near, 0, false, true, home, 0},                                         // fnstsw (%rbx)
		{mode64, "db3b", near, near, 0x33b, true, true, home, 0x33b},                                  // fstpt (%rbx)
		{mode64, "d9d0", near, near, 0x1d0, true, true, home, 0x1d0},                                  // fnop
		{mode64, "dbe8", near, near, 0x3e8, true, true, home, 0x3e8},                                  // fucomi
		{mode64, "0fae03", near, near, 0, false, true, home, 0},                                       // fxsave
		{mode64, "0f58c1", near, near, 0, false, true, home, 0},                                       // addps
		{mode64, "c5d8c6c100", near, near, 0, false, true, home, 0},                                   // vshufps, with a d8 in it
	} {
		code, err := hex.DecodeString(c.code)
		if err != nil {
			t.Fatal(err)
		}
		insn, err := c.m.Decode(code, home)
		if err != nil {
			t.Fatalf("%s: %v", c.code, err)
		}
		s, err := c.m.Prepare(insn)
		if err != nil {
			t.Fatal(err)
		}
		f := s.(arch.FloatSite)
		if f.LeavesAddress() != c.leaves {
			t.Errorf("%s leaves its address: %v", c.code, !c.leaves)
		}
		image := make([]byte, 512)
		binary.LittleEndian.PutUint16(image[imageFOP:], c.fop)
		binary.LittleEndian.PutUint64(image[imageFIP:], c.fip)
		changed := f.RepairAddress(image, c.slot)
		fip, fop := binary.LittleEndian.Uint64(image[imageFIP:]), binary.LittleEndian.Uint16(image[imageFOP:])
		if changed != c.change || fip != c.wantFIP || fop != c.wantFOP {
			t.Errorf("%s at %#x with %#x, %#x: %v, %#x, %#x", c.code, c.slot, c.fip, c.fop, changed, fip, fop)
		}
	}
}
