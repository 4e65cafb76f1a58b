package definition

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"gotap/compile"
	"gotap/compile/diag"
	"gotap/compile/dpdf"
	"gotap/compile/ppdf"
	"gotap/runtime/opcode"
	"gotap/runtime/outcome"
)

// First is the number of the first probe of a session that comes from a definition file: far above those of scripts,
// which count from 1.
const First = 1 << 29

// A File is a definition file. It has no code on the host: its records are printed as they come.
type File struct {
	*dpdf.File
	Inputs []string // the paths of the file and of what it includes
	Probes []*Probe // those that the options select
}

// A Probe is a probe of a definition file.
type Probe struct {
	*dpdf.Probe
	ID       uint32
	Name     string // its place, without the directories of the module
	AnyCode  bool   // the first byte of its instruction is not checked
	Optional bool
}

// Options choose what of a definition file runs, and how it is read.
type Options struct {
	Defs          map[string]string          // macros, as with -D
	Include       []string                   // directories for included files
	Groups, Types []int                      // of the probes to run; empty: all
	AnyCode       bool                       // whatever the probed instructions are
	Unsafe        bool                       // programs may change the target
	Served        func(facility uint32) bool // whether a facility has callbacks; nil: all have
}

// Is reports whether a text is a probe definition file, or was built from one. The name decides where it says what the
// text is; otherwise the beginning of the text does.
func Is(name, text string) bool {
	switch filepath.Ext(name) {
	case ".dpdf":
		return true
	case ".js", ".mjs", ".cjs", ".ts", ".mts", ".cts":
		return isPrebuilt(name, text)
	}
	return isPrebuilt(name, text) || dpdf.Looks(text)
}

func isPrebuilt(name, text string) bool { return filepath.Ext(name) == ".ppdf" || ppdf.Is(text) }

// Load reads a definition file. Its probes are numbered from first on. The file is nil when the list holds errors.
func Load(name, text string, o Options, v Variables, first uint32) (*File, diag.List) {
	f := &File{Inputs: []string{name}}
	parsed, list := parse(name, text, dpdf.Options{
		Defs: o.Defs, Include: o.Include, Arena: v, Globals: v.globals, Unsafe: o.Unsafe, Open: f.open,
	})
	if list.HasErrors() {
		return nil, list
	}
	f.File = parsed
	for i := range parsed.Probes {
		p := &parsed.Probes[i]
		list = append(list, o.checkFacilities(p)...)
		if o.selects(p) {
			f.Probes = append(f.Probes, &Probe{Probe: p, ID: first + uint32(i), AnyCode: o.AnyCode,
				Name: p.Place[strings.LastIndexByte(p.Place, '/')+1:]})
		}
	}
	if len(f.Probes) == 0 && !list.HasErrors() {
		list.Errorf(diag.Span{Source: diag.NewSource(name, "")}, "without --group and --type all are run",
			"the file has no probe of that group and type")
	}
	if list.HasErrors() {
		return nil, list
	}
	return f, list
}

// open reads an included file.
func (f *File) open(path string) ([]byte, error) {
	data, err := diag.ReadFile(path)
	if err == nil {
		f.Inputs = append(f.Inputs, path)
	}
	return []byte(strings.TrimPrefix(string(data), "\ufeff")), err
}

// parse reads the text, or what was built from it.
func parse(name, text string, o dpdf.Options) (*dpdf.File, diag.List) {
	if isPrebuilt(name, text) {
		return parsePrebuilt(name, text, o)
	}
	return dpdf.Parse(diag.NewSource(name, text), o)
}

func parsePrebuilt(name, text string, o dpdf.Options) (*dpdf.File, diag.List) {
	var list diag.List
	f, err := ppdf.Decode([]byte(text))
	switch {
	case err != nil:
		list.Errorf(diag.Span{}, "", "cannot read %s: %v", name, err)
		return nil, list
	case len(o.Defs) > 0 || len(o.Include) > 0:
		list.Errorf(diag.Span{}, "give them to gotap build", "%s is built already: -D and -I come too late", name)
		return nil, list
	}
	d, err := f.Bind(o)
	if err != nil {
		hint := ""
		var h interface{ Hint() string }
		if errors.As(err, &h) {
			hint = h.Hint()
		}
		list.Errorf(diag.Span{}, hint, "%v", err)
	}
	return d, list
}

// selects reports whether the options select a probe.
func (o Options) selects(p *dpdf.Probe) bool {
	return (len(o.Groups) == 0 || slices.Contains(o.Groups, p.Group)) && (len(o.Types) == 0 || slices.Contains(o.Types, p.Type))
}

// checkFacilities refuses exits to facilities that have no callback.
func (o Options) checkFacilities(p *dpdf.Probe) (list diag.List) {
	for _, c := range p.Program.Code {
		if c.Op == opcode.Exit && outcome.ExitKind(c.A) == outcome.ExitFacility && o.Served != nil && !o.Served(uint32(c.V)) {
			list.Errorf(c.Pos, fmt.Sprintf("exit 3 writes a core; facility(%d, e => { … }) in a script of the session, as --exits names one, takes this", c.V),
				"unknown facility %d", c.V)
		}
	}
	return list
}

// Same reports whether two probes do the same at the same place, so that the one that is armed can stay.
func (p *Probe) Same(o *Probe) bool {
	if p.Place != o.Place || p.Opcode != o.Opcode || p.Major != o.Major || p.Minor != o.Minor || p.PassCount != o.PassCount ||
		p.MaxHits != o.MaxHits || p.LogOnFault != o.LogOnFault || p.AnyCode != o.AnyCode || p.Optional != o.Optional {
		return false
	}
	return sameProgram(p.Program, o.Program)
}

func sameProgram(a, b *compile.Program) bool {
	x, errX := a.MarshalBinary()
	y, errY := b.MarshalBinary()
	return errX == nil && errY == nil && slices.Equal(x, y) && slices.Equal(a.Objects, b.Objects)
}
