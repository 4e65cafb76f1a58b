package symtab

import (
	"debug/elf"
	"strings"
)

// Versions of symbols (Linux Standard Base Core, 10.7). A file may define a function several times under one name, each
// for programs that were linked with another version of the file.

// Version is the version of a symbol.
type Version struct {
	Name    string // "GLIBC_2.2.5"
	Default bool   // new programs are linked with it
}

// String returns the version as tools write it behind a name: "@GLIBC_2.2.5", or with two signs the default.
func (v Version) String() string {
	switch {
	case v.Name == "":
		return ""
	case v.Default:
		return "@@" + v.Name
	}
	return "@" + v.Name
}

// versions are those of the functions that a file exports.
type versions struct {
	of      map[exportKey][]Version // of several at one address the default is first
	several map[string]bool         // names of several functions
}

// VersionsOf returns the functions that are exported with a version, "GLIBC_2.2.5", or with "@GLIBC_2.2.5" only those
// whose default it is.
func (t *Table) VersionsOf(version string) Exports {
	name, isDefault := strings.CutPrefix(version, "@")
	e := Exports{t, map[exportKey]bool{}}
	for key, list := range t.versions().of {
		for _, v := range list {
			if v.Name == name && (v.Default || !isDefault) {
				e.keys[key] = true
			}
		}
	}
	return e
}

// WithVersion returns a name of a function, with its version if the file exports several functions by this name.
func (t *Table) WithVersion(name string, fn *Func) string {
	v := t.versions()
	if list := v.of[exportKey{name, fn.Addr}]; v.several[name] && len(list) > 0 {
		return name + list[0].String()
	}
	return name
}

// Versioned returns all functions that are exported by a name with a version, as tools write them, by address.
func (t *Table) Versioned(name string) (found []string) {
	for _, m := range t.Exports().Of(name) {
		for _, v := range t.versions().of[exportKey{name, m.Func.Addr}] {
			found = append(found, name+v.String())
		}
	}
	return found
}

// readVersions reads the versions of the file's dynamic symbols.
func (t *Table) readVersions() versions {
	found := versions{map[exportKey][]Version{}, map[string]bool{}}
	first := map[string]uint64{}
	m := t.origin.Own()
	names := m.versionNames()
	for _, s := range m.Sections {
		if s.Type != elf.SHT_GNU_VERSYM || len(names) == 0 {
			continue
		}
		symbols, ok := m.LinkedTable(s)
		numbers, err := m.Read(s)
		if !ok || err != nil {
			continue
		}
		for i := range min(symbols.Len(), len(numbers)/2) {
			const hidden = 1 << 15
			n := m.Order.Uint16(numbers[2*i:])
			name, known := names[n&^hidden]
			sym, ok := symbols.symbol(i)
			if !ok || !known {
				continue
			}
			found.add(exportKey{sym.Name, sym.Addr}, Version{name, n&hidden == 0})
			if at, ok := first[sym.Name]; ok && at != sym.Addr {
				found.several[sym.Name] = true
			}
			first[sym.Name] = sym.Addr
		}
	}
	return found
}

// add adds a version of a function.
func (vs versions) add(key exportKey, v Version) {
	list := append(vs.of[key], v)
	if v.Default {
		copy(list[1:], list)
		list[0] = v
	}
	vs.of[key] = list
}

// versionNames returns the versions that the file defines, by their numbers. That of the file itself is not one of a
// symbol.
func (m *Image) versionNames() map[uint16]string {
	const base, definition, entry = 1, 20, 8 // VER_FLG_BASE; sizes of Verdef and Verdaux
	names := map[uint16]string{}
	for _, s := range m.Sections {
		link := m.link(s)
		if s.Type != elf.SHT_GNU_VERDEF || link == nil {
			continue
		}
		data, err := m.Read(s)
		texts, err2 := m.Read(link)
		if err != nil || err2 != nil {
			continue
		}
		for at := uint64(0); at+definition <= uint64(len(data)); {
			p := data[at:]
			aux := uint64(m.Order.Uint32(p[12:]))
			if m.Order.Uint16(p[2:])&base == 0 && aux+entry <= uint64(len(p)) {
				names[m.Order.Uint16(p[4:])] = symbolName(string(texts), m.Order.Uint32(p[aux:]))
			}
			next := uint64(m.Order.Uint32(p[16:])) // always forward, so that this ends
			if next == 0 {
				break
			}
			at += next
		}
	}
	return names
}
