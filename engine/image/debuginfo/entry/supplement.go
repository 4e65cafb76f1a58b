package entry

import (
	"bytes"
	"debug/dwarf"
	"encoding/hex"
	"fmt"
	"path"
)

// addSupplement adds the supplementary file that dwz made for the module and others, if the module has one.
func (rd *Reader) addSupplement(main *part) {
	name, id := rd.supplement()
	if name == "" {
		return
	}
	main.refers = true
	rd.altErr = rd.tryPaths(rd.supplementPaths(name, id), ErrAlt, func(file string) (err error) {
		main.alt, err = rd.readSupplement(file, id)
		return err
	})
}

// supplement returns the name and the build ID of the supplementary file: of .gnu_debugaltlink, or of .debug_sup (DWARF
// 5, 7.3.6).
func (rd *Reader) supplement() (name string, id []byte) {
	if data, _, err := rd.Section(".gnu_debugaltlink"); err == nil && len(data) > 0 {
		text, id, _ := bytes.Cut(data, []byte{0})
		return string(text), id
	}
	data, _, err := rd.Section(".debug_sup")
	if err != nil || len(data) < 4 {
		return "", nil
	}
	c := Cursor{Data: data}
	version, isSupplement := c.U16(), c.U8()
	text, _, _ := bytes.Cut(data[c.Off:], []byte{0})
	c.Off += len(text) + 1
	id = c.Bytes(int(min(c.ULEB(), uint64(len(data)))))
	if version != 5 || isSupplement != 0 || c.Err != nil {
		return "", nil
	}
	return string(text), id
}

// supplementPaths returns where the supplementary file may be: its name is relative to the file that names it.
func (rd *Reader) supplementPaths(name string, id []byte) (paths []string) {
	if path.IsAbs(name) {
		paths = append(paths, name)
	} else {
		for _, f := range rd.files {
			paths = append(paths, path.Join(path.Dir(f.Name()), name))
		}
	}
	if len(id) > 1 {
		text := hex.EncodeToString(id)
		paths = append(paths, "/usr/lib/debug/.build-id/"+text[:2]+"/"+text[2:]+".debug")
	}
	return paths
}

// readSupplement reads a supplementary file.
func (rd *Reader) readSupplement(file string, id []byte) (*part, error) {
	f, err := rd.openOther(file)
	if err != nil {
		return nil, err
	}
	if !identified(f, id) {
		return nil, errMismatch
	}
	sections := map[string][]byte{}
	for _, name := range debugSections {
		data, _, err := f.Section(".debug_" + name)
		if err != nil {
			return nil, err
		}
		sections[name] = data
	}
	return rd.addPart(sections)
}

// identified reports whether a supplementary file has the given id: as its build ID, or in its .debug_sup.
func identified(f File, id []byte) bool {
	note, _, err := f.Section(".note.gnu.build-id")
	if err == nil && len(note) > 16 && bytes.Equal(note[16:], id) {
		return true
	}
	sup, _, err := f.Section(".debug_sup")
	return err == nil && len(sup) > len(id) && len(id) > 0 && bytes.HasSuffix(sup, id)
}

// Supplemented returns why entries of the supplementary file are missing; nil when they are not.
func (rd *Reader) Supplemented() error { return rd.altErr }

// alternate is the error for a reference to a supplementary file that cannot be followed.
func (rd *Reader) alternate() error {
	if rd.altErr != nil {
		return rd.altErr
	}
	return fmt.Errorf("cannot read the debug information: %w", ErrAlt)
}

// readImports finds out the language of partial units, which have none of their own: it is that of the units that
// include them. Imports come first among the entries of a unit, between base types.
func (rd *Reader) readImports() error {
	partial := false
	for _, u := range rd.units {
		partial = partial || u.IsPartial()
	}
	if !partial {
		return nil
	}
	for _, u := range rd.units {
		if !u.IsPartial() && u.Entry.Children {
			rd.importInto(u, u.Language(), 0)
		}
	}
	return nil
}

// maxImports bounds chains of partial units that include others.
const maxImports = 8

// importInto gives the partial units that u includes a language. Damaged data ends the search early.
func (rd *Reader) importInto(u *Unit, language int64, depth int) {
	var included []*Unit
	rd.Seek(u.Root)
	rd.Next()
	for {
		e, err := rd.Next()
		if err != nil || e == nil || e.Tag != dwarf.TagImportedUnit && e.Tag != dwarf.TagBaseType {
			break
		}
		if off, ok := e.Val(dwarf.AttrImport).(dwarf.Offset); ok {
			if p := rd.UnitOf(off); p != nil && p.language == 0 && p.IsPartial() {
				p.language = language
				included = append(included, p)
			}
		}
	}
	for _, p := range included {
		if depth < maxImports {
			rd.importInto(p, language, depth+1)
		}
	}
}
