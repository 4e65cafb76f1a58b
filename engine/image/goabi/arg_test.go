package goabi

import (
	"testing"

	"gotap/arch/x86"
	"gotap/compile"
)

func TestArgumentsAreInRegistersOfTheProcessor(t *testing.T) {
	seen := map[int]bool{}
	for n := range 9 {
		a, ok := Arg(n, false)
		index, bits, _, known := x86.New64().RegIndex(a.Reg)
		if !ok || a.Base != compile.BaseReg || !known || bits != 64 || seen[index] {
			t.Errorf("argument %d is %+v", n, a)
		}
		seen[index] = true
	}
	for _, n := range []int{-1, 9} {
		if a, ok := Arg(n, false); ok {
			t.Errorf("argument %d is %+v", n, a)
		}
	}
	if a, ok := Arg(2, true); !ok || a.Base != compile.BaseFrame || a.Value != 16 {
		t.Errorf("the third argument of assembly is %+v", a)
	}
}
