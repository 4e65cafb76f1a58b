package engine

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"syscall"
	"time"

	"gotap/engine/abi"
	"gotap/engine/linux/permission"
	"gotap/engine/linux/procfs"
	"gotap/engine/linux/ptrace"
	"gotap/engine/space"
	"gotap/engine/threadstate"
)

// AttachError reports a process that cannot be traced.
type AttachError = permission.AttachError

// ErrNoProcess is the error for IDs that no process has.
var ErrNoProcess = errors.New("no such process")

// attaching is a session as it takes running processes in: see Attach.
type attaching struct{ s *Session }

// Attach starts to trace a running process with all its threads, and arms the probes in it. Seizing stops no thread and
// interrupts no system call. Only installing the fallback stops a thread, briefly and without its noticing. A process
// that is stopped stays stopped.
func (s *Session) Attach(pid int) error {
	a := attaching{s}
	if pid <= 0 {
		return &AttachError{Pid: pid, Err: ErrNoProcess}
	}
	if e := a.checkTarget(pid); e != nil {
		return e
	}
	var p *process
	if err := s.do(func() (err error) { p, err = a.attach(procfs.Group(pid)); return err }); err != nil {
		return err
	}
	if p != nil {
		a.awaitVforked(p.pid)
		a.awaitFallback(p)
		if s.life.undoes {
			return nil
		}
		if err := a.scanWhenSeen(p); err != nil {
			return err
		}
	}
	return a.settle()
}

// vforkPatience is how long an attach waits for children that share the target's memory.
const vforkPatience = time.Second

// awaitVforked waits for the children that a process created with vfork before its threads were seized. They use the
// memory that breakpoints will be planted in, and are not traced. They soon execute a program, or end.
func (a attaching) awaitVforked(pid int) {
	var left []int
	for end := time.Now().Add(vforkPatience); time.Now().Before(end); time.Sleep(time.Millisecond) {
		left = slices.DeleteFunc(procfs.Children(pid), func(child int) bool {
			shares, known := ptrace.SharesMemory(pid, child)
			return !known || !shares || procfs.Status(child, "TracerPid") != "0"
		})
		if len(left) == 0 {
			return
		}
	}
	if !a.s.life.undoes {
		a.s.warn(fmt.Sprintf("process %d shares the memory of process %d and is not traced: a breakpoint would end it", left[0], pid))
	}
}

// scanWhenSeen looks for the modules of a process that has been attached to, and plants the first breakpoints in them.
// A thread that blocks all signals while it waits for a child of vfork cannot be stopped: SIGTRAP would stay blocked in
// it until it hits a breakpoint, which would end the target if the session were killed before. So the wait has to be
// over.
func (a attaching) scanWhenSeen(p *process) error {
	for end := time.Now().Add(vforkPatience); ; time.Sleep(time.Millisecond) {
		scanned := false
		err := a.s.do(func() error {
			if scanned = !p.s.guards.Hindered(p.pid) || time.Now().After(end); scanned {
				a.s.loading.rescan(p)
			}
			return nil
		})
		if err != nil || scanned {
			return err
		}
	}
}

// Limits for installing the fallback in a process that has been attached to, and the pause between attempts. The
// attempts last for fallbackPatience, and for awakeTries attempts on a machine too busy for so many in that time, as
// long as no thread can be used now but one might be soon. They end after sleepersTries attempts that find all threads
// asleep. Nothing is armed before they end: if the session were killed then, a breakpoint would end the target.
const (
	fallbackPatience = 2 * time.Second
	awakeTries       = 20
	sleepersTries    = 3
	fallbackPause    = 3 * time.Millisecond
)

// awaitFallback installs the fallback in a process that has just been attached to. If it fails, protectLater and the
// first hit try again.
func (a attaching) awaitFallback(p *process) {
	a.s.do(func() error { p.awaited = true; return nil })
	defer a.s.do(func() error { p.awaited = false; return nil })
	seen, end, sleepers := time.Now().Add(vforkPatience), time.Now().Add(fallbackPatience), 0
	for tries := 0; sleepers < sleepersTries && (tries < awakeTries || time.Now().Before(end)); tries++ {
		over, asleep := true, false
		a.s.do(func() error {
			switch {
			case a.s.procs[p.pid] != p || a.s.life.closing:
			case p.s.guards.Hindered(p.pid) && time.Now().Before(seen): // see scanWhenSeen
				over = false
			default:
				a.s.loading.show(p)
				over, asleep = p.protectAttached()
			}
			return nil
		})
		if over {
			return
		}
		if asleep {
			sleepers++
		}
		time.Sleep(fallbackPause)
	}
	p.protectLater()
}

// checkTarget returns why a process cannot be attached to, where that can be determined without trying.
func (a attaching) checkTarget(pid int) error {
	if _, err := os.Stat(fmt.Sprintf("/proc/%d", pid)); err != nil {
		return &AttachError{Pid: pid, Err: ErrNoProcess}
	}
	tgid, by := procfs.Group(pid), procfs.Living(pid)
	switch {
	case tgid == os.Getpid() || slices.Contains(a.s.cfg.Own, tgid):
		return &AttachError{Pid: pid, Err: errors.New("that is gotap itself, which waits for this session"), Help: "-p takes the process to trace; a shell's $$ is gotap after exec"}
	case procfs.Ended(by):
		return &AttachError{Pid: pid, Err: errors.New("it has ended already (a zombie)")}
	case procfs.Status(by, "Kthread") == "1" || procfs.Status(by, "VmSize") == "" && procfs.Link(by, "exe") == "":
		return &AttachError{Pid: pid, Err: errors.New("it is a thread of the kernel")}
	}
	if by, _ := strconv.Atoi(procfs.Status(by, "TracerPid")); by != 0 && by != a.s.loop.Tid() {
		return &AttachError{Pid: pid, Err: fmt.Errorf("it is traced already, by process %d (%s)", by, procfs.Name(by)),
			Help: "a process has one tracer at a time: end the other one"}
	}
	return nil
}

// attach seizes the threads of a process until two successive reads of the thread list find none that is not seized.
// Once a thread is seized, the kernel seizes all its new threads, except one: it decides at the beginning of a clone
// whether the new thread is traced (kernel_clone in kernel/fork.c), and lists the thread at the end. So after each
// read that has found threads, those that run are stopped once: a thread stops only behind the call that it was in.
//
// The process is nil if it is already traced.
func (a attaching) attach(pid int) (*process, error) {
	if p := a.s.procs[pid]; p != nil {
		if p.unprobed {
			return nil, &AttachError{Pid: pid, Err: errors.New("it shares its memory with a process that is traced already")}
		}
		return nil, nil
	}
	p, err := a.firstAttach(pid)
	if err != nil {
		return nil, err
	}
	for quiet := 0; quiet < 2; {
		n, err := a.seizeThreads(p)
		if err != nil {
			a.letProcessGo(p)
			return nil, err
		}
		if n == 0 {
			quiet++
			continue
		}
		quiet = 0
		a.s.world.releaseWorld(a.s.world.holdRunning(func(sp *space.Space) bool { return sp == p.space }))
	}
	if len(p.threads) == 0 {
		a.letProcessGo(p)
		return nil, &AttachError{Pid: pid, Err: errors.New("it ended")}
	}
	for tid := range p.threads {
		p.guard.Check(tid)
		break
	}
	return p, nil
}

// firstAttach creates the process for a target.
func (a attaching) firstAttach(pid int) (*process, error) {
	by := procfs.Living(pid)
	how, err := abi.OfProcess(by)
	if err != nil {
		return nil, permission.Denied(pid, err)
	}
	sp, err := a.s.openSpace(by, how)
	if err != nil {
		return nil, permission.Denied(pid, err)
	}
	return a.s.newProcess(pid, sp, how), nil
}

// seizeThreads seizes the threads of a process that are not seized yet, and returns how many it found.
func (a attaching) seizeThreads(p *process) (int, error) {
	dir, err := os.Open(fmt.Sprintf("/proc/%d/task", p.pid))
	if err != nil {
		return 0, &AttachError{Pid: p.pid, Err: ErrNoProcess}
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return 0, &AttachError{Pid: p.pid, Err: ErrNoProcess}
	}
	found := 0
	for _, name := range names {
		tid, err := strconv.Atoi(name)
		if err != nil || a.s.threads[tid] != nil {
			continue
		}
		switch e := ptrace.Seize(tid, options); e {
		case 0:
			a.s.newThread(p, tid, threadstate.Running)
			found++
		case syscall.ESRCH:
		case syscall.EPERM:
			if a.tracedByUs(p, tid) {
				found++
			} else if !procfs.Ended(tid) {
				return found, permission.Denied(p.pid, e)
			}
		default:
			return found, permission.Denied(p.pid, e)
		}
	}
	return found, nil
}

// tracedByUs adds a thread that the kernel seized for us because its creator was seized, before its creator's stop has
// reported it.
func (a attaching) tracedByUs(p *process, tid int) bool {
	by, _ := strconv.Atoi(procfs.Status(tid, "TracerPid"))
	if by == 0 || by != a.s.loop.Tid() {
		return false
	}
	a.s.newThread(p, tid, threadstate.Fresh)
	a.s.arrivals.takeEarly(tid)
	return true
}

// letProcessGo undoes an attach that failed halfway. Nothing has been written to the target yet.
func (a attaching) letProcessGo(p *process) {
	for _, t := range p.threads {
		if ptrace.Interrupt(t.Tid) == 0 {
			if st, ok := a.s.stops.waitFor(t.Tid); ok && st.Stopped() {
				ptrace.Detach(t.Tid, 0)
			}
		}
		t.forget()
	}
	a.s.dropProcess(p)
	a.s.dropSpace(p.space)
	a.s.life.sawOne = len(a.s.procs) > 0
}
