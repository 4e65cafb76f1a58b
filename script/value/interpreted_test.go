package value

import "testing"

// TestInterpreted: frames of interpreted functions have no address, and only what is known is shown.
func TestInterpreted(t *testing.T) {
	for want, y := range map[string]Symbol{
		"fib (prog.py:3)":    {Func: "fib", Module: "python", File: "/a/prog.py", Line: 3},
		"A.f (prog.py)":      {Func: "A.f", Module: "python", File: "prog.py"},
		"? (python)":         {Func: "?", Module: "python"},
		"0x10 f+0x1 (a.out)": {Addr: 16, Func: "f", Offset: 1, Module: "/b/a.out"},
		"0x0":                {},
	} {
		if got := y.String(); got != want {
			t.Errorf("%+v is %q, not %q", y, got, want)
		}
	}
}
