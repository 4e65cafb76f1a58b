package unwind

import (
	"debug/elf"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"sync/atomic"
)

// ErrNoEntry reports that no call-frame information covers an address.
var ErrNoEntry = errors.New("no call-frame information")

// errLoad is the error of a table whose sections could not be read completely.
var errLoad = errors.New("cannot read .eh_frame: the file changed while it was read")

// File is the ELF file of a Table.
type File interface {
	// Machine returns the architecture of the file.
	Machine() elf.Machine
	// Section returns the contents of a section, decompressed, and its address in the file. The data are nil if the
	// file does not have the section, or the section has no contents in the file.
	Section(name string) (data []byte, addr uint64, err error)
}

// rowCache is the number of rows that a Table caches, a power of two. A walk needs one for each frame.
const rowCache = 1024

// Table is the call-frame information of one module. It is safe for concurrent use. Addresses are addresses in the
// module's file: a program counter minus the module's load bias.
type Table struct {
	file  File
	names *regNames

	once   sync.Once
	err    error
	eh     section
	hdr    hdrTable
	hasHdr bool
	spans  []span // .eh_frame without a search table
	debug  section

	debugOnce  sync.Once // .debug_frame is read only when .eh_frame does not cover an address
	debugSpans []span

	armOnce sync.Once // the tables of 32-bit ARM are read only if neither covers it
	arm     exidx

	mu   sync.Mutex // guards cies
	cies [2]map[int]*cie

	rows [rowCache]atomic.Pointer[row]
}

// New returns the table of a module. It reads nothing: if a file has no call-frame information, later calls return
// ErrNoEntry. It refuses machines other than x86-64, i386, arm64 and 32-bit ARM.
func New(f File) (*Table, error) {
	names := namesOf(f.Machine())
	if names == nil {
		return nil, fmt.Errorf("cannot unwind %v: architecture not supported", f.Machine())
	}
	return &Table{file: f, names: names}, nil
}

// load finds the sections and the search table.
func (t *Table) load() {
	t.err = errLoad // remains if reading faults, because load runs only once
	data, addr, err := t.file.Section(".eh_frame")
	if err != nil {
		t.err = fmt.Errorf("cannot read .eh_frame: %w", err)
		return
	}
	t.eh = section{data: data, addr: addr, eh: true, word: t.names.word}
	t.cies = [2]map[int]*cie{{}, {}}
	if hdr, hdrAddr, err := t.file.Section(".eh_frame_hdr"); err == nil && len(data) > 0 {
		t.hdr, t.hasHdr = parseHdr(hdr, hdrAddr, t.names.word)
	}
	if !t.hasHdr {
		t.spans = t.eh.scan()
	}
	t.err = nil
}

// loadDebug indexes .debug_frame, which has no search table.
func (t *Table) loadDebug() {
	data, addr, err := t.file.Section(".debug_frame")
	if err != nil {
		return
	}
	t.debug = section{data: data, addr: addr, word: t.names.word}
	t.debugSpans = t.debug.scan()
}

// row returns the row for pc, from the cache if possible.
func (t *Table) row(pc uint64) (*row, error) {
	slot := &t.rows[(pc^pc>>10)%rowCache]
	if r := slot.Load(); r != nil && r.pc == pc {
		return r, nil
	}
	r, err := t.makeRow(pc)
	if err != nil {
		return nil, err
	}
	slot.Store(r)
	return r, nil
}

// guard is called before any reading of the sections, and its result is deferred. The sections are mapped files. If one
// is truncated while it is mapped, the access faults; SetPanicOnFault turns the fault into a panic of this goroutine
// alone, and recover turns that into an error.
func guard(pc uint64, err *error) func() {
	before := debug.SetPanicOnFault(true)
	return func() {
		if p := recover(); p != nil {
			*err = fmt.Errorf("cannot read the call-frame information of %#x: %v", pc, p)
		}
		debug.SetPanicOnFault(before)
	}
}

// makeRow runs the CFA program for pc.
func (t *Table) makeRow(pc uint64) (r *row, err error) {
	defer guard(pc, &err)()
	t.once.Do(t.load)
	if t.err != nil {
		return nil, t.err
	}
	f, err := t.find(pc)
	if err != nil && t.names.thumb {
		return t.armRow(pc)
	}
	if err != nil {
		return nil, err
	}
	return f.row(pc, t.names)
}

// find returns the entry that covers pc.
func (t *Table) find(pc uint64) (fde, error) {
	if f, ok := t.findEH(pc); ok {
		return f, nil
	}
	t.debugOnce.Do(t.loadDebug)
	if off, ok := search(t.debugSpans, pc); ok {
		return t.entry(&t.debug, off)
	}
	return fde{}, fmt.Errorf("%w for address %#x", ErrNoEntry, pc)
}

func (t *Table) findEH(pc uint64) (fde, bool) {
	off, ok := 0, false
	if t.hasHdr {
		addr, found := t.hdr.lookup(pc)
		off, ok = int(addr-t.eh.addr), found && addr-t.eh.addr < uint64(len(t.eh.data))
	} else {
		off, ok = search(t.spans, pc)
	}
	if !ok {
		return fde{}, false
	}
	f, err := t.entry(&t.eh, off)
	return f, err == nil && f.lo <= pc && pc < f.hi
}

// entry parses the entry at off of one of the two sections.
func (t *Table) entry(s *section, off int) (fde, error) {
	h, err := s.header(off)
	if err != nil {
		return fde{}, err
	}
	if h.end || h.cie {
		return fde{}, fmt.Errorf("%w at offset %#x", ErrNoEntry, off)
	}
	kind := 0
	if !s.eh {
		kind = 1
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return s.fdeIn(&h, t.cies[kind])
}

// Function returns the bounds of the function, or part of one, whose entry covers the file address pc.
func (t *Table) Function(pc uint64) (lo, hi uint64, err error) {
	defer guard(pc, &err)()
	if _, err = t.row(pc); err != nil {
		return 0, 0, err
	}
	f, err := t.find(pc)
	return f.lo, f.hi, err
}

// CFA returns the canonical frame address of the frame at file address pc as a register and an offset, if the frame's
// entry has that form.
func (t *Table) CFA(pc uint64) (reg string, offset int64, err error) {
	r, err := t.row(pc)
	if err != nil {
		return "", 0, err
	}
	if r.cfa.kind != ruleRegister {
		return "", 0, fmt.Errorf("the frame at %#x is described by an expression", pc)
	}
	return t.names.name(r.cfa.reg), r.cfa.off, nil
}
