package engine

// Symbol returns the names of an address of a process, which may have ended. Any goroutine may call it.
func (s *Session) Symbol(pid int, addr uint64) Symbol { return s.names.Symbol(pid, addr) }

// Stack returns the names of the addresses of a stack, innermost first: see package history. Any goroutine may use it.
func (s *Session) Stack(pid int, pcs []uint64) []Symbol { return s.names.Stack(pid, pcs) }

// FreshMissing returns errors about what is not shown for want of debug information or code: see locate.Locator.Fresh.
func (s *Session) FreshMissing() []error { return s.places.Fresh() }

// ReadMemory reads memory of a process that still exists, stopped or not, and returns how many bytes it could read.
// Any goroutine may call it, but not the session's callbacks.
func (s *Session) ReadMemory(pid int, addr uint64, p []byte) int {
	n := 0
	s.do(func() error {
		if proc := s.procs[pid]; proc != nil {
			if t := proc.anyThread(); t != nil {
				proc.space.Mem.Use(t.Tid)
			}
			n = proc.space.Read(addr, p)
		}
		return nil
	})
	return n
}

// anyThread returns some thread of the process, or nil if there is none.
func (p *process) anyThread() *thread {
	for _, t := range p.threads {
		return t
	}
	return nil
}
