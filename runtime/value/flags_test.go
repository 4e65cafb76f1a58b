package value_test

import (
	"testing"

	"gotap/runtime/value"
)

// TestFlags: the texts are those of gdb 13 for enum { READ = 1, WRITE = 2, ALSO = 2, TOP = 1ul << 63 }.
func TestFlags(t *testing.T) {
	flags := value.Flags([]string{"READ", "WRITE", "ALSO", "TOP"}, []uint64{1, 2, 2, 1 << 63})
	for v, want := range map[uint64]string{0: "0", 3: "(READ | WRITE)", 0x10: "(unknown: 0x10)", 0x11: "(READ | unknown: 0x10)", 1<<63 | 2: "(WRITE | TOP)"} {
		if got := string(value.AppendFlags(nil, flags, v)); got != want {
			t.Errorf("%#x is %s, not %s", v, got, want)
		}
	}
	if got := value.AppendFlags(nil, flags, ^uint64(0)); len(got) > len(flags)+value.MaxFlags {
		t.Errorf("%s has %d bytes", got, len(got))
	}
	for _, flags := range []string{"", "=", "A", "A=x B", "A=1 =2  C="} { // unverified programs may have any text
		if got := value.AppendFlags(nil, flags, ^uint64(0)); len(got) > len(flags)+value.MaxFlags {
			t.Errorf("%q: %s has %d bytes", flags, got, len(got))
		}
	}
}
