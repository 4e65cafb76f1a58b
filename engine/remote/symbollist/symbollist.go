package symbollist

import (
	"bufio"
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"sort"
	"strconv"
	"strings"

	"gotap/engine/image/module"
)

// Is reports whether a file is a list of symbols: its first line is one.
func Is(path string) bool {
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() { // reading a pipe would block
		return false
	}
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	line, _ := bufio.NewReaderSize(io.LimitReader(f, 512), 512).ReadString('\n')
	_, ok := parse(line)
	return ok
}

// symbol is one line of a list of symbols.
type symbol struct {
	addr uint64
	kind byte
	name string
}

// parse parses "c0008000 T stext", with or without the name of a kernel module behind it.
func parse(line string) (symbol, bool) {
	fields := strings.Fields(line)
	if len(fields) < 3 || len(fields) > 4 || len(fields[1]) != 1 || len(fields[0]) > 16 {
		return symbol{}, false
	}
	addr, err := strconv.ParseUint(fields[0], 16, 64)
	odd := func(c rune) bool { return c <= ' ' || c >= 0x7f }
	if err != nil || strings.ContainsFunc(fields[2], odd) {
		return symbol{}, false
	}
	return symbol{addr, fields[1][0], fields[2]}, true
}

// read reads the functions of a list.
func read(in io.Reader) ([]symbol, error) {
	var all []symbol
	zeros := 0
	lines := bufio.NewScanner(in)
	for n := 1; lines.Scan(); n++ {
		sym, ok := parse(lines.Text())
		switch {
		case !ok && strings.TrimSpace(lines.Text()) != "":
			return nil, fmt.Errorf("line %d is no \"ADDRESS TYPE NAME\"", n)
		case sym.addr == 0:
			zeros++
		case strings.IndexByte("tTwW", sym.kind) >= 0 && sym.name[0] != '$':
			all = append(all, sym)
		}
	}
	switch {
	case lines.Err() != nil:
		return nil, lines.Err()
	case len(all) == 0 && zeros > 0:
		return nil, errors.New("all addresses in it are 0: it was read by a user whom the kernel does not show them")
	case len(all) == 0:
		return nil, errors.New("it lists no functions")
	}
	sort.SliceStable(all, func(i, j int) bool { return all[i].addr < all[j].addr })
	if first, last := all[0].addr, all[len(all)-1].addr; last-first > maxSpan || last+lastFunction < last {
		return nil, fmt.Errorf("its functions lie between %#x and %#x, which is not kernel code", first, last)
	}
	return all, nil
}

// List is a list of functions, in the order of their addresses. It is never changed.
type List struct {
	path    string
	symbols []symbol
}

// Open reads a list. The error names the file.
func Open(path string) (*List, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("cannot read symbols: %w", err)
	}
	defer f.Close()
	all, err := read(f)
	if err != nil {
		return nil, fmt.Errorf("cannot read symbols of %s: %w", path, err)
	}
	return &List{path, all}, nil
}

// Read reads memory of the target and returns how many bytes, from the start of p, could be read.
type Read func(addr uint64, p []byte) (int, error)

// File returns the list as an ELF file for a processor. Its code is read from the target, which must be stopped
// whenever the file's code is read.
func (l *List) File(machine elf.Machine, read Read) (*module.File, error) {
	return module.NewFile(l.path, &reader{newImage(machine, l.symbols), read})
}

// image is an ELF file whose code is elsewhere.
type image struct {
	head  []byte // everything but the code
	start uint64 // address of the code
	size  uint64
}

// codeOffset is where the code begins in the file: behind everything else, for which it leaves this much room.
const codeOffset = 1 << 32

// maxSpan is how far apart a kernel's functions, including those of its modules, may lie.
const maxSpan = 1 << 46

// lastFunction is the assumed size of the last function of a list, in bytes.
const lastFunction = 4096

// newImage lays out the file: header, names of symbols, symbols, names of sections, section headers, program header.
func newImage(machine elf.Machine, all []symbol) *image {
	im := &image{start: all[0].addr &^ 4095}
	im.size = all[len(all)-1].addr + lastFunction - im.start
	var names, table bytes.Buffer
	names.WriteByte(0)
	binary.Write(&table, binary.LittleEndian, elf.Sym64{})
	for _, sym := range all {
		bind := elf.STB_GLOBAL
		if sym.kind == 't' {
			bind = elf.STB_LOCAL
		}
		binary.Write(&table, binary.LittleEndian, elf.Sym64{Name: uint32(names.Len()), Info: elf.ST_INFO(bind, elf.STT_FUNC), Shndx: 1, Value: sym.addr})
		names.WriteString(sym.name + "\x00")
	}
	im.assemble(machine, names.Bytes(), table.Bytes())
	return im
}

// assemble writes the headers around the tables. The file has the 64-bit format for 32-bit processors too: only
// addresses matter.
func (im *image) assemble(machine elf.Machine, names, table []byte) {
	const header, sections = 64, 64
	sectionNames := "\x00.text\x00.symtab\x00.strtab\x00.shstrtab\x00"
	symAt := uint64(header + 56)
	namesAt := symAt + uint64(len(table))
	shnamesAt := namesAt + uint64(len(names))
	shAt := (shnamesAt + uint64(len(sectionNames)) + 7) &^ 7
	var out bytes.Buffer
	h := elf.Header64{Type: uint16(elf.ET_EXEC), Machine: uint16(machine), Version: 1, Phoff: header, Shoff: shAt, Ehsize: header,
		Phentsize: 56, Phnum: 1, Shentsize: sections, Shnum: 5, Shstrndx: 4}
	copy(h.Ident[:], elf.ELFMAG+"\x02\x01\x01")
	write := func(v any) { binary.Write(&out, binary.LittleEndian, v) }
	write(h)
	write(elf.Prog64{Type: uint32(elf.PT_LOAD), Flags: uint32(elf.PF_R | elf.PF_X), Off: codeOffset, Vaddr: im.start, Filesz: im.size, Memsz: im.size, Align: 1})
	out.Write(table)
	out.Write(names)
	out.WriteString(sectionNames)
	out.Write(make([]byte, shAt-uint64(out.Len())))
	write(elf.Section64{})
	write(elf.Section64{Name: 1, Type: uint32(elf.SHT_PROGBITS), Flags: uint64(elf.SHF_ALLOC | elf.SHF_EXECINSTR), Addr: im.start, Off: codeOffset, Size: im.size})
	write(elf.Section64{Name: 7, Type: uint32(elf.SHT_SYMTAB), Off: symAt, Size: uint64(len(table)), Link: 3, Info: 1, Entsize: 24})
	write(elf.Section64{Name: 15, Type: uint32(elf.SHT_STRTAB), Off: namesAt, Size: uint64(len(names))})
	write(elf.Section64{Name: 23, Type: uint32(elf.SHT_STRTAB), Off: shnamesAt, Size: uint64(len(sectionNames))})
	im.head = out.Bytes()
}

// reader reads the file: what is not code from the image, and code from the target.
type reader struct {
	*image
	read Read
}

// ReadAt implements io.ReaderAt.
func (r *reader) ReadAt(p []byte, off int64) (int, error) {
	if at := uint64(off); at >= codeOffset {
		if at -= codeOffset; at >= r.size {
			return 0, io.EOF
		}
		n, err := r.read(r.start+at, p[:min(uint64(len(p)), r.size-at)])
		if err == nil && n < len(p) {
			err = io.EOF
		}
		return n, err
	}
	if off < 0 || off >= int64(len(r.head)) {
		return 0, io.EOF
	}
	n := copy(p, r.head[off:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}
