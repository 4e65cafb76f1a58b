package stepping

import (
	"os"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"gotap/engine/abi"
	"gotap/engine/backend"
	"gotap/engine/crashsafe/fallback"
	"gotap/engine/isa"
	"gotap/engine/linux/ptrace"
	"gotap/engine/registry/hit"
	"gotap/engine/space"
	"gotap/engine/testenv"
	"gotap/engine/threadstate"
	"gotap/engine/tracee"
	"gotap/engine/view"
)

// host notes what is asked of the session.
type host struct {
	mem      *ptrace.Memory
	finished []int
	resumed  []int
	watching bool
	ran      []uint64
}

func (h *host) Pid() int                       { return os.Getpid() }
func (h *host) ABI() *abi.ABI                  { return &abi.AMD64 }
func (h *host) Memory() *ptrace.Memory         { return h.mem }
func (h *host) Region() *fallback.Region       { return nil }
func (h *host) Warn(string)                    {}
func (h *host) Resume(sig int)                 { h.resumed = append(h.resumed, sig) }
func (h *host) FinishWith(sig int)             { h.finished = append(h.finished, sig) }
func (h *host) HoldOthers() func() bool        { return func() bool { return false } }
func (h *host) PeekAny() (ptrace.Status, bool) { return 0, false }
func (h *host) Later(ptrace.Status)            {}
func (h *host) Checkpoint(tracee.Moment)       {}
func (h *host) Watching() bool                 { return h.watching }
func (h *host) WatchesMet() uint64             { return 2 }
func (h *host) RunWatches(met uint64) bool {
	h.ran = append(h.ran, met)
	return met != 0
}

// inStep returns a thread, which nobody traces, in a step of code that lies at the address it returns; the copy is at
// slot.
func inStep(t *testing.T, code []byte, slot uint64) (x *Thread, h *host, at uint64) {
	t.Helper()
	testenv.Require(t, testenv.AMD64)
	page, err := unix.Mmap(-1, 0, os.Getpagesize(), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
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
	at = uint64(uintptr(unsafe.Pointer(&page[0])))
	c := space.NewPatcher(nil, space.Settings{Strategy: backend.Step})
	sp := c.NewSpace(mem, &abi.AMD64)
	p, err := c.PointAt(sp, at, nil)
	if err != nil {
		t.Fatal(err)
	}
	h = &host{mem: mem}
	x = &Thread{}
	th := &tracee.Thread{Tid: unix.Gettid(), Of: h}
	w, state := &view.View{}, threadstate.New(threadstate.Stopped)
	w.Init(th, sp, nil, view.Parts{})
	x.Init(th, h, Parts{State: &state, View: w, Hit: &hit.Hit{}, Patcher: c, Stats: &backend.Stats{}})
	x.step = step{active: true, p: p, slot: slot}
	*x.PC() = at
	x.step.st = p.Site.BeforeStep(&x.Regs, slot)
	p.Steps++
	return x, h, at
}

// TestStepped: after a step the registers are as if the instruction had run at its own address.
func TestStepped(t *testing.T) {
	const slot = 0x7000_0000
	x, h, at := inStep(t, []byte{0x90}, slot)
	if *x.PC() != slot || !x.IsActive() || x.ToCall() || x.Origin(slot) != at || x.Origin(slot+1) != at+1 || x.Origin(0x10) != 0x10 {
		t.Errorf("in the step: at %#x", *x.PC())
	}
	*x.PC() = slot + 1
	h.watching = true
	x.Stepped()
	if *x.PC() != at+1 || x.IsActive() || len(h.finished) != 1 || h.finished[0] != 0 {
		t.Errorf("after it: at %#x, finished %v", *x.PC(), h.finished)
	}
	if len(h.ran) != 1 || h.ran[0] != 2 {
		t.Errorf("watchpoints %v", h.ran)
	}
}

// TestCallPushes: the copy of a call pushes the address behind the copy; the program finds the one behind its own call.
func TestCallPushes(t *testing.T) {
	const slot = 0x7000_0000
	x, h, at := inStep(t, []byte{0xe8, 0x10, 0, 0, 0}, slot)
	stack := make([]uint64, 8)
	sp := uint64(uintptr(unsafe.Pointer(&stack[4])))
	stack[4] = slot + 5
	x.Regs[abi.AMD64.SP()] = sp
	*x.PC() = slot + 5 + 0x10
	x.Stepped()
	if *x.PC() != at+5+0x10 || stack[4] != at+5 || len(h.finished) != 1 {
		t.Errorf("at %#x with %#x on the stack; the call is at %#x", *x.PC(), stack[4], at)
	}
}

// TestAgain: an instruction that runs again is not another hit, once, and only with the same stack.
func TestAgain(t *testing.T) {
	x, _, at := inStep(t, []byte{0x90}, 0x7000_0000)
	p := x.step.p
	x.Regs[abi.AMD64.SP()] = 0x1000
	x.redo = redo{at, 0x1000}
	if !x.Again(p) || x.Again(p) {
		t.Error("it counts as a hit, or the next does not")
	}
	x.redo = redo{at, 0x2000}
	if x.Again(p) {
		t.Error("another call of the function does not count")
	}
	x.postCall = true
	if x.Reset(); x.IsActive() || x.AwaitsEnd() {
		t.Error("a new image continues with the step of the former one")
	}
}

// TestSequenceLooks: restartable sequences are looked for at the first hits of a point, and then ever less often.
func TestSequenceLooks(t *testing.T) {
	p, looks := &space.Point{}, []int{}
	for i := 1; i <= 100; i++ {
		if p.LooksForSequence() {
			looks = append(looks, i)
		}
	}
	want := []int{1, 2, 4, 8, 16, 32, 64}
	if len(looks) != len(want) || looks[len(looks)-1] != 64 {
		t.Errorf("looks at %v", looks)
	}
}

// TestNextIT goes through IT blocks of all lengths: as many instructions belong to one as the position of its lowest
// set bit says.
func TestNextIT(t *testing.T) {
	state := func(it uint64) uint64 { return it&3<<25 | it>>2<<10 }
	for it := uint64(0x11); it < 0x100; it++ {
		left := 0
		for low := it & 0xf; low&0xf != 0; low <<= 1 {
			left++
		}
		if it&0xf == 0 {
			continue
		}
		n := 0
		for s := state(it); s != 0; s = nextIT(s) {
			if n++; s&^isa.BlockState != 0 || n > 4 {
				t.Fatalf("%#x: state %#x", it, s)
			}
		}
		if n != left {
			t.Errorf("%#x has %d instructions, not %d", it, n, left)
		}
	}
}
