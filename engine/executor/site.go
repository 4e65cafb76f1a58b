package executor

import (
	"bytes"
	"fmt"

	"gotap/arch"
	"gotap/engine/image/module"
	"gotap/engine/isa"
)

// shortestInsn is how many bytes are compared with the file if code does not decode: the length of the shortest
// instruction that may be there on machines whose instructions have no single byte.
const shortestInsn = 2

// Target is what Prepare needs to know of a target.
type Target struct {
	ISA *isa.ISA
	// Code reads up to n bytes of code, as they are without breakpoints of the session.
	Code func(addr uint64, n int) []byte
	// Exclusives are the sequences of exclusive accesses found so far.
	Exclusives *isa.Exclusives
	// ChangesCode is set for a target that changes its own code, which then need not be that of its files.
	ChangesCode bool
	// Absent says why no memory can be read at an address.
	Absent string
}

// Site is an instruction at which programs can run.
type Site struct {
	Insn arch.Site
	Trap []byte // the breakpoint instruction
	Orig []byte // the bytes that it displaces, of the same length
}

// Prepare decodes the instruction at an address and prepares it. set is the instruction set there, nil for data. mod is
// the module there, or nil. The error says why no program can run there; it is an arch.RefusedError unless the bytes do
// not decode.
func Prepare(t *Target, addr uint64, set arch.Arch, mod *module.Loaded) (Site, error) {
	refuse := func(reason string) (Site, error) {
		return Site{}, &arch.RefusedError{Addr: addr, Reason: reason}
	}
	if set == nil {
		return refuse("data between the code")
	}
	code := t.Code(addr, isa.LongestInsn)
	if len(code) == 0 {
		return refuse(t.Absent)
	}
	in, err := set.Decode(code, addr)
	if err != nil {
		if other := t.compareWithFile(code[:min(len(code), shortestInsn)], addr, mod); other != nil {
			return Site{}, other
		}
		return Site{}, fmt.Errorf("cannot probe %#x: %w", addr, err)
	}
	if err := t.compareWithFile(code[:in.Len], addr, mod); err != nil {
		return Site{}, err
	}
	site, err := set.Prepare(in)
	if err != nil {
		return Site{}, err
	}
	if t.inExclusive(addr, set, mod) {
		return refuse("it is between a load-exclusive and its store-exclusive, which would never succeed")
	}
	trap := set.Breakpoint(in)
	return Site{Insn: site, Trap: trap, Orig: code[:len(trap)]}, nil
}

// compareWithFile returns an error unless the code in memory is the same as in the file: otherwise the file was changed
// while the program ran, or another debugger has a breakpoint there.
func (t *Target) compareWithFile(code []byte, addr uint64, mod *module.Loaded) error {
	if mod == nil || mod.File == nil || t.ChangesCode {
		return nil
	}
	want, err := mod.File.Code(mod.Vaddr(addr), len(code))
	if err != nil || len(want) < len(code) || bytes.Equal(want, code) {
		return nil
	}
	if t.ISA.IsTrap(code) {
		return &arch.RefusedError{Addr: addr, Reason: "another debugger has a breakpoint there"}
	}
	return &arch.RefusedError{Addr: addr, Reason: "the code in memory is not that of the file " + mod.Path}
}

// inExclusive reports whether an address is in a sequence of exclusive accesses.
func (t *Target) inExclusive(addr uint64, set arch.Arch, mod *module.Loaded) bool {
	if !t.ISA.Monitors() {
		return false
	}
	return t.Exclusives.Have(addr, mod, func(start uint64, size int) []uint64 {
		return t.ISA.Exclusives(t.Code(start, size), start, set)
	})
}
