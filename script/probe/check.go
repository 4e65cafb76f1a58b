package probe

import (
	"gotap/compile"
	"gotap/compile/diag"
	"gotap/compile/js"
)

// Checked is one program of a probe, compiled without a place and verified.
type Checked struct {
	Probe   *Probe
	Handler js.HandlerKind
	Program *compile.Program // its Bound is set
}

// Check compiles and verifies every program; it needs no target.
func (s *Set) Check() ([]Checked, diag.List) {
	var all []Checked
	var list diag.List
	for _, p := range s.probes {
		result, diags := p.Compile(nil)
		list = append(list, diags...)
		for _, kind := range js.Kinds() {
			prg := result.Programs[kind]
			if prg == nil {
				continue
			}
			list = append(list, compile.Verify(prg)...)
			all = append(all, Checked{p, kind, prg})
		}
	}
	return all, list
}
