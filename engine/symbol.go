package engine

import (
	"maps"
	"slices"
	"sync"

	"gotap/engine/module"
	"gotap/engine/symbols"
	"gotap/engine/unwind"
)

// Symbol is an address with its names.
type Symbol = symbols.Symbol

// history keeps what it takes to name addresses of processes, also of those that have ended, and what files say of their code. It
// is safe for concurrent use.
type history struct {
	symbols.Files
	mu     sync.Mutex
	mods   map[int][]module.Loaded
	living map[int]bool // processes that are traced now
	ended  []int        // others, in the order in which they ended; a number may come twice
}

// What is kept of what is gone: more than ever waits for being told, and not so much that a session of days, which sees a million
// processes, fills the memory.
const (
	mostEnded = 4096 // processes
	mostGone  = 256  // modules of a process
)

func newHistory() *history { return &history{mods: map[int][]module.Loaded{}, living: map[int]bool{}} }

// keep notes the modules of a process. Those that have gone are kept at the end of the list, the latest first, so that an address in
// a library that was closed can be named as long as nothing else is mapped there.
func (h *history) keep(pid int, mods []module.Loaded) {
	h.mu.Lock()
	defer h.mu.Unlock()
	gone := fresh(mods, h.mods[pid])
	h.mods[pid] = slices.Concat(mods, gone[:min(len(gone), mostGone)])
	h.living[pid] = true
}

// add notes a module that is no file's, until another is mapped there.
func (h *history) add(pid int, m module.Loaded) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.mods[pid] = slices.Concat(h.mods[pid], []module.Loaded{m})
}

// end notes that a process is traced no more. What is known of the one that ended longest ago makes room.
func (h *history) end(pid int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.living, pid)
	h.ended = append(h.ended, pid)
	if len(h.ended) <= mostEnded {
		return
	}
	oldest := h.ended[0]
	h.ended = h.ended[1:]
	if !h.living[oldest] && !slices.Contains(h.ended, oldest) {
		delete(h.mods, oldest)
	}
}

// files lists the files that processes map or mapped, those of the first process first.
func (h *history) files() []*module.File {
	h.mu.Lock()
	defer h.mu.Unlock()
	var all []*module.File
	seen := map[*module.File]bool{}
	for _, pid := range slices.Sorted(maps.Keys(h.mods)) {
		for _, m := range h.mods[pid] {
			if m.File != nil && m.Err == nil && !seen[m.File] {
				seen[m.File] = true
				all = append(all, m.File)
			}
		}
	}
	return all
}

// fork gives a child the modules of its parent.
func (h *history) fork(parent, child int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.mods[child] = h.mods[parent]
	h.living[child] = true
}

// find is the module of a process at an address; of process 0, that of the first process that has one there.
func (h *history) find(pid int, addr uint64) *module.Loaded {
	h.mu.Lock()
	defer h.mu.Unlock()
	m := module.Find(h.mods[pid], addr)
	for _, p := range slices.Sorted(maps.Keys(h.mods)) {
		if pid == 0 && m == nil {
			m = module.Find(h.mods[p], addr)
		}
	}
	if m == nil || m.File == nil || m.Err != nil {
		return nil
	}
	return m
}

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
func (s *Session) Symbol(pid int, addr uint64) Symbol {
	return s.names.Name(s.names.find(pid, addr), addr)
}

// Stack names the addresses of a stack, innermost first: the first is an instruction, the others are return addresses. Calls that
// the compiler inlined become entries of their own. Any goroutine may call it.
func (s *Session) Stack(pid int, pcs []uint64) []Symbol {
	return s.names.Stack(pcs, func(addr uint64) *module.Loaded { return s.names.find(pid, addr) })
}

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

// Modules lists what a process maps, the main program first.
func (s *Session) Modules(pid int) []module.Loaded {
	s.names.mu.Lock()
	defer s.names.mu.Unlock()
	return append([]module.Loaded(nil), s.names.mods[pid]...)
}
