package debuginfo

import (
	"debug/dwarf"
	"encoding/binary"
	"errors"
	"strings"
)

// An optimiser that sees all calls of a function, or makes a copy for some of them, leaves parameters and results out, or passes others. The
// calling convention of the source says nothing of such a function. LLVM marks it, GCC names the copy after what was done.

// errRewritten is a function that is not called as its source says.
var errRewritten = errors.New("the optimiser has changed how the function is called")

// nocall is DW_CC_nocall of DW_AT_calling_convention (DWARF 5, table 7.20).
const nocall = 0x03

// rewritten reports whether the optimiser has changed how a function takes its parameters, or gives its result.
func (in *Info) rewritten(fn *function) (params, result bool) {
	if cc, _ := fn.entry.Val(dwarf.AttrCalling).(int64); cc == nocall {
		return true, true
	}
	name := in.cloneAt(fn.low)
	return name != "", strings.Contains(name, ".isra.")
}

// cloneMarks are in the names of GCC's copies.
var cloneMarks = []string{".constprop.", ".isra.", ".part."}

// cloneAt is the name of GCC's copy of a function at an address, "" when there is none.
func (in *Info) cloneAt(addr uint64) string {
	if in.clones == nil {
		in.clones = in.listClones()
	}
	return in.clones[addr]
}

// listClones finds GCC's copies in the symbol table. Without one nothing is known of them.
func (in *Info) listClones() map[uint64]string {
	clones := map[uint64]string{}
	symbols, _, err := in.Section(".symtab")
	names, _, errNames := in.Section(".strtab")
	if err != nil || errNames != nil {
		return clones
	}
	size, value := 24, 8
	if in.word() == 4 {
		size, value = 16, 4
	}
	for ; len(symbols) >= size; symbols = symbols[size:] {
		at := uint64(binary.LittleEndian.Uint32(symbols))
		if at >= uint64(len(names)) {
			continue
		}
		name, _, _ := strings.Cut(string(names[at:min(uint64(len(names)), at+maxCloneName)]), "\x00")
		for _, mark := range cloneMarks {
			if strings.Contains(name, mark) {
				clones[in.symbolValue(symbols[value:])] = name
			}
		}
	}
	return clones
}

// maxCloneName bounds how much of a name is looked at.
const maxCloneName = 1 << 12

// symbolValue is an address in the symbol table, without the bit that marks Thumb.
func (in *Info) symbolValue(b []byte) uint64 {
	switch {
	case in.word() == 8:
		return binary.LittleEndian.Uint64(b)
	case in.machine == machineARM:
		return uint64(binary.LittleEndian.Uint32(b) &^ 1)
	}
	return uint64(binary.LittleEndian.Uint32(b))
}
