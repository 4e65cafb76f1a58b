package remote

import (
	"errors"

	"gotap/engine/image/module"
	"gotap/engine/image/symbols"
)

// Symbol returns the names of an address of the target.
func (s *Session) Symbol(_ int, addr uint64) symbols.Symbol { return s.names.Symbol(0, addr) }

// Stack returns the names of the addresses of a stack, innermost first: see package history.
func (s *Session) Stack(_ int, pcs []uint64) []symbols.Symbol { return s.names.Stack(0, pcs) }

// setModules records the modules that the target maps, the program first.
func (s *Session) setModules(mods []module.Loaded) {
	s.mods = mods
	s.names.Keep(0, mods)
}

// ReadMemory reads the target's memory, and stops the target for it; it returns how many bytes could be read.
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
