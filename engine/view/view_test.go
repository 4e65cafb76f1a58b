package view

import (
	"bytes"
	"iter"
	"math"
	"os"
	"runtime/debug"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"gotap/engine/abi"
	"gotap/engine/backend"
	"gotap/engine/crashsafe"
	"gotap/engine/crashsafe/fallback"
	"gotap/engine/emulation"
	"gotap/engine/executor"
	"gotap/engine/history"
	"gotap/engine/linux/ptrace"
	"gotap/engine/registry"
	"gotap/engine/registry/hit"
	"gotap/engine/registry/retprobe"
	"gotap/engine/space"
	"gotap/engine/syscallprobe"
	"gotap/engine/testenv"
	"gotap/engine/tracee"
	"gotap/runtime"
)

// self is the process of the test as a process of a session, and its Host.
type self struct {
	mem   *ptrace.Memory
	asked []string
}

func (s *self) Pid() int                                   { return os.Getpid() }
func (s *self) ABI() *abi.ABI                              { return &abi.AMD64 }
func (s *self) Memory() *ptrace.Memory                     { return s.mem }
func (s *self) Region() *fallback.Region                   { return nil }
func (s *self) Siblings() iter.Seq[*retprobe.Thread]       { return func(func(*retprobe.Thread) bool) {} }
func (s *self) Disarm(*registry.Probe)                     { s.asked = append(s.asked, "disarm") }
func (s *self) LeaveStopped()                              { s.asked = append(s.asked, "stop") }
func (s *self) Dump([]uint64)                              { s.asked = append(s.asked, "dump") }
func (s *self) Hold(uint32)                                { s.asked = append(s.asked, "hold") }
func (s *self) Warn(string)                                {}
func (s *self) Closing() bool                              { return false }
func (s *self) Checkpoint(tracee.Moment)                   {}
func (s *self) AllStill(*space.Space) bool                 { return true }
func (s *self) StoppedTid(*space.Space) int                { return 0 }
func (s *self) Pause(*space.Space)                         {}
func (s *self) HoldRunning(func(*space.Space) bool) func() { return func() {} }
func (s *self) OpenBlockers(func(*crashsafe.Space) bool)   {}
func (s *self) Guard(retprobe.Target) *crashsafe.Thread    { return nil }

// viewOfSelf returns a view of the thread of the test, whose registers are not known.
func viewOfSelf(t *testing.T) (*View, *self, *space.Patcher) {
	t.Helper()
	testenv.Require(t, testenv.AMD64)
	mem, err := ptrace.OpenMemory(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { mem.Close() })
	s := &self{mem: mem}
	c := space.NewPatcher(s, space.Settings{Strategy: backend.Auto, MaxPoints: 10})
	w := &View{}
	th := &tracee.Thread{Tid: unix.Gettid(), Of: s}
	w.Init(th, c.NewSpace(mem, &abi.AMD64), s, Parts{
		Hit: &hit.Hit{}, Calls: &retprobe.Thread{}, Call: &syscallprobe.Calls{}, Emulation: &emulation.Thread{}, Images: NewImages(history.New()), Patcher: c,
	})
	t.Cleanup(w.CloseFiles)
	return w, s, c
}

// TestIdentity compares what a view says of a thread with what the kernel says to the thread itself.
func TestIdentity(t *testing.T) {
	w, _, _ := viewOfSelf(t)
	for f, want := range map[runtime.Field]int{
		runtime.FieldPid: os.Getpid(), runtime.FieldTid: w.Tid, runtime.FieldPpid: os.Getppid(), runtime.FieldUid: os.Getuid(), runtime.FieldGid: os.Getgid(),
	} {
		if got := w.Field(f); got != uint64(want) {
			t.Errorf("field %v is %d, not %d", f, got, want)
		}
	}
	if pid, tid := w.IDs(); pid != os.Getpid() || tid != w.Tid {
		t.Errorf("IDs are %d, %d", pid, tid)
	}
	var name [16]byte
	if err := unix.Prctl(unix.PR_GET_NAME, uintptr(unsafe.Pointer(&name[0])), 0, 0, 0); err != nil {
		t.Fatal(err)
	}
	var got [16]byte
	if w.Comm(got[:]); len(bytes.TrimRight(got[:], "\x00")) == 0 {
		t.Error("no name")
	}
}

// TestMemory: programs see memory without breakpoints, and cannot write over one.
func TestMemory(t *testing.T) {
	w, _, c := viewOfSelf(t)
	page, err := unix.Mmap(-1, 0, os.Getpagesize(), unix.PROT_READ|unix.PROT_EXEC|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Munmap(page)
	copy(page, "\x90\x90\xc3 text")
	at := uint64(uintptr(unsafe.Pointer(&page[0])))
	p, err := c.PointAt(w.Space, at+1, nil)
	if err != nil {
		t.Fatal(err)
	}
	if failed := c.Breakpoints().Install(p); len(failed) > 0 {
		t.Fatal(failed[0].Err)
	}
	if page[1] != 0xcc {
		t.Errorf("no breakpoint, but %#x", page[1])
	}
	read := make([]byte, 8)
	if n := w.ReadMemory(at, read); n != 8 || string(read) != "\x90\x90\xc3 text" {
		t.Errorf("read %q", read[:n])
	}
	if w.WriteMemory(at, []byte("xx")) || !w.WriteMemory(at+2, []byte("xx")) || string(page[:8]) != "\x90\xccxxtext" {
		t.Errorf("after two writes: %q", page[:8])
	}
	if !w.Writable(at, 8) || w.Writable(0, 1) {
		t.Error("Writable is wrong")
	}
	if failed := c.Breakpoints().Remove(p); executor.Err(failed) != nil {
		t.Error(failed)
	}
}

// TestArguments: the calling convention of System V: six registers, then the stack; vector registers are those of the
// present stop.
func TestArguments(t *testing.T) {
	w, s, _ := viewOfSelf(t)
	stack := []uint64{0, 77}
	for i, name := range []string{"rdi", "rsi", "rdx", "rcx", "r8", "r9"} {
		at, _, _, ok := abi.AMD64.Arch.RegIndex(name)
		if !ok {
			t.Fatal(name)
		}
		w.Regs[at] = uint64(10 + i)
	}
	w.Regs[abi.AMD64.SP()] = uint64(uintptr(unsafe.Pointer(&stack[0])))
	for n, want := range []uint64{10, 11, 12, 13, 14, 15, 77} {
		if got, ok := w.Arg(n); !ok || got != want {
			t.Errorf("argument %d is %d (%v)", n, got, ok)
		}
	}
	if w.SetReturn(5); w.Return() != 5 {
		t.Error("the result")
	}
	if _, ok := w.ArgFloat(0); ok {
		t.Error("the vector registers of a thread that is not traced were read")
	}
	w.fpRead = true // as if they had been
	if v, ok := w.ArgFloat(0); !ok || v != 0 || math.Signbit(v) {
		t.Errorf("xmm0 is %v (%v)", v, ok)
	}
	if w.Ran(); w.FPRegs() != nil {
		t.Error("they are taken for those of the present stop")
	}
	w.Fault(0x1000, 11)
	if w.Field(runtime.FieldFault) != 0x1000 || w.Field(runtime.FieldSignal) != 11 {
		t.Error("the fault")
	}
	if w.Hold(1); len(s.asked) != 1 || s.asked[0] != "hold" {
		t.Errorf("asked for %q", s.asked)
	}
	debug.SetGCPercent(debug.SetGCPercent(100)) // the stack of the test is alive until here
	stack[0]++
}

// TestVDSO compares the vDSO that is found with the kernel's auxiliary vector.
func TestVDSO(t *testing.T) {
	w, _, _ := viewOfSelf(t)
	const tag = 33 // AT_SYSINFO_EHDR
	raw, err := os.ReadFile("/proc/self/auxv")
	if err != nil {
		t.Fatal(err)
	}
	base := uint64(0)
	for i := 0; i+16 <= len(raw); i += 16 {
		word := func(at int) (v uint64) {
			for k := range 8 {
				v |= uint64(raw[at+k]) << (8 * k)
			}
			return v
		}
		if word(i) == tag {
			base = word(i + 8)
		}
	}
	v := w.code.VDSOOf(os.Getpid(), w.Space)
	if base == 0 || !v.Holds(base) || v.Lo != base || v.Holds(v.Hi) {
		t.Errorf("the vdso is at %#x, found %#x to %#x", base, v.Lo, v.Hi)
	}
	if table, bias, ok := w.findTable(base); !ok || table == nil || bias != v.Bias {
		t.Errorf("its table: %v", ok)
	}
}
