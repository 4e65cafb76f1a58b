package remote

import (
	"debug/elf"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"gotap/engine/linux/syscallnames"
	"gotap/engine/place"
	"gotap/engine/registry"
	"gotap/engine/remote/control"
	"gotap/engine/remote/rsp"
	"gotap/engine/syscallprobe"
)

// syscalls are the probes on system calls, for stubs that can stop a process at them, as gdbserver can: at the entry
// and the end of the requested calls. While no such probe is enabled, system calls cost nothing. For those of a machine
// see kernelcall.go. The control's lock guards them.
type syscalls struct {
	probes  syscallprobe.Probes
	stub    *stub
	control *control.Control
	threads *threads
	caught  []int // system calls that the stub reports, in ascending order
	all     bool  // it reports all
}

// inspected is called when the target's processor is known.
func (cs *syscalls) inspected(globals registry.Globals) {
	a := cs.stub.isa
	cs.probes = syscallprobe.Probes{Conventions: []syscallprobe.Convention{{Machine: a.Machine, Regs: a, Word: a.WordSize()}}, Globals: globals}
}

// add adds the system calls that a specification names.
func (cs *syscalls) add(pr *probe, spec place.Spec) error {
	switch {
	case cs.stub.kernel:
		return nil
	case !cs.stub.client.Has("QCatchSyscalls"):
		return &place.RefusedError{Place: spec.String(), Reason: "this stub does not tell of system calls",
			Help: "gdbserver does, and QEMU's user emulation from version 9.0 on; the C library's function of the call is a place as well, as libc:openat"}
	}
	return cs.probes.Add(pr, spec)
}

// sync makes the stub report the system calls that have enabled probes. The end of a call has to be seen although its
// probe is disabled if the call was the probe's last hit.
func (cs *syscalls) sync() error {
	if !cs.control.Closing() && cs.threads.any((*syscallprobe.Calls).Returning) {
		return cs.catchAll()
	}
	var want []int
	if !cs.control.Closing() {
		want = cs.probes.Numbers(cs.stub.isa.Machine, cs.threads.any((*syscallprobe.Calls).Interrupted), func(pl *placement) bool {
			return pl.Probe.Armed() || cs.threads.awaitReturn(pl)
		})
	}
	if slices.Equal(want, cs.caught) && !cs.all {
		return nil
	}
	if err := cs.stub.client.CatchSyscalls(want); err != nil {
		return fmt.Errorf("cannot choose the system calls that are seen: %w", err)
	}
	cs.caught, cs.all = want, false
	return nil
}

// catchAll makes the stub report all system calls.
func (cs *syscalls) catchAll() error {
	if cs.all {
		return nil
	}
	if err := cs.stub.client.CatchAllSyscalls(); err != nil {
		return fmt.Errorf("cannot see the ends of all system calls: %w", err)
	}
	cs.all = true
	return nil
}

// atCall handles a stop at a system call: its entry or its end.
func (t *thread) atCall(stop rsp.Stop) error {
	digits, _, _ := strings.Cut(stop.Value, ";")
	number, err := strconv.ParseUint(digits, 16, 64)
	if err != nil {
		return fmt.Errorf("cannot read the number of a system call: %w", err)
	}
	if stop.Reason == "syscall_entry" {
		t.s.stats.Hits++
		t.sys.Entered(number)
	} else {
		t.sys.Left()
	}
	return errors.Join(t.s.calls.sync(), t.regs.Write())
}

// calling is a thread that makes system calls. It implements syscallprobe.Thread.
type calling struct{ t *thread }

var _ syscallprobe.Thread = calling{}

// Machine implements syscallprobe.Thread.
func (k calling) Machine() elf.Machine { return k.t.s.stub.isa.Machine }

// Begin implements syscallprobe.Thread.
func (k calling) Begin() {
	k.t.view.begin(nil)
	k.t.h.Begin(k.t.s.stub.isa.WordSize())
}

// Commit implements syscallprobe.Thread. The registers are written when the stop has been handled.
func (k calling) Commit(from int) { k.t.h.CommitFrom(from) }

// PC implements syscallprobe.Thread.
func (k calling) PC() uint64 { return *k.t.regs.PC() }

// SP implements syscallprobe.Thread.
func (k calling) SP() uint64 { return k.t.regs.SP() }

// Result implements syscallprobe.Thread.
func (k calling) Result() uint64 { return k.t.s.stub.isa.SyscallRet(&k.t.regs.General) }

// SetResult implements syscallprobe.Thread.
func (k calling) SetResult(v uint64) { k.t.view.SetReturn(v) }

// Restarts implements syscallprobe.Thread.
func (k calling) Restarts() bool { return syscallnames.Restarts(k.Result()) }

// Skip implements syscallprobe.Thread.
func (k calling) Skip() bool {
	k.t.s.report.warn("skip has no effect on system calls through a stub")
	return false
}
