package jit

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"
	"testing"
)

// writer writes a dump as the format's description says.
type writer struct {
	bytes.Buffer
	order binary.ByteOrder
}

func (w *writer) put(values ...any) *writer {
	for _, v := range values {
		if s, ok := v.(string); ok {
			w.WriteString(s + "\x00")
			continue
		}
		binary.Write(w, w.order, v)
	}
	return w
}

// header writes the head of the file, which may be longer than this version's.
func (w *writer) header(more int) {
	w.put(uint32(0x4A695444), uint32(1), uint32(40+more), uint32(62), uint32(0), uint32(77), uint64(1), uint64(0))
	w.Write(make([]byte, more))
}

func (w *writer) record(kind uint32, values ...any) {
	body := writer{order: w.order}
	body.put(values...)
	w.put(kind, uint32(16+body.Len()), uint64(5))
	w.Write(body.Bytes())
}

func (w *writer) load(addr uint64, name string, code []byte) {
	w.record(0, uint32(77), uint32(77), addr, addr, uint64(len(code)), uint64(0), name, code)
}

// where describes addresses as a dump names them.
func where(t *table, addrs ...uint64) string {
	var all []string
	for _, addr := range addrs {
		text := "-"
		if c := t.find(addr); c != nil {
			file, number := c.at(addr)
			text = fmt.Sprintf("%s+%d", c.name, addr-c.start)
			if file != "" {
				text += fmt.Sprintf("@%s:%d", file, number)
			}
		}
		all = append(all, text)
	}
	return strings.Join(all, " ")
}

// TestDump: code, lines and moves of a dump that is written while it is read, in both byte orders.
func TestDump(t *testing.T) {
	for _, order := range []binary.ByteOrder{binary.LittleEndian, binary.BigEndian} {
		w := &writer{order: order}
		w.header(8)
		w.load(0x1000, "first", make([]byte, 0x100))
		w.record(2, uint64(0x2000), uint64(3), uint64(0x2000), uint32(7), uint32(0), "/src/a.x", uint64(0x2010), uint32(9), uint32(0), "\xff", uint64(0x2020), uint32(3), uint32(1), "/src/b.x")
		w.record(4, uint64(0), uint64(0)) // unwinding: not read
		w.load(0x2000, "second", bytes.Repeat([]byte{0xcc}, 0x40))
		w.record(1, uint32(77), uint32(77), uint64(0x3000), uint64(0x2000), uint64(0x3000), uint64(0x40), uint64(0))
		w.load(0x1080, "third", make([]byte, 0x10))
		w.record(3)
		want := "first+16 third+0 first+144 second+5@/src/a.x:7 second+31@/src/a.x:9 second+32@/src/b.x:3 second+63@/src/b.x:3 - second+17@/src/a.x:9 -"
		addrs := []uint64{0x1010, 0x1080, 0x1090, 0x2005, 0x201f, 0x2020, 0x203f, 0x2040, 0x3011, 0x3040}
		for _, step := range []int{w.Len(), 1, 13} {
			var d dump
			var all table
			for size := 0; size <= w.Len(); size = min(size+step, w.Len()+1) {
				d.read(&all, bytes.NewReader(w.Bytes()), int64(size))
			}
			d.read(&all, bytes.NewReader(w.Bytes()), int64(w.Len()))
			if got := where(&all, addrs...); got != want {
				t.Errorf("%v, %d bytes at a time:\n%s\nnot\n%s", order, step, got, want)
			}
		}
	}
}

// TestShiftedLines: V8's lines are behind an ELF header that nobody writes.
func TestShiftedLines(t *testing.T) {
	w := &writer{order: binary.LittleEndian}
	w.header(0)
	w.record(2, uint64(0x2000), uint64(2), uint64(0x2040), uint32(7), uint32(0), "a.js", uint64(0x2048), uint32(8), uint32(0), "a.js")
	w.load(0x2000, "f", make([]byte, 0x10))
	var d dump
	var all table
	d.read(&all, bytes.NewReader(w.Bytes()), int64(w.Len()))
	if got, want := where(&all, 0x2000, 0x2009), "f+0@a.js:7 f+9@a.js:8"; got != want {
		t.Errorf("%s, not %s", got, want)
	}
}

// FuzzDump: no file makes the reader fail, hang, or name what it does not say.
func FuzzDump(f *testing.F) {
	w := &writer{order: binary.LittleEndian}
	w.header(0)
	w.record(2, uint64(0x2000), uint64(1), uint64(0x2000), uint32(7), uint32(0), "a.js")
	w.load(0x2000, "f", make([]byte, 0x10))
	w.record(1, uint32(77), uint32(77), uint64(0x3000), uint64(0x2000), uint64(0x3000), uint64(0x40), uint64(0))
	f.Add(w.Bytes())
	f.Add([]byte("garbage that is longer than a header of a dump, and no dump"))
	f.Fuzz(func(t *testing.T, p []byte) {
		var d dump
		var all table
		d.read(&all, bytes.NewReader(p), int64(len(p)))
		for _, c := range all.all {
			if c.end <= c.start || len(c.name) > maxName || clean(c.name) != c.name {
				t.Errorf("%+v", c)
			}
			all.find(c.start)
			c.at(c.start)
		}
	})
}
