package remote

import (
	"debug/elf"
	"fmt"
	"os"
	"strings"

	"gotap/arch"
	"gotap/engine/history"
	"gotap/engine/image/module"
	"gotap/engine/image/unwind"
	"gotap/engine/isa"
	"gotap/engine/registry"
	"gotap/engine/remote/memory"
	"gotap/engine/view/stopped"
)

// program is what the target runs: its file and libraries, as local files, and where they are loaded. The control's
// lock guards it, except for names.
type program struct {
	stub   *stub
	mem    *memory.Memory
	files  module.Cache
	names  *history.History // for naming addresses; has a lock of its own
	mods   []module.Loaded  // the program first
	comm   string           // the name of its file
	root   string           // local directory that stands for the target's root
	errno  isa.ErrnoFunction
	stacks *stopped.Unwinding
}

// set records the modules that the target maps, the program first.
func (p *program) set(mods []module.Loaded) {
	p.mods = mods
	p.names.Keep(0, mods)
}

// add adds a module.
func (p *program) add(m module.Loaded) { p.set(append(p.mods, m)) }

// replaced forgets the files: the target runs another program.
func (p *program) replaced() { p.mods, p.root, p.errno = nil, "", isa.ErrnoFunction{} }

// find returns the module around an address, or nil.
func (p *program) find(addr uint64) *module.Loaded { return module.Find(p.mods, addr) }

// mapped returns the files that the target maps.
func (p *program) mapped() []*module.File { return module.Files(p.mods) }

// isUnplaced reports whether the program may be loaded anywhere, but no bias is known.
func (p *program) isUnplaced() bool {
	return len(p.mods) > 0 && p.mods[0].File != nil && p.mods[0].File.PIE && p.mods[0].Bias == 0
}

// roots lists where the files of a program for another processor may be: the directories of Debian's cross
// compilers.
var roots = map[elf.Machine][]string{
	elf.EM_X86_64:  {"", "/usr/x86_64-linux-gnu"},
	elf.EM_386:     {"", "/usr/i686-linux-gnu"},
	elf.EM_ARM:     {"", "/usr/arm-linux-gnueabihf", "/usr/arm-linux-gnueabi"},
	elf.EM_AARCH64: {"", "/usr/aarch64-linux-gnu"},
}

// open opens the local file that corresponds to a path on the target.
func (p *program) open(path string) (*module.File, error) {
	places := roots[p.stub.isa.Machine]
	if p.root != "" {
		places = append([]string{p.root}, places...)
	}
	if prefix := os.Getenv("QEMU_LD_PREFIX"); prefix != "" {
		places = append([]string{prefix}, places...)
	}
	for _, root := range places {
		if root != "" && strings.HasPrefix(path, root+"/") {
			root = ""
		}
		f, err := p.files.OpenPath(root + path)
		if err == nil && f.Machine == p.stub.isa.Machine {
			p.root = root
			return f, nil
		}
	}
	return nil, fmt.Errorf("cannot find the target's %s here", path)
}

// pageSize is the size to which addresses of mappings are rounded; the target's real page size does not matter.
const pageSize = 4096

// loaded returns a file as mapped with a bias.
func (p *program) loaded(file *module.File, bias uint64) module.Loaded {
	m := module.Loaded{Path: file.Path, File: file, Bias: bias}
	for _, seg := range file.Segments {
		start := p.stub.isa.Address(seg.Vaddr+bias) &^ (pageSize - 1)
		end := (p.stub.isa.Address(seg.Vaddr+bias) + seg.MemSize + pageSize - 1) &^ (pageSize - 1)
		m.Mappings = append(m.Mappings, module.Mapping{Start: start, End: end, Exec: seg.Flags&elf.PF_X != 0, Path: file.Path})
	}
	if m.Mappings == nil {
		m.Mappings = []module.Mapping{{Path: file.Path}}
	}
	return m
}

// writable reports whether n bytes at addr may be written. A stub does not report how memory is mapped: in a module
// the file's segment decides, and elsewhere readable memory counts as writable. A stub's own writes prove nothing,
// because most stubs also write to read-only pages.
func (p *program) writable(addr, n uint64) bool {
	for i := range p.mods {
		m := &p.mods[i]
		if m.File == nil || m.Err != nil {
			continue
		}
		for _, seg := range m.File.Segments {
			start := m.Addr(seg.Vaddr)
			if seg.Flags&elf.PF_W == 0 && addr < start+seg.MemSize && addr+n > start {
				return false
			}
		}
	}
	return true
}

// walk finds the return addresses of a thread with the given registers, innermost first, starting with its program
// counter. It returns how many it has found.
func (p *program) walk(regs *arch.Regs, pcs []uint64) int {
	return p.stacks.Walk(p.stub.isa.ISA, regs, p.mem, p.findTable, pcs, nil)
}

// findTable returns the call-frame information for an address.
func (p *program) findTable(pc uint64) (*unwind.Table, uint64, bool) {
	m := p.find(pc)
	if m == nil {
		return nil, 0, false
	}
	return p.stacks.TableOf(m)
}

// otherInfo returns what programs on a system call or on an access to data may know about it: the thread's place is
// not known beforehand.
func (p *program) otherInfo(name string) registry.PlaceInfo {
	return &registry.Other{Place: name, Regs: p.stub.isa, Word: p.stub.isa.WordSize(), Globals: p.globals()}
}

// globals finds the variables that programs name where the place is not code.
func (p *program) globals() registry.Globals {
	return registry.Globals{Files: &p.names.Files, Modules: p.mapped}
}
