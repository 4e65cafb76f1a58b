package jit

import (
	"bytes"
	"encoding/binary"
	"io"
	"slices"
	"unicode/utf8"
)

// dump is a file of generated code in perf's format (linux/tools/perf/Documentation/jitdump-specification.txt): a
// header, then records, each with its length, in the byte order of the machine.
type dump struct {
	at     int64 // read up to here, behind the last complete record; 0 before the header
	order  binary.ByteOrder
	broken bool // the file has another format; reading stops

	lines    map[uint64][]line // of code whose record has not come yet, by its start
	number   int               // of line numbers in all
	places   map[uint64]int    // the latest piece of code at a start, in the table
	leastGap uint64            // the smallest distance from the start of code to its first line
	gaps     bool              // there was one
}

// Parts of the format.
const (
	dumpMagic   = 0x4A695444
	headerSize  = 40
	recordSize  = 16
	codeLoad    = 0
	codeMove    = 1
	debugInfo   = 2
	maxRecord   = 64 << 20 // bytes of a record other than one with code
	elfHeader   = 0x40     // V8 counts addresses of lines from an ELF header in front of the code, which perf once made
	sameFile    = "\xff"   // the name of a file that is the one of the entry before
	recordLimit = 1 << 31
)

// read adds the records that have been written since the last time.
func (d *dump) read(t *table, f io.ReaderAt, size int64) {
	if d.at == 0 && !d.broken && size >= headerSize {
		d.begin(f)
	}
	for !d.broken && d.at > 0 && d.at+recordSize <= size {
		var head [recordSize]byte
		if _, err := f.ReadAt(head[:], d.at); err != nil {
			return
		}
		kind, length := d.order.Uint32(head[:]), int64(d.order.Uint32(head[4:]))
		if length < recordSize || length > recordLimit {
			d.broken = true
			return
		}
		if d.at+length > size {
			return // it is being written
		}
		d.record(t, f, kind, d.at+recordSize, length-recordSize)
		d.at += length
	}
}

// begin reads the header.
func (d *dump) begin(f io.ReaderAt) {
	var head [headerSize]byte
	if _, err := f.ReadAt(head[:], 0); err != nil {
		return
	}
	switch {
	case binary.LittleEndian.Uint32(head[:]) == dumpMagic:
		d.order = binary.LittleEndian
	case binary.BigEndian.Uint32(head[:]) == dumpMagic:
		d.order = binary.BigEndian
	}
	if d.order == nil || d.order.Uint32(head[4:]) != 1 || d.order.Uint32(head[8:]) < headerSize || d.order.Uint32(head[8:]) > maxName {
		d.broken = true
		return
	}
	d.at = int64(d.order.Uint32(head[8:]))
	d.lines, d.places = map[uint64][]line{}, map[uint64]int{}
}

// record reads one record, of which the body is given.
func (d *dump) record(t *table, f io.ReaderAt, kind uint32, at, length int64) {
	switch kind {
	case codeLoad:
		d.load(t, d.body(f, at, min(length, 40+maxName+1)))
	case codeMove:
		d.move(t, d.body(f, at, min(length, 48)))
	case debugInfo:
		if length <= maxRecord {
			d.debug(d.body(f, at, length))
		}
	}
}

// body reads the body of a record, or its beginning.
func (d *dump) body(f io.ReaderAt, at, length int64) []byte {
	p := make([]byte, length)
	if _, err := f.ReadAt(p, at); err != nil {
		return nil
	}
	return p
}

// load notes a piece of code: pid, tid, vma, address, size, index, then its name and the code, which is not read.
func (d *dump) load(t *table, p []byte) {
	if len(p) < 41 {
		return
	}
	start, size := d.order.Uint64(p[16:]), d.order.Uint64(p[24:])
	name, _, _ := bytes.Cut(p[40:], []byte{0})
	c := code{start: start, end: start + size, name: clean(string(name)), lines: d.lines[start]}
	delete(d.lines, start)
	for i := range c.lines {
		if d.leastGap == elfHeader {
			c.lines[i].addr -= elfHeader
		}
	}
	d.add(t, c)
}

// add notes a piece of code in the table.
func (d *dump) add(t *table, c code) {
	before := len(t.all)
	if t.add(c); len(t.all) > before {
		d.places[c.start] = before
	}
}

// move notes that a piece of code is elsewhere now: pid, tid, vma, old address, new address, size, index.
func (d *dump) move(t *table, p []byte) {
	if len(p) < 48 {
		return
	}
	from, to, size := d.order.Uint64(p[16:]), d.order.Uint64(p[24:]), d.order.Uint64(p[32:])
	i, ok := d.places[from]
	if !ok {
		return
	}
	c := t.all[i]
	c.lines = slices.Clone(c.lines)
	for j := range c.lines {
		c.lines[j].addr += to - c.start
	}
	c.start, c.end = to, to+size
	d.add(t, c)
}

// debug notes the lines of code whose record comes next: the address of the code and the number of entries; each of
// them is an address, a line, a discriminator and the name of a file, which ends with a zero. A record with an entry
// that makes no sense has no lines at all: some writers write names from memory that they have given back.
func (d *dump) debug(p []byte) {
	if len(p) < 16 {
		return
	}
	start, count := d.order.Uint64(p), d.order.Uint64(p[8:])
	p = p[16:]
	if count == 0 || count > uint64(len(p))/17 || d.number+int(count) > maxLines {
		return
	}
	lines := make([]line, 0, count)
	file := ""
	for range count {
		if len(p) < 17 {
			return
		}
		addr, number := d.order.Uint64(p), d.order.Uint32(p[8:])
		name, rest, ok := bytes.Cut(p[16:], []byte{0})
		if addr-start > maxCode || !ok || number > 1<<30 {
			return
		}
		if string(name) != sameFile {
			if file = string(name); file == "" || !utf8.ValidString(file) || clean(file) != file {
				return
			}
		}
		lines = append(lines, line{addr, file, int(number)})
		p = rest
	}
	slices.SortStableFunc(lines, func(a, b line) int { return int(int64(a.addr - b.addr)) })
	if gap := lines[0].addr - start; !d.gaps || gap < d.leastGap {
		d.gaps, d.leastGap = true, gap
	}
	d.lines[start] = lines
	d.number += len(lines)
}
