package remote

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"gotap/engine/linux/syscallnames"
	"gotap/engine/place"
	"gotap/engine/registry/retprobe"
	"gotap/engine/remote/control"
	"gotap/engine/remote/rsp"
)

// syscalls are the probes on system calls, for stubs that can stop a process at them, as gdbserver can: at the entry
// and the end of the requested calls. While no such probe is enabled, system calls cost nothing. For those of a machine
// see kernelcall.go. The control's lock guards them.
type syscalls struct {
	stub    *stub
	control *control.Control
	program *program
	threads *threads
	list    []callProbe
	caught  []int // system calls that the stub reports, in ascending order
}

// callProbe is a probe on one system call.
type callProbe struct {
	number int
	pl     *placement
}

// compile compiles a probe for the system calls that a specification names.
func (cs *syscalls) compile(pr *probe, spec place.Spec) ([]callProbe, error) {
	if !cs.stub.client.Has("QCatchSyscalls") {
		return nil, &place.RefusedError{Place: spec.String(), Reason: "this stub does not tell of system calls",
			Help: "gdbserver does, and QEMU's user emulation from version 9.0 on; the C library's function of the call is a place as well, as libc:openat"}
	}
	var found []callProbe
	for number, name := range syscallnames.Names(cs.stub.isa.Machine) {
		if name == "" || !spec.Matches(name) {
			continue
		}
		code, err := pr.Spec.Compile(cs.program.otherInfo("syscall:" + name))
		if err == nil {
			err = code.Fits(spec)
		}
		if err != nil {
			return nil, err
		}
		found = append(found, callProbe{number, &placement{Probe: pr, Code: code, Func: name}})
	}
	if len(found) == 0 && !pr.Spec.Optional {
		return nil, place.NoCall(spec, syscallnames.Names(cs.stub.isa.Machine))
	}
	return found, nil
}

// add adds a probe's system calls.
func (cs *syscalls) add(pr *probe) error {
	var all error
	for i, spec := range pr.Spec.Specs {
		if spec.Kind != place.Syscall || cs.stub.kernel {
			continue
		}
		found, err := cs.compile(pr, spec)
		if err != nil {
			all = errors.Join(all, &place.ListedError{Index: i, Err: err})
		}
		cs.list = append(cs.list, found...)
	}
	if all != nil {
		return all
	}
	return cs.sync()
}

// count returns the number of system calls that a probe is on.
func (cs *syscalls) count(pr *probe) (n int) {
	for _, c := range cs.list {
		if c.pl.Probe == pr {
			n++
		}
	}
	return n
}

// drop removes a probe's system calls for good; sync makes the stub ignore them.
func (cs *syscalls) drop(pr *probe) {
	cs.list = slices.DeleteFunc(cs.list, func(c callProbe) bool { return c.pl.Probe == pr })
}

// sync makes the stub report the system calls that have enabled probes. The end of a call has to be seen although its
// probe is disabled if the call was the probe's last hit.
func (cs *syscalls) sync() error {
	var want []int
	for _, c := range cs.list {
		if !cs.control.Closing() && (c.pl.Probe.Armed() || cs.threads.awaitReturn(c.pl)) {
			want = append(want, c.number)
		}
	}
	slices.Sort(want)
	want = slices.Compact(want)
	if slices.Equal(want, cs.caught) {
		return nil
	}
	if err := cs.stub.client.CatchSyscalls(want); err != nil {
		return fmt.Errorf("cannot choose the system calls that are seen: %w", err)
	}
	cs.caught = want
	return nil
}

// callState is the state of a thread that makes system calls.
type callState struct {
	again   bool             // the kernel is about to make the call again
	pending retprobe.Pending // leave handlers of the current call
}

// atCall handles a stop at a system call: its entry or its end.
func (t *thread) atCall(stop rsp.Stop) error {
	digits, _, _ := strings.Cut(stop.Value, ";")
	number, err := strconv.ParseUint(digits, 16, 31)
	if err != nil {
		return fmt.Errorf("cannot read the number of a system call: %w", err)
	}
	t.view.at, t.view.inCall = nil, true
	t.h.Begin(t.s.stub.isa.WordSize())
	if stop.Reason == "syscall_entry" {
		t.callEntered(int(number))
	} else {
		t.callLeft()
	}
	if t.h.Skip {
		t.h.Skip = false
		t.s.report.warn("skip has no effect on system calls through a stub")
	}
	t.h.Commit()
	t.view.inCall = false
	if err := t.s.calls.sync(); err != nil {
		return err
	}
	return t.regs.Write()
}

// callEntered runs the programs of probes on the system call that begins.
func (t *thread) callEntered(number int) {
	if t.sys.again {
		t.sys.again = false
		return
	}
	t.sys.pending.Miss(&t.h)
	t.s.stats.Hits++
	for _, c := range t.s.calls.list {
		if c.number == number {
			t.sys.pending.Enter(&t.h, c.pl)
		}
	}
}

// callLeft runs the programs that wait for the end of the system call. A call that the kernel will make again has
// not ended.
func (t *thread) callLeft() {
	if syscallnames.Restarts(t.s.stub.isa.SyscallRet(&t.regs.General)) {
		t.sys.again = true
		return
	}
	t.sys.pending.Leave(&t.h)
}
