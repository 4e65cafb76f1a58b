package debuginfo

import (
	"debug/dwarf"
	"debug/elf"
	"fmt"
	"runtime/debug"
	"sync"

	"gotap/engine/unwind"
)

// File is an ELF file that debug information is read from; *image.Image is one.
type File interface {
	// Machine is the architecture of the file.
	Machine() elf.Machine
	// Section returns the contents of a section, decompressed, and its address in the file; nil data for a section
	// that the file does not have or has no contents of.
	Section(name string) (data []byte, addr uint64, err error)
}

// Info is the debug information of one module. Addresses are those of the module's file (ELF virtual addresses). It
// is safe for concurrent use.
type Info struct {
	files   []File
	machine elf.Machine
	frames  *unwind.Table // of the file with the code; nil when the architecture has none

	mu       sync.Mutex // guards everything below
	opened   bool
	openErr  error
	data     *dwarf.Data
	reader   *dwarf.Reader
	sections map[string][]byte
	units    []*unit
	ranges   []unitRange
	sigs     map[uint64]dwarf.Offset // type units by signature
	types    map[dwarf.Offset]*ctype
	defs     map[string]definition // definitions of types by name, for those only declared in a unit
	scopes   map[dwarf.Offset]*scope
	clones   map[uint64]string         // names of GCC's copies of functions by address; nil: not listed yet
	globals  map[string][]dwarf.Offset // static variables by name without namespaces; nil: not listed yet

	// Of the present question alone; guard begins them anew.
	asked   int                   // types looked at
	reading map[dwarf.Offset]bool // types that are being read, each for the one before it
}

// Open takes debug information from files, each section from the first file that has it: the program, and where it
// is stripped its separate debug file as well. Nothing is read yet; files without debug information show when they are
// asked, by ErrNone. The files must stay open as long as the Info is used.
func Open(files ...File) (*Info, error) {
	if len(files) == 0 {
		return nil, ErrNone
	}
	in := &Info{files: files, machine: files[0].Machine(), types: map[dwarf.Offset]*ctype{},
		scopes: map[dwarf.Offset]*scope{}, reading: map[dwarf.Offset]bool{}}
	in.frames, _ = unwind.New(in) // nil for other architectures: then only entries can be asked about
	return in, nil
}

// Machine is the architecture of the module.
func (in *Info) Machine() elf.Machine { return in.machine }

// Section returns a section of the first file that has it.
func (in *Info) Section(name string) (data []byte, addr uint64, err error) {
	for _, f := range in.files {
		data, addr, err = f.Section(name)
		if err != nil || len(data) > 0 {
			return data, addr, err
		}
	}
	return nil, addr, nil
}

// Has reports whether there is debug information at all. What cannot be read is there: questions tell why not.
func (in *Info) Has() bool {
	data, _, err := in.Section(".debug_info")
	return err != nil || len(data) > 0
}

// guard wraps a question: it takes the lock and turns panics into errors. Sections are mapped files; one
// that is truncated while it is mapped faults, which SetPanicOnFault makes a panic of this goroutine. No state is
// left half changed that matters: caches are filled only with finished values.
func (in *Info) guard(err *error) func() {
	in.mu.Lock()
	in.asked = 0
	clear(in.reading)
	old := debug.SetPanicOnFault(true)
	return func() {
		if p := recover(); p != nil {
			*err = fmt.Errorf("cannot read the debug information: %v", p)
		}
		debug.SetPanicOnFault(old)
		in.mu.Unlock()
	}
}

// openLocked finds the sections and reads the unit headers, once.
func (in *Info) openLocked() error {
	if !in.opened {
		in.opened = true
		in.openErr = in.load()
	}
	return in.openErr
}

// debugSections are the sections the answers come from.
var debugSections = []string{"info", "types", "abbrev", "str", "line", "line_str", "ranges", "rnglists", "loc", "loclists", "addr", "str_offsets"}

// load finds the sections, and reads the headers of units. Sections that debug/dwarf has no use for are kept beside it.
func (in *Info) load() error {
	in.sections = map[string][]byte{}
	for _, name := range debugSections {
		data, _, err := in.Section(".debug_" + name)
		if err != nil {
			return err
		}
		in.sections[name] = data
	}
	s := in.sections
	if len(s["info"]) == 0 {
		return ErrNone
	}
	infoSize := len(s["info"])
	// The package debug/dwarf can look types up in that section only through its own model of types, which lacks base
	// classes and more; as units of .debug_info their entries are read like all others.
	if len(s["types"]) > 0 {
		// Type units of DWARF 4 have a section of their own. Put behind the others they share one space of offsets.
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
	in.data, in.reader = data, data.Reader()
	return in.readUnits(infoSize)
}
