package space

import (
	"bytes"
	"errors"
	"os"
	"slices"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"gotap/arch"
	"gotap/engine/abi"
	"gotap/engine/backend"
	"gotap/engine/crashsafe"
	"gotap/engine/executor"
	"gotap/engine/linux/ptrace"
	"gotap/engine/registry/retprobe"
	"gotap/engine/testenv"
	"gotap/engine/tracee"
)

// session is a Host without threads.
type session struct {
	closing bool
	warned  []string
	paused  int
}

func (s *session) Warn(text string)                         { s.warned = append(s.warned, text) }
func (s *session) Closing() bool                            { return s.closing }
func (s *session) Checkpoint(tracee.Moment)                 {}
func (s *session) Guard(retprobe.Target) *crashsafe.Thread  { return nil }
func (s *session) OpenBlockers(func(*crashsafe.Space) bool) {}
func (s *session) AllStill(*Space) bool                     { return true }
func (s *session) StoppedTid(*Space) int                    { return 0 }
func (s *session) Pause(*Space)                             { s.paused++ }
func (s *session) HoldRunning(func(*Space) bool) func()     { return func() {} }

// noJumps is a Jumps that fits nowhere.
type noJumps struct{}

var errNever = errors.New("never")

func (noJumps) Name() string                                 { return "none" }
func (noJumps) Fits(executor.Place) error                    { return errNever }
func (noJumps) Install(...executor.Place) []executor.Failure { return nil }
func (noJumps) Replace(executor.Place) error                 { return nil }
func (noJumps) Remove(...executor.Place) []executor.Failure  { return nil }
func (noJumps) Verify([]executor.Place) error                { return nil }
func (noJumps) How(executor.Place) string                    { return "" }
func (noJumps) Unfit(*Point) error                           { return errNever }
func (noJumps) Uncover(*Space, uint64)                       {}
func (noJumps) Copy(_, _ *Space)                             {}
func (noJumps) Settle(*Point)                                {}
func (noJumps) Silence(*Space)                               {}

// code is what the tests place points in: push %rbp; mov %rsp,%rbp; nop; nop; ret.
var code = []byte{0x55, 0x48, 0x89, 0xe5, 0x90, 0x90, 0xc3}

// here returns the address space of the test itself, with code in a page of its own.
func here(t *testing.T, most int) (c *Patcher, s *session, sp *Space, at uint64) {
	t.Helper()
	testenv.Require(t, testenv.AMD64)
	page, err := unix.Mmap(-1, 0, os.Getpagesize(), unix.PROT_READ|unix.PROT_EXEC|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Munmap(page) })
	copy(page, code)
	mem, err := ptrace.OpenMemory(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { mem.Close() })
	s = &session{}
	c = NewPatcher(s, Settings{Strategy: backend.Auto, MaxPoints: most, Jumps: noJumps{}})
	return c, s, c.NewSpace(mem, &abi.AMD64), uint64(uintptr(unsafe.Pointer(&page[0])))
}

// own makes a point wanted by the session itself.
func own(t *testing.T, c *Patcher, sp *Space, addr uint64) *Point {
	t.Helper()
	p, err := c.PointAt(sp, addr, nil)
	if err != nil {
		t.Fatal(err)
	}
	p.Internal = func(retprobe.Target, *Point) bool { return false }
	if err := c.Sync(p); err != nil {
		t.Fatal(err)
	}
	return p
}

// inMemory returns the bytes that are really there.
func inMemory(t *testing.T, sp *Space, addr uint64, n int) []byte {
	t.Helper()
	p := make([]byte, n)
	if err := sp.Mem.Peek(addr, p); err != nil {
		t.Fatal(err)
	}
	return p
}

// TestBreakpoint: a breakpoint is in the code while its point is wanted, hidden from what programs read, and leaves
// nothing behind.
func TestBreakpoint(t *testing.T) {
	c, _, sp, at := here(t, 10)
	p := own(t, c, sp, at)
	if !p.Planted || !sp.PlantedAt(at) || sp.PlantedAt(at+1) {
		t.Error("it is not planted")
	}
	if got := inMemory(t, sp, at, len(code)); got[0] != 0xcc || !bytes.Equal(got[1:], code[1:]) {
		t.Errorf("in memory is %x", got)
	}
	read := make([]byte, len(code))
	for name, n := range map[string]int{"Read": sp.Read(at, read), "Peek": sp.Peek(at, read)} {
		if n != len(code) || !bytes.Equal(read, code) {
			t.Errorf("%s: %x", name, read[:n])
		}
	}
	if got := sp.Code(at, len(code)); !bytes.Equal(got, code) {
		t.Errorf("Code: %x", got)
	}
	if !sp.Occupies(at-3, 4) || sp.Occupies(at-3, 3) || sp.Occupies(at+1, 4) {
		t.Error("Occupies is wrong at an edge")
	}
	if again, err := c.PointAt(sp, at, nil); again != p || err != nil {
		t.Errorf("the second point: %v", err)
	}
	p.Internal = nil
	if err := c.Sync(p); err != nil || p.Planted {
		t.Errorf("removed: %v", err)
	}
	if got := inMemory(t, sp, at, len(code)); !bytes.Equal(got, code) {
		t.Errorf("left in memory: %x", got)
	}
	if err := c.Verify(sp); err != nil {
		t.Error(err)
	}
}

// TestForeignWrites: where somebody else has written meanwhile, nothing is planted and nothing restored.
func TestForeignWrites(t *testing.T) {
	c, _, sp, at := here(t, 10)
	p := own(t, c, sp, at)
	if err := sp.Mem.Poke(at, []byte{0x90}, 0); err != nil {
		t.Fatal(err)
	}
	p.Internal = nil
	if err := c.Sync(p); err != nil {
		t.Error(err)
	}
	if got := inMemory(t, sp, at, 1); got[0] != 0x90 {
		t.Errorf("overwritten with %x", got)
	}
	q := own(t, c, sp, at) // the instruction is another one now
	if q == p || q.Length != 1 {
		t.Errorf("the point has %d bytes", q.Length)
	}
	other, err := c.PointAt(sp, at+4, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := sp.Mem.Poke(at+4, []byte{0xc3}, 0); err != nil {
		t.Fatal(err)
	}
	other.Internal = q.Internal
	var refused *arch.RefusedError
	if err := c.Sync(other); !errors.As(err, &refused) || other.Planted {
		t.Errorf("planted over a change: %v", err)
	}
	if err := c.RestoreAll(sp); err != nil || q.Planted {
		t.Errorf("restored: %v", err)
	}
}

// TestTogether: points of a batch are planted when it ends, page by page, and each that fails says why.
func TestTogether(t *testing.T) {
	c, s, sp, at := here(t, 10)
	var points []*Point
	lost := c.Together(func() {
		for _, off := range []uint64{0, 1, 4, 6} {
			p, err := c.PointAt(sp, at+off, nil)
			if err != nil {
				t.Fatal(err)
			}
			p.Returns = 1 // calls return there
			if err := c.Sync(p); err != nil {
				t.Fatal(err)
			}
			points = append(points, p)
		}
		if got := inMemory(t, sp, at, len(code)); !bytes.Equal(got, code) {
			t.Errorf("planted early: %x", got)
		}
		if err := sp.Mem.Poke(at+4, []byte{0xc3}, 0); err != nil {
			t.Fatal(err)
		}
	})
	var refused *arch.RefusedError
	if len(lost) != 1 || !errors.As(lost[points[2]], &refused) {
		t.Errorf("lost %v", lost)
	}
	want := slices.Clone(code)
	want[0], want[1], want[4], want[6] = 0xcc, 0xcc, 0xc3, 0xcc
	if got := inMemory(t, sp, at, len(code)); !bytes.Equal(got, want) {
		t.Errorf("in memory is %x, not %x", got, want)
	}
	if found := StillPatched(points); len(found) != 3 {
		t.Errorf("%d breakpoints are found", len(found))
	}
	if s.paused == 0 {
		t.Error("the threads were not paused")
	}
}

// TestClosing: a session that ends plants nothing.
func TestClosing(t *testing.T) {
	c, s, sp, at := here(t, 10)
	s.closing = true
	if p := own(t, c, sp, at); p.Planted {
		t.Error("planted at the end")
	}
}

// TestSlots: slots of an area are used again, and never twice at the same time.
func TestSlots(t *testing.T) {
	const base, size, reach = 0x10000, 64, 1 << 30
	s := Slots{pools: []slotPool{{start: base, next: base, end: base + 3*size}}}
	var got []uint64
	for range 3 {
		got = append(got, s.take(base+4096, size, reach))
	}
	if !slices.Equal(got, []uint64{base, base + size, base + 2*size}) || s.take(base, size, reach) != 0 {
		t.Errorf("taken %#x", got)
	}
	twin := s.copy()
	s.give(got[1])
	if twin.take(base, size, reach) != 0 || s.take(base, size, reach) != got[1] {
		t.Error("a slot that was given back in one copy is free in another, or not free")
	}
	if s.give(got[0]); s.take(base+1<<40, size, reach) != 0 {
		t.Error("a slot out of reach")
	}
}

// TestFull: no memory is looked for again near an address without any, nor anywhere once there are many of these; a
// copy of the space knows them.
func TestFull(t *testing.T) {
	const addr, reach = 1 << 40, 1 << 30
	const fullSpan = reach / fullShare
	s := Slots{full: []uint64{addr}}
	twin := s.copy()
	for at, want := range map[uint64]bool{addr: true, addr - fullSpan + 1: true, addr + fullSpan - 1: true, addr - fullSpan: false, addr + reach: false, 4096: false} {
		if s.isFull(at, reach) != want || twin.isFull(at, reach) != want {
			t.Errorf("%#x: %v, %v in the copy; want %v", at, s.isFull(at, reach), twin.isFull(at, reach), want)
		}
	}
	for i := range uint64(mostFull - 1) {
		s.full = append(s.full, addr+(i+1)*reach)
	}
	if !s.isFull(4096, reach) || twin.isFull(4096, reach) {
		t.Errorf("with %d places memory is still looked for", len(s.full))
	}
}
