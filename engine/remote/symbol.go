package remote

import (
	"errors"

	"gotap/engine"
	"gotap/engine/module"
)

// Symbol names an address of the target.
func (s *Session) Symbol(_ int, addr uint64) engine.Symbol {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.files.Name(s.moduleAt(addr), addr)
}

// Stack names the addresses of a stack, innermost first: the first is an instruction, the others are return addresses. Calls that
// the compiler inlined become entries of their own.
func (s *Session) Stack(_ int, pcs []uint64) []engine.Symbol {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.files.Stack(pcs, s.moduleAt)
}

// moduleAt is the module at an address of the target; nil when none is known there.
func (s *Session) moduleAt(addr uint64) *module.Loaded { return module.Find(s.mods, addr) }

// ReadMemory reads the target's memory, which is stopped for it; it returns how many bytes could be read.
func (s *Session) ReadMemory(_ int, addr uint64, p []byte) (n int) {
	err := s.held(func() error {
		n = s.mem.read(s.isa.Address(addr), p)
		return nil
	})
	if errors.Is(err, errNoStop) {
		return 0
	}
	return n
}
