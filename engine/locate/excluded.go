package locate

import (
	"gotap/engine/image/symname"
	"gotap/engine/place"
)

// Code of the kernel in a process, which cannot be probed though it can be named:
//
//   - the vdso, code that the kernel maps into every process. No file has it, so that nothing could tell after a crash
//     what a breakpoint displaced. Functions of the C library for which the loader chooses code there (time,
//     gettimeofday) are refused with it;
//   - the vsyscall page, which is not memory of the process: the kernel itself makes its three calls, and what is there
//     cannot be written.
//
// A place that was named outright is refused with its reason. Where a pattern of modules means the vdso, a query
// reports that the vdso is left out.

// kernelModules are the names of code that the kernel maps, as /proc/PID/maps, ldd and debuggers show them.
var kernelModules = []string{"linux-vdso.so.1", "linux-gate.so.1", "[vdso]", "[vsyscall]"}

// Why code of the kernel in a process cannot be probed, and what can.
const (
	WhyVDSO     = "it is in the vdso, code of the kernel in the process, and no file has it to restore it from after a crash"
	WhyVsyscall = "it is in the vsyscall page, which belongs to the kernel and cannot be written"
	HelpKernel  = "the C library's function that calls it can be probed, as libc:clock_gettime; syscall:NAME sees what enters the kernel"
)

const (
	whyNoModule  = "no module is mapped there"
	helpNoModule = "an address without a module is one of the process; in a file it is written MODULE:0xADDRESS"
)

// NoModule returns the error of an address of a process where no module is mapped.
func NoModule(spec place.Spec) *place.RefusedError {
	return &place.RefusedError{Place: spec.String(), Reason: whyNoModule, Help: helpNoModule}
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
			why = WhyVsyscall
		}
		return &place.RefusedError{Place: spec.String(), Reason: why, Help: HelpKernel}
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
