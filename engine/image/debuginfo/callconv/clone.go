package callconv

import (
	"bytes"
	"debug/dwarf"
	"debug/elf"
	"encoding/binary"
	"errors"
	"strings"

	"gotap/engine/image/debuginfo/function"
)

// An optimiser that sees all calls of a function, or copies it for some of them, removes or changes parameters and
// results. The calling convention does not apply to such a function. LLVM marks it; GCC gives the copy a name of its
// own.

// ErrRewritten reports that a function is not called as its source declares it.
var ErrRewritten = errors.New("the optimiser has changed how the function is called")

// nocall is DW_CC_nocall of DW_AT_calling_convention (DWARF 5, table 7.20).
const nocall = 0x03

// rewritten reports whether the optimiser has changed how a function takes its parameters, and how it returns its
// result.
func (cv *Rules) rewritten(fn *function.Function) (params, result bool) {
	if cc, _ := fn.DIE.Val(dwarf.AttrCalling).(int64); cc == nocall {
		return true, true
	}
	name := cv.cloneAt(fn.Low)
	return name != "", strings.Contains(name, ".isra.")
}

// cloneMarks are in the names of GCC's copies.
var cloneMarks = [][]byte{[]byte(".constprop."), []byte(".isra."), []byte(".part.")}

// cloneAt returns the name of GCC's copy of a function at an address, or "".
func (cv *Rules) cloneAt(addr uint64) string {
	if cv.clones == nil {
		cv.clones = cv.listClones()
	}
	return cv.clones[addr]
}

// listClones finds GCC's copies in the symbol table. A stripped file shows none.
func (cv *Rules) listClones() map[uint64]string {
	clones := map[uint64]string{}
	symbols, _, err := cv.entries.Section(".symtab")
	names, _, errNames := cv.entries.Section(".strtab")
	if err != nil || errNames != nil {
		return clones
	}
	size, value := 24, 8
	if cv.entries.Word() == 4 {
		size, value = 16, 4
	}
	for ; len(symbols) >= size; symbols = symbols[size:] {
		at := uint64(binary.LittleEndian.Uint32(symbols))
		if at >= uint64(len(names)) {
			continue
		}
		// A program has so many symbols that no name is copied before it is known to be a clone's.
		name, _, _ := bytes.Cut(names[at:min(uint64(len(names)), at+maxCloneName)], []byte{0})
		if isClone(name) {
			clones[cv.symbolValue(symbols[value:])] = string(name)
		}
	}
	return clones
}

// isClone reports whether a name is that of one of GCC's copies.
func isClone(name []byte) bool {
	for _, mark := range cloneMarks {
		if bytes.Contains(name, mark) {
			return true
		}
	}
	return false
}

// maxCloneName bounds how many bytes of a name are searched.
const maxCloneName = 1 << 12

// symbolValue reads an address of the symbol table, without the bit that marks Thumb code.
func (cv *Rules) symbolValue(b []byte) uint64 {
	switch {
	case cv.entries.Word() == 8:
		return binary.LittleEndian.Uint64(b)
	case cv.entries.Machine() == elf.EM_ARM:
		return uint64(binary.LittleEndian.Uint32(b) &^ 1)
	}
	return uint64(binary.LittleEndian.Uint32(b))
}
