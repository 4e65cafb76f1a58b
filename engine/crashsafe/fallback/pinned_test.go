package fallback

import (
	"bytes"
	"testing"
)

// TestPinned writes records and reads them.
func TestPinned(t *testing.T) {
	for _, n := range []*Native{AMD64, IA32, ARM64, ARM} {
		mem := &buffer{bytes: make([]byte, StubAt)}
		copy(mem.bytes, n.code)
		if p, ok := ReadPinned(mem, 0); ok {
			t.Errorf("a new region has the record %+v", p)
		}
		for _, size := range []int{8, 16, MaskSize} {
			want := Pinned{Former: bytes.Repeat([]byte{0xff}, size), Given: append(make([]byte, size-1), 4)}
			masksAt, masks, sizeAt, word := PinnedRecord(0, want)
			mem.Poke(masksAt, masks, 0)
			if _, ok := ReadPinned(mem, 0); ok {
				t.Error("a record is in force before its size is written")
			}
			mem.Poke(sizeAt, word, 0)
			got, ok := ReadPinned(mem, 0)
			if !ok || !bytes.Equal(got.Former, want.Former) || !bytes.Equal(got.Given, want.Given) {
				t.Errorf("%d bytes: %+v, %v", size, got, ok)
			}
			at, none := NoPinned(0)
			if mem.Poke(at, none, 0); !bytes.Equal(mem.bytes[pinnedEnd:], n.code[pinnedEnd:]) || !bytes.Equal(mem.bytes[:pinnedAt], n.code[:pinnedAt]) {
				t.Error("the record is not where there is room for it")
			}
		}
	}
}
