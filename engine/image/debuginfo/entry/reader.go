package entry

import (
	"debug/dwarf"
	"debug/elf"
	"fmt"
	"sort"
)

// File is an ELF file that debug information is read from. *mapped.Image implements it.
type File interface {
	// Machine is the architecture of the file.
	Machine() elf.Machine
	// Section returns the decompressed contents of a section and its address. data is nil when the file does not
	// have the section or the section has no contents.
	Section(name string) (data []byte, addr uint64, err error)
}

// Reader reads the units and entries of one module. It is not safe for concurrent use: all its methods move one
// *dwarf.Reader.
type Reader struct {
	files   []File
	machine elf.Machine

	opened   bool
	openErr  error
	data     *dwarf.Data
	raw      *dwarf.Reader
	sections map[string][]byte
	units    []*Unit
	ranges   []unitRange
	sigs     map[uint64]dwarf.Offset // type units by signature
}

// New returns a reader of the debug information in files, of which each section comes from the first file that has it.
// It needs at least one file and reads nothing before Load.
func New(files ...File) *Reader { return &Reader{files: files, machine: files[0].Machine()} }

// Machine returns the architecture of the module.
func (rd *Reader) Machine() elf.Machine { return rd.machine }

// Word returns the size of an address in bytes.
func (rd *Reader) Word() int64 {
	if rd.machine == elf.EM_386 || rd.machine == elf.EM_ARM {
		return 4
	}
	return 8
}

// Units returns all units that have entries, in the order of the section, without type units.
func (rd *Reader) Units() []*Unit { return rd.units }

// Data returns the contents of a debug section by its name without ".debug_". The section .debug_info is followed by
// .debug_types.
func (rd *Reader) Data(name string) []byte { return rd.sections[name] }

// Seek positions the reader at the entry at off.
func (rd *Reader) Seek(off dwarf.Offset) { rd.raw.Seek(off) }

// Next reads the entry at the current position, and moves behind it. It returns nil at the end of the section, and an
// entry without a tag at the end of a list of children.
func (rd *Reader) Next() (*dwarf.Entry, error) { return rd.raw.Next() }

// SkipChildren moves behind the children of the entry that Next returned last.
func (rd *Reader) SkipChildren() { rd.raw.SkipChildren() }

// Ranges returns the ranges of addresses that an entry covers.
func (rd *Reader) Ranges(e *dwarf.Entry) ([][2]uint64, error) { return rd.data.Ranges(e) }

// Lines opens the line table of a unit. It returns nil when the unit has none.
func (rd *Reader) Lines(u *Unit) (*dwarf.LineReader, error) {
	r, err := rd.data.LineReader(u.Entry)
	if err != nil {
		return nil, fmt.Errorf("cannot read the line table: %w", err)
	}
	return r, nil
}

// Indexed returns the address with the given index in .debug_addr, or 0 when there is none.
func (rd *Reader) Indexed(u *Unit, index uint64) uint64 {
	base, ok := u.Entry.Val(dwarf.AttrAddrBase).(int64)
	if !ok { // GNU's form in DWARF 4
		base, _ = u.Entry.Val(dwarf.Attr(0x2133)).(int64)
	}
	c := Cursor{Data: rd.sections["addr"], Off: int(base) + int(index)*u.Addr}
	v := c.Word(u.Addr)
	if c.Err != nil {
		return 0
	}
	return v
}

// Has reports whether the module has debug information. Information that cannot be read counts as present: Load returns
// the reason.
func (rd *Reader) Has() bool {
	data, _, err := rd.Section(".debug_info")
	return err != nil || len(data) > 0
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

// debugSections are the sections that are read, without ".debug_".
var debugSections = []string{"info", "types", "abbrev", "str", "line", "line_str", "ranges", "rnglists", "loc", "loclists",
	"addr", "str_offsets"}

// load finds the sections and reads the headers of units. Location lists are kept in rd.sections only, because
// debug/dwarf does not read them.
func (rd *Reader) load() error {
	rd.sections = map[string][]byte{}
	for _, name := range debugSections {
		data, _, err := rd.Section(".debug_" + name)
		if err != nil {
			return err
		}
		rd.sections[name] = data
	}
	s := rd.sections
	if len(s["info"]) == 0 {
		return ErrNone
	}
	infoSize := len(s["info"])
	// Type units of DWARF 4 have a section of their own, which debug/dwarf reads only through its own model of types,
	// and that lacks base classes. Appended to .debug_info, type units are read like all other units.
	if len(s["types"]) > 0 {
		s["info"] = append(append(make([]byte, 0, infoSize+len(s["types"])), s["info"]...), s["types"]...)
	}
	data, err := dwarf.New(s["abbrev"], nil, nil, s["info"], s["line"], nil, s["ranges"], s["str"])
	if err != nil {
		return fmt.Errorf("cannot read the debug information: %w", err)
	}
	for _, name := range []string{"addr", "line_str", "str_offsets", "rnglists"} {
		if err := data.AddSection(".debug_"+name, s[name]); err != nil {
			return fmt.Errorf("cannot read the debug information: %w", err)
		}
	}
	rd.data, rd.raw = data, data.Reader()
	return rd.readUnits(infoSize)
}

// UnitAt returns the unit that the code at pc belongs to.
func (rd *Reader) UnitAt(pc uint64) (*Unit, error) {
	i := sort.Search(len(rd.ranges), func(i int) bool { return rd.ranges[i].lo > pc }) - 1
	for last := i - 8; i >= 0 && i > last; i-- {
		if r := rd.ranges[i]; pc < r.hi {
			if r.unit.Split {
				return nil, ErrSplit
			}
			return r.unit, nil
		}
	}
	return nil, fmt.Errorf("%w for the code at %#x", ErrNone, pc)
}

// UnitOf returns the unit that contains the entry at off, or nil when that is a type unit.
func (rd *Reader) UnitOf(off dwarf.Offset) *Unit {
	i := sort.Search(len(rd.units), func(i int) bool { return rd.units[i].Root > off }) - 1
	if i >= 0 && off < rd.units[i].End {
		return rd.units[i]
	}
	return nil
}
