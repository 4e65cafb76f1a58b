package engine

import (
	"errors"
	"fmt"
	"strings"

	"gotap/arch"
	"gotap/compile"
	"gotap/engine/debuginfo"
	"gotap/engine/place"
	"gotap/engine/syscalls"
)

// placeInfo answers what compiling a program may want to know of its place.
type placeInfo struct {
	s *Session
	t place.Target
	a *abi
}

// info makes the answers for a target.
func (s *Session) info(t place.Target) PlaceInfo {
	return &placeInfo{s, t, abiOf(t.File)}
}

// Name implements PlaceInfo.
func (i *placeInfo) Name() string { return i.t.Name }

// Access implements PlaceInfo.
func (i *placeInfo) Access(path []string) (compile.Access, error) {
	in, ok := i.s.names.Info(i.t.File)
	if !ok {
		return compile.Access{}, fmt.Errorf("cannot find %q at %s: %w", path, i.t.Name, debuginfo.ErrNone)
	}
	return in.Access(i.t.Vaddr, path)
}

// ReturnType implements PlaceInfo.
func (i *placeInfo) ReturnType() (compile.Access, bool) {
	in, ok := i.s.names.Info(i.t.File)
	if !ok || i.t.Func == nil {
		return compile.Access{}, false
	}
	a, err := in.ReturnAccess(i.t.Func.Addr)
	return a, err == nil
}

// Arg implements PlaceInfo.
func (i *placeInfo) Arg(n int) (compile.Access, bool) {
	if i.t.Mark == nil {
		return i.goArg(n)
	}
	if n < 0 || n >= len(i.t.Mark.Args) {
		return compile.Access{Base: compile.BaseConst}, true // 0, and no register that happens to pass arguments elsewhere
	}
	if i.t.Mark.Args[n].Err != nil {
		return compile.Access{}, false
	}
	return i.t.Mark.Args[n].Access, true
}

// Register implements PlaceInfo.
func (i *placeInfo) Register(name string) (index, bits, shift int, ok bool) {
	return i.a.RegIndex(name)
}

// Code implements CodePlace.
func (i *placeInfo) Code(n int) ([]byte, error) {
	code, err := i.t.File.Code(i.t.Vaddr, n)
	if err != nil {
		return nil, fmt.Errorf("cannot read the code at %s: %w", i.t.Name, err)
	}
	return code, nil
}

// WordSize implements PlaceInfo.
func (i *placeInfo) WordSize() int { return i.a.WordSize() }

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
