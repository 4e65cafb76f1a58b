package compile

import (
	"slices"
	"strings"

	"gotap/compile/spelling"
)

// refusals are the commands of DProbes that this machine knows of and does not have, with the
// reason. A name stands for itself and for the same with operands.
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
	noSelector     = "64-bit kernels do not keep it"
	readOnly       = "floating-point and vector registers are read, and not written"
)

// refusedRegisters are the operands of push r, pop r, push u and pop u that a probe in a user
// program cannot have. A name stands for itself and for the same with a number behind it.
var refusedRegisters = []struct{ name, why string }{
	{"tr", kernelRegister}, {"ldtr", kernelRegister}, {"gdtr", kernelRegister}, {"idtr", kernelRegister},
	{"cr", kernelRegister}, {"msr", kernelRegister},
	{"dr", "it is the debugger's; a data watchpoint is a place of its own, watch:PLACE/LEN/rw"},
	{"cpuid", "it tells of the machine, and nothing of the probed process"},
	{"fcs", noSelector}, {"fds", noSelector},
}

// floatRegisters are those of which pop r and pop u are refused as well.
var floatRegisters = []string{"fr", "fcw", "fsw", "ftw", "fip", "fdp", "xmm", "mxcsr", "fpcr", "fpsr", "fpscr"}

// isNumbered reports whether a register has a name, or the same with a number behind it.
func isNumbered(register, name string) bool {
	rest, ok := strings.CutPrefix(register, name)
	return ok && strings.Trim(rest, "0123456789") == ""
}

// refusedRegister is why a command on a register is not to be had, or nothing.
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

// Refused is why a command of DProbes is not to be had here, or nothing when there is no such
// command either. Someone who brings a definition file from there must learn why a line is
// refused, and not that it is unknown.
func Refused(command string) string {
	command = strings.Join(strings.Fields(strings.ReplaceAll(command, ", ", ",")), " ")
	for _, r := range refusals {
		if rest, ok := strings.CutPrefix(command, r.name); ok && (rest == "" || strings.ContainsAny(rest[:1], ", ")) {
			return r.why
		}
	}
	return refusedRegister(command)
}

// Nearest is the name closest to a misspelt one, or nothing when none is close.
// The limit grows with the length of the word: one slip in four letters, two in seven.
func Nearest(typed string, known []string) string {
	word, _, _ := strings.Cut(typed, ",")
	best, least := "", len(word)/3+2
	for _, name := range known {
		if d := spelling.Distance(word, name, least-1); d < least {
			best, least = name, d
		}
	}
	return best
}
