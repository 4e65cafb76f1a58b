package engine

import (
	"cmp"
	"fmt"

	"gotap/engine/image/module"
	"gotap/engine/locate"
	"gotap/engine/place"
)

// Code on which no probe is placed, though it can be named. All other code mapped from a file may be probed, including
// the dynamic loader and the C library's innermost functions. Probe programs run in this process and not in the target,
// so a probe on code that the engine itself makes the target call does not recurse.
//
//   - code of the kernel in the process, the vdso and the vsyscall page: see package locate;
//   - gotap's own code, which is the fallback and the copies of displaced instructions: a breakpoint in a copy would
//     run in the middle of a hit, and one in the fallback when no session exists to handle it;
//   - addresses where no code is mapped from a file.

// excludedAddress returns why nothing can be probed at an address of a process that is in no module.
func (s *Session) excludedAddress(pid int, spec place.Spec) error {
	refused := locate.NoModule(spec)
	maps, _ := module.Maps(pid) // a process that has ended has none
	for _, m := range maps {
		if spec.Addr < m.Start || spec.Addr >= m.End {
			continue
		}
		switch {
		case m.Path == "[vdso]":
			refused.Reason, refused.Help = locate.WhyVDSO, locate.HelpKernel
		case m.Path == "[vsyscall]":
			refused.Reason, refused.Help = locate.WhyVsyscall, locate.HelpKernel
		default:
			refused.Reason = cmp.Or(s.ownMemory(pid, spec.Addr), notFromFile(m))
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

// ownMemory names what gotap has at an address of a process, or returns "" if it has nothing there.
func (s *Session) ownMemory(pid int, addr uint64) (what string) {
	s.do(func() error {
		p := s.procs[pid]
		if p == nil {
			return nil
		}
		sp := p.space
		if sp.Guard.Contains(addr) {
			what = "it is gotap's own: the handler that keeps the process alive should gotap be killed"
		}
		if sp.HasSlots(addr) {
			what = "it is gotap's own: copies of instructions under breakpoints"
		}
		return nil
	})
	return what
}
