package value

import (
	"slices"
	"testing"

	"gotap/runtime/value"
)

// A stack has no more frames than the program asked for, though inlined calls are frames too, and addresses where names
// are unknown.
func TestStackLines(t *testing.T) {
	named := []Symbol{{Addr: 1, Func: "small", Inlined: true}, {Addr: 1, Func: "f", Offset: 4, Module: "/lib/x.so", File: "/src/x.c", Line: 3}, {Addr: 2, Module: "/lib/x.so", Offset: 9}}
	v := value.Value{Kind: value.KindStack, Stack: []uint64{1, 2}}
	for _, c := range []struct {
		cut   bool
		named []Symbol
		want  []string
	}{
		{false, named, []string{"0x1 small [inlined]", "0x1 f+0x4 (x.so) at x.c:3", "0x2 (x.so:0x9)"}},
		{true, named, []string{"0x1 small [inlined]", "0x1 f+0x4 (x.so) at x.c:3"}},
		{true, nil, []string{"0x1", "0x2"}},
	} {
		v.Cut = c.cut
		if got := StackLines(v, c.named); !slices.Equal(got, c.want) {
			t.Errorf("%q, not %q", got, c.want)
		}
	}
}
