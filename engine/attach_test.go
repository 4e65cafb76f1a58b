package engine

import (
	"bufio"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"gotap/engine/image/module"
	"gotap/engine/linux/procfs"
	"gotap/engine/linux/ptrace"
	"gotap/engine/testenv"
	"gotap/engine/tracee"
	"gotap/runtime"
	"gotap/runtime/opcode"
	rtoutcome "gotap/runtime/outcome"
)

// stranger is a process that was started without being traced.
type stranger struct {
	t   testing.TB
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

// behind is the nice value of targets in an emulated machine, which has one processor: threads that run all the time
// would leave the session a few percent of it.
const behind = 19

func start(t testing.TB, path string, args ...string) *stranger {
	t.Helper()
	cmd := exec.Command(path, args...)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if os.Getenv(prebuiltDir) != "" {
		syscall.Setpriority(syscall.PRIO_PROCESS, cmd.Process.Pid, behind) // its threads inherit it
	}
	p := &stranger{t, cmd, in, bufio.NewReader(out)}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	if args[0] == "spin" || args[0] == "churn" || args[0] == "twice" || args[0] == "reused" {
		p.out.ReadString('\n')
	}
	return p
}

func (p *stranger) pid() int { return p.cmd.Process.Pid }

// end tells the target to end and returns its last line.
func (p *stranger) end() string {
	p.t.Helper()
	p.in.Write([]byte("x"))
	line := make(chan string, 1)
	go func() { s, _ := p.out.ReadString('\n'); line <- s }()
	select {
	case s := <-line:
		return strings.TrimSpace(s)
	case <-time.After(patience()):
		p.t.Fatal("the target does not end")
		return ""
	}
}

// text is a digest for each piece of code that a process maps from files.
func text(t testing.TB, pid int) string {
	t.Helper()
	maps, err := module.Maps(pid)
	if err != nil {
		t.Fatal(err)
	}
	mem, err := os.Open(fmt.Sprintf("/proc/%d/mem", procfs.Living(pid)))
	if err != nil {
		t.Fatal(err)
	}
	defer mem.Close()
	var all strings.Builder
	for _, m := range maps {
		if m.Exec && m.File() {
			h := sha256.New()
			io.Copy(h, io.NewSectionReader(mem, int64(m.Start), int64(m.End-m.Start)))
			fmt.Fprintf(&all, "%x-%x %s %x\n", m.Start, m.End, m.Path, h.Sum(nil))
		}
	}
	return all.String()
}

// untouched makes sure that a process is as it was before.
func untouched(t testing.TB, pid int, before string) {
	t.Helper()
	if after := text(t, pid); after != before {
		t.Errorf("text after detach:\n%s\nnot\n%s", after, before)
	}
	want(t, "tracer", procfs.Status(pid, "TracerPid"), "0")
}

func TestDetachUnderLoad(t *testing.T) {
	path := program(t, "target.c")
	eachEngine(t, func(t *testing.T, e Engine) {
		p := start(t, path, "spin", "4")
		before := text(t, p.pid())
		w := newWorld(t, Config{Engine: e, Follow: FollowThreads})
		if err := w.Attach(p.pid()); err != nil {
			t.Fatal(err)
		}
		n := w.counter()
		for _, f := range []string{"work+*", "run+*", "runner+*"} {
			w.probe(f, Handlers{Enter: w.counts(n)})
		}
		w.Start()
		if text(t, p.pid()) == before {
			t.Error("nothing was patched")
		}
		eventually(t, "a thousand hits", func() bool { return n.get() > 1000 })
		began := time.Now()
		if err := w.Close(false); err != nil {
			t.Error(err)
		}
		t.Logf("%d hits, detached in %v", n.get(), time.Since(began))
		untouched(t, p.pid(), before)
		want(t, "target", p.end(), "spin bad=0")
	})
}

// TestAttachDuringClone attaches to a process that is creating threads. All its threads are traced then, also one whose
// creator was inside clone when it was seized.
func TestAttachDuringClone(t *testing.T) {
	path := program(t, "target.c")
	for range scaled(3, 100) {
		p := start(t, path, "spin", "64")
		w := newWorld(t, Config{Follow: FollowThreads})
		if err := w.Attach(p.pid()); err != nil {
			t.Fatal(err)
		}
		for _, tid := range procfs.Threads(p.pid()) {
			if procfs.Status(tid, "TracerPid") == "0" {
				t.Errorf("thread %d of process %d is not traced", tid, p.pid())
			}
		}
		w.Close(true)
		p.cmd.Process.Kill()
		p.cmd.Wait()
		if t.Failed() {
			return
		}
	}
}

// TestDetachHeld ends sessions while threads are held that have hit a breakpoint and not stopped for it yet, as those
// are on ARM whose code is changed.
func TestDetachHeld(t *testing.T) {
	p := start(t, program(t, "target.c"), "spin", "4")
	w := newWorld(t, Config{Follow: FollowThreads})
	if err := w.Attach(p.pid()); err != nil {
		t.Fatal(err)
	}
	w.probe("work+*", Handlers{Enter: w.counts(w.counter())})
	w.Start()
	found := false
	for end := time.Now().Add(patience()); !found && time.Now().Before(end); {
		w.do(func() error {
			held := w.world.holdAll()
			found = slices.ContainsFunc(held, func(t *thread) bool { return t.guard.TrapPending() })
			if !found {
				w.world.releaseWorld(held)
			}
			return nil
		})
	}
	if err := w.Close(false); err != nil || !found {
		t.Errorf("%v; a thread was found in front of its stop: %v", err, found)
	}
	want(t, "target", p.end(), "spin bad=0")
}

// TestHoldFindsLateStop holds a thread that stops only after the session has looked for its stop, and after the time in
// which threads usually stop: on a busy machine the session may have had no processor meanwhile.
func TestHoldFindsLateStop(t *testing.T) {
	p := start(t, program(t, "busy.c"), "spin", "1")
	w := newWorld(t, Config{Follow: FollowThreads})
	if err := w.Attach(p.pid()); err != nil {
		t.Fatal(err)
	}
	late := false
	w.do(func() error {
		w.testAt = func(at tracee.Moment) {
			if at == tracee.InHold {
				late = true
				for asked := time.Now(); time.Since(asked) <= holdPatience || !strings.HasPrefix(procfs.Status(p.pid(), "State"), "t"); {
					time.Sleep(time.Millisecond)
				}
			}
		}
		return nil
	})
	eventually(t, "a stop that comes late", func() bool {
		w.do(func() error {
			held := w.world.holdAll()
			if len(held) != 1 {
				t.Errorf("held %d threads, not 1", len(held))
			}
			w.world.releaseWorld(held)
			return nil
		})
		return late || t.Failed()
	})
	w.do(func() error { w.testAt = nil; return nil })
}

// TestManyRounds attaches and detaches again and again; GOTAP_LONG=1 makes it a thousand times. Emulated machines,
// where a round takes two seconds, run few.
func TestManyRounds(t *testing.T) {
	rounds := 12
	switch {
	case os.Getenv("GOTAP_LONG") != "":
		rounds = 1000
	case testing.Short():
		rounds = 4
	}
	p := start(t, program(t, "target.c"), "spin", "8")
	before := text(t, p.pid())
	for i := range rounds {
		w := newWorld(t, Config{Engine: []Engine{Auto, Step}[i%2], Follow: FollowThreads})
		if err := w.Attach(p.pid()); err != nil {
			t.Fatal(err)
		}
		n := w.counter()
		w.probe("work+*", Handlers{Enter: w.counts(n), Leave: nil})
		w.probe("work", Handlers{Leave: w.counts(n)})
		w.Start()
		time.Sleep(time.Duration(i%7) * time.Millisecond)
		if err := w.Close(false); err != nil {
			t.Fatal(err)
		}
	}
	untouched(t, p.pid(), before)
	want(t, "target", p.end(), "spin bad=0")
}

func TestStoppedTargetStaysStopped(t *testing.T) {
	p := start(t, program(t, "target.c"), "spin", "2")
	syscall.Kill(p.pid(), syscall.SIGSTOP)
	waitState(t, p.pid(), "T")
	for range emulated(5, 20) {
		w := newWorld(t, Config{Follow: FollowThreads})
		if err := w.Attach(p.pid()); err != nil {
			t.Fatal(err)
		}
		n := w.counter()
		w.probe("work", Handlers{Enter: w.counts(n)})
		w.Start()
		time.Sleep(5 * time.Millisecond)
		want(t, "hits", n.get(), 0)
		if err := w.Close(false); err != nil {
			t.Fatal(err)
		}
		if state := procfs.Status(p.pid(), "State"); state[0] != 'T' { // at once: the kernel wakes a thread that is let go
			t.Errorf("state %s right after the session", state)
		}
	}
	syscall.Kill(p.pid(), syscall.SIGCONT)
	want(t, "target", p.end(), "spin bad=0")
}

// TestContinuedTargetHasFallback attaches to a stopped process, which can make no call until it is continued.
func TestContinuedTargetHasFallback(t *testing.T) {
	defer func(d time.Duration) { lateAfter = d }(lateAfter)
	lateAfter = time.Millisecond
	p := start(t, program(t, "target.c"), "spin", "2")
	syscall.Kill(p.pid(), syscall.SIGSTOP)
	waitState(t, p.pid(), "T")
	w := newWorld(t, Config{Follow: FollowThreads})
	if err := w.Attach(p.pid()); err != nil {
		t.Fatal(err)
	}
	w.Start()
	protected := func() (yes bool) {
		w.do(func() error { yes = w.procs[p.pid()].space.Guard.Base != 0; return nil })
		return yes
	}
	time.Sleep(100 * lateAfter) // until nobody tries any more
	if protected() {
		t.Error("a stopped process has made system calls")
	}
	syscall.Kill(p.pid(), syscall.SIGCONT)
	eventually(t, "the fallback", protected)
	if err := w.Close(false); err != nil {
		t.Fatal(err)
	}
	want(t, "target", p.end(), "spin bad=0")
}

// TestFallbackWithSharedMemory: where the first hit is one of a child that shares its parent's memory, the parent has
// the fallback as well.
func TestFallbackWithSharedMemory(t *testing.T) {
	p := start(t, program(t, "vforker.c"), "wait")
	p.out.ReadString('\n')
	waitState(t, p.pid(), "S")
	w := newWorld(t, Config{Follow: FollowChildren})
	if err := w.Attach(p.pid()); err != nil {
		t.Fatal(err)
	}
	n := w.counter()
	w.probe("work", Handlers{Enter: w.counts(n)})
	w.Start()
	syscall.Kill(p.pid(), syscall.SIGUSR1)
	eventually(t, "the parent's hit", func() bool { return n.get() == 2 })
	waitState(t, p.pid(), "S")
	if procfs.SignalSet(p.pid(), "SigCgt")&ptrace.TrapBit == 0 {
		t.Error("the parent has no fallback: a session that is killed now would end it")
	}
	if err := w.Close(false); err != nil {
		t.Fatal(err)
	}
	syscall.Kill(p.pid(), syscall.SIGUSR1)
	want(t, "target", p.end(), "number 7")
}

// eventually waits until something is so; a machine that is busy with other things has ample time.
func eventually(t testing.TB, what string, so func() bool) {
	t.Helper()
	if !comes(so) {
		t.Fatalf("waited in vain for %s", what)
	}
}

// comes waits until something is so, and reports whether it came to that. Any goroutine may call it.
func comes(so func() bool) bool {
	for end := time.Now().Add(patience()); !so(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			return false
		}
	}
	return true
}

// waitState waits until a process is in a state.
func waitState(t testing.TB, pid int, state string) {
	t.Helper()
	eventually(t, "state "+state, func() bool { return strings.HasPrefix(procfs.Status(pid, "State"), state) })
}

func TestBlockedCallsAreNotInterrupted(t *testing.T) {
	testPython := `
import os, select, signal, sys, time
ep = select.epoll(); ep.register(0, select.EPOLLIN)
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
class ev(ctypes.Structure):
    _pack_ = 1
    _fields_ = [("events", ctypes.c_uint32), ("data", ctypes.c_uint64)]
e = ev()
r = libc.epoll_wait(ep.fileno(), ctypes.byref(e), 1, 3600000)
print("result", r, "errno", ctypes.get_errno() if r < 0 else 0, flush=True)
`
	p := start(t, python(t), "-c", testPython)
	eventually(t, "the call to begin", func() bool { // its time-out, the fourth argument
		call := strings.Fields(procfs.Read(p.pid(), "syscall"))
		return len(call) > 4 && call[4] == fmt.Sprintf("%#x", 3600000)
	})
	for i := range 6 {
		w := newWorld(t, Config{Follow: FollowThreads, Engine: []Engine{Auto, Step}[i%2]})
		if err := w.Attach(p.pid()); err != nil {
			t.Fatal(err)
		}
		n := w.counter()
		w.probe("libc:write", Handlers{Enter: w.counts(n)})
		w.Start()
		if i > 2 { // a probe on system calls does stop the thread in its call
			w.probe("syscall:write", Handlers{Enter: w.counts(n)})
		}
		time.Sleep(20 * time.Millisecond)
		if err := w.Close(false); err != nil {
			t.Fatal(err)
		}
	}
	want(t, "target", p.end(), "result 1 errno 0")
}

// python is the interpreter.
func python(t testing.TB) string {
	t.Helper()
	requirePython(t)
	path, err := exec.LookPath("python3")
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func TestAttachWhileThreadsComeAndGo(t *testing.T) {
	t.Parallel()
	path := program(t, "target.c")
	for range 5 {
		p := start(t, path, "churn", "5")
		time.Sleep(5 * time.Millisecond)
		w := newWorld(t, Config{Follow: FollowThreads})
		if err := w.Attach(p.pid()); err != nil {
			t.Fatal(err)
		}
		n := w.counter()
		w.probe("work", Handlers{Enter: w.counts(n)})
		w.Start()
		time.Sleep(50 * time.Millisecond) // threads come and go meanwhile
		eventually(t, "hits", func() bool { return n.get() >= 20 })
		if err := w.Close(false); err != nil {
			t.Fatal(err)
		}
		want(t, "target", p.end(), "churn bad=0")
	}
}

func TestRefusedTargets(t *testing.T) {
	path := program(t, "target.c")
	w := newWorld(t, Config{})
	p := start(t, path, "spin", "1")
	other := newWorld(t, Config{Follow: FollowThreads})
	if err := other.Attach(p.pid()); err != nil {
		t.Fatal(err)
	}
	ended := exec.Command("true")
	ended.Start()
	t.Cleanup(func() { ended.Wait() })
	waitState(t, ended.Process.Pid, "Z")
	for _, c := range []struct {
		pid  int
		want string
	}{
		{os.Getpid(), "that is gotap itself"}, {0, "no such process"}, {1 << 30, "no such process"},
		{2, "thread of the kernel"}, {ended.Process.Pid, "zombie"}, {p.pid(), "traced already, by process"},
	} {
		if c.pid == 2 && procfs.Name(2) != "kthreadd" {
			continue // a container has no threads of the kernel
		}
		err := w.Attach(c.pid)
		var ae *AttachError
		if !errors.As(err, &ae) || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), strconv.Itoa(c.pid)) {
			t.Errorf("attach to %d: %v, not %q", c.pid, err, c.want)
		}
	}
}

// TestFirstThreadGone attaches to a program whose first thread has ended, so that /proc/PID shows none of its memory.
func TestFirstThreadGone(t *testing.T) {
	p := start(t, program(t, "firstgone.c"), "3")
	waitState(t, p.pid(), "Z")
	before := text(t, p.pid())
	for round := range 3 {
		w := newWorld(t, Config{Follow: FollowThreads})
		if err := w.Attach(p.pid()); err != nil {
			t.Fatal(err)
		}
		n := w.counter()
		w.probe("work+*", Handlers{Enter: w.counts(n)})
		w.probe("work", Handlers{Leave: w.counts(n)})
		w.Start()
		for v := range byte(5) {
			p.in.Write([]byte{v})
			line, _ := p.out.ReadString('\n')
			want(t, "answer", line, fmt.Sprintln(int(v)*2+1))
		}
		if n.get() < 10 {
			t.Errorf("round %d: %d hits", round, n.get())
		}
		if err := w.Close(false); err != nil {
			t.Fatal(err)
		}
		want(t, "text", text(t, p.pid()), before)
	}
	if _, err := Clean(p.pid()); err != nil {
		t.Error(err)
	}
}

// TestEndWithoutFirstThread has such a program end: its status is that of the threads that were there.
func TestEndWithoutFirstThread(t *testing.T) {
	p := start(t, program(t, "firstgone.c"), "0")
	waitState(t, p.pid(), "Z")
	w := newWorld(t, Config{Follow: FollowThreads})
	if err := w.Attach(p.pid()); err != nil {
		t.Fatal(err)
	}
	w.Start()
	p.in.Close()
	w.Wait()
	var status []int
	for _, e := range w.events {
		if e.Kind == EventExit {
			status = append(status, e.Status)
		}
	}
	if len(status) != 1 || status[0] != 7 {
		t.Errorf("statuses %v, not 7", status)
	}
}

func TestTargetDies(t *testing.T) {
	path := program(t, "target.c")
	for _, sig := range []int{6, 9, 11, 15} {
		w := newWorld(t, Config{Follow: FollowThreads})
		w.launch(path, "die", strconv.Itoa(sig))
		n := w.counter()
		w.probe("work", Handlers{Enter: w.counts(n)})
		w.run()
		want(t, "hits", n.get(), 3)
		w.mu.Lock()
		for _, e := range w.events {
			if e.Kind == EventExit {
				want(t, "signal", e.Signal, sig)
			}
		}
		w.mu.Unlock()
	}
	p := start(t, path, "spin", "4")
	w := newWorld(t, Config{Follow: FollowThreads, Engine: Step})
	if err := w.Attach(p.pid()); err != nil {
		t.Fatal(err)
	}
	n := w.counter()
	w.probe("work+*", Handlers{Enter: w.counts(n)})
	w.Start()
	time.Sleep(100 * time.Millisecond)
	p.cmd.Process.Kill()
	<-w.Done()
}

func TestHoldAndRelease(t *testing.T) {
	w := newWorld(t, Config{Follow: FollowThreads})
	tg := w.launch(program(t, "target.c"), "work", "3")
	code := w.code(runtime.Inst{Op: opcode.Item}, runtime.Inst{Op: opcode.PushD, V: 7}, runtime.Inst{Op: opcode.LogInt},
		runtime.Inst{Op: opcode.EndItem}, runtime.Inst{Op: opcode.Exit, A: uint32(rtoutcome.ExitHold)})
	w.probe("work", Handlers{Enter: code})
	w.Start()
	for i := range 3 {
		w.arena.Wait(nil)
		rec, ok := w.arena.Next()
		if !ok || rec.Hold == 0 {
			t.Fatalf("record %d: %+v", i, rec)
		}
		want(t, "comm", strings.TrimRight(string(rec.Comm[:]), "\x00") != "", true)
		want(t, "state", procfs.Status(tg.pid, "State")[:1], "t")
		w.Release(rec.Hold)
	}
	<-w.Done()
	want(t, "output", tg.output(), "work bad=0\n")
}

// TestHoldWhereItFaulted holds a thread for the handler of a fault: released, it gets the signal that it would have
// had.
func TestHoldWhereItFaulted(t *testing.T) {
	path := program(t, "target.c")
	eachEngine(t, func(t *testing.T, e Engine) {
		w := newWorld(t, Config{Engine: e, Follow: FollowThreads})
		tg := w.launch(path, "fault", "3")
		w.probe("touch+*", Handlers{Fault: w.code(runtime.Inst{Op: opcode.Item}, runtime.Inst{Op: opcode.PushD, V: 7},
			runtime.Inst{Op: opcode.LogInt}, runtime.Inst{Op: opcode.EndItem}, runtime.Inst{Op: opcode.Exit, A: uint32(rtoutcome.ExitHold)})})
		w.Start()
		held := 0
		for w.arena.Wait(w.Done()) {
			rec, ok := w.arena.Next()
			if !ok {
				continue
			}
			if held++; held > 3 {
				t.Fatal("the signal of a fault was lost: the instruction faults again and again")
			}
			w.Release(rec.Hold)
		}
		want(t, "holds", held, 3)
		want(t, "output", tg.output(), "fault bad=0\n")
	})
}

// TestSemaphores: the semaphore of a static mark counts the probes on it while there are any, and is what it was after
// the session.
func TestSemaphores(t *testing.T) {
	testenv.Require(t, testenv.SDT)
	p := start(t, program(t, "semaphore.c"), "-")
	w := newWorld(t, Config{Follow: FollowThreads})
	if err := w.Attach(p.pid()); err != nil {
		t.Fatal(err)
	}
	n, m := w.counter(), w.counter()
	w.probe("usdt:demo:mark", Handlers{Enter: w.counts(n)})
	w.probe("usdt:demo:mark", Handlers{Enter: w.counts(m)})
	w.Start()
	eventually(t, "hits of both", func() bool { return n.get() >= 3 && m.get() >= 3 })
	if err := w.Close(false); err != nil {
		t.Error(err)
	}
	want(t, "target", p.end(), "rose to 2, fell to 0")
}

// TestCodeMappedTwice attaches to a program that runs a page of its code in a second place too: a function in that page
// is probed in both, another where it is.
func TestCodeMappedTwice(t *testing.T) {
	p := start(t, program(t, "twice.c"), "twice")
	w := newWorld(t, Config{Follow: FollowThreads})
	if err := w.Attach(p.pid()); err != nil {
		t.Fatal(err)
	}
	in, out := w.counter(), w.counter()
	w.probe("inside", Handlers{Enter: w.counts(in)})
	w.probe("outside", Handlers{Enter: w.counts(out)})
	w.Start()
	want(t, "result", p.end(), "535")
	<-w.Done()
	want(t, "calls in both copies", in.get(), 20)
	want(t, "calls", out.get(), 10)
}
