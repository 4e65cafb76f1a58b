package isa

import (
	"debug/elf"
	"errors"
	"fmt"
	"slices"

	"gotap/arch"
	"gotap/arch/arm"
	"gotap/engine/image/module"
)

// Callees returns where the calls of a function lead whose code is at vaddr in a file, each once: direct calls, and
// jumps out of the code, which may be calls at a function's end. Calls through the procedure linkage table, or through
// a pointer in memory that the loader fills in, lead to a symbol. Calls through other pointers are not found. Where
// code cannot be decoded, the calls in front of it are returned with the error.
func Callees(f *module.File, code []byte, vaddr uint64) ([]module.Callee, error) {
	a := Of(f.Machine)
	if a == nil {
		return nil, fmt.Errorf("cannot decode %s: its processor, %v, is not supported", f.Path, f.Machine)
	}
	c := calls{isa: a, file: f, start: vaddr, end: vaddr + uint64(len(code))}
	insns, err := a.boundaries(f, code, vaddr)
	for _, at := range insns {
		set := a.SetAt(&module.Loaded{Path: f.Path, File: f}, at)
		if set == nil {
			continue
		}
		if in, err := set.Decode(code[at-vaddr:], at); err == nil {
			c.visit(set, in)
		}
	}
	return c.found, err
}

// calls collects the calls of a function.
type calls struct {
	isa        *ISA
	file       *module.File
	start, end uint64
	found      []module.Callee
}

// visit adds where an instruction leads.
func (c *calls) visit(set arch.Arch, in arch.Insn) {
	switch in.Control {
	case arch.Call:
		c.add(in.Target)
	case arch.Jump, arch.CondJump:
		if in.Target < c.start || in.Target >= c.end {
			c.add(in.Target)
		}
	case arch.IndirCall, arch.IndirJump:
		if callee, ok := c.follow(set, in.Addr, 1); ok {
			c.addOnce(callee)
		}
	}
}

// add adds a target of a direct branch.
func (c *calls) add(target uint64) {
	target = c.isa.Target(target)
	if !c.file.InPLT(target) {
		c.addOnce(module.Callee{Addr: target})
		return
	}
	set := c.isa.Arch // stubs of 32-bit ARM are in A32
	callee, ok := c.follow(set, target, stubLength)
	if !ok && c.isa.Machine == elf.EM_ARM { // those for callers in Thumb begin with two instructions that change the set
		callee, ok = c.follow(arm.A32, target+thumbHead, stubLength)
	}
	if ok {
		c.addOnce(callee)
	}
}

func (c *calls) addOnce(callee module.Callee) {
	if !slices.Contains(c.found, callee) {
		c.found = append(c.found, callee)
	}
}

const (
	stubLength = 6 // most instructions of a stub
	thumbHead  = 4 // bytes
)

// follow emulates at most so many instructions, until one reads a pointer that the loader fills in.
func (c *calls) follow(set arch.Arch, pc uint64, most int) (module.Callee, bool) {
	var regs arch.Regs
	if c.isa.Machine == elf.EM_386 { // position-independent stubs expect the table's address there
		ebx, _, _, _ := set.RegIndex("ebx")
		regs[ebx] = module.Linkage{File: c.file}.GOT()
	}
	mem := &slots{file: c.file}
	regs[set.PC()] = pc
	for range most {
		at := regs[set.PC()]
		code, err := c.file.Code(at, maxInsn)
		if err != nil {
			break
		}
		in, err := set.Decode(code, at)
		if err != nil {
			break
		}
		site, err := set.Prepare(in)
		if err != nil || site.Emulate(&regs, mem) != nil {
			break
		}
	}
	return mem.callee, mem.found
}

// maxInsn is the length in bytes of the longest instruction.
const maxInsn = 16

// slots is the memory of a file as it is before a process runs. The first read of a pointer to a function that the
// loader fills in is remembered and fails.
type slots struct {
	file   *module.File
	callee module.Callee
	found  bool
}

var errSlot = errors.New("the loader fills in the pointer")

// ReadMemory implements arch.Memory.
func (s *slots) ReadMemory(addr uint64, p []byte) error {
	if callee, ok := (module.Linkage{File: s.file}).Callee(addr); ok {
		s.callee, s.found = callee, true
		return errSlot
	}
	got, err := s.file.Code(addr, len(p))
	if err != nil || len(got) < len(p) {
		return &arch.FaultError{Addr: addr}
	}
	copy(p, got)
	return nil
}

// WriteMemory implements arch.Memory.
func (s *slots) WriteMemory(addr uint64, _ []byte) error {
	return &arch.FaultError{Addr: addr, Write: true}
}
