package ptrace

import (
	"bytes"
	"errors"
	"maps"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"gotap/arch"
	"gotap/engine/testenv"
)

// sleeper is a process that sleeps; the goroutine is locked to its thread, which becomes the tracer.
func sleeper(t *testing.T) int {
	t.Helper()
	testenv.Require(t, testenv.Ptrace, testenv.AMD64)
	runtime.LockOSThread()
	cmd := exec.Command("sleep", "3600")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	pid := cmd.Process.Pid
	t.Cleanup(func() {
		cmd.Process.Kill()
		for {
			var st Status
			if tid, e := Wait(pid, &st); e != syscall.EINTR && (tid != pid || st.Ended()) {
				break
			}
		}
		runtime.UnlockOSThread()
	})
	return pid
}

// stopped seizes a process and stops it.
func stopped(t *testing.T) int {
	t.Helper()
	pid := sleeper(t)
	if e := Seize(pid, OptSysGood); e != 0 {
		t.Fatal(e)
	}
	if e := Interrupt(pid); e != 0 {
		t.Fatal(e)
	}
	var st Status
	if tid, e := Wait(pid, &st); tid != pid || e != 0 {
		t.Fatal(tid, e)
	}
	if st.Event() != EventStop || st.GroupStop() || !st.Stopped() || st.Ended() {
		t.Fatalf("status %#x", uint32(st))
	}
	return pid
}

func TestStatusAgreesWithTheLibrary(t *testing.T) {
	for _, v := range []uint32{0, 0x100, 0x2a00, 9, 11, 0x8b, 0x57f, 0x137f, 0x857f, 0x3057f, 0x80057f, 0x80137f} {
		st, ws := Status(v), syscall.WaitStatus(v)
		code, exited := st.Exited()
		sig, killed := st.Killed()
		if exited != ws.Exited() || exited && code != ws.ExitStatus() || killed != ws.Signaled() || killed && sig != int(ws.Signal()) ||
			st.Stopped() != ws.Stopped() || st.Ended() != (ws.Exited() || ws.Signaled()) || st.Dumped() != ws.CoreDump() {
			t.Errorf("%#x: exited %v %d, killed %v %d, stopped %v", v, exited, code, killed, sig, st.Stopped())
		}
		if st.Stopped() && st.Signal() != int(ws.StopSignal())&0x7f {
			t.Errorf("%#x: signal %d", v, st.Signal())
		}
	}
}

func TestRegistersAreThoseOfTheKernel(t *testing.T) {
	pid := stopped(t)
	var r arch.Regs
	var want unix.PtraceRegs
	if e := GetRegs(pid, &r); e != 0 {
		t.Fatal(e)
	}
	if err := unix.PtraceGetRegs(pid, &want); err != nil {
		t.Fatal(err)
	}
	got := (*unix.PtraceRegs)(unsafe.Pointer(&r)) // the kernel's structure is a prefix of the array, in words
	if *got != want {
		t.Errorf("registers %+v, not %+v", *got, want)
	}
	for _, v := range r[unsafe.Sizeof(want)/8:] {
		if v != 0 {
			t.Error("more was written than there are registers")
		}
	}
	var fp FPRegs
	if n, e := GetFPRegs(pid, &fp, 8); e != 0 || n != SizeFXSAVE {
		t.Error(n, e)
	}
	if e := SetRegs(pid, &r, 8); e != 0 {
		t.Error(e)
	}
}

func TestMemory(t *testing.T) {
	pid := stopped(t)
	var r arch.Regs
	GetRegs(pid, &r)
	const rsp, rip = 19, 16
	m, err := OpenMemory(pid)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	var a, b [16]byte
	args := endOfStack(m, r[rsp]) - 64 // the page at the stack pointer may be missing still: then it counts as one that faults
	if err := m.ReadMemory(args, a[:]); err != nil {
		t.Fatal(err)
	}
	if err := m.Peek(args, b[:]); err != nil || a != b {
		t.Errorf("%x and %x: %v", a, b, err)
	}
	if err := m.WriteMemory(args, a[:]); err != nil {
		t.Error(err)
	}
	var fault *arch.FaultError
	if err := m.WriteMemory(r[rip], a[:1]); !errors.As(err, &fault) || !fault.Write || fault.Addr != r[rip] {
		t.Errorf("code can be written: %v", err)
	}
	if err := m.ReadMemory(8, a[:]); !errors.As(err, &fault) || fault.Write {
		t.Errorf("page 0 can be read: %v", err)
	}
	code := make([]byte, 8)
	if err := m.Peek(r[rip], code); err != nil {
		t.Fatal(err)
	}
	for _, tid := range []int{0, pid} {
		if err := m.Poke(r[rip], []byte{0xcc}, tid); err != nil {
			t.Fatal(err)
		}
		if err := m.Poke(r[rip], code[:1], tid); err != nil {
			t.Fatal(err)
		}
	}
	if !m.pokeWords(r[rip]+3, []byte("abcdefghijk"), pid) {
		t.Error("words cannot be written")
	}
	got := make([]byte, 16)
	m.Peek(r[rip], got)
	if !bytes.Equal(got[:3], code[:3]) || string(got[3:14]) != "abcdefghijk" {
		t.Errorf("memory %q", got)
	}
}

// endOfStack returns the end of the stack's mapping, above a stack pointer. The arguments of the program are below it.
func endOfStack(m *Memory, sp uint64) uint64 {
	end := (sp + pageSize - 1) &^ (pageSize - 1)
	for word := [8]byte{}; m.ReadAvailable(end, word[:]) == len(word); {
		end += pageSize
	}
	return end
}

// TestFailedWriteLeavesNothing writes over the end of the stack's mapping.
func TestFailedWriteLeavesNothing(t *testing.T) {
	pid := stopped(t)
	m, err := OpenMemory(pid)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	var r arch.Regs
	GetRegs(pid, &r)
	var b [8]byte
	end := endOfStack(m, r[19])
	m.ReadAvailable(end-4, b[:4])
	if m.WriteMemory(end-4, []byte("12345678")) == nil {
		t.Error("memory that is not there was written")
	}
	var now [4]byte
	m.ReadAvailable(end-4, now[:])
	if !bytes.Equal(now[:], b[:4]) {
		t.Errorf("the first part was written: %q", now)
	}
}

func TestSignalsKeepTheirInformation(t *testing.T) {
	pid := stopped(t)
	SendProcess(pid, SIGCONT)
	var st Status
	for range 4 {
		Cont(pid, 0)
		if Wait(pid, &st); st.Signal() == SIGCONT {
			break
		}
	}
	var info SigInfo
	if e := GetSigInfo(pid, &info); e != 0 || info.Signal() != SIGCONT || info.Code() != 0 {
		t.Fatal(e, info.Signal(), info.Code())
	}
	members := map[string]int64{}
	info.Members(func(name string, value int64) { members[name] = value })
	if want := map[string]int64{"code": CodeUser, "sender": int64(os.Getpid()), "uid": int64(os.Getuid())}; !maps.Equal(members, want) {
		t.Errorf("members %v, want %v", members, want)
	}
	info.SetAddr(0x123456789abcdef0)
	if info.Addr() != 0x123456789abcdef0 {
		t.Errorf("address %#x", info.Addr())
	}
	var mask, back uint64 = 1 << 9, 0
	if SetSigMask(pid, &mask) != 0 || GetSigMask(pid, &back) != 0 || back != mask {
		t.Errorf("mask %#x", back)
	}
}

// TestKickInterruptsWait kicks a thread that waits, again and again.
func TestKickInterruptsWait(t *testing.T) {
	pid := sleeper(t)
	if e := Seize(pid, 0); e != 0 {
		t.Fatal(e)
	}
	tid, done := Tid(), make(chan bool)
	go func() {
		for {
			select {
			case <-done:
				return
			case <-time.After(time.Millisecond):
				Kick(tid)
			}
		}
	}()
	for range 20 {
		var st Status
		if _, e := Wait(pid, &st); e != syscall.EINTR {
			t.Errorf("wait: %v, status %#x", e, uint32(st))
		}
	}
	close(done)
}

// TestAlarm: an alarm interrupts a thread that waits, not before its time, and again and again until it is stopped.
func TestAlarm(t *testing.T) {
	pid := sleeper(t)
	if e := Seize(pid, 0); e != 0 {
		t.Fatal(e)
	}
	a, e := NewAlarm()
	if e != 0 {
		t.Fatal(e)
	}
	defer a.Delete()
	wait := func() {
		t.Helper()
		var st Status
		if _, e := Wait(pid, &st); e != syscall.EINTR {
			t.Errorf("wait: %v, status %#x", e, uint32(st))
		}
	}
	const early, again = 20 * time.Millisecond, 5 * time.Millisecond
	start := Now()
	if e := a.Set(start+uint64(early), again); e != 0 {
		t.Fatal(e)
	}
	for i := range 5 {
		wait()
		if after := time.Duration(Now() - start); after < early+time.Duration(i)*again {
			t.Errorf("interruption %d came after %v", i, after)
		}
	}
	a.Set(0, again) // a time that has passed
	wait()
	a.Stop()
	time.AfterFunc(100*time.Millisecond, func() { syscall.Kill(pid, syscall.SIGKILL) })
	var st Status
	for _, e := Wait(pid, &st); e == syscall.EINTR; _, e = Wait(pid, &st) { // at most one that had been sent
	}
	if !st.Ended() && !st.Stopped() {
		t.Errorf("status %#x", uint32(st))
	}
}

// TestAlarmRefused: the kernel refuses an alarm if the user may queue no more signals.
func TestAlarmRefused(t *testing.T) {
	testenv.NoQueuedSignals(t)
	if _, e := NewAlarm(); e != unix.EAGAIN {
		t.Errorf("error %v, not EAGAIN", e)
	}
}

func TestClockIsTheSystems(t *testing.T) {
	var before, after unix.Timespec
	unix.ClockGettime(unix.CLOCK_MONOTONIC, &before)
	now := Now()
	unix.ClockGettime(unix.CLOCK_MONOTONIC, &after)
	if now < uint64(before.Nano()) || now > uint64(after.Nano()) {
		t.Errorf("%d is not within %d and %d", now, before.Nano(), after.Nano())
	}
}
