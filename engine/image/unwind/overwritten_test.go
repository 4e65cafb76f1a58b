package unwind

import (
	"debug/elf"
	"encoding/binary"
	"testing"

	"gotap/arch"
)

// stackPage is memory in which every word is its own address. Native code has overwritten what is below 0x7000.
type stackPage struct{}

func (stackPage) ReadMemory(addr uint64, p []byte) error {
	for i := 0; i+8 <= len(p); i += 8 {
		binary.LittleEndian.PutUint64(p[i:], addr+uint64(i))
	}
	return nil
}

func (stackPage) Overwritten(addr uint64) bool { return addr < 0x7000 }

// TestOverwrittenSlot: at the end of a function a register has its value again, and call-frame information still says
// where it was saved. That memory is below the stack pointer, and native code may have used it.
func TestOverwrittenSlot(t *testing.T) {
	// Which register is which does not matter: all are 0.
	layout, err := NewLayout(elf.EM_X86_64, func(name string) (int, bool) { return len(name), true })
	if err != nil {
		t.Fatal(err)
	}
	const rbp, ra = 6, 16
	w := NewWalker(layout)
	var regs arch.Regs
	w.start(&regs, stackPage{}, nil)
	for _, c := range []struct {
		cfa   uint64
		exact bool
		want  uint64
	}{
		{0x7008, true, 5},       // the slot is overwritten
		{0x7010, true, 0x7000},  // it is not
		{0x7008, false, 0x6ff8}, // no code runs in an outer frame
	} {
		w.cur.set(rbp, 5)
		w.next, w.exact = w.cur, c.exact
		if err := w.applyRule(&rule{target: rbp, kind: ruleOffset, off: -16}, c.cfa, ra); err != nil {
			t.Fatal(err)
		}
		if v, ok := w.next.get(rbp); !ok || v != c.want {
			t.Errorf("%+v: %#x, %v", c, v, ok)
		}
	}
}
