package module

import (
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"sort"
	"strings"
	"sync/atomic"
)

// Every Go program contains a table of its functions for the runtime (.gopclntab), which stack unwinding and garbage
// collection need, so neither linker flags nor strip remove it. It provides the names of stripped programs. Its
// layout since Go 1.18 is this (cmd/link/internal/ld/pcln.go, runtime/symtab.go):
//
//	header     magic, 2 zeros, quantum of instructions, pointer size; then words: functions, files, start of the
//	           text, offsets of names, units, files, pc tables, and of the function table
//	functions  pairs of 32-bit numbers: address from the start of the text, offset of the function's record; one more
//	           address is the end of the last
//	record     32-bit numbers: address, name, …; see the constants below

// The magic numbers of Go 1.18 and 1.20, whose tables have the layout above.
const (
	goMagic118 = 0xfffffff0
	goMagic120 = 0xfffffff1
)

// The words of the header behind its first eight bytes.
const (
	goHeaderFuncs = 0
	goHeaderText  = 2 // always 0 since Go 1.26
	goHeaderNames = 3
	goHeaderUnits = 4
	goHeaderPCs   = 6
	goHeaderTable = 7
	goHeaderWords = 8
)

// Offsets in the record of a function. The flags moved when Go 1.20 added the line of the declaration.
const (
	goRecordName    = 4
	goRecordSP      = 16
	goRecordFlag118 = 37
	goRecordFlag120 = 41
	goRecordSize    = 44
)

// goFlagAssembly marks functions written in assembly (internal/abi, FuncFlagAsm).
const goFlagAssembly = 4

// goModuleText is the word of runtime.moduledata that is the address of the text; word 0 is that of the table.
const goModuleText = 22

// GoFunc is a function in Go's own table.
type GoFunc struct {
	Name string // "main.(*Stack).Len"; type arguments are "[...]"
	Addr uint64 // in the file
	Size uint64 // bytes of code, without padding
	// Assembly is set for functions written in assembly. Most take their arguments on the stack (ABI0); other functions
	// take them in registers (ABIInternal), except wrappers for assembly.
	Assembly bool
}

// goFuncs are the functions in Go's own table, or why it cannot be read.
type goFuncs struct {
	list []GoFunc // by address
	err  error
}

var errGoTable = errors.New("damaged function table")

// IsGo reports whether Go's linker made the file, which may contain C functions, too.
func (f *File) IsGo() bool {
	for _, name := range []string{".go.buildinfo", ".note.go.buildid", ".gopclntab", ".data.rel.ro.gopclntab"} {
		if f.elf.Section(name) != nil {
			return true
		}
	}
	return false
}

// GoFuncs returns the functions of a Go program by address, and nothing for other files. The error is set when the
// table cannot be read. The list must not be changed.
func (f *File) GoFuncs() ([]GoFunc, error) {
	read := f.golang.funcs.get(f.readGoFuncs)
	return read.list, read.err
}

// readGoFuncs reads the functions in Go's own table.
func (f *File) readGoFuncs() (found goFuncs) {
	opened := f.openGoTable()
	err := opened.err
	if opened.table != nil {
		found.list, err = opened.table.functions()
	}
	if err != nil {
		found.err = fmt.Errorf("cannot read the functions of %s: %w", f.Path, err)
	}
	return found
}

// GoFuncAt returns the Go function that contains an address. ok is false for C functions and for files that are not Go
// programs.
func (f *File) GoFuncAt(vaddr uint64) (fn GoFunc, ok bool) {
	if t := f.openGoTable().table; t == nil {
		return GoFunc{}, false
	} else if f.golang.asked.Add(1) <= maxSearches {
		if fn, found, certain := t.around(vaddr); certain {
			return fn, found
		}
	}
	list, _ := f.GoFuncs()
	i := sort.Search(len(list), func(i int) bool { return list[i].Addr > vaddr }) - 1
	if i < 0 || vaddr-list[i].Addr >= max(list[i].Size, 1) {
		return GoFunc{}, false
	}
	return list[i], true
}

// maxSearches is how many questions about addresses search Go's own table as it is. More cost more than reading all of
// it.
const maxSearches = 32

// around is File.GoFuncAt. certain is false if it takes the names of all functions to tell: another one has the same
// name, so that a suffix may distinguish them, or the function has none.
func (t *goTable) around(vaddr uint64) (fn GoFunc, found, certain bool) {
	i := sort.Search(t.count, func(i int) bool { return t.addr(i) > vaddr }) - 1
	if i < 0 {
		return GoFunc{}, false, true
	}
	fn, err := t.numbered(i)
	if err != nil || fn.Name == "" {
		return GoFunc{}, false, false
	}
	if vaddr-fn.Addr >= max(fn.Size, 1) {
		return GoFunc{}, false, true
	}
	return fn, true, len(t.named(fn.Name)) == 1
}

// goFacts are Go's own table and the functions in it, as far as they have been read.
type goFacts struct {
	table lazy[openedGoTable]
	funcs lazy[goFuncs]
	asked atomic.Int32 // questions that were to be answered without all functions
}

// openedGoTable is Go's own table, nil for a file without one, or why it cannot be read.
type openedGoTable struct {
	table *goTable
	err   error
}

// openGoTable returns Go's own table, which the first call reads.
func (f *File) openGoTable() openedGoTable {
	return f.golang.table.get(func() openedGoTable {
		t, err := goTables{f}.open()
		if t != nil {
			err = t.check()
		}
		if err != nil {
			t = nil
		}
		return openedGoTable{t, err}
	})
}

// goTable is Go's own table, with offsets resolved.
type goTable struct {
	data  []byte
	order binary.ByteOrder
	text  uint64
	names string
	pcs   []byte // pc tables
	table []byte // pairs and records
	count int
	step  uint64 // quantum of instructions
	flag  int    // offset of the flags in a record
}

// GoFuncsNamed returns the functions with a name in Go's own table, without reading the rest of the table. A function
// in assembly and the compiler's wrapper for it have the same name. It returns nothing for other files and for damaged
// tables.
func (f *File) GoFuncsNamed(name string) (found []GoFunc) {
	if t := f.openGoTable().table; t != nil {
		return t.named(name)
	}
	return nil
}

// named is File.GoFuncsNamed.
func (t *goTable) named(name string) (found []GoFunc) {
	for i := range t.count {
		if t.isNamed(i, name) {
			if fn, err := t.function(t.pair(i)); err == nil {
				found = append(found, fn)
			}
		}
	}
	return found
}

// isNamed reports whether a function, by its number, has a name in the table.
func (t *goTable) isNamed(i int, name string) bool {
	_, at := t.pair(i)
	start := uint64(t.order.Uint32(t.table[at+goRecordName:]))
	end := start + uint64(len(name))
	return end < uint64(len(t.names)) && t.names[end] == 0 && t.names[start:end] == name
}

// goTables finds Go's own table in a file.
type goTables struct{ *File }

// open returns the table, or nil for a file without one.
func (f goTables) open() (*goTable, error) {
	for _, name := range []string{".gopclntab", ".data.rel.ro.gopclntab"} {
		data, addr, err := f.Section(name)
		if err != nil {
			return nil, err
		}
		if data == nil {
			continue
		}
		t := &goTable{data: data, order: f.Order}
		if err := t.open(f, addr); err != nil {
			return nil, err
		}
		return t, nil
	}
	return nil, nil
}

// open reads the header.
func (t *goTable) open(f goTables, addr uint64) error {
	word := f.WordSize()
	if len(t.data) < 8+goHeaderWords*word {
		return errGoTable
	}
	switch magic := t.order.Uint32(t.data); magic {
	case goMagic118:
		t.flag = goRecordFlag118
	case goMagic120:
		t.flag = goRecordFlag120
	default:
		return fmt.Errorf("its format %#x is not known", magic)
	}
	if int(t.data[7]) != word {
		return errGoTable
	}
	t.step = uint64(t.data[6])
	at := func(n int) uint64 { return readWord(t.data[8+n*word:], word, t.order) }
	size := uint64(len(t.data))
	if at(goHeaderNames) > at(goHeaderUnits) || at(goHeaderUnits) > size || at(goHeaderPCs) > size || at(goHeaderTable) > size {
		return errGoTable
	}
	t.names = string(t.data[at(goHeaderNames):at(goHeaderUnits)])
	t.pcs, t.table = t.data[at(goHeaderPCs):], t.data[at(goHeaderTable):]
	if at(goHeaderFuncs) > uint64(len(t.table))/8 {
		return errGoTable
	}
	t.count = int(at(goHeaderFuncs))
	var err error
	t.text, err = f.text(addr, 8+goHeaderText*uint64(word))
	return err
}

// readWord reads a word of 4 or 8 bytes.
func readWord(p []byte, size int, order binary.ByteOrder) uint64 {
	if size == 4 {
		return uint64(order.Uint32(p))
	}
	return order.Uint64(p)
}

// text returns the address that the table counts from: a field of its header, or since Go 1.26 of the runtime's module
// data, which is in a section of its own. C code may precede it in .text.
func (f goTables) text(table, field uint64) (uint64, error) {
	if text := f.pointer(table + field); text != 0 {
		return text, nil
	}
	if s := f.elf.Section(".go.module"); s != nil {
		text := f.pointer(s.Addr + goModuleText*uint64(f.WordSize()))
		if f.pointer(s.Addr) == table && f.IsText(text) {
			return text, nil
		}
	}
	return 0, errors.New("the start of the text is unknown")
}

// pointer reads a pointer as it is once the module is loaded, without the bias. Linkers may leave its value to a
// relocation.
func (f goTables) pointer(vaddr uint64) uint64 {
	if v, ok := f.word(vaddr); ok && v != 0 {
		return v
	}
	var found uint64
	relocations(f).each(func(r rawReloc, _ *elf.Section) {
		// A relocation without a symbol is relative: its addend is the address.
		if r.slot == vaddr && r.symbol == 0 {
			found = r.addend
		}
	})
	return found
}

// functions reads all records.
func (t *goTable) functions() ([]GoFunc, error) {
	list := make([]GoFunc, 0, t.count)
	for i := range t.count {
		fn, err := t.numbered(i)
		if err != nil {
			return nil, err
		}
		if fn.Name != "" {
			list = append(list, fn)
		}
	}
	t.suffix(list)
	return list, nil
}

// check returns an error if the table is damaged: a record is missing, or functions are not in order.
func (t *goTable) check() error {
	if t.count > 0 && len(t.table) < 8*t.count+4 {
		return errGoTable
	}
	for i := range t.count {
		if record := t.order.Uint32(t.table[8*i+4:]); uint64(record)+goRecordSize > uint64(len(t.table)) || i > 0 && t.addr(i) < t.addr(i-1) {
			return errGoTable
		}
	}
	return nil
}

// pair returns where a function starts, from the start of the text, and the offset of its record, by its number.
func (t *goTable) pair(i int) (entry, record uint32) {
	return t.order.Uint32(t.table[8*i:]), t.order.Uint32(t.table[8*i+4:])
}

// addr returns the address of a function by its number, or that of the end of the last one.
func (t *goTable) addr(i int) uint64 { return t.text + uint64(t.order.Uint32(t.table[8*i:])) }

// numbered returns a function by its number, without the suffix that its name may have.
func (t *goTable) numbered(i int) (GoFunc, error) {
	fn, err := t.function(t.pair(i))
	// The table of instructions may be missing, and must not reach beyond the next function.
	most := t.addr(i+1) - t.addr(i)
	if fn.Size == 0 || fn.Size > most {
		fn.Size = most
	}
	return fn, err
}

// function reads one record. The table of stack depths ends with the function; the next function may start behind
// padding.
func (t *goTable) function(entry, at uint32) (GoFunc, error) {
	if uint64(at)+goRecordSize > uint64(len(t.table)) {
		return GoFunc{}, errGoTable
	}
	record := t.table[at:]
	fn := GoFunc{Addr: t.text + uint64(entry), Assembly: record[t.flag]&goFlagAssembly != 0}
	// The compiler writes a middle dot in local types; symbol tables and debug information have a full stop instead.
	fn.Name = strings.ReplaceAll(symbolText(t.names, t.order.Uint32(record[goRecordName:])), "·", ".")
	fn.Size = t.extent(t.order.Uint32(record[goRecordSP:]))
	return fn, nil
}

// symbolText returns the name at an offset of a string table.
func symbolText(names string, at uint32) string {
	if uint64(at) >= uint64(len(names)) {
		return ""
	}
	name, _, _ := strings.Cut(names[at:], "\x00")
	return name
}

// extent returns the number of bytes that a pc table covers. It consists of pairs of a change of value, where 0 marks
// the end except in the first pair, and a length in instruction quanta, both LEB128.
func (t *goTable) extent(at uint32) uint64 {
	if at == 0 || uint64(at) >= uint64(len(t.pcs)) {
		return 0
	}
	r := frameReader{data: t.pcs, at: int(at), order: t.order}
	var size uint64
	for first := true; ; first = false {
		if change := r.leb(false); r.bad || change == 0 && !first {
			return size
		}
		size += r.leb(false) * t.step
	}
}

// suffix distinguishes functions of the same name as Go's linker does in symbol tables. A function that is called by
// another convention than its own has a wrapper with the same name; the one for the stack is "f.abi0".
func (t *goTable) suffix(list []GoFunc) {
	first := make(map[string]int, len(list))
	for i := range list {
		j, twice := first[list[i].Name]
		if !twice {
			first[list[i].Name] = i
			continue
		}
		for _, k := range []int{i, j} {
			if list[k].Assembly {
				list[k].Name += ".abi0"
				break
			}
		}
	}
}
