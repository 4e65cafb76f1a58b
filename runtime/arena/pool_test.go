package arena

import "testing"

func TestStorageOfCalls(t *testing.T) {
	a := newArena(t)
	seen := map[uint64]bool{}
	for _, size := range []int{0, 1, 8, 9, 264, 4096} {
		for range 100 {
			off := a.AllocThis(size)
			if off == 0 || off%8 != 0 || seen[off] {
				t.Fatalf("%d bytes at %#x", size, off)
			}
			seen[off] = true
			a.bytes[off] = 1
		}
	}
	off := a.AllocThis(100)
	a.bytes[off+99] = 5
	a.FreeThis(off, 100)
	if again := a.AllocThis(100); again != off || a.bytes[off+99] != 0 {
		t.Error("freed storage is not used again, or not zeroed")
	}
	if a.AllocThis(MaxThisBytes+1) != 0 || a.AllocThis(-1) != 0 {
		t.Error("more than there may be")
	}
	for n := 0; a.AllocThis(MaxThisBytes) != 0; n++ {
		if n > 1<<20 {
			t.Fatal("never exhausted")
		}
	}
}
