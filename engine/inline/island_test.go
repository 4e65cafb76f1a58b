package inline

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"math/rand/v2"
	"testing"
)

// nowhere is memory that takes every write.
type nowhere struct{}

func (nowhere) Peek(uint64, []byte) error      { return nil }
func (nowhere) Poke(uint64, []byte, int) error { return nil }

// TestNoBreakpointInJump adds stubs for jumps from all distances: no byte of an offset is that of a breakpoint, stubs
// do not overlap, and a place that no such jump can leave is refused.
func TestNoBreakpointInJump(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	refused := 0
	for range 2000 {
		base := uint64(0x7f0000000000) + r.Uint64N(1<<18)<<12
		i, err := Open(nowhere{}, FormOf(elf.EM_X86_64), base, 0, 0, 0)
		if err != nil {
			t.Fatal(err)
		}
		from := base + r.Uint64N(2<<30) - 1<<30
		if r.IntN(2) == 0 { // near one of the bytes in question
			from = base + i.next - JumpSize - uint64(int64(int32(breakpoint<<(8*r.IntN(4))))) - r.Uint64N(1<<9)
		}
		for end := base + i.next; ; from += r.Uint64N(300) {
			at, err := i.Next(from)
			if err == ErrFull {
				refused++
				if offset := uint32(end - (from + JumpSize)); highestBreakpoint(offset) != 3 {
					t.Fatalf("offset %#x is refused at %d bytes", offset, end-base)
				}
				break
			}
			if err != nil || at < end || at%stubAlign != 0 {
				t.Fatalf("from %#x at %#x after %#x: %v", from, at, end, err)
			}
			if offset := binary.LittleEndian.AppendUint32(nil, uint32(at-(from+JumpSize))); bytes.IndexByte(offset, breakpoint) >= 0 {
				t.Fatalf("a jump from %#x to %#x has the offset %x", from, at, offset)
			}
			stub := make([]byte, 1+r.IntN(300))
			if err := i.Add(nowhere{}, &Jump{Addr: from}, at, stub, 0); err != nil {
				t.Fatal(err)
			}
			if end = at + uint64(len(stub)); r.IntN(200) == 0 {
				break
			}
		}
	}
	if refused == 0 {
		t.Error("no place was refused")
	}
}
