package crashsafe

import (
	"fmt"
	"iter"
	"os"
	"slices"
	"syscall"
	"testing"
	"unsafe"

	"gotap/engine/abi"
	"gotap/engine/crashsafe/fallback"
	"gotap/engine/image/module"
	"gotap/engine/linux/ptrace"
	"gotap/engine/tracee"
)

// world is a session of one process, this one, in which nothing is stopped.
type world struct {
	warned  []string
	mem     *ptrace.Memory
	mods    []module.Loaded
	linked  bool
	space   Space
	process Process
	threads []*Thread
}

func newWorld(t *testing.T) *world {
	t.Helper()
	mem, err := ptrace.OpenMemory(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { mem.Close() })
	w := &world{mem: mem}
	w.space.Init(w)
	w.process.Init(w)
	return w
}

func (w *world) Warn(text string)                      { w.warned = append(w.warned, text) }
func (w *world) Closing() bool                         { return false }
func (w *world) TracesCalls() bool                     { return false }
func (w *world) Processes() iter.Seq[*Process]         { return slices.Values([]*Process{&w.process}) }
func (w *world) Thread(int) *Thread                    { return nil }
func (w *world) HoldRunning(func(*Space) bool) func()  { return func() {} }
func (w *world) Memory() *ptrace.Memory                { return w.mem }
func (w *world) ABI() *abi.ABI                         { return abi.Host()[0] }
func (w *world) Users() int                            { return 1 }
func (w *world) Modules() []module.Loaded              { return w.mods }
func (w *world) IsLinked() bool                        { return w.linked }
func (w *world) PointAt(uint64) *Point                 { return nil }
func (w *world) Planted() iter.Seq[fallback.Displaced] { return func(func(fallback.Displaced) bool) {} }
func (w *world) StoppedTid() int                       { return 0 }
func (w *world) Hook(*module.Loaded, uint64, Hook)     {}
func (w *world) Pid() int                              { return os.Getpid() }
func (w *world) Space() *Space                         { return &w.space }
func (w *world) Threads() iter.Seq[*Thread]            { return slices.Values(w.threads) }
func (w *world) IsChild() bool                         { return false }
func (w *world) Region() *fallback.Region              { return &w.space.Region }
func (w *world) Prepare(*module.Loaded, uint64) (fallback.Displaced, bool) {
	return fallback.Displaced{}, false
}

// TestHandlerOfEndedThread: a thread that ends while the kernel is asked for its handler is nothing to warn of.
func TestHandlerOfEndedThread(t *testing.T) {
	w := newWorld(t)
	x := Thread{signalActions: signalActions{t: &tracee.Thread{Of: w}}, in: &Guards{on: w}}
	for _, err := range []error{nil, syscall.ESRCH, fmt.Errorf("cannot ask: %w", syscall.ESRCH), syscall.EPERM} {
		x.warnNotKept(err)
	}
	want := fmt.Sprintf("process %d: its handler for SIGTRAP cannot be kept: operation not permitted", os.Getpid())
	if len(w.warned) != 1 || w.warned[0] != want {
		t.Errorf("warned %q", w.warned)
	}
}

// TestForkedAction: what becomes of the action for SIGTRAP in a child depends on how it was created.
func TestForkedAction(t *testing.T) {
	own := fallback.Action{Handler: 0x4000}
	for _, c := range []struct {
		name            string
		base            uint64
		cleared, shared bool
		want            Process
	}{
		{"a parent without fallback", 0, false, false, Process{own: own}},
		{"without handlers", 0x1000, true, false, Process{asked: true, lost: true}},
		{"without handlers, in its parent's memory", 0x1000, true, true, Process{own: own, asked: true, lost: true}},
	} {
		w := newWorld(t) // this program's handler for SIGTRAP is Go's
		signalDefault(t)
		w.space.Base = c.base
		w.process.Fork(&Process{own: own, asked: true, ours: true}, c.cleared, c.shared)
		got := w.process
		if got.on != Program(w) {
			t.Errorf("%s: it is another process's state", c.name)
		}
		if got.on = nil; got != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
}

// signalDefault removes the handler for SIGTRAP for the duration of a test.
func signalDefault(t *testing.T) {
	t.Helper()
	var old, none [32]byte
	set := func(act, old *[32]byte) {
		var o uintptr
		if old != nil {
			o = uintptr(unsafe.Pointer(old))
		}
		if _, _, e := syscall.RawSyscall6(syscall.SYS_RT_SIGACTION, uintptr(syscall.SIGTRAP), uintptr(unsafe.Pointer(act)), o, 8, 0, 0); e != 0 {
			t.Fatal(e)
		}
	}
	set(&none, &old)
	t.Cleanup(func() { set(&old, nil) })
}

// TestCopiedSpace: a child whose memory lacks its parent's region has no fallback.
func TestCopiedSpace(t *testing.T) {
	parent, child := newWorld(t), newWorld(t)
	parent.space.Base, parent.space.tried, parent.space.seesMasks = 1<<46, true, true // where nothing is mapped
	child.space.Copy(&parent.space)
	if child.space.Base != 0 || child.space.tried || !child.space.seesMasks || child.space.on != Memory(child) {
		t.Errorf("the child has %+v", child.space)
	}
}

// TestIsLibC: the C library is known by its name, and in a program that is linked statically.
func TestIsLibC(t *testing.T) {
	w := newWorld(t)
	w.mods = []module.Loaded{{Path: "/bin/program"}}
	w.linked = true
	for path, want := range map[string]bool{"/lib/libc.so.6": true, "/lib/libc-2.31.so": true, "/lib/ld-musl-x86_64.so.1": true, "/lib/libcrypt.so": false, "/bin/program": false} {
		if got := w.space.IsLibC(&module.Loaded{Path: path}); got != want {
			t.Errorf("%s: %v", path, got)
		}
	}
	if w.linked = false; !w.space.IsLibC(&module.Loaded{Path: "/bin/program"}) {
		t.Error("a static program does not contain the C library")
	}
}
