package debuginfo_test

import (
	"errors"
	"testing"

	"gotap/engine/image/debuginfo"
	"gotap/engine/testenv"
)

// TestUnusedParameter asks for a parameter that its function does not use. GCC passes it; clang's optimiser does not,
// so that the register contains something else.
func TestUnusedParameter(t *testing.T) {
	testenv.Require(t, testenv.GCC, testenv.Clang, testenv.GDB, testenv.AMD64, testenv.Ptrace)
	for _, c := range some(3, []struct {
		flags  []string
		passed bool
	}{
		{[]string{"-O2"}, true}, {[]string{"-O0"}, true}, {[]string{"clang", "-O0"}, true}, {[]string{"clang", "-O1"}, false}, {[]string{"clang", "-O2"}, false},
	}) {
		p := build(t, "testdata/unused.c", c.flags...)
		for _, s := range p.record(t, "unused", "", 1)[:1] {
			got := ""
			a, err := p.info.Access(s.pc(), []string{"left"})
			if err == nil {
				got, err = s.eval(a)
			}
			var out *debuginfo.OptimisedOutError
			if c.passed && got != "77" || !c.passed && !errors.As(err, &out) {
				t.Errorf("%v: %q, %v", c.flags, got, err)
			}
			if a, err = p.info.Access(s.pc(), []string{"b"}); err != nil {
				t.Errorf("%v: %v", c.flags, err)
			} else if got, err = s.eval(a); got != "3" {
				t.Errorf("%v: the parameter behind is %q, %v", c.flags, got, err)
			}
		}
	}
}
