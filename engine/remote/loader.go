package remote

import (
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"gotap/engine/backend"
	"gotap/engine/image/module"
	"gotap/engine/place"
)

// loaderWatch is the breakpoint in the dynamic loader that reports new modules: it is on the function that every
// loader calls for debuggers before and after it changes its list (r_brk of struct r_debug, System V ABI).
type loaderWatch struct {
	root    string // local directory that stands for the target's root
	dynamic uint64 // address of the program's dynamic section; 0: the program is static
	seen    bool   // the loader has listed libraries
}

// pending reports whether a place may be in a library that has not been loaded yet.
func (l *loaderWatch) pending(spec place.Spec) bool {
	return l.dynamic != 0 && !l.seen && spec.Module != ""
}

// watchLoader finds the loader of a program, if it has one, and watches it for libraries.
func (s *Session) watchLoader(file *module.File, aux map[uint64]uint64) error {
	name, _, err := file.Section(".interp")
	if s.kernel || err != nil || len(name) == 0 {
		return nil
	}
	path := string(bytes.TrimRight(name, "\x00"))
	for _, p := range file.ELF().Progs {
		if p.Type == elf.PT_DYNAMIC {
			s.loader.dynamic = s.mods[0].Addr(p.Vaddr)
		}
	}
	ld, err := s.local(path)
	if err != nil {
		s.warn("%v: libraries are not probed", err)
		return nil
	}
	if base := aux[auxBase]; base != 0 {
		s.setModules(append(s.mods, s.loaded(ld, base)))
		s.watchList(&s.mods[len(s.mods)-1])
	}
	s.readList()
	return nil
}

// watchList places a breakpoint on the loader's function.
func (s *Session) watchList(ld *module.Loaded) {
	addr, ok := ld.ListChanged()
	if !ok {
		return
	}
	p, err := s.pointAt(addr, nil)
	if err == nil {
		p.internal = s.readList
		err = s.sync(p)
	}
	if err != nil {
		s.warn("libraries that are loaded later are not probed: %v", err)
	}
}

// roots lists where the files of a program for another processor may be: the directories of Debian's cross
// compilers.
var roots = map[elf.Machine][]string{
	elf.EM_X86_64:  {"", "/usr/x86_64-linux-gnu"},
	elf.EM_386:     {"", "/usr/i686-linux-gnu"},
	elf.EM_ARM:     {"", "/usr/arm-linux-gnueabihf", "/usr/arm-linux-gnueabi"},
	elf.EM_AARCH64: {"", "/usr/aarch64-linux-gnu"},
}

// local opens the local file that corresponds to a path on the target.
func (s *Session) local(path string) (*module.File, error) {
	places := roots[s.isa.Machine]
	if s.loader.root != "" {
		places = append([]string{s.loader.root}, places...)
	}
	if prefix := os.Getenv("QEMU_LD_PREFIX"); prefix != "" {
		places = append([]string{prefix}, places...)
	}
	for _, root := range places {
		if root != "" && strings.HasPrefix(path, root+"/") {
			root = ""
		}
		f, err := s.modules.OpenPath(root + path)
		if err == nil && f.Machine == s.isa.Machine {
			s.loader.root = root
			return f, nil
		}
	}
	return nil, fmt.Errorf("cannot find the target's %s here", path)
}

// Constants for the loader's list (struct r_debug, struct link_map).
const (
	tagDebug   = 21   // DT_DEBUG
	maxModules = 4096 // limit in case the list is broken
)

// readList adds the modules that the loader lists, and arms all probes in the new ones.
func (s *Session) readList() {
	w := uint64(s.isa.WordSize())
	debug := s.debugAddress()
	if debug == 0 {
		return
	}
	entry, _ := s.word(debug + w)
	for n := 0; entry != 0 && n < maxModules; n++ {
		bias, _ := s.word(entry)
		name, _ := s.word(entry + w)
		if path := s.text(name); strings.HasPrefix(path, "/") {
			s.loader.seen = true
			s.appeared(filepath.Clean(path), bias)
		}
		entry, _ = s.word(entry + 3*w)
	}
}

// appeared adds one module.
func (s *Session) appeared(path string, bias uint64) {
	for i := range s.mods {
		if s.mods[i].Bias == bias && filepath.Base(s.mods[i].Path) == filepath.Base(path) {
			return
		}
	}
	f, err := s.local(path)
	if err != nil {
		s.warn("%v: it is not probed", err)
		return
	}
	m := s.loaded(f, bias)
	for i := range s.mods {
		if s.mods[i].File == f && s.mods[i].Bias == bias {
			return
		}
	}
	s.setModules(append(s.mods, m))
	s.notify(backend.Event{Kind: backend.EventModule, Tid: s.pid(), Path: path})
	s.armAppeared(s.mods[len(s.mods)-1:])
}

// armAppeared arms all probes in new modules.
func (s *Session) armAppeared(mods []module.Loaded) {
	s.Appeared(tracer{s}, mods)
	if err := errors.Join(s.syncWatches(), s.syncSemaphores()); err != nil {
		s.warn("%v", err)
	}
}

// debugAddress returns the address of the loader's list: the value of an entry of the program's dynamic section,
// which is 0 until the loader fills it in.
func (s *Session) debugAddress() uint64 {
	w := uint64(s.isa.WordSize())
	for at := s.loader.dynamic; at != 0; at += 2 * w {
		tag, ok := s.word(at)
		if !ok || tag == 0 {
			return 0
		}
		if tag == tagDebug {
			v, _ := s.word(at + w)
			return v
		}
	}
	return 0
}

// word reads a word of the target.
func (s *Session) word(addr uint64) (uint64, bool) {
	var p [8]byte
	w := s.isa.WordSize()
	ok := s.mem.read(addr, p[:w]) == w
	return word(p[:w]), ok
}

// maxPath is the maximum length of a path that is read.
const maxPath = 4096

// text reads a zero-terminated text.
func (s *Session) text(addr uint64) string {
	var all []byte
	for len(all) < maxPath {
		var p [64]byte
		n := s.mem.read(addr+uint64(len(all)), p[:])
		if i := bytes.IndexByte(p[:n], 0); i >= 0 {
			return string(append(all, p[:i]...))
		}
		if n < len(p) {
			break
		}
		all = append(all, p[:n]...)
	}
	return ""
}
