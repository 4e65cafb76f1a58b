package memory

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"gotap/arch"
)

// stub is a stub whose target has memory from start on.
type stub struct {
	start uint64
	data  []byte
	reads int
	fixed bool // it refuses to write
}

var errRefused = errors.New("refused")

func (s *stub) ReadMemory(addr uint64, p []byte) (int, error) {
	s.reads++
	if addr < s.start || addr >= s.start+uint64(len(s.data)) {
		return 0, errRefused
	}
	return copy(p, s.data[addr-s.start:]), nil
}

func (s *stub) WriteMemory(addr uint64, p []byte) error {
	if s.fixed || addr < s.start || addr+uint64(len(p)) > s.start+uint64(len(s.data)) {
		return errRefused
	}
	copy(s.data[addr-s.start:], p)
	return nil
}

// none hides nothing.
func none(uint64, []byte) {}

// counted returns memory whose bytes are all different from their neighbours.
func counted(start uint64, n int) *stub {
	s := &stub{start: start, data: make([]byte, n)}
	for i := range s.data {
		s.data[i] = byte(i*7 + i>>8)
	}
	return s
}

// TestRead: every range is read as far as there is memory, whatever blocks it is in.
func TestRead(t *testing.T) {
	const start, size = 0x1000 - 40, 3*block + 77
	s := counted(start, size)
	for _, at := range []uint64{start - 1, start, start + 1, 0xfff, 0x1000, 0x10ff, start + size - 1, start + size} {
		for _, n := range []int{0, 1, 3, 16, 17, block, 2*block + 5} {
			want := 0
			if at >= start && at < start+size {
				want = min(n, int(start+size-at))
			}
			m := New(s, none)
			p := make([]byte, n)
			if got := m.Read(at, p); got != want || want > 0 && !bytes.Equal(p[:got], s.data[at-start:][:got]) {
				t.Errorf("%d bytes at %#x: %d, not %d", n, at, got, want)
			}
			var fault *arch.FaultError
			if err := m.ReadMemory(at, p); (err == nil) != (want == n) || err != nil && (!errors.As(err, &fault) || fault.Addr != at+uint64(want)) {
				t.Errorf("%d bytes at %#x: %v", n, at, err)
			}
			if code := m.Code(at, n); len(code) != want {
				t.Errorf("%d bytes at %#x: code of %d bytes", n, at, len(code))
			}
		}
	}
}

// TestCache: what was read is not requested again until the target has run, or has been written there.
func TestCache(t *testing.T) {
	s := counted(0, 4*block)
	m := New(s, none)
	p := make([]byte, 8)
	m.Read(block+8, p)
	m.Read(block+100, p)
	if s.reads != 1 {
		t.Errorf("%d requests for one block", s.reads)
	}
	s.data[block+8] = 0xaa
	if m.Read(block+8, p); p[0] == 0xaa {
		t.Error("what was read is not kept")
	}
	m.Forget()
	if m.Read(block+8, p); p[0] != 0xaa {
		t.Error("what was read is kept after the target has run")
	}
	for name, write := range map[string]func(uint64, []byte) error{"memory": m.WriteMemory, "code": m.WriteCode} {
		m.Read(2*block-2, p)
		if err := write(2*block-2, []byte(name)); err != nil {
			t.Fatal(err)
		}
		if got := m.Code(2*block-2, len(name)); string(got) != name {
			t.Errorf("wrote %q, read %q", name, got)
		}
	}
}

// TestWrite: a write that is refused, or reaches where no memory is, is a fault and changes nothing.
func TestWrite(t *testing.T) {
	s := counted(0, 2*block)
	m := New(s, none)
	before := bytes.Clone(s.data)
	var fault *arch.FaultError
	if err := m.WriteMemory(2*block-2, []byte("over")); !errors.As(err, &fault) || !fault.Write {
		t.Errorf("over the end: %v", err)
	}
	s.fixed = true
	if err := m.WriteMemory(8, []byte("fixed")); !errors.As(err, &fault) || !fault.Write {
		t.Errorf("refused: %v", err)
	}
	if !bytes.Equal(s.data, before) {
		t.Error("memory has changed")
	}
}

// TestHide: what is read is shown to hide, each time, and the cache keeps what the target has.
func TestHide(t *testing.T) {
	s := counted(0, block)
	hidden := byte(1)
	m := New(s, func(addr uint64, read []byte) {
		if at := 20 - addr; at < uint64(len(read)) {
			read[at] = hidden
		}
	})
	for hidden = 1; hidden < 4; hidden++ {
		if got := m.Code(18, 4); got[2] != hidden || got[1] != s.data[19] {
			t.Errorf("read %x", got)
		}
	}
}

// TestValues: texts end at a zero byte, and pointers have the target's size.
func TestValues(t *testing.T) {
	s := &stub{data: append([]byte("path\x00"), bytes.Repeat([]byte{'x'}, 2*maxText)...)}
	m := New(s, none)
	if got := m.Text(0); got != "path" {
		t.Errorf("text %q", got)
	}
	if got := m.Text(5); got != "" {
		t.Errorf("a text without an end: %d bytes", len(got))
	}
	copy(s.data[16:], strings.Repeat("\x01\x02\x03\x04", 2))
	m.Forget()
	for size, want := range map[int]uint64{4: 0x04030201, 8: 0x0403020104030201} {
		m.WordSize = size
		if v, ok := m.Pointer(16); v != want || !ok {
			t.Errorf("%d bytes: %#x", size, v)
		}
		if _, ok := m.Pointer(uint64(len(s.data)-size) + 1); ok {
			t.Errorf("%d bytes: a pointer behind the end", size)
		}
	}
	for p, want := range map[string]uint64{"": 0, "\x05": 5, "\x00\x01": 256, "\x01\x00\x00\x00\x00\x00\x00\x80\xff": 1<<63 + 1} {
		if got := Word([]byte(p)); got != want {
			t.Errorf("%x: %#x", p, got)
		}
	}
}
