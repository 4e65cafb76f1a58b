package entry

import (
	"bytes"
	"debug/dwarf"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"path"
)

// MissingError is the error for a file that holds a part of the debug information and cannot be used.
type MissingError struct {
	Module string // whose debug information it is
	Path   string
	Reason string // what is wrong with it
	is     error  // ErrSplit or ErrAlt
}

// Error names the file.
func (e *MissingError) Error() string {
	return fmt.Sprintf("a part of the debug information of %s is in %s, which %s", e.Module, e.Path, e.Reason)
}

// Unwrap returns ErrSplit or ErrAlt.
func (e *MissingError) Unwrap() error { return e.is }

// Missing returns an error for each file with debug information that was needed and could not be used, in the order in
// which they were needed.
func (rd *Reader) Missing() []error { return rd.lacking }

// lack records that a file cannot be used.
func (rd *Reader) lack(file string, err, is error) error {
	reason := "cannot be read: " + err.Error()
	switch {
	case errors.Is(err, fs.ErrNotExist):
		reason = "is missing"
	case errors.Is(err, errMismatch):
		reason = "is of another build"
	}
	missing := &MissingError{Module: path.Base(rd.files[0].Name()), Path: file, Reason: reason, is: is}
	rd.lacking = append(rd.lacking, missing)
	return missing
}

// errMismatch reports that a file is not the one that was linked.
var errMismatch = errors.New("it is of another build")

// maxOpened bounds how many files are opened for one module.
const maxOpened = 16384

// openOther opens another file of the module.
func (rd *Reader) openOther(file string) (File, error) {
	if rd.open == nil {
		return nil, fs.ErrNotExist
	}
	if len(rd.parts) >= maxOpened {
		return nil, fmt.Errorf("there are more than %d such files", maxOpened)
	}
	f, err := rd.open(file)
	if err == nil && f.Machine() != rd.machine {
		err = errMismatch
	}
	return f, err
}

// join finds the rest of a unit that is split off, once. Afterwards the unit has all entries.
func (rd *Reader) join(u *Unit) error {
	if !u.Split || u.missing != nil {
		return u.missing
	}
	if joined, err := rd.joinPackage(u); joined {
		return err
	}
	u.missing = rd.tryPaths(rd.splitPaths(u, splitName(u)), ErrSplit, func(file string) error { return rd.joinFile(u, file) })
	return u.missing
}

// tryPaths tries to use one of several files. When none can be used, it records that. is is ErrSplit or ErrAlt.
func (rd *Reader) tryPaths(paths []string, is error, use func(file string) error) error {
	failed, err := paths[0], fs.ErrNotExist
	for _, file := range paths {
		e := use(file)
		if e == nil {
			return nil
		}
		if errors.Is(err, fs.ErrNotExist) && !errors.Is(e, fs.ErrNotExist) { // a file that is there says more than one that is not
			failed, err = file, e
		}
	}
	return rd.lack(failed, err, is)
}

// splitName returns the name of the file with the rest of a skeleton.
func splitName(u *Unit) string {
	for _, attr := range []dwarf.Attr{attrDwoName, attrGNUDwoName} {
		if name, _ := u.Entry.Val(attr).(string); name != "" {
			return name
		}
	}
	return ""
}

// splitPaths returns where the rest of a unit may be: where the compiler wrote it, and beside the module's files.
func (rd *Reader) splitPaths(u *Unit, name string) []string {
	paths := []string{u.Absolute(name)}
	for _, f := range rd.files {
		dir := path.Dir(f.Name())
		if !path.IsAbs(name) {
			paths = append(paths, path.Join(dir, name))
		}
		paths = append(paths, path.Join(dir, path.Base(name)))
	}
	return paths
}

// splitSections are the sections of a file with the rest of units, without ".debug_" and ".dwo".
var splitSections = []string{"info", "types", "abbrev", "str", "str_offsets", "loc", "loclists", "rnglists"}

// joinFile reads the rest of a unit from a file.
func (rd *Reader) joinFile(u *Unit, file string) error {
	f, err := rd.openOther(file)
	if err != nil {
		return err
	}
	sections := map[string][]byte{}
	for _, name := range splitSections {
		all, err := f.Sections(".debug_" + name + ".dwo")
		if err != nil {
			return err
		}
		if len(all) == 1 {
			sections[name] = all[0]
		} else {
			sections[name] = bytes.Join(all, nil) // of the groups of type units
		}
	}
	if len(sections["info"]) == 0 {
		return fmt.Errorf("it has no debug information")
	}
	return rd.joinSections(u, sections)
}

// joinSections makes a part of sections, and a unit in it the rest of u.
func (rd *Reader) joinSections(u *Unit, s map[string][]byte) error {
	p, err := rd.addSplit(u, s)
	if err != nil {
		return err
	}
	for off := 0; off < len(p.sections["info"]); {
		h, err := p.header(off)
		if err != nil {
			return err
		}
		off = h.next
		rest := rd.addUnit(p, &h)
		if rest == nil {
			continue
		}
		e, err := rd.At(rest.Root)
		if err != nil {
			return err
		}
		id := h.id
		if v, ok := e.Val(attrGNUDwoID).(int64); ok {
			id = uint64(v)
		}
		if id == u.id && u.Split {
			p.units[len(p.units)-1].unit = u
			u.become(rest, e)
		} else {
			p.units = p.units[:len(p.units)-1]
		}
	}
	if u.Split {
		return errMismatch
	}
	return nil
}

// become makes a skeleton the unit that it stands for. Attributes that only the skeleton has stay.
func (u *Unit) become(rest *Unit, e *dwarf.Entry) {
	u.abbrev, u.strBase = rest.abbrev, base(e, dwarf.AttrStrOffsetsBase)
	for _, f := range u.Entry.Field {
		if e.AttrField(f.Attr) == nil {
			e.Field = append(e.Field, f)
		}
	}
	u.Version, u.Addr, u.Wide = rest.Version, rest.Addr, rest.Wide
	u.Start, u.Root, u.End = rest.Start, rest.Root, rest.End
	u.Entry, u.body, u.Split, u.scopes, u.around = e, rest.body, false, nil, nil
	if u.Version >= 5 {
		u.LocBase = listsHeader(u.Wide)
	}
}

// listsHeader returns the size of the header of .debug_rnglists and .debug_loclists (DWARF 5, 7.28).
func listsHeader(wide bool) int64 {
	if wide {
		return 20
	}
	return 12
}

// addSplit adds the sections of a split unit, or of a type unit if u is nil. debug/dwarf takes the bases of indexes
// from attributes, which a split unit does not have: what it means is the first index of each section. So the sections
// are cut there. GNU's forms of DWARF 4 become those of DWARF 5, which mean the same.
func (rd *Reader) addSplit(u *Unit, s map[string][]byte) (*part, error) {
	info := s["info"]
	if len(info) == 0 {
		info = s["types"]
	}
	if len(info) < 14 {
		return nil, fmt.Errorf("it has no debug information")
	}
	wide, at := binary.LittleEndian.Uint32(info) == 0xffffffff, 4
	if wide {
		at = 12
	}
	skip := int64(0)
	if binary.LittleEndian.Uint16(info[at:]) >= 5 {
		skip = listsHeader(wide)
		s["rnglists"] = cut(s["rnglists"], skip)
		s["str_offsets"] = cut(s["str_offsets"], skip-4) // its header is 4 bytes shorter
	}
	if u != nil {
		s["addr"] = cut(rd.parts[0].sections["addr"], u.addrBase)
	}
	p, err := rd.addPart(s)
	if err == nil {
		p.rangesSkip = skip
	}
	return p, err
}

// cut returns data without its first bytes.
func cut(data []byte, n int64) []byte {
	if n < 0 || n >= int64(len(data)) {
		return nil
	}
	return data[n:]
}
