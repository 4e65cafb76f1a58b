package emulation

import (
	"errors"
	goruntime "runtime"
	"testing"

	"golang.org/x/sys/unix"

	"gotap/arch"
	"gotap/arch/arm64"
	"gotap/engine/abi"
	"gotap/engine/backend"
	"gotap/engine/command"
	"gotap/engine/crashsafe/fallback"
	"gotap/engine/linux/ptrace"
	"gotap/engine/testenv"
	"gotap/engine/tracee"
)

// target is a traced process, with what it has been asked.
type target struct {
	pid    int
	mem    *ptrace.Memory
	keyed  Keyed
	undo   []func() // what an emulation has written
	reads  int
	writes int
}

func (p *target) Pid() int                 { return p.pid }
func (p *target) ABI() *abi.ABI            { return &abi.AMD64 }
func (p *target) Memory() *ptrace.Memory   { return p.mem }
func (p *target) Region() *fallback.Region { return nil }
func (p *target) FPRegs() *ptrace.FPRegs   { return nil }
func (p *target) Keyed() *Keyed            { return &p.keyed }

// Touched is asked before the access: it keeps what a write will replace. Every write hits watch 3, every read watch 0.
func (p *target) Touched(addr uint64, n int, write bool) uint64 {
	if !write {
		p.reads++
		return 1 << 0
	}
	p.writes++
	old := make([]byte, n)
	if p.mem.ReadMemory(addr, old) == nil {
		p.undo = append(p.undo, func() { p.mem.WriteMemory(addr, old) })
	}
	return 1 << 3
}

// stopped returns a process before its first instruction. It ends with the test, which stays on its thread until then.
func stopped(t *testing.T) (*target, *tracee.Thread) {
	t.Helper()
	goruntime.LockOSThread()
	t.Cleanup(goruntime.UnlockOSThread)
	pid, err := command.Fork(&backend.Command{Path: "/bin/true"}, "/bin/true", true)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		unix.Kill(pid, unix.SIGKILL)
		unix.Wait4(pid, nil, unix.WALL, nil)
	})
	var ws unix.WaitStatus
	if _, err := unix.Wait4(pid, &ws, unix.WALL, nil); err != nil || !ws.Stopped() {
		t.Fatalf("the process did not stop: %v, %#x", err, ws)
	}
	mem, err := ptrace.OpenMemory(pid)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { mem.Close() })
	p := &target{pid: pid, mem: mem}
	th := &tracee.Thread{Tid: pid, Of: p}
	if !th.GetRegs() {
		t.Fatal("the registers cannot be read")
	}
	return p, th
}

// siteAt prepares the instruction that a thread is at.
func siteAt(t *testing.T, p *target, th *tracee.Thread) arch.Site {
	t.Helper()
	code := make([]byte, 16)
	in, err := abi.AMD64.Arch.Decode(code[:p.mem.PeekAvailable(*th.PC(), code)], *th.PC())
	if err != nil {
		t.Fatalf("%#x: %v", *th.PC(), err)
	}
	site, err := abi.AMD64.Arch.Prepare(in)
	if err != nil {
		return nil
	}
	return site
}

// general returns the registers that an instruction defines completely: all but the flags, and the number of the last
// system call.
func general(th *tracee.Thread) arch.Regs {
	r := th.Regs
	r[abi.AMD64.FlagsRegister], r[abi.AMD64.Calls.Original] = 0, 0
	return r
}

// TestComplete runs a program's loader. Each instruction is emulated, its writes are undone, and the processor executes
// it: both must come to the same registers, and the bytes that were written must be the same.
func TestComplete(t *testing.T) {
	p, th := stopped(t)
	var m Thread
	m.Init(th, p, nil)
	emulated := 0
	for range 3000 {
		site := siteAt(t, p, th)
		before := th.Regs
		p.undo, p.reads, p.writes = p.undo[:0], 0, 0
		ok := site != nil && site.Allowed(arch.Emulated) && m.Complete(site) == nil
		want := general(th)
		if ok {
			emulated++
			if met := m.Met(); met&1 != 0 != (p.reads > 0) || met&8 != 0 != (p.writes > 0) || met&^9 != 0 {
				t.Fatalf("%d reads and %d writes hit watches %#x", p.reads, p.writes, met)
			}
		} else if th.Regs != before {
			t.Fatalf("%#x: what was not emulated has changed registers", *th.PC())
		}
		for _, undo := range p.undo {
			undo()
		}
		at := before[abi.AMD64.PC()]
		if err := unix.PtraceSingleStep(p.pid); err != nil {
			t.Fatal(err)
		}
		if _, err := unix.Wait4(p.pid, nil, unix.WALL, nil); err != nil {
			t.Fatal(err)
		}
		if !th.GetRegs() {
			break
		}
		if ok && general(th) != want {
			t.Fatalf("%#x: emulated to\n%#x, executed to\n%#x", at, want, general(th))
		}
	}
	if emulated < 1000 {
		t.Errorf("only %d instructions were emulated", emulated)
	}
	t.Logf("%d instructions were emulated", emulated)
}

// TestTry: with protection keys in use, an access outside the stack is refused, and nothing has changed; one to the
// stack and an instruction without memory are emulated.
func TestTry(t *testing.T) {
	p, th := stopped(t)
	buf := *th.PC() &^ 0xfff // the loader's code: far from the stack, and may be read
	if !p.mem.FaultIn(buf, 8) {
		t.Fatal("the loader's code is not in memory")
	}
	for _, c := range []struct {
		name  string
		code  []byte
		base  uint64
		keyed bool
		want  bool
	}{
		{"elsewhere, without keys", []byte{0x48, 0x8b, 0x07}, buf, false, true}, // mov rax, [rdi]
		{"elsewhere, with keys", []byte{0x48, 0x8b, 0x07}, buf, true, false},
		{"the stack, with keys", []byte{0x48, 0x8b, 0x07}, th.SP(), true, true},
		{"no memory, with keys", []byte{0x48, 0x89, 0xf8}, buf, true, true}, // mov rax, rdi
	} {
		keys := NewKeys()
		if keys == nil && c.keyed {
			keys = new(Keys) // this processor has none; they are not read once they are known to be in use
		}
		var m Thread
		m.Init(th, p, keys)
		p.keyed.used = c.keyed
		in, err := abi.AMD64.Arch.Decode(c.code, *th.PC())
		if err != nil {
			t.Fatal(err)
		}
		site, err := abi.AMD64.Arch.Prepare(in)
		if err != nil {
			t.Fatal(err)
		}
		kept := th.Regs
		rdi, _, _, ok := abi.AMD64.Arch.RegIndex("rdi")
		if !ok {
			t.Fatal("the architecture does not know the register rdi")
		}
		th.Regs[rdi] = c.base
		before := th.Regs
		if got := m.Try(site); got != c.want || !got && th.Regs != before || got && *th.PC() != before[abi.AMD64.PC()]+3 {
			t.Errorf("%s: emulated %v, not %v, to %#x", c.name, got, c.want, *th.PC())
		}
		th.Regs = kept
	}
}

// TestKeysOfThread: a program starts with the rights that tell that it uses no keys.
func TestKeysOfThread(t *testing.T) {
	k := NewKeys()
	if k == nil {
		t.Log("the processor has no protection keys: there is nothing to read")
		return
	}
	p, _ := stopped(t)
	if r := k.rights(p.pid); r == allRights {
		testenv.Lack(t, testenv.Rights)
	} else if r != firstRights {
		t.Errorf("the rights are %#x", r)
	}
}

// TestSystem: what only the thread itself can read or maintain is refused with an error that names it.
func TestSystem(t *testing.T) {
	m := new(Memory)
	var refused *arm64.SystemError
	if err := m.WriteSystem(arm64.TPIDR, 1); !errors.As(err, &refused) || refused.Register != arm64.TPIDR {
		t.Errorf("writing a register: %v", err)
	}
	if err := m.MaintainCache(0, 0); err == nil {
		t.Error("a cache was maintained")
	}
}
