package engine

import (
	"gotap/arch"
	"gotap/compile"
	"gotap/engine/place"
	"gotap/engine/registry"
)

// placeInfo answers what compiling a program may want to know of its place: what the file says, and where Go passes arguments.
type placeInfo struct {
	registry.Info
	a *abi
}

// info makes the answers for a target.
func (s *Session) info(t place.Target) PlaceInfo {
	a := abiOf(t.File)
	return &placeInfo{registry.Info{Files: &s.names.Files, Target: t, ISA: a.ISA, Modules: s.names.files}, a}
}

// Arg implements PlaceInfo.
func (i *placeInfo) Arg(n int) (compile.Access, bool, error) {
	if i.Target.Mark == nil {
		a, ok := i.goArg(n)
		return a, ok, nil
	}
	return i.Info.Arg(n)
}

// otherInfo makes the answers for a place that is no code. Registers are as wide as the kernel shows them to us, whatever the target's are.
func (s *Session) otherInfo(name string, names arch.Arch) PlaceInfo {
	return &registry.Other{Place: name, Regs: names, Word: 8, Globals: registry.Globals{Files: &s.names.Files, Modules: s.names.files}}
}
