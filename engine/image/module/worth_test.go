package module

import "testing"

// TestWorthSearching has a file with much code wait for more stops than one with little, and not once it was searched.
func TestWorthSearching(t *testing.T) {
	for _, c := range []struct {
		size  uint64
		waits int
	}{{keptCode - 1, 0}, {keptCode, keptCode / searchedPerWish}, {1 << 20, 128}} {
		f := &File{text: []Range{{0x1000, 0x1000 + c.size/2}, {1 << 30, 1<<30 + c.size - c.size/2}}}
		n := 0
		for ; !f.WorthSearching(); n++ {
		}
		if n != c.waits {
			t.Errorf("code of %d bytes waits for %d stops, not %d", c.size, n, c.waits)
		}
	}
	f := &File{text: []Range{{0, 1 << 30}}}
	f.windows.targets.leave()
	if f.WorthSearching() {
		t.Error("code of 1 GB is searched at once")
	}
	if (Windows{File: f}).Targets(); !f.WorthSearching() {
		t.Error("code that has been searched is not worth it")
	}
}
