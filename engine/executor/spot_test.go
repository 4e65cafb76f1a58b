package executor

import (
	"bytes"
	"testing"
)

// TestOverlay compares with one byte at a time, also where addresses wrap around.
func TestOverlay(t *testing.T) {
	orig := []byte("abcd")
	for _, addr := range []uint64{0x1000, 2, 0, ^uint64(0) - 3, ^uint64(0)} {
		for d := -6; d <= 10; d++ {
			at := addr + uint64(d)
			read, want := bytes.Repeat([]byte{'.'}, 5), bytes.Repeat([]byte{'.'}, 5)
			for i := range orig {
				if k := d + i; k >= 0 && k < len(want) {
					want[k] = orig[i]
				}
			}
			if Overlay(addr, read, at, orig); !bytes.Equal(read, want) {
				t.Errorf("%#x over %#x: %s, want %s", at, addr, read, want)
			}
		}
	}
}

// TestOwnersOf: all places are seen once, and none after the loop has ended.
func TestOwnersOf(t *testing.T) {
	places := map[uint64]*Spot{1: {Addr: 1}, 2: {Addr: 2}, 3: {Addr: 3}}
	seen := 0
	for p := range OwnersOf(places) {
		if p != &places[1].Point && p != &places[2].Point && p != &places[3].Point {
			t.Error("the owners of no place")
		}
		seen++
	}
	for range OwnersOf(places) {
		seen++
		break
	}
	if seen != 4 {
		t.Errorf("%d places", seen)
	}
}
