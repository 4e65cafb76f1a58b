package engine

import (
	"errors"
	"fmt"
	"strings"

	"gotap/arch"
	"gotap/compile"
	"gotap/engine/place"
	"gotap/engine/registry"
	"gotap/engine/syscalls"
)

// placeInfo answers what compiling a program may want to know of its place: what the file says, and where Go passes arguments.
type placeInfo struct {
	registry.Info
	a *abi
}

// info makes the answers for a target.
func (s *Session) info(t place.Target) PlaceInfo {
	a := abiOf(t.File)
	return &placeInfo{registry.Info{Files: &s.names.Files, Target: t, ISA: a.ISA}, a}
}

// Arg implements PlaceInfo.
func (i *placeInfo) Arg(n int) (compile.Access, bool) {
	if i.Target.Mark == nil {
		return i.goArg(n)
	}
	return i.Info.Arg(n)
}

// callInfo is what there is to know of a place that is no code: a system call, an access to data.
type callInfo struct {
	name string
	a    arch.Arch // whose registers it may name
}

var errNoNames = errors.New("there are no named arguments here")

func (i callInfo) Name() string { return i.name }

func (i callInfo) Access(path []string) (compile.Access, error) {
	if call, ok := strings.CutPrefix(i.name, "syscall:"); ok {
		return syscalls.Access(call, path)
	}
	return compile.Access{}, fmt.Errorf("cannot compile for %s: %w", i.name, errNoNames)
}

func (i callInfo) ReturnType() (compile.Access, bool) { return compile.Access{}, false }

func (i callInfo) Arg(int) (compile.Access, bool) { return compile.Access{}, false }

// WordSize is that of the registers as the kernel shows them to us, whatever the target's.
func (i callInfo) WordSize() int { return 8 }

func (i callInfo) Register(name string) (index, bits, shift int, ok bool) {
	return i.a.RegIndex(name)
}
