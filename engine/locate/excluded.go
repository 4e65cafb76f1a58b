package locate

import (
	"cmp"
	"fmt"

	"gotap/engine/image/module"
	"gotap/engine/image/symname"
	"gotap/engine/place"
)

// Code on which no probe is placed, though it can be named. All other code mapped from a file may be probed, including
// the dynamic loader and the C library's innermost functions. Probe programs run in gotap's process and not in the
// target, so a probe on code that the engine itself makes the target call does not recurse.
//
//   - the vdso, code that the kernel maps into every process. No file has it, so that nothing could tell after a crash
//     what a breakpoint displaced. Functions of the C library for which the loader chooses code there (time,
//     gettimeofday) are refused with it;
//   - the vsyscall page, which is not memory of the process: the kernel itself makes its three calls, and what is there
//     cannot be written;
//   - gotap's own code, which is the fallback and the copies of displaced instructions: a breakpoint in a copy would
//     run in the middle of a hit, and one in the fallback when no session exists to handle it;
//   - addresses where no code is mapped from a file.
//
// A place that was named outright is refused with its reason. Where a pattern of modules means the vdso, a query
// reports that the vdso is left out.

// kernelModules are the names of code that the kernel maps, as /proc/PID/maps, ldd and debuggers show them.
var kernelModules = []string{"linux-vdso.so.1", "linux-gate.so.1", "[vdso]", "[vsyscall]"}

// Why code of the kernel in a process cannot be probed, and what can.
const (
	WhyVDSO     = "it is in the vdso, code of the kernel in the process, and no file has it to restore it from after a crash"
	whyVsyscall = "it is in the vsyscall page, which belongs to the kernel and cannot be written"
	helpKernel  = "the C library's function that calls it can be probed, as libc:clock_gettime; syscall:NAME sees what enters the kernel"
)

const (
	whyNoModule  = "no module is mapped there"
	helpNoModule = "an address without a module is one of the process; in a file it is written MODULE:0xADDRESS"
)

// noModule returns the error of an address of a process where no module is mapped.
func noModule(spec place.Spec) *place.RefusedError {
	return &place.RefusedError{Place: spec.String(), Reason: whyNoModule, Help: helpNoModule}
}

// InNoModule returns why nothing can be probed at an address of a process that is in none of its modules, by its
// mappings. own names what gotap has there, or returns "".
func InNoModule(spec place.Spec, maps []module.Mapping, own func() string) error {
	refused := noModule(spec)
	for _, m := range maps {
		if spec.Addr < m.Start || spec.Addr >= m.End {
			continue
		}
		switch {
		case m.Path == "[vdso]":
			refused.Reason, refused.Help = WhyVDSO, helpKernel
		case m.Path == "[vsyscall]":
			refused.Reason, refused.Help = whyVsyscall, helpKernel
		default:
			refused.Reason = cmp.Or(own(), notFromFile(m))
		}
	}
	return refused
}

// notFromFile describes a mapping without a module.
func notFromFile(m module.Mapping) string {
	kind := "data"
	if m.Exec {
		kind = "code made at run time, which may change any moment"
	}
	return fmt.Sprintf("what is mapped there (%s) comes from no program file: it is %s", cmp.Or(m.Path, "memory without a name"), kind)
}

// ExcludedModule refuses specifications of code that the kernel maps.
func ExcludedModule(spec place.Spec) error {
	if spec.Module == "" || symname.IsGlob(spec.Module) && spec.Module[0] != '[' {
		return nil
	}
	for _, name := range kernelModules {
		if spec.Module != name {
			continue
		}
		why := WhyVDSO
		if name == "[vsyscall]" {
			why = whyVsyscall
		}
		return &place.RefusedError{Place: spec.String(), Reason: why, Help: helpKernel}
	}
	return nil
}

// LeftOut says that a pattern of modules means the vdso too, which is left out; "" when it does not.
func LeftOut(spec place.Spec) string {
	if spec.Kind != place.Function || !symname.IsGlob(spec.Module) || !place.MatchModule(spec.Module, kernelModules[0]) {
		return ""
	}
	return kernelModules[0] + ": " + WhyVDSO
}
