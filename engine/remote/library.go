package remote

import (
	"debug/elf"
	"errors"
	"sync"

	"gotap/engine"
	"gotap/engine/debuginfo"
	"gotap/engine/debuginfo/image"
	"gotap/engine/module"
	"gotap/engine/place"
	"gotap/engine/unwind"
)

// library is the files of a target with what is known of them. They stay open: addresses are named after the target has gone, too. It is safe
// for concurrent use.
type library struct {
	mu    sync.Mutex
	files map[string]*module.File
	infos map[*module.File]*debuginfo.Info
	cfi   map[*module.File]*unwind.Table
	open  []*image.Image
}

func newLibrary() *library {
	return &library{files: map[string]*module.File{}, infos: map[*module.File]*debuginfo.Info{}, cfi: map[*module.File]*unwind.Table{}}
}

// file opens a file once.
func (l *library) file(path string) (*module.File, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if f := l.files[path]; f != nil {
		return f, nil
	}
	f, err := module.Open(path)
	if err == nil {
		l.files[path] = f
	}
	return f, err
}

// elfFile gives a module's file the form that packages unwind and debuginfo read.
type elfFile struct{ *module.File }

// Machine is the processor that the file is for.
func (f elfFile) Machine() elf.Machine { return f.File.Machine }

// info is the debug information of a file, its separate debug file included; it is never nil.
func (l *library) info(f *module.File) *debuginfo.Info {
	l.mu.Lock()
	defer l.mu.Unlock()
	if in := l.infos[f]; in != nil {
		return in
	}
	sources := []debuginfo.File{l.source(f)}
	if d := f.Debug(); d != nil {
		sources = append(sources, l.source(d))
	}
	in, _ := debuginfo.Open(sources...)
	l.infos[f] = in
	return in
}

// source maps a file for reading, or reads it as the module does where it is no file of its own.
func (l *library) source(f *module.File) debuginfo.File {
	img, err := image.Open(f.OpenPath())
	if err != nil {
		return elfFile{f}
	}
	l.open = append(l.open, img)
	return img
}

// table is the call-frame information of a file; nil when it has none.
func (l *library) table(f *module.File) *unwind.Table {
	l.mu.Lock()
	defer l.mu.Unlock()
	t, ok := l.cfi[f]
	if !ok {
		t, _ = unwind.New(elfFile{f})
		l.cfi[f] = t
	}
	return t
}

// lines is the line table of a file for package place.
func (l *library) lines(f *module.File) (place.Lines, error) {
	in := l.info(f)
	if in == nil || !in.Has() {
		return nil, nil
	}
	return in, nil
}

// symbol names an address of the target.
func (s *Session) symbol(addr uint64) engine.Symbol {
	sym := engine.Symbol{Addr: addr}
	m := module.Find(s.mods, addr)
	if m == nil || m.File == nil || m.Err != nil {
		return sym
	}
	sym.Module = m.Path
	vaddr := m.Vaddr(addr)
	if fn, ok := m.File.FuncAt(vaddr); ok {
		sym.Func, sym.Offset = fn.Demangled(), vaddr-fn.Addr
	}
	if in := s.files.info(m.File); in != nil && in.Has() {
		if file, line, _, err := in.LineAt(vaddr); err == nil {
			sym.File, sym.Line = file, line
		}
	}
	return sym
}

// Symbol names an address of the target.
func (s *Session) Symbol(_ int, addr uint64) engine.Symbol {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.symbol(addr)
}

// Stack names the addresses of a stack, innermost first: the first is an instruction, the others are return addresses, which are
// looked up one byte before. Calls that the compiler inlined become entries of their own.
func (s *Session) Stack(_ int, pcs []uint64) []engine.Symbol {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []engine.Symbol
	for i, pc := range pcs {
		at := pc - uint64(min(i, 1))
		sym := s.symbol(at)
		sym.Addr, sym.Offset = pc, sym.Offset+pc-at
		all = append(all, s.inlined(sym, at)...)
	}
	return all
}

// inlined is the entries of one address, one for each function that it belongs to.
func (s *Session) inlined(sym engine.Symbol, at uint64) []engine.Symbol {
	m := module.Find(s.mods, at)
	if m == nil || m.File == nil || m.Err != nil {
		return []engine.Symbol{sym}
	}
	in := s.files.info(m.File)
	if in == nil || !in.Has() {
		return []engine.Symbol{sym}
	}
	frames, err := in.FramesAt(m.Vaddr(at))
	if err != nil || len(frames) < 2 {
		return []engine.Symbol{sym}
	}
	var all []engine.Symbol
	for i, f := range frames {
		e := engine.Symbol{Addr: sym.Addr, Func: f.Func, Module: m.Path, File: f.File, Line: f.Line}
		if i == len(frames)-1 {
			e.Func, e.Offset = sym.Func, sym.Offset
		}
		all = append(all, e)
	}
	return all
}

// ReadMemory reads the target's memory, which is stopped for it; it returns how many bytes could be read.
func (s *Session) ReadMemory(_ int, addr uint64, p []byte) (n int) {
	err := s.held(func() error {
		n = s.mem.read(s.wrap(addr), p)
		return nil
	})
	if errors.Is(err, errNoStop) {
		return 0
	}
	return n
}
