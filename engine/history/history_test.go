package history

import (
	"testing"

	"gotap/engine/image/module"
)

// at is a list of one module, of a file that can be read, at an address.
func at(addr uint64) []module.Loaded {
	return []module.Loaded{{Path: "module", File: &module.File{}, Mappings: []module.Mapping{{Start: addr, End: addr + 1, Exec: true}}}}
}

// TestHistoryIsBounded: of processes that have ended the latest are known, and so are all that live, whatever ended
// before with their number.
func TestHistoryIsBounded(t *testing.T) {
	h := New()
	const living, again, first = 1, 2, 10
	h.Keep(living, at(living))
	h.Keep(again, at(again))
	h.End(again)
	h.Keep(again, at(again))
	const all = 3 * maxEnded
	for pid := first; pid < first+all; pid++ {
		h.Fork(living, pid)
		h.Keep(pid, at(uint64(pid)))
		h.End(pid)
	}
	for pid, known := range map[int]bool{living: true, again: true, first: false, first + all - maxEnded: true, first + all - 1: true} {
		if (h.find(pid, uint64(pid)) != nil) != known {
			t.Errorf("process %d: known: %v", pid, !known)
		}
	}
	if n := len(h.mods); n != maxEnded+2 {
		t.Errorf("%d processes are kept", n)
	}
}

// TestGoneModulesAreBounded: of modules that a process has closed the latest are known.
func TestGoneModulesAreBounded(t *testing.T) {
	h := New()
	const all = 3 * maxGone
	for addr := uint64(0); addr < all; addr++ {
		h.Keep(1, at(addr))
	}
	for addr, known := range map[uint64]bool{0: false, all - maxGone - 2: false, all - maxGone - 1: true, all - 1: true} {
		if (h.find(1, addr) != nil) != known {
			t.Errorf("module at %d: known: %v", addr, !known)
		}
	}
}

// TestMapped lists each file once, by the numbers of the processes; process 0 stands for all of them.
func TestMapped(t *testing.T) {
	h := New()
	one, two := at(1), at(2)
	h.Keep(7, two)
	h.Keep(5, one)
	h.Fork(5, 6)
	h.Add(6, module.Loaded{Path: "[vdso]", File: &module.File{}, Mappings: []module.Mapping{{Start: 9, End: 10, Exec: true}}})
	if got := h.Mapped(); len(got) != 3 || got[0] != one[0].File || got[2] != two[0].File {
		t.Errorf("%d files, %v", len(got), got)
	}
	if n := len(h.Modules(6)); n != 2 {
		t.Errorf("the child has %d modules", n)
	}
	if h.find(0, 2) == nil || h.find(5, 2) != nil || h.find(5, 9) != nil {
		t.Error("process 0 does not stand for all, or a process has the modules of another")
	}
}
