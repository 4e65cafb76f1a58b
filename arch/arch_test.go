package arch_test

import (
	"errors"
	"testing"

	"gotap/arch"
	"gotap/arch/arm64"
)

// TestErrors checks the texts of errors, and that refusals match the sentinel.
func TestErrors(t *testing.T) {
	for want, err := range map[string]error{
		"cannot read memory at 0x10":                                              &arch.FaultError{Addr: 16},
		"cannot write memory at 0x10":                                             &arch.FaultError{Addr: 16, Write: true},
		"cannot probe the instruction at 0x10: hvc":                               &arch.RefusedError{Addr: 16, Reason: "hvc"},
		"cannot place a jump at 0x10: the function ends after 3 bytes":            &arch.WindowError{Addr: 16, Reason: "the function ends after 3 bytes"},
		"cannot find all exits of the function at 0x10: an indirect jump at 0x20": &arch.ScanError{Start: 16, Addr: 32, Reason: "an indirect jump"},
	} {
		if err.Error() != want {
			t.Errorf("%q, want %q", err, want)
		}
		if _, fault := err.(*arch.FaultError); errors.Is(err, arch.ErrUnsupported) == fault {
			t.Errorf("%v: whether it matches ErrUnsupported is wrong", err)
		}
	}
}

// TestSweep checks the order of instructions, and the error at bytes that are not one.
func TestSweep(t *testing.T) {
	var found []uint64
	visit := func(in arch.Insn) error { found = append(found, in.Addr); return nil }
	code := []byte{0x1f, 0x20, 0x03, 0xd5, 0xc0, 0x03, 0x5f, 0xd6} // nop, ret
	if err := arch.Sweep(arm64.A64, code, 0x1000, visit); err != nil || len(found) != 2 || found[1] != 0x1004 {
		t.Errorf("%#x, %v", found, err)
	}
	if err := arch.Sweep(arm64.A64, code[:6], 0x1000, visit); err == nil {
		t.Error("an instruction that is cut off is accepted")
	}
	stop := errors.New("stop")
	if err := arch.Sweep(arm64.A64, code, 0, func(arch.Insn) error { return stop }); err != stop {
		t.Errorf("%v, want the error of visit", err)
	}
}

// TestExits checks which instructions count as exits.
func TestExits(t *testing.T) {
	e := arch.Exits{Start: 0x100, End: 0x200, Own: func(addr uint64) bool { return addr == 0x300 }}
	kind := arch.TailCall
	visit := func(in arch.Insn) error { return e.Visit(in, func() arch.JumpKind { return kind }) }
	for _, in := range []arch.Insn{
		{Control: arch.Return}, {Control: arch.Jump, Target: 0x400}, {Control: arch.CondJump, Target: 0x150},
		{Control: arch.Jump, Target: 0x300}, {Control: arch.Call, Target: 0x400}, {Control: arch.IndirJump}, {},
	} {
		if err := visit(in); err != nil {
			t.Error(err)
		}
	}
	if len(e.Found) != 3 || e.Found[0].Tail || !e.Found[1].Tail || !e.Found[2].Tail {
		t.Errorf("%+v", e.Found)
	}
	kind = arch.UnclearJump
	if err := visit(arch.Insn{Control: arch.IndirJump, Addr: 0x110}); !errors.Is(err, arch.ErrUnsupported) {
		t.Errorf("%v, want a refusal", err)
	}
	kind = arch.TableJump
	if err := visit(arch.Insn{Control: arch.IndirJump}); err != nil || len(e.Found) != 3 {
		t.Errorf("%v, %d exits", err, len(e.Found))
	}
}

// TestStrategies checks the names of the strategies.
func TestStrategies(t *testing.T) {
	for s, want := range map[arch.Strategy]string{arch.Refused: "refused", arch.OutOfLine: "out of line", arch.InPlace: "in place"} {
		if s.String() != want {
			t.Errorf("%d is %q, want %q", s, s, want)
		}
	}
}
