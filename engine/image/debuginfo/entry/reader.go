package entry

import (
	"debug/dwarf"
	"debug/elf"
	"fmt"
	"sort"
)

// File is an ELF file that debug information is read from. *mapped.Image implements it.
type File interface {
	// Name is the path of the file.
	Name() string
	// Machine is the architecture of the file.
	Machine() elf.Machine
	// Section returns the decompressed contents of a section and its address. data is nil when the file does not
	// have the section or the section has no contents.
	Section(name string) (data []byte, addr uint64, err error)
	// Sections returns the contents of all sections of a name: object files have one for each group.
	Sections(name string) (all [][]byte, err error)
	// Both are safe for concurrent use.
}

// Opener opens another ELF file that holds a part of a module's debug information. The file must stay open as long as
// the Reader is used.
type Opener func(path string) (File, error)

// Reader reads the units and entries of one module. It is not safe for concurrent use: all its methods move one
// stream.
type Reader struct {
	files   []File
	open    Opener // nil: there are no other files
	machine elf.Machine
	own     ownSections

	opened  bool
	openErr error
	parts   []*part // by base; the first has what the module's own files contain
	cur     *part   // which Next reads
	units   []*Unit
	ranges  []unitRange
	sigs    map[uint64]dwarf.Offset // type units by signature

	packages []*splitPackage
	packed   bool // packages have been searched
	whole    bool // all units have been joined
	lacking  []error
	search   nameSearch
	altErr   error // why the supplementary file is missing; nil when none is needed
}

// New returns a reader of the debug information in files, of which each section comes from the first file that has it.
// It needs at least one file and reads nothing before Load.
func New(files ...File) *Reader { return &Reader{files: files, machine: files[0].Machine()} }

// UseOpener has other files that the debug information refers to opened with open. It must be called before Load.
func (rd *Reader) UseOpener(open Opener) { rd.open = open }

// Machine returns the architecture of the module.
func (rd *Reader) Machine() elf.Machine { return rd.machine }

// Word returns the size of an address in bytes.
func (rd *Reader) Word() int64 {
	if rd.machine == elf.EM_386 || rd.machine == elf.EM_ARM {
		return 4
	}
	return 8
}

// Units returns all units that have entries, without type units: those of the module's files in their order, then those
// of its supplementary file. The first call opens the files of all units that are split off. Of units whose file is
// missing only the root is known.
func (rd *Reader) Units() []*Unit {
	if !rd.whole {
		rd.whole = true
		for _, u := range rd.units {
			rd.join(u)
		}
	}
	return rd.units
}

// Skeletons returns all units as Units does, but opens no files. Their line tables are complete.
func (rd *Reader) Skeletons() []*Unit { return rd.units }

// Size returns how many bytes of entries there are. It opens the files of units that are split off.
func (rd *Reader) Size() (size int) {
	rd.Units()
	for _, p := range rd.parts {
		size += len(p.sections["info"])
	}
	return size
}

// Lists returns the section with location lists that a unit refers to, by its name without ".debug_".
func (rd *Reader) Lists(u *Unit, name string) []byte { return u.body.sections[name] }

// Indexed returns the address with the given index in .debug_addr, or 0 when there is none.
func (rd *Reader) Indexed(u *Unit, index uint64) uint64 {
	data := rd.parts[0].sections["addr"]
	if index >= uint64(len(data)) || u.addrBase < 0 {
		return 0
	}
	c := Cursor{Data: data, Off: int(min(u.addrBase, int64(len(data)))) + int(index)*u.Addr}
	v := c.Word(u.Addr)
	if c.Err != nil {
		return 0
	}
	return v
}

// Has reports whether the module has debug information. Information that cannot be read counts as present: Load returns
// the reason.
func (rd *Reader) Has() bool {
	info := readOwn(rd, ".debug_info")
	return info.err != nil || len(info.data) > 0
}

// Section returns a section from the first file that has it.
func (rd *Reader) Section(name string) (data []byte, addr uint64, err error) {
	for _, f := range rd.files {
		data, addr, err = f.Section(name)
		if err != nil || len(data) > 0 {
			return data, addr, err
		}
	}
	return nil, addr, nil
}

// Load finds the sections and reads the unit headers. Only the first call does so; all others return its error.
func (rd *Reader) Load() error {
	if !rd.opened {
		rd.opened = true
		rd.openErr = rd.load()
	}
	return rd.openErr
}

// load finds the sections and reads the headers of units.
func (rd *Reader) load() error {
	sections := map[string][]byte{}
	for i, s := range rd.own.read(rd) {
		if s.err != nil {
			return s.err
		}
		sections[debugSections[i]] = s.data
	}
	if len(sections["info"]) == 0 {
		return ErrNone
	}
	rd.sigs = map[uint64]dwarf.Offset{}
	main, err := rd.addPart(sections)
	if err != nil {
		return err
	}
	rd.addSupplement(main)
	return rd.readUnits()
}

// UnitAt returns the unit that the code at pc belongs to. The error is a *MissingError when its file is missing.
func (rd *Reader) UnitAt(pc uint64) (*Unit, error) {
	u, err := rd.SkeletonAt(pc)
	if err == nil {
		err = rd.join(u)
	}
	if err != nil {
		return nil, err
	}
	return u, nil
}

// SkeletonAt returns the unit that the code at pc belongs to as UnitAt does, but opens no file. Its line table is
// complete.
func (rd *Reader) SkeletonAt(pc uint64) (*Unit, error) {
	i := sort.Search(len(rd.ranges), func(i int) bool { return rd.ranges[i].lo > pc }) - 1
	for last := i - 8; i >= 0 && i > last; i-- {
		if r := rd.ranges[i]; pc < r.hi {
			return r.unit, nil
		}
	}
	return nil, fmt.Errorf("%w for the code at %#x", ErrNone, pc)
}

// UnitOf returns the unit that contains the entry at off, or nil when that is a type unit.
func (rd *Reader) UnitOf(off dwarf.Offset) *Unit {
	p := rd.partOf(off)
	if p == nil {
		return nil
	}
	i := sort.Search(len(p.units), func(i int) bool { return p.units[i].first > off }) - 1
	if i < 0 {
		return nil
	}
	u := p.units[i].unit
	if off < p.units[i].end {
		return u
	}
	return nil
}
