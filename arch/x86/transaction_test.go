package x86

import (
	"errors"
	"testing"

	"gotap/arch"
)

// TestBegin checks that a transaction that begins at a probe aborts at once, whatever the flags are, and is never
// stepped, on a processor with transactions.
func TestBegin(t *testing.T) {
	const start = 0xffffff00
	for _, c := range []struct {
		m      *isa
		code   string
		target uint64
	}{
		{mode64, "\xc7\xf8\x10\x00\x00\x00", start + 6 + 0x10},
		{mode64, "\xc7\xf8\xfa\xff\xff\xff", start},
		{mode64, "\xc7\xf8\x00\x01\x00\x00", 0x100000006}, // is not cut off
		{mode64, "\x48\xc7\xf8\x10\x00\x00\x00", start + 7 + 0x10},
		{mode64, "\x66\xc7\xf8\x10\x80", start + 5 - 0x7ff0},
		{mode64, "\x66\xc7\xf8\x00\x01", 0x100000005},
		{mode32, "\xc7\xf8\x10\x00\x00\x00", start + 6 + 0x10},
		{mode32, "\xc7\xf8\x00\x01\x00\x00", 6},
		{mode32, "\x66\xc7\xf8\x10\x80", start + 5 - 0x7ff0},
		{mode32, "\x66\xc7\xf8\x00\x01", 5},
	} {
		m := WithTransactions(c.m)
		in, err := m.Decode([]byte(c.code), start)
		if err != nil {
			t.Fatalf("% x: %v", c.code, err)
		}
		if in.Target != c.target || in.Control != arch.CondJump {
			t.Errorf("% x: target %#x, want %#x", c.code, in.Target, c.target)
		}
		s, err := m.Prepare(in)
		if err != nil {
			t.Fatalf("% x: %v", c.code, err)
		}
		if s.Strategy() != arch.Emulated || s.Allowed(arch.OutOfLine) || s.Allowed(arch.InPlace) {
			t.Errorf("% x may be stepped", c.code)
		}
		for _, flags := range []uint64{0x202, 0x202 | flagTF, 0x202 | flagAC, 0x202 | flagsStatus} {
			regs := arch.Regs{RIP: start, RAX: ^uint64(0), RCX: 7, RSP: 0x10080, EFLAGS: flags, SS: 7}
			want := regs
			want[RAX], want[RIP] = 0, c.target
			for _, run := range []func(*arch.Regs) error{
				func(r *arch.Regs) error { return s.Emulate(r, nil) },
				func(r *arch.Regs) error { return Exec(in, r, nil) },
			} {
				got := regs
				if err := run(&got); err != nil || got != want {
					t.Errorf("% x with flags %#x: %v, at %#x with %#x, want %#x", c.code, flags, err, got[RIP], got[RAX], c.target)
				}
			}
		}
	}
}

// TestBeginIsNoInstruction checks that xbegin is stepped on a processor that reports no transactions, so that it raises
// its exception, or aborts if the processor executes it nevertheless.
func TestBeginIsNoInstruction(t *testing.T) {
	const slot = 0x2000
	for _, m := range []arch.Arch{New64(), New32()} {
		for code, want := range map[string]string{
			"\xc7\xf8\x10\x00\x00\x00": "\xc7\xf8\x05\x00\x00\x00\xe9\xfb\xef\xff\xff\xe9\x06\xf0\xff\xff",
			"\x66\xc7\xf8\x10\x00":     "\x66\xc7\xf8\x05\x00\xe9\xfb\xef\xff\xff\xe9\x06\xf0\xff\xff",
		} {
			s := prepared(t, m, code)
			copied, err := s.OutOfLine(slot)
			if s.Strategy() != arch.OutOfLine || s.Allowed(arch.Emulated) || err != nil || string(copied) != want {
				t.Errorf("%s % x: strategy %v, copy % x, %v", m.Name(), code, s.Strategy(), copied, err)
			}
			target, length := s.Insn().Target, uint64(len(code))
			for at, to := range map[uint64]uint64{slot: 0x1000, slot + length + jumpLen: target, target: target, slot + length: 0x1000 + length} {
				regs := arch.Regs{RIP: 0x1000, RSP: 0x10080, EFLAGS: 0x202}
				st := s.BeforeStep(&regs, slot)
				regs[RIP] = at
				if done, err := s.AfterStep(&regs, nil, slot, st); done != (at != slot) || err != nil || regs[RIP] != to {
					t.Errorf("%s % x, stopped at %#x: done %v at %#x, %v", m.Name(), code, at, done, regs[RIP], err)
				}
			}
		}
	}
	if _, err := prepared(t, New64(), "\xc7\xf8\x10\x00\x00\x00").OutOfLine(0x6f0000000000); !errors.Is(err, arch.ErrUnsupported) {
		t.Errorf("a slot out of the reach of the jumps: %v", err)
	}
	if s := prepared(t, WithTransactions(New64()), "\xf0\xc7\xf8\x10\x00\x00\x00"); s.Allowed(arch.Emulated) || !s.Allowed(arch.OutOfLine) {
		t.Error("with a lock prefix it is none anywhere, and may be stepped")
	}
}

// TestOutsideOfTransactions checks that Exec executes xtest, xabort and xend as outside a transaction.
func TestOutsideOfTransactions(t *testing.T) {
	for _, m := range []arch.Arch{New64(), New32()} {
		for code, flags := range map[string]uint64{"\x0f\x01\xd6": 0x202 | flagZF, "\xc6\xf8\x12": 0x202 | flagsStatus&^flagZF} {
			regs := arch.Regs{RAX: 7, RSP: 0x10080, EFLAGS: 0x202 | flagsStatus&^flagZF}
			want := regs
			want[RIP], want[EFLAGS] = 0x1003, flags
			if err := executed(t, m, code, &regs, nil); err != nil || regs != want {
				t.Errorf("%s % x: %v, flags %#x at %#x", m.Name(), code, err, regs[EFLAGS], regs[RIP])
			}
		}
		regs := arch.Regs{RSP: 0x10080, EFLAGS: 0x202}
		refused := (*arch.RefusedError)(nil)
		if err := executed(t, m, "\x0f\x01\xd5", &regs, nil); !errors.As(err, &refused) || refused.Reason != string(errProtected) {
			t.Errorf("%s, xend: %v", m.Name(), err)
		}
	}
}

// TestAddressesTold checks that instructions that reveal their address are not run at another.
func TestAddressesTold(t *testing.T) {
	in, err := New64().Decode([]byte("\x0f\x01\xd7"), 0x1000)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := New64().Prepare(in); !errors.Is(err, arch.ErrUnsupported) {
		t.Errorf("enclu: %v", err)
	}
	for _, code := range []string{"\x8f\xea\x78\x12\xc0\x01\x02\x03\x04", "\x8f\xea\x78\x12\xc8\x01\x02\x03\x04"} { // lwpins, lwpval
		if s := prepared(t, New64(), code); s.Strategy() != arch.InPlace || s.Allowed(arch.OutOfLine) {
			t.Errorf("% x may be run at another address", code)
		}
	}
}
