package emulate

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"gotap/arch"
)

// answers runs lines of one instruction set.
func answers(t *testing.T, name, lines string) string {
	t.Helper()
	var out bytes.Buffer
	if err := Run(name, strings.NewReader(lines), &out); err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	return out.String()
}

// TestLargeWindows: a window of zeroes costs nothing for its size, and string instructions may fill one.
func TestLargeWindows(t *testing.T) {
	got := answers(t, "x86-64", `{"hex":"c60705","pc":4096,"regs":{"rdi":16777215},"mem":[{"addr":0,"len":16777216}]}`+"\n")
	if want := `"mem":[{"addr":16777215,"hex":"05"}]`; !strings.Contains(got, want) {
		t.Errorf("%s: no %s", got, want)
	}
	got = answers(t, "x86-64", `{"hex":"f3aa","pc":2,"regs":{"rdi":100,"rax":1,"rcx":1048576},"mem":[{"addr":0,"len":16777216}]}`+"\n")
	if want := `"mem":[{"addr":100,"hex":"` + strings.Repeat("01", 1<<20) + `"}]`; !strings.Contains(got, want) {
		t.Errorf("%.200s: not 2^20 ones", got)
	}
	got = answers(t, "arm64", strings.Repeat(`{"hex":"0100c03d","pc":0,"regs":{"x0":8192},"mem":[{"addr":4096,"len":16000000}]}`+"\n", 2000))
	if n := strings.Count(got, `"pc":4,`); n != 2000 {
		t.Errorf("%d of 2000 answers", n)
	}
}

// TestFaultBeyondTheEnd: an access over the end of a 32-bit address space faults at its beginning, and not at an
// address that there is not.
func TestFaultBeyondTheEnd(t *testing.T) {
	for name, line := range map[string]string{
		"arm":  `{"hex":"000091e5","pc":4096,"regs":{"r1":4294967294},"mem":[{"addr":4294963200,"len":4096}]}`,
		"ia32": `{"hex":"8b03","pc":4096,"regs":{"ebx":4294967294},"mem":[{"addr":4294963200,"len":4096}]}`,
	} {
		if got := answers(t, name, line+"\n"); got != `{"fault":{"addr":0,"write":false}}`+"\n" {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// plainMemory is memory as a line describes it, byte by byte: what a byte is, and whether it can be written.
type plainMemory struct {
	bytes map[uint64]byte
	lies  map[uint64]bool // in a window
}

// TestWindowsAreMemory compares windows with a table of bytes: random ones, many over each other and over the
// instruction, read and written at random.
func TestWindowsAreMemory(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var w windows
	for range 3000 {
		base := []uint64{0, 1000, 1 << 40, ^uint64(0) - 100}[r.IntN(4)]
		at := func() uint64 { return base + uint64(r.IntN(300)) }
		code, pc := randomBytes(r, 1+r.IntN(8)), at()
		plain := plainMemory{map[uint64]byte{}, map[uint64]bool{}}
		var texts []memoryText
		for range r.IntN(5) {
			text := memoryText{addr: number(at()), len: number(r.IntN(150))}
			b := make([]byte, text.len)
			if r.IntN(2) == 0 {
				b = randomBytes(r, r.IntN(150))
				text.hex, text.len = hex.EncodeToString(b), 0
			}
			texts = append(texts, text)
			for i, v := range b {
				plain.bytes[uint64(text.addr)+uint64(i)], plain.lies[uint64(text.addr)+uint64(i)] = v, true
			}
		}
		for i, v := range code {
			plain.bytes[pc+uint64(i)] = v
		}
		if err := w.lay(pc, code, texts); err != nil {
			t.Fatal(err)
		}
		plain.compare(t, r, &w, at)
	}
}

// compare reads and writes, and looks at the list of what has changed.
func (m *plainMemory) compare(t *testing.T, r *rand.Rand, w *windows, at func() uint64) {
	t.Helper()
	first := map[uint64]byte{}
	for a, v := range m.bytes {
		first[a] = v
	}
	for range 20 {
		addr, p := at(), randomBytes(r, 1+r.IntN(20))
		write := r.IntN(2) == 0
		var err error
		if write {
			err = w.WriteMemory(addr, p)
		} else {
			err = w.ReadMemory(addr, p)
		}
		if want := m.access(addr, p, write); fmt.Sprint(want) != fmt.Sprint(err) {
			t.Fatalf("%v, want %v", err, want)
		}
	}
	changed := 0
	for a, v := range m.bytes {
		if v != first[a] {
			changed++
		}
	}
	last := uint64(0)
	list := w.changes()
	for i, c := range list {
		if m.bytes[c.addr] != c.value || first[c.addr] == c.value || i > 0 && c.addr <= last {
			t.Fatalf("change %d of %v: was %d, is %d", i, list, first[c.addr], m.bytes[c.addr])
		}
		last = c.addr
	}
	if len(list) != changed {
		t.Fatalf("%d changes, want %d", len(list), changed)
	}
}

// access does to the table what windows did, and says what the error should have been. What was read has to be what the
// table holds.
func (m *plainMemory) access(addr uint64, p []byte, write bool) error {
	for i := range p {
		if _, there := m.bytes[addr+uint64(i)]; !there || write && !m.lies[addr+uint64(i)] {
			return &arch.FaultError{Addr: addr + uint64(i), Write: write}
		}
	}
	for i := range p {
		if write {
			m.bytes[addr+uint64(i)] = p[i]
		} else if m.bytes[addr+uint64(i)] != p[i] {
			return errors.New("another byte")
		}
	}
	return nil
}

func randomBytes(r *rand.Rand, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

// BenchmarkPages is a line whose memory is two pages.
func BenchmarkPages(b *testing.B) {
	var e emulation
	line := []byte(`{"hex":"000081e5","pc":65536,"regs":{"r1":536870976},"cpsr":16,"mem":[{"addr":536870912,"len":4096},{"addr":536875008,"len":4096}]}`)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := e.answer(instructionSets["arm"], line); err != nil {
			b.Fatal(err)
		}
	}
}
