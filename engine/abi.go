package engine

import (
	"debug/elf"
	"errors"
	"fmt"
	"os"
	goruntime "runtime"

	"gotap/arch"
	"gotap/engine/fallback"
	"gotap/engine/goabi"
	"gotap/engine/isa"
	"gotap/engine/module"
	"gotap/engine/place"
	"gotap/engine/ptrace"
	"gotap/engine/registry"
	"gotap/engine/syscalls"
)

// abi is an instruction set as Linux runs processes of it: what package isa says of it, and what the kernel's tracing
// and its system calls add to that. It is data, the same on every host; only what makes a request
// to the kernel is in files named for a processor. Values are made once and never changed.
type abi struct {
	*isa.ISA
	// names finds the registers that probes on system calls may name; 32-bit processes have theirs in those of 64-bit ones
	// where the kernel shows them so.
	names arch.Arch

	// Breakpoints.

	trapBehind bool // a breakpoint is reported behind it, so that only it can stop a thread in the middle of an instruction
	trapCode   int  // si_code of the signal that it raises
	flags      int  // index of the register with the resume flag; -1: there is none
	native     *fallback.Native

	// Functions.

	golang *goabi.Convention
	float  func(f *ptrace.FPRegs, n int) (bits uint64, ok bool)
	// floatWord is a word of the floating-point state, as package isa numbers them.
	floatWord func(f *ptrace.FPRegs, n int) (v uint64, ok bool)
	// floatTop is the number on top of the floating-point unit's stack; nil where there is none.
	floatTop func(f *ptrace.FPRegs) float64

	// alone reports whether an instruction is completed while the other threads stand still; nil: none is.
	alone func(arch.Insn) bool
	// emulates is how instructions are completed where none is stepped; nil: they may be.
	emulates *emulator

	// System calls.

	audit  uint32 // what seccomp filters call this kind of them
	calls  callTable
	inCall func(*arch.Regs) bool // the thread is in a system call, or on its way out of one
}

// restarts reports whether registers are those of a system call that a signal interrupted and that the kernel will make again once
// the signal is dealt with: it moves the program counter back by the length of the instruction. A probe on the instruction is then
// hit a second time for one call.
func (a *abi) restarts(r *arch.Regs) bool {
	return (a.calls.original < 0 || a.inCall(r)) && syscalls.Restarts(a.SyscallRet(r))
}

// callTable is what the engine knows of the system calls of an ABI: those that it makes or looks out for.
type callTable struct {
	insn                       []byte // makes one
	thumb                      []byte // makes one in Thumb code, where there is such a thing
	number                     int    // index of the register that takes the number
	args                       [6]int // indices of those that take the arguments
	original                   int    // index of the register by which the kernel tells a system call from another entry; -1: none
	mmap, munmap               uint64
	sigaction, procmask        uint64
	tgkill, prctl              uint64
	clone, fork, vfork, clone3 uint64 // none: a number that no call has
	// neverRestarted fail with EINTR when a tracer stops them, although no signal is delivered (signal(7)).
	neverRestarted []uint64
	// exactly go on exactly as they were after being interrupted without a signal: they have no time-out, or one that the kernel
	// remembers. On ARM the memory of time-outs is lost with the program counter that a thread is interrupted at, and those are left out.
	exactly []uint64
	untimed map[uint64]timeout // these do when they have no time-out
}

// timeout is where a system call has its time-out, and what /proc/TID/syscall shows of one that never comes.
type timeout struct {
	arg  int
	none string
}

// none is the number of a system call that an ABI does not have.
const none = ^uint64(0)

// abis are the instruction sets that there are descriptions of, by what ELF files name them.
var abis = map[elf.Machine]*abi{elf.EM_X86_64: &amd64ABI, elf.EM_386: &i386ABI}

// hostABIs are the instruction sets of processes that can be traced here, this program's own first.
func hostABIs() []*abi {
	var all []*abi
	for _, m := range isa.Natives() {
		if a := abis[m]; a != nil {
			all = append(all, a)
		}
	}
	return all
}

// abiOf is the instruction set of a file, nil when it is none of those described.
func abiOf(f *module.File) *abi { return abis[f.Machine] }

// imageABI is the instruction set of the program that a process runs.
func imageABI(pid int) (*abi, error) {
	f, err := os.Open(fmt.Sprintf("/proc/%d/exe", pid))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var head [20]byte // the ELF header up to e_machine
	if _, err := f.ReadAt(head[:], 0); err != nil || string(head[:4]) != elf.ELFMAG {
		return nil, errors.New("its program is no ELF file")
	}
	machine := elf.Machine(uint16(head[18]) | uint16(head[19])<<8)
	for _, a := range hostABIs() {
		if a.Machine == machine {
			return a, nil
		}
	}
	return nil, fmt.Errorf("its program is for %v, which gotap cannot trace on %s", machine, goruntime.GOARCH)
}

// exitsOf finds the exits of the function that a target is the entry of; its code is that of the process, at start.
func (a *abi) exitsOf(t place.Target, code []byte, start uint64, set arch.Arch) ([]arch.Exit, error) {
	if c := registry.GoCompiled(t); c != nil {
		return c.Exits(code, start)
	}
	return a.Exits(code, start, set)
}
