package remote

import (
	"bytes"
	"debug/elf"
	"path/filepath"
	"strings"

	"gotap/engine/backend"
	"gotap/engine/image/module"
	"gotap/engine/place"
)

// loader watches the target's dynamic loader for new modules. It has a breakpoint on the function that every loader
// calls for debuggers before and after it changes its list (r_brk of struct r_debug, System V ABI). The control's lock
// guards it.
type loader struct {
	s       *Session
	dynamic uint64 // address of the program's dynamic section; 0: the program is static
	seen    bool   // the loader has listed libraries
}

// pending reports whether a place may be in a library that has not been loaded yet.
func (l *loader) pending(spec place.Spec) bool {
	return l.dynamic != 0 && !l.seen && spec.Module != ""
}

// replaced forgets the loader: the target runs another program.
func (l *loader) replaced() { l.dynamic, l.seen = 0, false }

// find finds the loader of a program, if it has one, and watches it for libraries.
func (l *loader) find(file *module.File, aux map[uint64]uint64) {
	s := l.s
	name, _, err := file.Section(".interp")
	if s.stub.kernel || err != nil || len(name) == 0 {
		return
	}
	path := string(bytes.TrimRight(name, "\x00"))
	for _, p := range file.ELF().Progs {
		if p.Type == elf.PT_DYNAMIC {
			l.dynamic = s.program.mods[0].Addr(p.Vaddr)
		}
	}
	ld, err := s.program.open(path)
	if err != nil {
		s.report.warn("%v: libraries are not probed", err)
		return
	}
	if base := aux[auxBase]; base != 0 {
		s.program.add(s.program.loaded(ld, base))
		l.watch(&s.program.mods[len(s.program.mods)-1])
	}
	l.readList()
}

// watch places a breakpoint on the loader's function.
func (l *loader) watch(ld *module.Loaded) {
	addr, ok := ld.ListChanged()
	if !ok {
		return
	}
	p, err := l.s.points.get(addr, nil)
	if err == nil {
		p.internal = l.readList
		err = p.Sync()
	}
	if err != nil {
		l.s.report.warn("libraries that are loaded later are not probed: %v", err)
	}
}

// Constants for the loader's list (struct r_debug, struct link_map).
const (
	tagDebug   = 21   // DT_DEBUG
	maxModules = 4096 // limit in case the list is broken
)

// readList adds the modules that the loader lists, and arms all probes in the new ones.
func (l *loader) readList() {
	mem := l.s.mem
	w := uint64(l.s.stub.isa.WordSize())
	debug := l.debugAddress()
	if debug == 0 {
		return
	}
	entry, _ := mem.Pointer(debug + w)
	for n := 0; entry != 0 && n < maxModules; n++ {
		bias, _ := mem.Pointer(entry)
		name, _ := mem.Pointer(entry + w)
		if path := mem.Text(name); strings.HasPrefix(path, "/") {
			l.seen = true
			l.appeared(filepath.Clean(path), bias)
		}
		entry, _ = mem.Pointer(entry + 3*w)
	}
}

// debugAddress returns the address of the loader's list: the value of an entry of the program's dynamic section,
// which is 0 until the loader fills it in.
func (l *loader) debugAddress() uint64 {
	mem := l.s.mem
	w := uint64(l.s.stub.isa.WordSize())
	for at := l.dynamic; at != 0; at += 2 * w {
		tag, ok := mem.Pointer(at)
		if !ok || tag == 0 {
			return 0
		}
		if tag == tagDebug {
			v, _ := mem.Pointer(at + w)
			return v
		}
	}
	return 0
}

// appeared adds one module.
func (l *loader) appeared(path string, bias uint64) {
	s := l.s
	for i := range s.program.mods {
		if s.program.mods[i].Bias == bias && filepath.Base(s.program.mods[i].Path) == filepath.Base(path) {
			return
		}
	}
	f, err := s.program.open(path)
	if err != nil {
		s.report.warn("%v: it is not probed", err)
		return
	}
	for i := range s.program.mods {
		if s.program.mods[i].File == f && s.program.mods[i].Bias == bias {
			return
		}
	}
	s.program.add(s.program.loaded(f, bias))
	s.report.notify(backend.Event{Kind: backend.EventModule, Tid: s.threads.pid(), Path: path})
	s.Appeared(tracer{s}, s.program.mods[len(s.program.mods)-1:])
}
