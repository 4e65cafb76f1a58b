package entry

import (
	"debug/dwarf"
	"fmt"
	"path"
	"strings"
)

// splitPackage is a .dwp file: the rests of many units, and an index of where they are.
type splitPackage struct {
	path     string
	sections map[string][]byte
	units    map[uint64]contribution // by the id that each shares with its skeleton
	types    map[uint64]contribution // by signature
}

// contribution is what a unit has of each section: where it starts, and how long it is.
type contribution map[string][2]uint32

// joinPackage reads the rest of a unit from a package. joined is false when none has it.
func (rd *Reader) joinPackage(u *Unit) (joined bool, err error) {
	rd.findPackages()
	for _, p := range rd.packages {
		if at, ok := p.units[u.id]; ok {
			s, err := p.cut(at)
			if err == nil {
				err = rd.joinSections(u, s)
			}
			if err != nil {
				u.missing = rd.lack(p.path, err, ErrSplit)
			}
			return true, u.missing
		}
	}
	return false, nil
}

// signature returns where the type of a signature is. Type units of packages are read when they are first wanted.
func (rd *Reader) signature(sig uint64) (off dwarf.Offset, ok bool) {
	if off, ok = rd.sigs[sig]; ok {
		return off, true
	}
	for _, p := range rd.packages {
		at, ok := p.types[sig]
		if !ok {
			continue
		}
		s, err := p.cut(at)
		if err != nil {
			continue
		}
		part, err := rd.addSplit(nil, s)
		if err != nil {
			continue
		}
		h, err := part.header(0)
		if err != nil {
			continue
		}
		rd.addUnit(part, &h)
	}
	off, ok = rd.sigs[sig]
	return off, ok
}

// findPackages opens the packages of the module's files, once: PROG.dwp, for a debug file also without its ending.
func (rd *Reader) findPackages() {
	if rd.packed {
		return
	}
	rd.packed = true
	for _, f := range rd.files {
		for _, name := range []string{f.Name(), strings.TrimSuffix(f.Name(), path.Ext(f.Name()))} {
			file, err := rd.openOther(name + ".dwp")
			if err != nil {
				continue
			}
			if p, err := readPackage(file); err == nil {
				rd.packages = append(rd.packages, p)
			}
		}
	}
}

// readPackage reads the sections and the indexes of a package.
func readPackage(f File) (*splitPackage, error) {
	p := &splitPackage{path: f.Name(), sections: map[string][]byte{}}
	for _, name := range splitSections {
		data, _, err := f.Section(".debug_" + name + ".dwo")
		if err != nil {
			return nil, err
		}
		p.sections[name] = data
	}
	var err error
	for name, to := range map[string]*map[uint64]contribution{"cu": &p.units, "tu": &p.types} {
		data, _, e := f.Section(".debug_" + name + "_index")
		if e == nil && len(data) > 0 {
			*to, e = readIndex(data)
		}
		if e != nil {
			err = e
		}
	}
	return p, err
}

// columns are the sections in an index, by version (DWARF 5, table 7.1; before that, GNU's wiki).
var columns = map[uint16]map[uint32]string{
	2: {1: "info", 2: "types", 3: "abbrev", 5: "loc", 6: "str_offsets"},
	5: {1: "info", 3: "abbrev", 5: "loclists", 6: "str_offsets", 8: "rnglists"},
}

// readIndex reads an index of units (DWARF 5, 7.3.5.3): a hash table of ids, the row of each, and for each row where in
// the sections of the columns the unit starts, and the sizes.
func readIndex(data []byte) (map[uint64]contribution, error) {
	c := Cursor{Data: data}
	version := c.U16()
	c.U16()
	width, rows, slots := c.U32(), c.U32(), c.U32()
	names := columns[version]
	if names == nil {
		return nil, fmt.Errorf("version %d of its index is not supported", version)
	}
	need := 16 + 12*uint64(slots) + 4*uint64(width) + 8*uint64(width)*uint64(rows)
	if width > 16 || rows > slots || need > uint64(len(data)) {
		return nil, fmt.Errorf("its index ends early")
	}
	ids := Cursor{Data: data, Off: c.Off}
	numbers := Cursor{Data: data, Off: c.Off + 8*int(slots)}
	headings := Cursor{Data: data, Off: numbers.Off + 4*int(slots)}
	cells := headings.Off + 4*int(width)
	heads := make([]string, width)
	for i := range heads {
		heads[i] = names[headings.U32()]
	}
	units := make(map[uint64]contribution, rows)
	for range slots {
		id, row := ids.U64(), numbers.U32()
		if row == 0 || row > rows {
			continue
		}
		at := contribution{}
		start := Cursor{Data: data, Off: cells + 4*int(width)*int(row-1)}
		size := Cursor{Data: data, Off: start.Off + 4*int(width)*int(rows)}
		for _, name := range heads {
			if where := [2]uint32{start.U32(), size.U32()}; name != "" {
				at[name] = where
			}
		}
		units[id] = at
	}
	return units, nil
}

// cut returns the sections of a unit. Strings are shared by all units.
func (p *splitPackage) cut(at contribution) (map[string][]byte, error) {
	s := map[string][]byte{"str": p.sections["str"]}
	for name, where := range at {
		data := p.sections[name]
		start, size := uint64(where[0]), uint64(where[1])
		if start > uint64(len(data)) || size > uint64(len(data))-start {
			return nil, fmt.Errorf("its index is damaged")
		}
		s[name] = data[start : start+size : start+size]
	}
	return s, nil
}
