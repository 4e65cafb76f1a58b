package engine

import (
	"gotap/engine/image/module"
	"gotap/engine/locate"
	"gotap/engine/place"
)

// excludedAddress returns why nothing can be probed at an address of a process that is in no module.
func (s *Session) excludedAddress(pid int, spec place.Spec) error {
	maps, _ := module.Maps(pid) // a process that has ended has none
	return locate.InNoModule(spec, maps, func() string { return s.ownMemory(pid, spec.Addr) })
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
