package module

import "testing"

func TestWritable(t *testing.T) {
	maps, err := ParseMaps(`1000-2000 rw-p 00000000 00:00 0
2000-3000 rw-p 00000000 00:00 0
3000-4000 r--p 00000000 00:00 0
5000-6000 rw-p 00000000 00:00 0
`)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		addr, n uint64
		want    bool
	}{
		{0x1000, 1, true},
		{0x0fff, 2, false},
		{0x1fff, 2, true},
		{0x1000, 0x2000, true},
		{0x2fff, 2, false},
		{0x3000, 1, false},
		{0x4000, 1, false},
		{0x4fff, 2, false},
		{0x5fff, 1, true},
		{0x5fff, 2, false},
		{0x2000, 0x4000, false},
		{^uint64(0), 2, false},
	} {
		if got := Writable(maps, c.addr, c.n); got != c.want {
			t.Errorf("%d bytes at %#x: %v", c.n, c.addr, got)
		}
	}
}
