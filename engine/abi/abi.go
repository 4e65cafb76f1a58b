package abi

import (
	"debug/elf"
	"errors"
	"fmt"
	"os"
	goruntime "runtime"
	"slices"
	"strconv"

	"gotap/arch"
	"gotap/engine/crashsafe/fallback"
	"gotap/engine/image/goabi"
	"gotap/engine/image/module"
	"gotap/engine/isa"
	"gotap/engine/linux/ptrace"
	"gotap/engine/linux/syscallnames"
)

// ABI describes an instruction set as Linux runs it: package isa has the instructions, and ABI adds what the kernel
// defines for tracing and for system calls. Values are made once and never changed.
type ABI struct {
	*isa.ISA
	// Names resolves register names in probes on system calls. On x86 the kernel shows the registers of 32-bit
	// processes in the places of 64-bit ones, so both kinds of processes have the same names.
	Names arch.Arch

	// Breakpoints.

	TrapBehind    bool             // the program counter is behind the breakpoint when it is reported
	TrapCode      int              // si_code of the SIGTRAP of a breakpoint
	FlagsRegister int              // index of the register with the trap and resume flags; -1: there is none
	Native        *fallback.Native // the crash handler; nil: there is none for this ABI

	// Functions.

	Golang *goabi.Convention
	Float  func(f *ptrace.FPRegs, n int) (bits uint64, ok bool)
	// FloatWord returns a word of the floating-point state, as package isa numbers them.
	FloatWord func(f *ptrace.FPRegs, n int) (v uint64, ok bool)
	// FloatTop returns the number on top of the x87 stack; nil where there is no such stack.
	FloatTop func(f *ptrace.FPRegs) float64

	// NeedsStopWorld reports whether the other threads must be stopped while an instruction is emulated; nil: never.
	NeedsStopWorld func(arch.Insn) bool
	// LoadVectors and StoreVectors convert vector registers between the kernel's form and the emulator's; nil unless
	// Stepless.
	LoadVectors  func(*ptrace.FPRegs, *arch.Vectors)
	StoreVectors func(*ptrace.FPRegs, *arch.Vectors)

	// System calls.

	AuditArch uint32 // AUDIT_ARCH_… of seccomp filters
	Calls     CallTable
	InCall    func(*arch.Regs) bool // reports whether the thread is in a system call, or returns from one
}

// Restarts reports whether the registers belong to a system call that a signal interrupted and that the kernel restarts
// after the signal: it moves the program counter back by the length of the instruction. A probe on the instruction is
// then hit twice for one call.
func (a *ABI) Restarts(r *arch.Regs) bool {
	return (a.Calls.Original < 0 || a.InCall(r)) && syscallnames.Restarts(a.SyscallRet(r))
}

// CallTable describes how system calls are made, and the calls that the engine makes or watches for.
type CallTable struct {
	Insn                       []byte // the instruction
	Thumb                      []byte // the instruction in Thumb code; empty where there is no Thumb
	Number                     int    // index of the register with the call's number
	Args                       [6]int // indices of the registers with the arguments
	Original                   int    // index of orig_rax, by which the kernel tells a system call from other entries; -1: none
	Mmap, Munmap               uint64
	Sigaction, Procmask        uint64
	Tgkill, Prctl              uint64
	Close, Madvise             uint64 // of these four those of 32-bit processes are not needed
	Recvmsg, Socketpair        uint64
	Clone, Fork, Vfork, Clone3 uint64 // or none
	// NeverRestarted lists the calls that fail with EINTR when a tracer stops them, although no signal is delivered
	// (signal(7)). Those of sockets do if the socket has a time limit (SO_RCVTIMEO, SO_SNDTIMEO), and have done nothing
	// then.
	NeverRestarted []uint64
	// exactly lists the calls that continue unchanged when a tracer stops them: they have no time-out, or one that the
	// kernel remembers. On ARM the kernel forgets time-outs when it restarts a call, so calls with a time-out are not
	// listed.
	exactly []uint64
	untimed map[uint64]timeout // calls that continue unchanged if they have no time-out
}

// timeout names the argument with a call's time-out, and how /proc/TID/syscall shows that there is none.
type timeout struct {
	arg  int
	none string
}

// none is the number of a system call that an ABI does not have.
const none = ^uint64(0)

// abis holds all ABIs by the machine of their ELF files.
var abis = map[elf.Machine]*ABI{
	elf.EM_X86_64: &AMD64, elf.EM_386: &i386ABI, elf.EM_AARCH64: &ARM64, elf.EM_ARM: &armABI,
}

// Host returns the ABIs of processes that can be traced on this machine, gotap's own first.
func Host() []*ABI {
	var all []*ABI
	for _, m := range isa.Natives() {
		if a := abis[m]; a != nil {
			all = append(all, a)
		}
	}
	return all
}

// Of returns the ABI of a file; nil if it has none of these.
func Of(f *module.File) *ABI { return abis[f.Machine] }

// OfProcess returns the ABI of the program that a process runs.
func OfProcess(pid int) (*ABI, error) {
	f, err := os.Open(fmt.Sprintf("/proc/%d/exe", pid))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var head [20]byte // the ELF header up to e_machine
	if _, err := f.ReadAt(head[:], 0); err != nil || string(head[:4]) != elf.ELFMAG {
		return nil, errors.New("its program is not an ELF file")
	}
	machine := elf.Machine(uint16(head[18]) | uint16(head[19])<<8)
	for _, a := range Host() {
		if a.Machine == machine {
			return a, nil
		}
	}
	return nil, fmt.Errorf("its program is for %v, which gotap cannot trace on %s", machine, goruntime.GOARCH)
}

// Is32BitARM reports whether the ABI is that of 32-bit ARM, which has two instruction sets and IT blocks.
func (a *ABI) Is32BitARM() bool { return a.Machine == elf.EM_ARM }

// StopMarker returns the register that the kernel of ARM overwrites with 0 or 1 in stops at system calls.
func (a *ABI) StopMarker() int {
	if a.Is32BitARM() {
		return 12
	}
	return 7
}

// GoesOnExactly reports whether a system call, as /proc/TID/syscall has it, continues unchanged when a tracer stops it.
func (c *CallTable) GoesOnExactly(call []string) bool {
	n, err := strconv.ParseUint(call[0], 10, 32)
	if err != nil {
		return false
	}
	if timeout, ok := c.untimed[n]; ok {
		return len(call) > timeout.arg+1 && call[timeout.arg+1] == timeout.none
	}
	return slices.Contains(c.exactly, n)
}

// SyscallName returns the name of a system call; "" if the number has none.
func (a *ABI) SyscallName(number uint64) string {
	if names := syscallnames.Names(a.Machine); number < uint64(len(names)) {
		return names[number]
	}
	return ""
}
