package registry

import (
	"errors"
	"fmt"
	"strings"

	"gotap/arch"
	"gotap/compile"
	"gotap/engine/linux/syscallnames"
)

// Other answers what compiling a program wants to know of a place that is no code: a system call, an access to data. It implements
// PlaceInfo.
type Other struct {
	Place string    // "syscall:openat"
	Regs  arch.Arch // whose registers it may name
	Word  int       // bytes of those
	Globals
}

var (
	errNoNames   = errors.New("named arguments are not available here")
	errNoMembers = errors.New("the result has no members here")
)

// Name implements PlaceInfo.
func (i Other) Name() string { return i.Place }

// Access implements PlaceInfo.
func (i Other) Access(path []string) (compile.Access, error) {
	if call, ok := strings.CutPrefix(i.Place, "syscall:"); ok {
		return syscallnames.Access(call, path)
	}
	return compile.Access{}, fmt.Errorf("cannot compile for %s: %w", i.Place, errNoNames)
}

// ReturnType implements PlaceInfo.
func (i Other) ReturnType() (compile.Access, bool, error) { return compile.Access{}, false, nil }

// ResultMember implements PlaceInfo. Results of system calls are numbers.
func (i Other) ResultMember([]string) (compile.Access, error) {
	return compile.Access{}, fmt.Errorf("cannot compile for %s: %w", i.Place, errNoMembers)
}

// Arg implements PlaceInfo.
func (i Other) Arg(int) (compile.Access, bool, error) { return compile.Access{}, false, nil }

// WordSize implements PlaceInfo.
func (i Other) WordSize() int { return i.Word }

// Register implements PlaceInfo.
func (i Other) Register(name string) (index, bits, shift int, ok bool) { return i.Regs.RegIndex(name) }
