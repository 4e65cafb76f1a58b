package engine

import (
	"cmp"
	"fmt"

	"gotap/engine/fallback"
	"gotap/engine/module"
	"gotap/engine/place"
)

// What no probe is placed on, though it can be named. Everything else that is mapped from a file may be probed, the dynamic loader
// and the C library's innermost functions included: programs run in this process and not in the target's, so a probe on what the
// engine itself has the target call does not recurse.
//
//   - the vdso: code that the kernel maps into every process. No file has it, so that nobody could tell after a crash what a
//     breakpoint displaced. Functions of the C library for which the loader chooses code there (time, gettimeofday) are refused with it;
//   - the vsyscall page: it is no memory of the process; the kernel itself makes its three calls, and what is there cannot be written;
//   - the fallback, and the copies of displaced instructions, both ours: a breakpoint in a copy would be run in the middle of a hit, and one in the
//     fallback when nobody is there to take it;
//   - addresses where no code is mapped from a file.
//
// A place named outright is refused with its reason; where a pattern of modules means the vdso, that is left out and told in a query.

// kernelModules are the names of code that the kernel maps, as /proc/PID/maps, ldd and debuggers have them.
var kernelModules = []string{"linux-vdso.so.1", "linux-gate.so.1", "[vdso]", "[vsyscall]"}

const (
	whyVDSO     = "it is in the vdso, code of the kernel in the process, of which there is no file to restore it from after a crash"
	whyVsyscall = "it is in the vsyscall page, which belongs to the kernel and cannot be written"
	helpKernel  = "the C library's function that calls it can be probed, as libc:clock_gettime; syscall:NAME sees what enters the kernel"
)

// excludedModule refuses specifications of code that the kernel maps.
func excludedModule(spec place.Spec) error {
	if spec.Module == "" || module.IsGlob(spec.Module) && spec.Module[0] != '[' {
		return nil
	}
	for _, name := range kernelModules {
		if spec.Module != name {
			continue
		}
		why := whyVDSO
		if name == "[vsyscall]" {
			why = whyVsyscall
		}
		return &place.RefusedError{Place: spec.String(), Reason: why, Help: helpKernel}
	}
	return nil
}

// leaveOutKernel notes that a pattern of modules means the vdso too, which is left out. Tracing thread.
func leaveOutKernel(pr *probe, spec place.Spec) {
	if spec.Kind != place.Function || !module.IsGlob(spec.Module) || !place.MatchModule(spec.Module, kernelModules[0]) {
		return
	}
	pr.Refuse(kernelModules[0] + ": " + whyVDSO)
}

// excludedAddress says why nothing can be probed at an address of a process that is in no module.
func (s *Session) excludedAddress(pid int, spec place.Spec) error {
	refused := &place.RefusedError{Place: spec.String(), Reason: "no module is mapped there",
		Help: "an address without a module is one of the process; in a file it is written MODULE:0xADDRESS"}
	maps, _ := module.Maps(pid) // a process that has gone has none
	for _, m := range maps {
		if spec.Addr < m.Start || spec.Addr >= m.End {
			continue
		}
		switch {
		case m.Path == "[vdso]":
			refused.Reason, refused.Help = whyVDSO, helpKernel
		case m.Path == "[vsyscall]":
			refused.Reason, refused.Help = whyVsyscall, helpKernel
		default:
			refused.Reason = cmp.Or(s.ownMemory(pid, spec.Addr), notFromFile(m))
		}
	}
	return refused
}

// notFromFile describes a mapping in which there is no module.
func notFromFile(m module.Mapping) string {
	kind := "data"
	if m.Exec {
		kind = "code made at run time, which may change any moment"
	}
	return fmt.Sprintf("what is mapped there (%s) comes from no program file: it is %s", cmp.Or(m.Path, "memory without a name"), kind)
}

// ownMemory says what of ours is at an address of a process; "" when nothing is.
func (s *Session) ownMemory(pid int, addr uint64) (what string) {
	s.do(func() error {
		p := s.procs[pid]
		if p == nil {
			return nil
		}
		sp := p.space
		if sp.guard.base != 0 && addr-sp.guard.base < fallback.Size {
			what = "it is gotap's own: the handler that keeps the process alive should gotap be killed"
		}
		for _, pool := range sp.slots.pools {
			if addr >= pool.start && addr < pool.end {
				what = "it is gotap's own: copies of instructions under breakpoints"
			}
		}
		return nil
	})
	return what
}
