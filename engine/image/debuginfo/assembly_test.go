package debuginfo_test

import (
	"errors"
	"testing"

	"gotap/engine/image/debuginfo"
	"gotap/engine/testenv"
)

// TestAssembly: of a function of assembly it is not known what it takes and returns. GNU as describes it as one without
// parameters, and with a result of no type, which must not count as none: the C library has strlen and memcpy in
// assembly.
func TestAssembly(t *testing.T) {
	testenv.Require(t, testenv.GCC)
	p := build(t, "testdata/assembly.c", "testdata/twice.S")
	if a, err := p.info.ResultAccess(p.address(t, "twice"), 0); !errors.Is(err, debuginfo.ErrNone) {
		t.Errorf("the result: %+v, %v", a, err)
	}
	if names, err := p.info.Parameters(p.address(t, "twice")); !errors.Is(err, debuginfo.ErrNone) {
		t.Errorf("the parameters: %v, %v", names, err)
	}
	if a, err := p.info.ResultAccess(p.address(t, "main"), 0); err != nil || a.Ctype != "int" {
		t.Errorf("the result of a function of C: %+v, %v", a, err)
	}
}
