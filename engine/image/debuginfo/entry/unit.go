package entry

import (
	"debug/dwarf"
	"path"
	"strings"
)

// FileNames returns the source files of a line table by index. Names may be empty.
func (u *Unit) FileNames(r *dwarf.LineReader) []string {
	names := make([]string, len(r.Files()))
	for i, f := range r.Files() {
		if f != nil {
			names[i] = u.Absolute(f.Name)
		}
	}
	return names
}

// Absolute returns the path of a source file, whose name may be relative to the directory of the compilation.
//
// Clang's line tables of DWARF 5 name the unit's own file by an absolute path that belongs to no directory. Package
// debug/dwarf takes it for a path in the directory of the compilation, so the two are told apart again here.
func (u *Unit) Absolute(name string) string {
	dir, _ := u.Entry.Val(dwarf.AttrCompDir).(string)
	if dir != "" && !path.IsAbs(name) {
		return path.Join(dir, name)
	}
	if own, _ := u.Entry.Val(dwarf.AttrName).(string); dir != "" && path.IsAbs(own) && name == path.Join(dir, own) {
		return path.Clean(own)
	}
	return path.Clean(name)
}

// Unit is one compilation unit. Where its entries are split off, Root, End and Entry are those of its skeleton until it
// is joined.
type Unit struct {
	Version int
	Addr    int          // size of an address in bytes
	Wide    bool         // 64-bit DWARF
	Start   dwarf.Offset // of the header
	Root    dwarf.Offset // of the first entry
	End     dwarf.Offset

	Entry   *dwarf.Entry // the root
	Low     uint64       // base of the unit's range and location lists
	Split   bool         // a skeleton: the rest is in a file that has not been opened, or is missing
	LocBase int64        // of the indexes of location lists

	home       *part        // has the line table
	top        *dwarf.Entry // the root in home, which is read by homeKey
	homeKey    abbrevKey
	body       *part  // has the entries: home, unless they are split off
	id         uint64 // that a skeleton and its rest share
	abbrev     uint64 // where in .debug_abbrev the codes of its entries are described
	addrBase   int64  // of the indexes of addresses
	strBase    int64  // of the indexes of strings
	rangesBase int64  // of offsets into .debug_ranges, in the rest of a skeleton of DWARF 4
	missing    error  // why the rest is missing

	language int64        // of a partial unit: that of a unit that includes it
	scopes   []namedScope // nil: not listed yet
	around   *scope       // nil: not searched yet
}

// unitRange is a range of code that belongs to a unit.
type unitRange struct {
	lo, hi uint64
	unit   *Unit
}

// Languages whose functions do not follow the C calling convention, or not as described (DWARF 5, table 7.17). Assembly
// is what GNU as writes (DW_LANG_Mips_Assembler).
const (
	Go       = 0x16
	Rust     = 0x1c
	Assembly = 0x8001
)

// Language is DW_LANG of the unit, 0 when it does not say.
func (u *Unit) Language() int64 {
	if lang, ok := u.Entry.Val(dwarf.AttrLanguage).(int64); ok {
		return lang
	}
	return u.language
}

// IsC reports whether the names of structs have a keyword before them.
func (u *Unit) IsC() bool {
	switch u.Language() {
	case 0x01, 0x02, 0x0c, 0x1d, 0x2c, Assembly, 0:
		return true
	}
	return false
}

// HasScopes reports whether names are shown with the namespaces around them.
func (u *Unit) HasScopes() bool { return u.IsCPlusPlus() || u.Language() == Rust }

// IsCPlusPlus reports whether classes may have constructors.
func (u *Unit) IsCPlusPlus() bool {
	switch u.Language() {
	case 0x04, 0x1a, 0x21, 0x2b, 0x3a:
		return true
	}
	return false
}

// IsUnoptimised reports whether gcc, which writes down how it was called, did not optimise. Then a parameter declared
// "register" is said to be all the time where only the prologue puts it. Optimised code says such things with location
// lists.
func (u *Unit) IsUnoptimised() bool {
	producer, _ := u.Entry.Val(dwarf.AttrProducer).(string)
	if !strings.HasPrefix(producer, "GNU C") {
		return false
	}
	level := "0"
	for _, word := range strings.Fields(producer) {
		if l, ok := strings.CutPrefix(word, "-O"); ok {
			level = l // the last one counts
		}
	}
	return level == "0"
}

// PassesUnused reports whether the compiler passes an argument to every function that other units can call, used or
// not: GCC, which changes a copy for its own calls, and Go's compiler do.
func (u *Unit) PassesUnused() bool {
	producer, _ := u.Entry.Val(dwarf.AttrProducer).(string)
	return strings.HasPrefix(producer, "GNU ") || u.Language() == Go
}

// Joined reports whether the entries were split off, and are in another file.
func (u *Unit) Joined() bool { return u.body != u.home }

// IsPartial reports whether other units include the entries of the unit.
func (u *Unit) IsPartial() bool { return u.Entry.Tag == dwarf.TagPartialUnit }

// Attributes of skeletons. Those of GNU are of DWARF 4.
const (
	attrDwoName       = dwarf.Attr(0x76)
	attrGNUDwoName    = dwarf.Attr(0x2130)
	attrGNUDwoID      = dwarf.Attr(0x2131)
	attrGNURangesBase = dwarf.Attr(0x2132)
	attrGNUAddrBase   = dwarf.Attr(0x2133)
)
