package arm

import (
	"encoding/binary"
	"errors"
	"strings"
	"testing"

	"gotap/arch"
)

// prepare decodes and prepares an instruction.
func prepare(t *testing.T, a arch.Arch, code []byte) (arch.Site, error) {
	t.Helper()
	in, err := a.Decode(code, 0x1000)
	if err != nil {
		t.Fatal(err)
	}
	return a.Prepare(in)
}

// TestRefusals checks the reasons for which Prepare refuses instructions.
func TestRefusals(t *testing.T) {
	for _, c := range []struct {
		text string
		want string
	}{
		{".arm\n ldrex r0, [r1]", "monitor"},
		{".arm\n strex r0, r2, [r1]", "monitor"},
		{".thumb\n ldrexd r0, r2, [r1]", "monitor"},
		{".thumb\n bkpt #1", "trap"},
		{".arm\n udf #1", "trap"},
		{".arm\n .inst 0xf1010200", "big-endian"}, // setend be
		{".thumb\n .inst.n 0xb658", "big-endian"},
		{".arm\n cpsie i", "privileged"},
		{".arm\n movs pc, lr", "exception return"},
		{".arm\n ldmia r0, {r1, r2}^", "privileged"},
		{".arm\n mrs r0, spsr", "privileged"},
		{".arm\n mrc p15, 0, r0, c1, c0, 0", "coprocessor"},
		{".arm\n .inst 0xe4900004", "write-back"}, // ldr r0, [r0], #4
		{".arm\n .inst 0xe000f192", "r15"},        // mul r0, r2, r1 with r15 for the field that is 0
		{".arm\n .inst 0xe8900000", "no registers"},
		{".thumb\n .inst.n 0xbc00", "no registers"},
		{".thumb\n .inst.n 0xbff8", "IT block"},
	} {
		code, a := assemble(t, c.text)
		_, err := prepare(t, a, code)
		var refused *arch.RefusedError
		if !errors.As(err, &refused) || !errors.Is(err, arch.ErrUnsupported) {
			t.Errorf("%q: %v", c.text, err)
			continue
		}
		if !strings.Contains(refused.Reason, c.want) && !strings.Contains(refused.Reason, "fixed") {
			t.Errorf("%q: refused for %q, want %q", c.text, refused.Reason, c.want)
		}
	}
}

// TestSystemCall checks that a system call is left to the kernel, unless its condition fails.
func TestSystemCall(t *testing.T) {
	for _, text := range []string{".arm\n svceq #0", ".thumb\n it eq\n svceq #0"} {
		code, a := assemble(t, text)
		if a == Thumb {
			code = code[2:]
		}
		site, err := prepare(t, a, code)
		if err != nil || site.Insn().Control != arch.Syscall {
			t.Fatalf("%q: %v", text, err)
		}
		for _, zero := range []uint64{0, flagZ} {
			regs := arch.Regs{regPC: 0x1000, regCPSR: 0x10 | zero}
			if a == Thumb {
				regs[regCPSR] = uint64(withIT(uint32(0x30|zero), 8))
			}
			if got := site.(arch.ConditionalSite).Executes(&regs); got != (zero != 0) {
				t.Errorf("%q: executes %v with Z %#x", text, got, zero)
			}
			before := regs
			if err := site.Emulate(&regs, nil); err != nil {
				t.Fatal(err)
			}
			if zero != 0 && regs != before {
				t.Errorf("%q changed registers", text)
			}
			if zero == 0 && regs[regPC] != 0x1000+uint64(len(code)) {
				t.Errorf("%q: pc %#x", text, regs[regPC])
			}
			err := Exec(site.Insn(), &before, nil, nil)
			if errors.Is(err, arch.ErrUnsupported) != (zero != 0) {
				t.Errorf("%q: Exec: %v", text, err)
			}
		}
	}
}

// withThreadPointer is a memory that knows a thread pointer.
type withThreadPointer struct{ arenaOnly }

func (*withThreadPointer) ThreadPointer() (uint32, error) { return 0x1234, nil }

// TestThreadPointer reads the thread pointer in both instruction sets, with a memory that has it and one that does
// not.
func TestThreadPointer(t *testing.T) {
	for _, mode := range []string{".arm", ".thumb"} {
		code, a := assemble(t, mode+"\n mrc p15, 0, r3, c13, c0, 3")
		site, err := prepare(t, a, code)
		if err != nil {
			t.Fatal(err)
		}
		var regs arch.Regs
		if err := site.Emulate(&regs, &arenaOnly{}); !errors.Is(err, arch.ErrUnsupported) {
			t.Errorf("without one: %v", err)
		}
		if err := site.Emulate(&regs, &withThreadPointer{}); err != nil || regs[3] != 0x1234 {
			t.Errorf("r3 is %#x, %v", regs[3], err)
		}
	}
}

// TestConventions checks registers and the calling convention.
func TestConventions(t *testing.T) {
	for name, want := range map[string]int{"r0": 0, "r12": 12, "ip": 12, "fp": 11, "sp": 13, "r15": 15, "pc": 15, "cpsr": 16} {
		if index, bits, shift, ok := A32.RegIndex(name); index != want || bits != 32 || shift != 0 || !ok {
			t.Errorf("%s is %d", name, index)
		}
	}
	for _, name := range []string{"r16", "r01", "x0", "r", "", "r-1"} {
		if _, _, _, ok := Thumb.RegIndex(name); ok {
			t.Errorf("%q is a register", name)
		}
	}
	m := &arenaOnly{make([]byte, 64)}
	binary.LittleEndian.PutUint32(m.b[4:], 77)
	regs := arch.Regs{0: 10, 3: 13, 7: 4, regSP: arena, regLR: 0x2001}
	for n, want := range map[int]uint64{0: 10, 3: 13, 4: 0, 5: 77} {
		if v, err := Thumb.Arg(n, &regs, m); v != want || err != nil {
			t.Errorf("argument %d is %d, %v", n, v, err)
		}
	}
	if _, err := A32.Arg(-1, &regs, m); err == nil {
		t.Error("there is an argument -1")
	}
	if addr, err := A32.ReturnAddress(&regs, m); addr != 0x2001 || err != nil {
		t.Errorf("returns to %#x, %v", addr, err)
	}
	if A32.SyscallNumber(&regs) != 4 || A32.SyscallArg(3, &regs) != 13 || A32.SyscallArg(7, &regs) != 0 {
		t.Error("not the registers of a system call")
	}
	regs[0] = 0xfffffffe
	if int64(A32.SyscallRet(&regs)) != -2 {
		t.Errorf("a system call returned %d", int64(A32.SyscallRet(&regs)))
	}
}

// TestTargets compares the targets of direct branches with the addresses at which execution continues.
func TestTargets(t *testing.T) {
	for _, text := range []string{
		".arm\n b .+400", ".arm\n bl .-400", ".arm\n .inst 0xfb000003", ".arm\n .inst 0xfa000003",
		".thumb\n b.n .+40", ".thumb\n b.w .-4000", ".thumb\n bl .+4000", ".thumb\n .inst.w 0xf000e804", ".thumb\n .inst.w 0xf7ffeffe",
		".thumb\n beq.n .+40", ".thumb\n beq.w .-4000", ".thumb\n cbz r0, .+40",
	} {
		code, a := assemble(t, text)
		for _, at := range []uint64{0x10000, 0x10002} {
			if a == A32 && at&2 != 0 {
				continue
			}
			in, err := a.Decode(code, at)
			if err != nil {
				t.Fatal(err)
			}
			regs := arch.Regs{regPC: at, regCPSR: 0x10 | flagZ}
			if err := Exec(in, &regs, nil, nil); err != nil || regs[regPC] != in.Target || in.Target == 0 {
				t.Errorf("%q at %#x goes to %#x, Target is %#x, %v", text, at, regs[regPC], in.Target, err)
			}
			if !strings.Contains(a.Text(code, at), " ") {
				t.Errorf("%q is shown as %q", text, a.Text(code, at))
			}
		}
	}
}
