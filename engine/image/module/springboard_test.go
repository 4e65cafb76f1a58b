package module

import (
	"strings"
	"testing"

	"gotap/arch/x86"
	"gotap/engine/testenv"
)

// TestSpringboards compares the places for springboards near many instructions with objdump's listing: it has nothing
// but padding there, behind a return or a jump, and no branch leads there.
func TestSpringboards(t *testing.T) {
	testenv.Require(t, testenv.Objdump)
	const size = 5
	short := x86.NewShort64()
	eachBody(t, true, func(t *testing.T, f *File) {
		found, of := map[uint64]uint64{}, map[uint64]uint64{} // the latter by each byte
		w, without := f.Windows(short), 0
		for _, addr := range someInstructions(f) {
			if _, err := f.Windows(jumps).At(addr); err == nil {
				continue
			}
			pads := w.Springboards(addr, size)
			if len(pads) == 0 {
				without++
			}
			for _, at := range pads {
				if _, err := short.Jump(addr, at); err != nil {
					t.Fatalf("from %#x: %v", addr, err)
				}
				found[at] = addr
				for i := range uint64(size) {
					of[at+i] = at
				}
			}
		}
		wrong := func(at, addr uint64, what string) {
			if from, ok := found[at]; ok {
				delete(found, at)
				t.Errorf("the springboard at %#x, for %#x: %s at %#x", at, from, what, addr)
			}
		}
		all, dead, checked := len(found), false, uint64(0)
		listing(t, f.Path, func(addr uint64, text string) {
			if at, ok := of[branchTarget(text)]; ok {
				wrong(at, addr, text)
			}
			pad := strings.Contains(text, "nop") || strings.HasPrefix(text, "int3") || strings.HasPrefix(text, "xchg   %ax,%ax")
			for at := checked; checked != 0 && at < addr; at++ { // the bytes of the instruction before, which was not dead padding
				if s, ok := of[at]; ok {
					wrong(s, at, "it is executed")
				}
			}
			if checked = addr; pad && dead {
				checked = 0
			}
			dead = dead && pad || strings.HasPrefix(text, "ret") || strings.HasPrefix(text, "jmp") || strings.HasPrefix(text, "repz ret") || strings.HasPrefix(text, "bnd jmp") || strings.HasPrefix(text, "notrack jmp")
		})
		t.Logf("%d places for springboards; %d instructions have none", all, without)
		if all < 100 {
			t.Error("too few places")
		}
	})
}
