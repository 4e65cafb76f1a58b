package engine

import (
	"debug/elf"
	"maps"
	"slices"
	"sync"

	"gotap/engine/debuginfo"
	"gotap/engine/debuginfo/image"
	"gotap/engine/module"
	"gotap/engine/place"
	"gotap/engine/ptrace"
	"gotap/engine/unwind"
)

// Symbol is an address with its names; unknown parts are empty.
type Symbol struct {
	Addr   uint64
	Func   string
	Offset uint64 // of Addr in Func
	Module string // path of the file
	File   string // source
	Line   int
}

// history keeps what it takes to name addresses of processes, also of those that have ended, and the debug information of
// files. It is safe for concurrent use.
type history struct {
	mu    sync.Mutex
	mods  map[int][]module.Loaded
	infos map[*module.File]*debuginfo.Info
	cfi   map[*module.File]*unwind.Table
	open  []*image.Image
}

func newHistory() *history {
	return &history{mods: map[int][]module.Loaded{}, infos: map[*module.File]*debuginfo.Info{}, cfi: map[*module.File]*unwind.Table{}}
}

// keep notes the modules of a process. Those that have gone are kept at the end of the list, so that an address in a library
// that was closed can be named as long as nothing else is mapped there.
func (h *history) keep(pid int, mods []module.Loaded) {
	h.mu.Lock()
	defer h.mu.Unlock()
	old := h.mods[pid]
	now := append([]module.Loaded(nil), mods...)
	now = append(now, fresh(mods, old)...)
	h.mods[pid] = now
}

// fork gives a child the modules of its parent.
func (h *history) fork(parent, child int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.mods[child] = h.mods[parent]
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

// elfFile gives a module's file the form that packages unwind and debuginfo read.
type elfFile struct{ *module.File }

func (f elfFile) Machine() elf.Machine { return f.File.Machine }

// info is the debug information of a file, its separate debug file included. It is never nil, and says itself when there is none.
func (h *history) info(f *module.File) *debuginfo.Info {
	h.mu.Lock()
	defer h.mu.Unlock()
	if in := h.infos[f]; in != nil {
		return in
	}
	sources := []debuginfo.File{h.source(f)}
	if d := f.Debug(); d != nil {
		sources = append(sources, h.source(d))
	}
	in, _ := debuginfo.Open(sources...)
	h.infos[f] = in
	return in
}

// source maps a file for reading, or reads it as the module does where it cannot be opened again by its name.
func (h *history) source(f *module.File) debuginfo.File {
	img, err := image.Open(f.OpenPath())
	if err != nil {
		return elfFile{f}
	}
	h.open = append(h.open, img)
	return img
}

// table is the call-frame information of a file.
func (h *history) table(f *module.File) *unwind.Table {
	h.mu.Lock()
	defer h.mu.Unlock()
	t, ok := h.cfi[f]
	if !ok {
		t, _ = unwind.New(elfFile{f})
		h.cfi[f] = t
	}
	return t
}

// tableOf is the call-frame information of a file, without a lock for the tracing thread after the first time.
func (s *Session) tableOf(f *module.File) *unwind.Table {
	if t, ok := s.tables[f]; ok {
		return t
	}
	t := s.names.table(f)
	s.tables[f] = t
	return t
}

// lines is the line table of a file for package place.
func (s *Session) lines(f *module.File) (place.Lines, error) {
	in := s.names.info(f)
	if in == nil || !in.Has() {
		return nil, nil
	}
	return in, nil
}

// Symbol names an address of a process, which may have ended. Any goroutine may call it.
func (s *Session) Symbol(pid int, addr uint64) Symbol {
	sym := Symbol{Addr: addr}
	m := s.names.find(pid, addr)
	if m == nil {
		return sym
	}
	sym.Module = m.Path
	vaddr := m.Vaddr(addr)
	if fn, ok := m.File.FuncAt(vaddr); ok {
		sym.Func, sym.Offset = fn.Demangled(), vaddr-fn.Addr
	}
	if in := s.names.info(m.File); in != nil && in.Has() {
		if file, line, _, err := in.LineAt(vaddr); err == nil {
			sym.File, sym.Line = file, line
		}
	}
	return sym
}

// Stack names the addresses of a stack, innermost first: the first is an instruction, the others are return addresses,
// which are looked up one byte before. Calls that the compiler inlined become entries of their own.
func (s *Session) Stack(pid int, pcs []uint64) []Symbol {
	var all []Symbol
	for i, pc := range pcs {
		at := pc
		if i > 0 {
			at--
		}
		all = append(all, s.frames(pid, pc, at)...)
	}
	return all
}

// frames names one address, as one entry for each function that it belongs to.
func (s *Session) frames(pid int, pc, at uint64) []Symbol {
	sym := s.Symbol(pid, at)
	sym.Addr, sym.Offset = pc, sym.Offset+pc-at
	m := s.names.find(pid, at)
	if m == nil {
		return []Symbol{sym}
	}
	in := s.names.info(m.File)
	if in == nil || !in.Has() {
		return []Symbol{sym}
	}
	inlined, err := in.FramesAt(m.Vaddr(at))
	if err != nil || len(inlined) < 2 {
		return []Symbol{sym}
	}
	var all []Symbol
	for i, f := range inlined {
		e := Symbol{Addr: pc, Func: f.Func, Module: m.Path, File: f.File, Line: f.Line}
		if i == len(inlined)-1 {
			e.Func, e.Offset = sym.Func, sym.Offset
		}
		all = append(all, e)
	}
	return all
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

var _ = ptrace.Now
