package goabi

import (
	"slices"
	"testing"

	"gotap/arch"
	"gotap/arch/x86"
)

// TestExitsAgreeWithTheGeneralScan compares exits with those that a scan finds which knows nothing of Go, where it is
// sure.
func TestExitsAgreeWithTheGeneralScan(t *testing.T) {
	for _, path := range []string{toolchain(t, "go"), build(t, nil, "-gcflags=all=-N")} {
		f, a := program(t, path)
		list, err := f.GoFuncs()
		if err != nil {
			t.Fatal(err)
		}
		unsure, equal := 0, 0
		for _, fn := range list {
			if fn.Assembly {
				continue
			}
			code, err := f.Code(fn.Addr, int(fn.Size))
			if err != nil {
				t.Fatal(err)
			}
			got, err := Exits(code, fn.Addr, a)
			if err != nil {
				t.Errorf("%s: %v", fn.Name, err)
			}
			want, err := x86.Exits(code, fn.Addr, a, arch.OnePiece)
			switch {
			case err != nil:
				unsure++
			case !slices.EqualFunc(got, want, func(x, y arch.Exit) bool { return x.Insn.Addr == y.Insn.Addr && x.Tail == y.Tail }):
				t.Errorf("%s: %d exits, the general scan finds %d", fn.Name, len(got), len(want))
			default:
				equal++
			}
		}
		t.Logf("%d functions agree, of %d the general scan is unsure", equal, unsure)
		if unsure > equal/100 {
			t.Error("too few functions compared")
		}
	}
}
