package script

import (
	"gotap/compile"
	"gotap/compile/diag"
	"gotap/compile/js"
)

// compileUnit compiles the handlers of a probe, makes them short, and verifies what came of it: listings, bounds and what
// runs are of the same programs.
func compileUnit(u js.Unit) (js.Result, diag.List) {
	r, list := js.Compile(u)
	for kind, p := range r.Programs {
		p = compile.Optimize(p)
		list = append(list, compile.Verify(p)...)
		r.Programs[kind] = p
	}
	return r, list
}
