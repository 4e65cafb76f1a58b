package command

import (
	"errors"
	"fmt"
	"syscall"

	"gotap/engine/linux/ptrace"
)

// Seize takes over a child that Fork has created and that has not been waited for. A child can only request the old
// kind of tracing for itself. Seize replaces it with the new kind (PTRACE_SEIZE), without which job-control stops
// cannot be distinguished from others and left alone. The child stops at its exec, before its first instruction. Seize
// detaches it with a SIGSTOP, which stops it again before that instruction, seizes it in that stop and continues it
// with a SIGCONT, which is not delivered. The child is then stopped, and has run nothing meanwhile. options are those
// of PTRACE_SETOPTIONS. Tests are told of each step (checkpoint).
func Seize(pid int, options uintptr, checkpoint func()) error {
	if st, ok := await(pid); !ok || !st.Stopped() {
		return errors.New("it ended before it began")
	}
	checkpoint()
	if e := ptrace.Detach(pid, ptrace.SIGSTOP); e != 0 {
		return fmt.Errorf("cannot stop it: %w", e)
	}
	checkpoint()
	if err := awaitStopped(pid); err != nil {
		return err
	}
	checkpoint()
	if e := ptrace.Seize(pid, options); e != 0 {
		return fmt.Errorf("cannot trace it: %w", e)
	}
	checkpoint()
	if st, ok := await(pid); !ok || !st.GroupStop() {
		return errors.New("it did not stop")
	}
	checkpoint()
	ptrace.SendProcess(pid, ptrace.SIGCONT)
	ptrace.Listen(pid)
	for {
		checkpoint()
		st, ok := await(pid)
		switch {
		case !ok || !st.Stopped():
			return errors.New("it ended before it began")
		case st.Signal() == ptrace.SIGCONT && st.Event() == ptrace.EventNone:
			return nil
		}
		if e := ptrace.Cont(pid, 0); e != 0 {
			return fmt.Errorf("cannot continue it: %w", e)
		}
	}
}

// await waits for the next stop of a child. ok is false if it has ended without a report.
func await(pid int) (st ptrace.Status, ok bool) {
	for {
		switch _, e := ptrace.Wait(pid, &st); e {
		case 0:
			return st, true
		case syscall.EINTR:
		default:
			return 0, false
		}
	}
}

// awaitStopped waits until an untraced child has stopped.
func awaitStopped(pid int) error {
	var ws syscall.WaitStatus
	for {
		_, err := syscall.Wait4(pid, &ws, syscall.WALL|syscall.WUNTRACED, nil)
		switch {
		case errors.Is(err, syscall.EINTR):
		case err != nil:
			return fmt.Errorf("cannot wait for it: %w", err)
		case ws.Stopped():
			return nil
		default:
			return errors.New("it ended before it began")
		}
	}
}
