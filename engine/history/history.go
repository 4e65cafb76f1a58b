package history

import (
	"maps"
	"slices"
	"sync"

	"gotap/engine/image/jit"
	"gotap/engine/image/module"
	"gotap/engine/image/symbols"
)

// History is the processes of one session and what their files say.
type History struct {
	symbols.Files

	mu     sync.Mutex // guards all below
	mods   map[int][]module.Loaded
	living map[int]bool // processes that are traced now
	ended  []int        // others, in the order in which they ended; a number may come twice

	code      map[int]*jit.Process // processes that generate code
	endedCode []int                // those of them that ended, in that order; a number may come twice
	frames    interpreted
}

// Bounds of what is kept: records of more processes or modules than these never wait for their names.
const (
	maxEnded = 4096 // processes that have ended
	maxGone  = 256  // modules that a process has closed
)

// New returns an empty History.
func New() *History {
	return &History{mods: map[int][]module.Loaded{}, living: map[int]bool{}, code: map[int]*jit.Process{}}
}

// Keep notes the modules of a process. Those that it has closed are kept at the end of the list, the latest first, so
// that an address in such a library can be named as long as nothing else is mapped there.
func (h *History) Keep(pid int, mods []module.Loaded) {
	h.mu.Lock()
	defer h.mu.Unlock()
	gone := module.Added(mods, h.mods[pid])
	h.mods[pid] = slices.Concat(mods, gone[:min(len(gone), maxGone)])
	h.living[pid] = true
}

// Add notes a module that comes from no file, until another is mapped there.
func (h *History) Add(pid int, m module.Loaded) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.mods[pid] = slices.Concat(h.mods[pid], []module.Loaded{m})
}

// End notes that a process is traced no more. The process that ended longest ago is forgotten when there are too many.
func (h *History) End(pid int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.living, pid)
	h.endGenerated(pid)
	h.ended = append(h.ended, pid)
	if len(h.ended) <= maxEnded {
		return
	}
	oldest := h.ended[0]
	h.ended = h.ended[1:]
	if !h.living[oldest] && !slices.Contains(h.ended, oldest) {
		delete(h.mods, oldest)
	}
}

// Fork gives a child the modules of its parent.
func (h *History) Fork(parent, child int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.mods[child] = h.mods[parent]
	h.living[child] = true
}

// Mapped lists the files that processes map or mapped, those of the first process first.
func (h *History) Mapped() []*module.File {
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

// Modules lists the modules of a process, the main program first.
func (h *History) Modules(pid int) []module.Loaded {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.mods[pid])
}

// Symbol names an address of a process, which may have ended; of process 0, an address of the first process that has a
// module there.
func (h *History) Symbol(pid int, addr uint64) symbols.Symbol {
	m := h.find(pid, addr)
	if m == nil {
		return h.generated(pid, addr, addr)
	}
	return h.Name(m, addr)
}

// Stack names the addresses of a stack, innermost first: the first is an instruction, the others are return addresses.
// Calls that the compiler inlined become entries of their own.
func (h *History) Stack(pid int, pcs []uint64) []symbols.Symbol {
	find := func(addr uint64) *module.Loaded { return h.find(pid, addr) }
	return h.Files.StackWith(pcs, find, func(addr, at uint64) symbols.Symbol { return h.generated(pid, addr, at) })
}

// find returns the module at an address of a process, nil when it is not known.
func (h *History) find(pid int, addr uint64) *module.Loaded {
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
