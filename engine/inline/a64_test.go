package inline

import (
	"bytes"
	"debug/elf"
	"slices"
	"testing"
)

// words is memory from address 0 on, which notes the lengths of writes.
type words struct {
	data   []byte
	writes []int
}

func (w *words) Peek(addr uint64, p []byte) error {
	copy(p, w.data[addr:])
	return nil
}

func (w *words) Poke(addr uint64, p []byte, _ int) error {
	w.writes = append(w.writes, len(p))
	copy(w.data[addr:], p)
	return nil
}

// TestJumpsOfARM64: one write of a word turns a breakpoint into a jump, and back. A later session finds the jump and
// restores the instruction, and does not take a breakpoint for a part of a jump.
func TestJumpsOfARM64(t *testing.T) {
	const base, place = 8 << 20, 0x1000
	mem, form := &words{data: make([]byte, base+IslandSize)}, FormOf(elf.EM_AARCH64)
	orig, trap := []byte{0xfd, 0x7b, 0xbf, 0xa9}, []byte{0x00, 0x00, 0x20, 0xd4}
	i, err := Open(mem, form, base, 0, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	at, err := i.Next(place)
	if err != nil {
		t.Fatal(err)
	}
	code, err := form.Windows.Jump(place, at)
	if err != nil {
		t.Fatal(err)
	}
	j := Jump{Addr: place, Len: form.Len()}
	copy(j.Orig[:], orig)
	copy(j.Code[:], code)
	copy(j.Under[:], trap)
	copy(mem.data[place:], trap)
	if err := i.Add(mem, &j, at, make([]byte, 40), 0); err != nil {
		t.Fatal(err)
	}
	left, ok := At(mem, base)
	none := func(uint64) bool { return false }
	if found := left.Jumps(mem, none); !ok || len(found) != 0 {
		t.Errorf("a breakpoint is taken for a jump: %+v", found)
	}
	mem.writes = nil
	if failed := Insert(mem, []Jump{j}, 0); failed != nil || !bytes.Equal(mem.data[place:][:4], code) || !slices.Equal(mem.writes, []int{4}) {
		t.Errorf("%v, %x, writes of %v bytes", failed, mem.data[place:][:4], mem.writes)
	}
	if found := left.Jumps(mem, none); len(found) != 1 || found[0].Addr != place || found[0].Len != 4 {
		t.Fatalf("%+v", found)
	} else if found[0].Undo(mem); !bytes.Equal(mem.data[place:][:8], append(slices.Clone(orig), 0, 0, 0, 0)) {
		t.Errorf("restored to %x", mem.data[place:][:8])
	}
	if failed := Insert(mem, []Jump{j}, 0); len(failed) != 1 {
		t.Error("a jump was written over other code")
	}
	copy(mem.data[place:], code)
	if failed := Remove(mem, []Jump{j}, 0); failed != nil || !bytes.Equal(mem.data[place:][:4], trap) {
		t.Errorf("%v, %x", failed, mem.data[place:][:4])
	}
	for n := 1; ; n++ { // stubs that fill the island
		at, err := i.Next(place)
		if err == nil {
			err = i.Add(mem, &j, at, make([]byte, 64<<10), 0)
		}
		if err == ErrFull {
			break
		}
		if err != nil || n > IslandSize/(64<<10) {
			t.Fatal(n, err)
		}
	}
}
