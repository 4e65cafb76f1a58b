package command

import (
	"os"
	goruntime "runtime"
	"strings"
	"syscall"
	"testing"

	"gotap/engine/backend"
	"gotap/engine/linux/procfs"
	"gotap/engine/linux/ptrace"
)

// TestSeize: the child is taken over before it has run anything, and nothing that it could notice is left: no pending
// signal, and it ends as it should.
func TestSeize(t *testing.T) {
	goruntime.LockOSThread() // it traces the child
	defer goruntime.UnlockOSThread()
	out, err := os.Create(t.TempDir() + "/out")
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	pid, err := Fork(&backend.Command{Path: "/bin/echo", Args: []string{"echo", "ran"}, Stdout: out}, "/bin/echo", true)
	if err != nil {
		t.Fatal(err)
	}
	steps := 0
	if err := Seize(pid, ptrace.OptSysGood, func() { steps++ }); err != nil || steps == 0 {
		t.Fatalf("after %d steps: %v", steps, err)
	}
	if state := procfs.Status(pid, "State"); !strings.HasPrefix(state, "t") || procfs.SignalSet(pid, "SigPnd")|procfs.SignalSet(pid, "ShdPnd") != 0 {
		t.Errorf("it is %q", state)
	}
	if info, err := out.Stat(); err != nil || info.Size() != 0 {
		t.Errorf("it has run: %v", err)
	}
	if e := ptrace.Cont(pid, 0); e != 0 {
		t.Fatal(e)
	}
	if st, ok := await(pid); !ok {
		t.Error("its end was not reported")
	} else if code, exited := st.Exited(); !exited || code != 0 {
		t.Errorf("it ended with %#x", st)
	}
	if text, err := os.ReadFile(out.Name()); err != nil || string(text) != "ran\n" {
		t.Errorf("%q, %v", text, err)
	}
	if err := Seize(pid, 0, func() {}); err == nil {
		t.Error("a child that has ended was seized")
	}
}

// TestExplain: only what the kernel refuses is explained; a cause is kept.
func TestExplain(t *testing.T) {
	c := backend.Command{Path: "prog"}
	if err := Explain(&c, "prog", syscall.ENOENT); err.Error() != "cannot run prog: no such file or directory" {
		t.Error(err)
	}
	if err := (&Error{Err: os.ErrNotExist}).Error(); err != `cannot run "": file does not exist` {
		t.Error(err)
	}
}
