package element_test

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"gotap/runtime/element"
)

// Layouts with numbers that fit in an object of 64 bytes. What they find in containers of real programs is tested where
// there are such programs, in the transcript searched.txtar of the command line.
var layouts = []string{
	"tree 0 16 24 8 32", "slots 0 8 16", "btree 0 8 10 16 24 8", "groups 0 8 16 24 72 8 8", "ring 0 8 16 4", "blocks 0 8 16 4", "deque 0 8 16 24 32 40 4 8",
	"bits 0 8 16", "counted-bits 0 8",
}

func TestLayoutsAreText(t *testing.T) {
	for _, text := range layouts {
		l, err := element.Parse(text)
		if err != nil || l.String() != text {
			t.Errorf("%q is read as %q: %v", text, l, err)
		}
	}
	for _, text := range []string{"", "tree", "tree 1 2 3 4", "tree 1 2 3 4 5 6", "tree 1 2 3 4 -5", "ring 1 2 3 99999999999", "circle 1", "ring 1 2 3 x"} {
		if l, err := element.Parse(text); err == nil {
			t.Errorf("%q is read as %v", text, l)
		}
	}
}

// TestHostileMemory: every search ends, and reads no more than its bound, whatever the memory holds.
func TestHostileMemory(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	const base, size = 0x10000, 4096
	for round := range 200 {
		memory := make([]byte, size)
		for i := 0; i+8 <= size; i += 8 { // addresses within, small numbers, anything
			switch v := r.Uint64(); r.IntN(4) {
			case 0:
				binary.LittleEndian.PutUint64(memory[i:], v)
			case 1:
				binary.LittleEndian.PutUint64(memory[i:], v%16)
			default:
				binary.LittleEndian.PutUint64(memory[i:], base+v%size&^7)
			}
		}
		for _, text := range layouts {
			l, err := element.Parse(text)
			if err != nil {
				t.Fatal(err)
			}
			for _, word := range []int{4, 8} {
				reads := 0
				m := element.Memory{Word: word, Read: func(addr uint64, p []byte) int {
					if reads++; addr < base || addr >= base+size {
						return 0
					}
					return copy(p, memory[addr-base:])
				}}
				addr, found := l.Find(m, base+uint64(r.IntN(size)), uint64(r.IntN(128)))
				if found != (addr != 0) {
					t.Errorf("round %d: %s: address %#x, found %v", round, text, addr, found)
				}
				if reads > element.MaxReads {
					t.Errorf("round %d: %s took %d reads", round, text, reads)
				}
			}
		}
	}
}
