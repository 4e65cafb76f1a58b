package abi

import (
	"debug/elf"
	"os"
	"slices"
	"testing"

	"gotap/arch"
	"gotap/arch/x86"
	"gotap/engine/image/module"
	"gotap/engine/linux/ptrace"
)

// TestTable checks that each ABI is listed under its own machine and names its own system calls.
func TestTable(t *testing.T) {
	for machine, a := range abis {
		if a.Machine != machine {
			t.Errorf("%v is listed under %v", a.Machine, machine)
		}
		for name, number := range map[string]uint64{"munmap": a.Calls.Munmap, "rt_sigaction": a.Calls.Sigaction, "tgkill": a.Calls.Tgkill,
			"rt_sigprocmask": a.Calls.Procmask, "prctl": a.Calls.Prctl, "clone": a.Calls.Clone, "clone3": a.Calls.Clone3} {
			if got := a.SyscallName(number); got != name {
				t.Errorf("%v: call %d is %q, not %q", machine, number, got, name)
			}
		}
		if a.Stepless != (a.LoadVectors != nil) || a.Stepless != (a.StoreVectors != nil) {
			t.Errorf("%v: an ABI whose instructions are all emulated needs both conversions of vectors", machine)
		}
		if got := a.SyscallName(none); got != "" {
			t.Errorf("%v: the number of no call is %q", machine, got)
		}
	}
}

// TestInterruptible checks that no call is both restarted exactly and never.
func TestInterruptible(t *testing.T) {
	for machine, a := range abis {
		for _, n := range a.Calls.exactly {
			if slices.Contains(a.Calls.NeverRestarted, n) {
				t.Errorf("%v: %s is in both lists", machine, a.SyscallName(n))
			}
		}
	}
}

func TestGoesOnExactly(t *testing.T) {
	for _, c := range []struct {
		call []string
		want bool
	}{
		{[]string{"0", "0x3", "0x0", "0x1", "0x0", "0x0", "0x0", "0x7ffe", "0x7f00"}, true},          // read
		{[]string{"232", "0x4", "0x0", "0x1", "0xffffffff", "0x0", "0x0", "0x7ffe", "0x7f00"}, true}, // epoll_wait, for ever
		{[]string{"232", "0x4", "0x0", "0x1", "0x64", "0x0", "0x0", "0x7ffe", "0x7f00"}, false},      // epoll_wait, 100 ms
		{[]string{"128", "0x0", "0x0", "0x1", "0x0", "0x0", "0x0", "0x7ffe", "0x7f00"}, false},       // rt_sigtimedwait
		{[]string{"-1", "0x7ffe", "0x7f00"}, false},                                                  // in no call
	} {
		if got := AMD64.Calls.GoesOnExactly(c.call); got != c.want {
			t.Errorf("call %s: %v", c.call[0], got)
		}
	}
}

// TestRestarts checks the codes by which the kernel restarts a call: only in a system call, as orig_rax says.
func TestRestarts(t *testing.T) {
	const restartSys = 512
	var r arch.Regs
	r[x86.RAX], r[x86.OrigRAX] = ^uint64(restartSys-1), 0
	if !AMD64.Restarts(&r) {
		t.Error("a read that ended with ERESTARTSYS is not restarted")
	}
	if r[x86.OrigRAX] = ^uint64(0); AMD64.Restarts(&r) {
		t.Error("registers outside of a system call are taken for an interrupted one")
	}
}

// TestVectors checks that the conversions of vectors restore what they read.
func TestVectors(t *testing.T) {
	for machine, a := range abis {
		if !a.Stepless {
			continue
		}
		var from, to ptrace.FPRegs
		for i := range 16 * 16 {
			from[i] = byte(i*7 + 1)
		}
		var v arch.Vectors
		a.LoadVectors(&from, &v)
		a.StoreVectors(&to, &v)
		if from != to {
			t.Errorf("%v: vectors change on their way", machine)
		}
	}
}

func TestOf(t *testing.T) {
	if a := Of(&module.File{Machine: elf.EM_386}); a == nil || a.WordSize() != 4 || a.Is32BitARM() {
		t.Error("a file for IA-32 has another ABI")
	}
	if Of(&module.File{Machine: elf.EM_S390}) != nil {
		t.Error("a file for s390 has an ABI")
	}
	a, err := OfProcess(os.Getpid())
	if err != nil || a != Host()[0] {
		t.Errorf("this process has another ABI than its host: %v", err)
	}
	if _, err := OfProcess(1 << 30); err == nil {
		t.Error("a process that does not exist has an ABI")
	}
}
