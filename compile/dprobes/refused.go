package dprobes

import (
	"slices"
	"strings"
)

// refusals are commands of DProbes that gotap does not have, each with the reason. A name covers the command alone and
// with operands.
var refusals = []struct{ name, why string }{
	{"suspend", "it was reserved in DProbes and never did anything"},
	{"resume", "it was reserved in DProbes and never did anything"},
	{"alloc gv", "it was reserved in DProbes; say how many there are in the header"},
	{"free gv", "it was reserved in DProbes; say how many there are in the header"},
	{"callk", "it calls into the kernel, and probes are in user programs"},
	{"call_kmod", "it calls into a kernel module, and probes are in user programs"},
	{"push io", "I/O ports cannot be read from a user program"},
	{"pop io", "I/O ports cannot be written from a user program"},
	{"push task", "it is an address in the kernel; use push pid"},
	{"seg2lin", "user programs have flat segments"},
}

// Reasons that several commands share.
const (
	kernelRegister = "it is a register of the kernel"
	noSelector     = "64-bit kernels do not save it"
	readOnly       = "floating-point and vector registers can only be read"
)

// refusedRegisters are operands of push r, pop r, push u and pop u that a probe in a user program cannot have. A name
// covers the register of that name and those with a number after it.
var refusedRegisters = []struct{ name, why string }{
	{"tr", kernelRegister}, {"ldtr", kernelRegister}, {"gdtr", kernelRegister}, {"idtr", kernelRegister},
	{"cr", kernelRegister}, {"msr", kernelRegister},
	{"dr", "it belongs to the debugger; use a data watchpoint: watch:PLACE/LEN/rw"},
	{"cpuid", "it describes the machine, not the probed process"},
	{"fcs", noSelector}, {"fds", noSelector},
}

// floatRegisters are registers that pop r and pop u cannot write.
var floatRegisters = []string{"fr", "fcw", "fsw", "ftw", "fip", "fdp", "xmm", "mxcsr", "fpcr", "fpsr", "fpscr"}

// isNumbered reports whether a register is called name, or name and a number.
func isNumbered(register, name string) bool {
	rest, ok := strings.CutPrefix(register, name)
	return ok && strings.Trim(rest, "0123456789") == ""
}

// refusedRegister returns why a command on a register is refused, or "".
func refusedRegister(command string) string {
	group, register, _ := strings.Cut(command, ",")
	switch group {
	case "push r", "pop r", "push u", "pop u":
	default:
		return ""
	}
	register = strings.TrimSpace(register)
	for _, r := range refusedRegisters {
		if isNumbered(register, r.name) {
			return r.why
		}
	}
	if strings.HasPrefix(group, "pop") && slices.ContainsFunc(floatRegisters, func(name string) bool { return isNumbered(register, name) }) {
		return readOnly
	}
	return ""
}

// Refused returns why gotap does not have a command of DProbes, or "" when DProbes has no such command either. A user
// with a definition file of DProbes learns why a line is refused, not that the command is unknown.
func Refused(command string) string {
	command = strings.Join(strings.Fields(strings.ReplaceAll(command, ", ", ",")), " ")
	for _, r := range refusals {
		if rest, ok := strings.CutPrefix(command, r.name); ok && (rest == "" || strings.ContainsAny(rest[:1], ", ")) {
			return r.why
		}
	}
	return refusedRegister(command)
}
