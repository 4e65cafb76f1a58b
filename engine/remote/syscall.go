package remote

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"gotap/engine/linux/syscallnames"
	"gotap/engine/place"
	"gotap/engine/remote/rsp"
)

// Probes on system calls, for stubs that can stop a process at them, as gdbserver can: at the entry and the end of
// the requested calls. While no such probe is enabled, system calls cost nothing. For those of a machine see
// kernelcall.go.

// callProbe is a probe on one system call.
type callProbe struct {
	number int
	pl     *placement
}

// compileCalls compiles a probe for the system calls that a specification names.
func (s *Session) compileCalls(pr *probe, spec place.Spec) ([]callProbe, error) {
	if !s.client.Has("QCatchSyscalls") {
		return nil, &place.RefusedError{Place: spec.String(), Reason: "this stub does not tell of system calls",
			Help: "gdbserver does, and QEMU's user emulation from version 9.0 on; the C library's function of the call is a place as well, as libc:openat"}
	}
	var found []callProbe
	for number, name := range syscallnames.Names(s.isa.Machine) {
		if name == "" || !spec.Matches(name) {
			continue
		}
		code, err := pr.Spec.Compile(s.otherInfo("syscall:" + name))
		if err == nil {
			err = code.Fits(spec)
		}
		if err != nil {
			return nil, err
		}
		found = append(found, callProbe{number, &placement{Probe: pr, Code: code, Func: name}})
	}
	if len(found) == 0 && !pr.Spec.Optional {
		return nil, place.NoCall(spec, syscallnames.Names(s.isa.Machine))
	}
	return found, nil
}

// addCalls adds a probe's system calls to the session.
func (s *Session) addCalls(pr *probe) error {
	var all error
	for i, spec := range pr.Spec.Specs {
		if spec.Kind != place.Syscall || s.kernel {
			continue
		}
		found, err := s.compileCalls(pr, spec)
		if err != nil {
			all = errors.Join(all, &place.ListedError{Index: i, Err: err})
		}
		s.calls = append(s.calls, found...)
	}
	if all != nil {
		return all
	}
	return s.syncCalls()
}

// syncCalls makes the stub report the system calls that have enabled probes.
func (s *Session) syncCalls() error {
	var want []int
	for _, c := range s.calls {
		if c.pl.Probe.Armed() && !s.closing || s.awaited(c.pl) {
			want = append(want, c.number)
		}
	}
	slices.Sort(want)
	want = slices.Compact(want)
	if slices.Equal(want, s.caught) {
		return nil
	}
	if err := s.client.CatchSyscalls(want); err != nil {
		return fmt.Errorf("cannot choose the system calls that are seen: %w", err)
	}
	s.caught = want
	return nil
}

// awaited reports whether the end of a call has to be seen although its probe is disabled, because the call was the
// probe's last hit.
func (s *Session) awaited(pl *placement) bool {
	for _, t := range s.threads {
		if !s.closing && t.pending.Due(pl) {
			return true
		}
	}
	return false
}

// atCall handles a stop at a system call: its entry or its end.
func (t *thread) atCall(stop rsp.Stop) error {
	digits, _, _ := strings.Cut(stop.Value, ";")
	number, err := strconv.ParseUint(digits, 16, 31)
	if err != nil {
		return fmt.Errorf("cannot read the number of a system call: %w", err)
	}
	t.at, t.inCall = nil, true
	t.h.Begin(t.s.isa.WordSize())
	if stop.Reason == "syscall_entry" {
		t.callEntered(int(number))
	} else {
		t.callLeft()
	}
	if t.h.Skip {
		t.h.Skip = false
		t.s.warn("skip has no effect on system calls through a stub")
	}
	t.h.Commit()
	t.inCall = false
	if err := t.s.syncCalls(); err != nil {
		return err
	}
	return t.writeRegs()
}

// callEntered runs the programs of probes on the system call that begins.
func (t *thread) callEntered(number int) {
	if t.callAgain {
		t.callAgain = false
		return
	}
	t.pending.Miss(&t.h)
	t.s.stats.Hits++
	for _, c := range t.s.calls {
		if c.number == number {
			t.pending.Enter(&t.h, c.pl)
		}
	}
}

// callLeft runs the programs that wait for the end of the system call. A call that the kernel will make again has
// not ended.
func (t *thread) callLeft() {
	if syscallnames.Restarts(t.s.isa.SyscallRet(&t.regs)) {
		t.callAgain = true
		return
	}
	t.pending.Leave(&t.h)
}
