package inject

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"gotap/engine/crashsafe/fallback"
	"gotap/engine/image/module"
	"gotap/engine/isa"
	"gotap/engine/linux/ptrace"
	"gotap/engine/linux/seccomp"
	"gotap/engine/testenv"
	"gotap/engine/tracee"
)

// TestGapNear: the nearest gap is used, but not the first pages, nor the room that the stack and the heap grow into.
func TestGapNear(t *testing.T) {
	const size, code = 64 << 10, 0x40000000
	around := func(more ...module.Mapping) []module.Mapping {
		return append([]module.Mapping{{Start: code, End: code + 0x10000}}, more...)
	}
	for _, c := range []struct {
		name string
		maps []module.Mapping
		brk  uint64
		want uint64
	}{
		{"below the code", around(), 0, code - size},
		{"between the code and a mapping close behind it", []module.Mapping{{Start: 1 << 20, End: code + 0x10000}, {Start: code + 0x10000 + 2*size, End: code + 0x80000}}, 0, code + 0x10000 + size},
		{"away from the heap", []module.Mapping{{Start: 1 << 20, End: code + 0x10000}, {Start: code + 1<<29, End: code + 1<<29 + 1}}, 0, code + 0x10000 + 1<<20},
		{"none", []module.Mapping{{Start: 1 << 20, End: code + 4<<30}}, 0, 0},
		{"not below the stack", []module.Mapping{{Start: 1 << 20, End: code + 0x10000}, {Start: code + 1<<29, End: code + 4<<30, Path: "[stack]"}}, 0, 0},
		{"away from the heap, which is not there yet", []module.Mapping{{Start: 1 << 20, End: code + 0x10000}, {Start: code + 1<<31, End: code + 1<<31 + 1}}, code + 0x18000, code + 0x18000 + 1<<29},
		{"far above the heap", []module.Mapping{{Start: 1 << 20, End: code + 0x10000}, {Start: code + 0x10000, End: code + 0x20000, Path: "[heap]"}, {Start: code + 1<<31, End: code + 1<<31 + 1}}, code + 0x10000, code + 0x20000 + 1<<29},
		{"not above the heap", []module.Mapping{{Start: code, End: code + 0x10000}, {Start: code + 0x11000, End: code + 0x20000, Path: "[heap]"}, {Start: code + 1<<31, End: code + 1<<31 + 1}}, code + 0x11000, code - size},
	} {
		if got := gapNear(c.maps, c.brk, code+0x100, size, isa.SlotReach); got != c.want {
			t.Errorf("%s: %#x, want %#x", c.name, got, c.want)
		}
	}
}

// TestGapBelowKernel: a program at low addresses, with too little room in front of its heap, has the room above the
// heap. That in front of the vsyscall page belongs to the kernel, though it is near when addresses wrap around.
func TestGapBelowKernel(t *testing.T) {
	const brk, size = 0x3f9f000, 0x2199000
	maps := []module.Mapping{{Start: 0x400000, End: 0x31d4000, Path: "/usr/local/go/bin/go"}, {Start: 0x7f4e07065000, End: 0x7f4e0716d000},
		{Start: 0x7ffc4bcc9000, End: 0x7ffc4bcea000, Path: "[stack]"}, {Start: 0xffffffffff600000, End: 0xffffffffff601000, Path: "[vsyscall]"}}
	if got := gapNear(maps, brk, 0xa0e526, size, isa.SlotReach); got != brk+aboveHeap {
		t.Errorf("%#x, want %#x", got, uint64(brk+aboveHeap))
	}
}

// TestAligned: an instruction counts only at a multiple of its alignment.
func TestAligned(t *testing.T) {
	insn := []byte{1, 0, 0, 0xef}
	code := append([]byte{0, 1, 0, 0, 0xef, 0, 0, 0}, insn...)
	if got := aligned(code, insn, 4); got != 8 {
		t.Errorf("found at %d, want 8", got)
	}
	if got := aligned(code, nil, 2); got != -1 {
		t.Errorf("no instruction at all is found at %d", got)
	}
}

// TestPadding: code may be written only over zeros, and what is left of it is found again.
func TestPadding(t *testing.T) {
	const page = 4096
	p, err := syscall.Mmap(-1, 0, page, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Munmap(p)
	mem, err := ptrace.OpenMemory(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	defer mem.Close()
	start := uint64(uintptr(unsafe.Pointer(&p[0])))
	maps := []module.Mapping{{Start: start, End: start + page, Read: true, Exec: true, Path: "/lib/some.so"}}
	at, ok := padding(mem, maps, fallback.StubSize)
	if !ok || at != start+page-fallback.StubSize {
		t.Fatalf("padding at %#x, %v; want the end of the page at %#x", at, ok, start)
	}
	p[page-fallback.StubSize-1] = 1 // the last byte of a function
	if at, ok := padding(mem, maps, fallback.StubSize); ok {
		t.Errorf("padding at %#x, right behind code", at)
	}
	copy(p[page-returnCodeSize:], fallback.ReturnCode(8))
	if left := LeftStubs(mem, maps, fallback.ARM64); len(left) != 1 || left[0] != (module.Range{Start: start + page - returnCodeSize, End: start + page}) {
		t.Errorf("found %#x, want the last %d bytes", left, returnCodeSize)
	}
	if left := LeftStubs(mem, maps, fallback.ARM); len(left) != 0 {
		t.Errorf("found %#x for a processor that it is not for", left)
	}
}

// TestUnfiltered: a thread without filters may make every call, and filters of a former image are forgotten.
func TestUnfiltered(t *testing.T) {
	j := Caller{t: &tracee.Thread{Tid: os.Getpid()}}
	if strings.TrimSpace(j.t.Status("Seccomp")) != "0" {
		testenv.Lack(t, testenv.NoFilter)
	}
	if why := j.Filtered(); why != "" {
		t.Errorf("filtered: %s", why)
	}
	if j.filters = (filters{all: []seccomp.Filter{{}}}); j.Filtered() != "" || len(j.filters.all) != 0 {
		t.Errorf("filters of an earlier image are kept: %+v", j.filters)
	}
}

// TestGapNearLoader has the first mappings of a 32-bit program: between its heap and its loader is room for both, and
// nowhere else is any.
func TestGapNearLoader(t *testing.T) {
	const size, loader, brk = 1 << 20, 0xf7fae000, 0x565e0000
	for name, heap := range map[string][]module.Mapping{"no heap yet": nil, "a heap": {{Start: brk, End: brk + 0x22000, Path: "[heap]"}}} {
		maps := append([]module.Mapping{{Start: 0x565db000, End: brk, Path: "/bin/program"}}, heap...)
		maps = append(maps, module.Mapping{Start: loader, End: loader + 0x35000}, module.Mapping{Start: 0xff8a9000, End: 0xff8ca000, Path: "[stack]"})
		if got := gapNear(maps, brk, loader+0x2120, size, isa.SlotReach); got != loader-size {
			t.Errorf("%s: %#x, want %#x", name, got, uint64(loader-size))
		}
	}
}

// TestNoRoom: what the kernel refuses is a lack of room; that a thread has ended says nothing about its address space.
func TestNoRoom(t *testing.T) {
	err := fmt.Errorf("cannot map memory: %w", syscall.ENOMEM)
	if !refused(err) || errors.Is(notNow(err), ErrNotNow) || !errors.Is(NoRoomError{1, err}, syscall.ENOMEM) {
		t.Errorf("%v should be a refusal by the kernel", err)
	}
	for _, err := range []error{fmt.Errorf("cannot map memory: %w", syscall.ESRCH), &os.PathError{Err: syscall.ENOENT}} {
		if !errors.Is(notNow(err), ErrNotNow) || !errors.Is(notNow(err), err) {
			t.Errorf("%v is the address space's", err)
		}
	}
	j := Caller{t: &tracee.Thread{MidCall: true}}
	if _, err := j.MapNear(1<<40, 4096, isa.SlotReach); !errors.Is(err, ErrNotNow) {
		t.Errorf("a thread in a system call: %v", err)
	}
}
