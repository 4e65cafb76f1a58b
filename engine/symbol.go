package engine

import (
	"gotap/engine/image/module"
	"gotap/engine/image/unwind"
)

// tableOf is the call-frame information of a file, without a lock for the tracing thread after the first time.
func (s *Session) tableOf(f *module.File) *unwind.Table {
	if t, ok := s.tables[f]; ok {
		return t
	}
	t := s.names.Table(f)
	s.tables[f] = t
	return t
}

// Symbol names an address of a process, which may have ended. Any goroutine may call it.
func (s *Session) Symbol(pid int, addr uint64) Symbol { return s.names.Symbol(pid, addr) }

// Stack names the addresses of a stack, innermost first: see package history. Any goroutine may call it.
func (s *Session) Stack(pid int, pcs []uint64) []Symbol { return s.names.Stack(pid, pcs) }

// Modules lists what a process maps, the main program first.
func (s *Session) Modules(pid int) []module.Loaded { return s.names.Modules(pid) }

// ReadMemory reads memory of a process that still exists, stopped or not; it returns how many bytes could be
// read. Any goroutine may call it, except from the callbacks of the session.
func (s *Session) ReadMemory(pid int, addr uint64, p []byte) int {
	n := 0
	s.do(func() error {
		if proc := s.procs[pid]; proc != nil {
			if t := proc.anyThread(); t != nil {
				proc.space.mem.Use(t.tid)
			}
			n = proc.space.read(addr, p)
		}
		return nil
	})
	return n
}

// anyThread is any thread of the process.
func (p *process) anyThread() *thread {
	for _, t := range p.threads {
		return t
	}
	return nil
}
