package remote

import (
	"errors"

	"gotap/engine/image/symbols"
	"gotap/engine/remote/control"
)

// Symbol returns the names of an address of the target.
func (s *Session) Symbol(_ int, addr uint64) symbols.Symbol { return s.program.names.Symbol(0, addr) }

// Stack returns the names of the addresses of a stack, innermost first: see package history.
func (s *Session) Stack(_ int, pcs []uint64) []symbols.Symbol { return s.program.names.Stack(0, pcs) }

// FreshMissing returns errors about what is not shown for want of debug information or code: see locate.Locator.Fresh.
func (s *Session) FreshMissing() []error { return s.places.Fresh() }

// ReadMemory reads the target's memory, and stops the target for it; it returns how many bytes could be read.
func (s *Session) ReadMemory(_ int, addr uint64, p []byte) (n int) {
	err := s.held(func() error {
		n = s.mem.Read(s.stub.isa.Address(addr), p)
		return nil
	})
	if errors.Is(err, control.ErrNoStop) {
		return 0
	}
	return n
}
