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

func TestUnits(t *testing.T) {
	for _, test := range []struct {
		units value.Units
		bytes string
		want  string
		ended bool
	}{
		{value.UTF16, "a\x00\xac\x20", "a€", false},
		{value.UTF16, "\x3d\xd8\x00\xde", "😀", false},
		{value.UTF16, "\x3d\xd8", "\ufffd", false},           // half of a pair
		{value.UTF16, "\x00\xdea\x00", "\ufffda", false},     // the second half alone
		{value.UTF16, "a\x00\x00\x00b\x00", "a\x00b", false}, // counted text may have NULs
		{value.UTF16Z, "a\x00\x00\x00b\x00", "a", true},
		{value.UTF16Z, "a\x00b", "a", false},
		{value.UTF32, "\x00\xf6\x01\x00", "😀", false},
		{value.UTF32, "\x00\xd8\x00\x00\x00\x00\x11\x00", "\ufffd\ufffd", false}, // not characters
		{value.UTF32Z, "a\x00\x00\x00\x00\x00\x00\x00", "a", true},
	} {
		got, ended := test.units.Append(nil, []byte(test.bytes))
		if string(got) != test.want || ended != test.ended {
			t.Errorf("%d: %q is %q, ended %v; not %q, %v", test.units, test.bytes, got, ended, test.want, test.ended)
		}
	}
}
