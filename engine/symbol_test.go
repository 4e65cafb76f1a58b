package engine

import (
	"testing"

	"gotap/engine/module"
)

// at is a list of one module, of a file that can be read, at an address.
func at(addr uint64) []module.Loaded {
	return []module.Loaded{{Path: "module", File: &module.File{}, Mappings: []module.Mapping{{Start: addr, End: addr + 1, Exec: true}}}}
}

// TestHistoryIsBounded: of processes that have ended the latest are known, and so are all that live, whatever ended before with their number.
func TestHistoryIsBounded(t *testing.T) {
	h := newHistory()
	const living, again, first = 1, 2, 10
	h.keep(living, at(living))
	h.keep(again, at(again))
	h.end(again)
	h.keep(again, at(again))
	const all = 3 * mostEnded
	for pid := first; pid < first+all; pid++ {
		h.fork(living, pid)
		h.keep(pid, at(uint64(pid)))
		h.end(pid)
	}
	for pid, known := range map[int]bool{living: true, again: true, first: false, first + all - mostEnded: true, first + all - 1: true} {
		if (h.find(pid, uint64(pid)) != nil) != known {
			t.Errorf("process %d: known: %v", pid, !known)
		}
	}
	if n := len(h.mods); n != mostEnded+2 {
		t.Errorf("%d processes are kept", n)
	}
}

// TestGoneModulesAreBounded: of modules that a process has closed the latest are known.
func TestGoneModulesAreBounded(t *testing.T) {
	h := newHistory()
	const all = 3 * mostGone
	for addr := uint64(0); addr < all; addr++ {
		h.keep(1, at(addr))
	}
	for addr, known := range map[uint64]bool{0: false, all - mostGone - 2: false, all - mostGone - 1: true, all - 1: true} {
		if (h.find(1, addr) != nil) != known {
			t.Errorf("module at %d: known: %v", addr, !known)
		}
	}
}
