package engine

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"gotap/engine/image/module"
	"gotap/engine/linux/procfs"
	"gotap/engine/linux/ptrace"
	"gotap/engine/testenv"
)

// TestCleanRestoresWhatWasLeft plants what a killed session leaves, and bytes that are none of its business.
func TestCleanRestoresWhatWasLeft(t *testing.T) {
	pid := sleeping(t)
	addr, vaddr := awaitFunction(t, pid, "malloc")
	mem, err := ptrace.OpenMemory(pid)
	if err != nil {
		t.Fatal(err)
	}
	defer mem.Close()
	var before [2]byte
	if err := mem.Peek(addr, before[:]); err != nil {
		t.Fatal(err)
	}
	if err := mem.Poke(addr, []byte{0xcc, before[1] ^ 1}, 0); err != nil {
		t.Fatal(err)
	}
	got, err := Clean(pid)
	if err != nil || len(got.Restored) != 1 {
		t.Fatalf("restored %v (malloc is at %#x), %v", got.Restored, vaddr, err)
	}
	var after [2]byte
	if err := mem.Peek(addr, after[:]); err != nil {
		t.Fatal(err)
	}
	if after != [2]byte{before[0], before[1] ^ 1} {
		t.Errorf("memory is % x, was % x with the second byte changed by the process itself", after, before)
	}
	if again, err := Clean(pid); err != nil || len(again.Restored) != 0 {
		t.Errorf("a second time: restored %v, %v", again.Restored, err)
	}
}

// TestCleanLeavesData: a program's data may lie at addresses that its file has code for, and may look like breakpoints.
func TestCleanLeavesData(t *testing.T) {
	testenv.Require(t, testenv.AMD64, testenv.Ptrace)
	p := start(t, program(t, "reused.c"), "reused")
	got, err := Clean(p.pid())
	if err != nil || len(got.Restored) != 0 {
		t.Errorf("restored %d places, %v", len(got.Restored), err)
	}
	want(t, "data", p.end(), "behind a copy as it was, inside the code as it was")
}

func TestCleanRefuses(t *testing.T) {
	if _, err := Clean(1 << 22); err == nil {
		t.Error("cleaned a process that does not exist")
	}
	if got, err := Clean(os.Getpid()); err != nil || len(got.Restored) != 0 {
		t.Errorf("this process: restored %v, %v", got.Restored, err)
	}
}

// awaitFunction waits until a process has mapped libc, and finds a function in it.
func awaitFunction(t *testing.T, pid int, name string) (addr, vaddr uint64) {
	t.Helper()
	eventually(t, "libc to be mapped", func() bool {
		var cache module.Cache
		defer cache.Close()
		mods, err := cache.Load(pid)
		if err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(mods, func(m module.Loaded) bool { return m.File != nil && isLibc(m.Path) })
		if i < 0 {
			return false
		}
		found := mods[i].File.Lookup(name)
		if len(found) == 0 {
			t.Fatalf("%s has no %s", mods[i].Path, name)
		}
		addr, vaddr = mods[i].Addr(found[0].Func.Addr), found[0].Func.Addr
		return true
	})
	return addr, vaddr
}

// sleeping starts a program that calls nothing any more, and waits until that is so.
func sleeping(t *testing.T) int {
	t.Helper()
	testenv.Require(t, testenv.AMD64, testenv.Ptrace)
	cmd := exec.Command("sleep", "3600")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	eventually(t, "sleep", func() bool {
		return strings.HasPrefix(procfs.Read(cmd.Process.Pid, "syscall"), fmt.Sprint(unix.SYS_CLOCK_NANOSLEEP, " "))
	})
	return cmd.Process.Pid
}

func isLibc(path string) bool { return len(path) > 9 && path[len(path)-9:] == "libc.so.6" }

// TestStubsAreCleaned kills sessions at the steps of the calls that a target is made to make before it has a region:
// the code of those calls lies in the padding of a module then, and is gone after Clean.
func TestStubsAreCleaned(t *testing.T) {
	path, left := program(t, "victim.c"), 0
	for step := 1; step <= 12; step++ {
		p := start(t, path, "1")
		if line, err := p.out.ReadString('\n'); err != nil {
			t.Fatalf("the target does not begin: %q, %v", line, err)
		}
		before := text(t, p.pid())
		s := startCrashed(t, crashPlan{Pid: p.pid(), Specs: []string{"leaf"}, AtStep: step}, nil, nil)
		s.Wait()
		if text(t, p.pid()) != before {
			left++
		}
		if _, err := Clean(p.pid()); err != nil {
			t.Errorf("step %d: %v", step, err)
		}
		untouched(t, p.pid(), before)
		want(t, "target", p.end(), "victim bad=0")
	}
	if left == 0 {
		t.Error("no session has left code behind")
	}
}
