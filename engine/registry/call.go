package registry

import (
	"errors"
	"fmt"
	"strings"

	"gotap/arch"
	"gotap/compile"
	"gotap/engine/linux/syscallnames"
)

// Other answers the compiler's questions about a place that is not code: a system call or an access to data. It
// implements PlaceInfo.
type Other struct {
	Place string    // "syscall:openat"
	Regs  arch.Arch // the architecture whose registers it may name
	Word  int       // size of those registers, in bytes
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

// Uniform implements js.Uniform: arguments and results are registers.
func (i Other) Uniform() {}

// WordSize implements PlaceInfo.
func (i Other) WordSize() int { return i.Word }

// Register implements PlaceInfo.
func (i Other) Register(name string) (index, bits, shift int, ok bool) { return i.Regs.RegIndex(name) }
