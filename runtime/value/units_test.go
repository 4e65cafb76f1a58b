package value_test

import (
	"testing"

	"gotap/runtime/value"
)

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
		{value.BytesZ, "\xffa\x00b", "\xffa", true},
		{value.BytesZ, "ab", "ab", false},
	} {
		got, ended, cut := test.units.Append(nil, []byte(test.bytes), 100)
		if string(got) != test.want || ended != test.ended || cut {
			t.Errorf("%d: %q is %q, ended %v; not %q, %v", test.units, test.bytes, got, ended, test.want, test.ended)
		}
	}
	if got, ended, cut := value.BytesZ.Append(nil, []byte("abc\x00"), 2); string(got) != "ab" || ended || !cut {
		t.Errorf("of 3 bytes there is room for 2: %q, ended %v, cut %v", got, ended, cut)
	}
	if got, _, cut := value.UTF16.Append(nil, []byte("a\x00\xac\x20"), 3); string(got) != "a" || !cut {
		t.Errorf("of 4 bytes there is room for 3: %q, cut %v", got, cut)
	}
}
