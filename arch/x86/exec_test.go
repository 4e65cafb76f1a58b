package x86

import (
	"encoding/binary"
	"errors"
	"testing"

	"gotap/arch"
)

// executed runs an instruction at 0x1000 through Exec.
func executed(t *testing.T, a arch.Arch, code string, regs *arch.Regs, mem arch.Memory) error {
	t.Helper()
	in, err := a.Decode([]byte(code), 0x1000)
	if err != nil {
		t.Fatalf("% x: %v", code, err)
	}
	regs[RIP] = 0x1000
	return Exec(in, regs, mem)
}

// TestExecRefuses checks the reasons for which Exec refuses instructions that need more state or raise an
// exception, and that nothing changes.
func TestExecRefuses(t *testing.T) {
	for code, want := range map[string]arch.Refusal{
		"\x48\xf7\xf3":             errDivide,    // div %rbx
		"\x48\xf7\xfb":             errDivide,    // idiv %rbx
		"\xf0\x48\x01\xc3":         errLock,      // lock add %rax, %rbx
		"\xf0\x8b\x03":             errLock,      // lock mov (%rbx), %eax
		"\xf0\xf3\xa4":             errLock,      // lock rep movsb
		"\x66\x0f\xa4\xc3\x11":     errResult,    // shld $17, %ax, %bx
		"\x66\x0f\xc8":             errResult,    // bswap %ax
		"\x48\x0f\xc7\x4f\x08":     errAlignment, // cmpxchg16b 8(%rdi)
		"\x0f\x05":                 errSystemCall,
		"\xcd\x80":                 errSystemCall,
		"\x0f\x0b":                 errUndefined,
		"\x0f\xa2":                 errMachine,
		"\x8c\xd8":                 errSegmentState, // mov %ds, %eax
		"\xf4":                     errPrivileged,
		"\x66\x0f\xef\xc0":         errVectorState, // pxor
		"\xd9\xc0":                 errVectorState, // fld
		"\xf2\x0f\xae\x3f":         errVectorState, // clflush with a prefix that makes it none
		"\xc4\xe2\x7d\x18\x07":     errVectorState, // vbroadcastss
		"\xc5\xf8\x77":             errVectorState, // vzeroupper
		"\xc4\xe2\x64\xf2\xc3":     errVectorState, // andn with L set
		"\x62\xf1\xfe\x48\x6f\x07": errVectorState,
	} {
		regs := arch.Regs{RAX: 7, RDX: 0, RDI: 0x10040, RSP: 0x10080, EFLAGS: 0x202}
		before := regs
		err := executed(t, New64(), code, &regs, &flat{0x10000, make([]byte, 256)})
		before[RIP] = 0x1000
		if refused := (*arch.RefusedError)(nil); !errors.As(err, &refused) || refused.Reason != string(want) || regs != before {
			t.Errorf("% x: %v, want %q", code, err, string(want))
		}
	}
	if err := Exec(arch.Insn{}, &arch.Regs{}, &flat{}); !errors.Is(err, arch.ErrUnsupported) {
		t.Errorf("an instruction that nobody decoded: %v", err)
	}
}

// TestExecFaults checks that a failed write leaves the registers unchanged, and a string instruction between two
// iterations.
func TestExecFaults(t *testing.T) {
	for code, write := range map[string]bool{
		"\x48\x87\x07": true, "\x48\x0f\xc1\x07": true, "\x48\x0f\xb1\x07": true, "\x48\xd3\x07": true, "\x0f\xab\x07": true,
		"\x0f\xc7\x0f": true, "\x8f\x07": true, "\x48\xf7\x27": false, "\x0f\xbc\x07": false, "\x0f\xa3\x07": false, "\xac": false, "\xaa": true,
	} {
		regs := arch.Regs{RDI: 0x5000, RSI: 0x5000, RSP: 0x10080, EFLAGS: 0x202, RCX: 1}
		before := regs
		before[RIP] = 0x1000
		fault := (*arch.FaultError)(nil)
		err := executed(t, New64(), code, &regs, &flat{0x10000, make([]byte, 256)})
		if !errors.As(err, &fault) || fault.Write != write || fault.Addr != 0x5000 || regs != before {
			t.Errorf("% x: %v, want a fault of a write: %v", code, err, write)
		}
	}
	regs := arch.Regs{RDI: 0x100fe, RCX: 5, EFLAGS: 0x202}
	err := executed(t, New64(), "\xf3\xaa", &regs, &flat{0x10000, make([]byte, 256)})
	if fault := (*arch.FaultError)(nil); !errors.As(err, &fault) || fault.Addr != 0x10100 || regs[RDI] != 0x10100 || regs[RCX] != 3 || regs[RIP] != 0x1000 {
		t.Errorf("%v, rdi %#x, rcx %d", err, regs[RDI], regs[RCX])
	}
}

// TestExecComparesInOrder checks that cmps faults at the operand at rdi if both are missing, except for repe cmpsb.
func TestExecComparesInOrder(t *testing.T) {
	for code, want := range map[string]uint64{"\xa6": 0x6000, "\xf2\xa6": 0x6000, "\xf3\xa7": 0x6000, "\xf3\xa6": 0x5000} {
		regs := arch.Regs{RSI: 0x5000, RDI: 0x6000, RCX: 3, RSP: 0x10080, EFLAGS: 0x202}
		fault := (*arch.FaultError)(nil)
		err := executed(t, New64(), code, &regs, &flat{0x10000, make([]byte, 256)})
		if !errors.As(err, &fault) || fault.Write || fault.Addr != want {
			t.Errorf("% x: %v, want a fault at %#x", code, err, want)
		}
	}
	mem := &flat{0x10000, make([]byte, 256)}
	copy(mem.b, "ab")
	regs := arch.Regs{RSI: 0x10000, RDI: 0x10001, RCX: 3, RSP: 0x10080, EFLAGS: 0x202}
	if err := executed(t, New64(), "\xf3\xa6", &regs, mem); err != nil || regs[RCX] != 2 || regs[EFLAGS]&flagCF == 0 {
		t.Errorf("%v, rcx %d, flags %#x: 'a' is below 'b'", err, regs[RCX], regs[EFLAGS])
	}
}

// TestExecFaults32 checks faults in 32-bit mode. arpl reads before it decides whether to write.
func TestExecFaults32(t *testing.T) {
	for code, write := range map[string]bool{"\x63\x07": false, "\x01\x07": true, "\x67\x66\x63\x05": false} {
		regs := arch.Regs{RDI: 0x5000, RSP: 0x10080, EFLAGS: 0x202, CS: 0x23, DS: 0x2b, ES: 0x2b, SS: 0x2b}
		fault := (*arch.FaultError)(nil)
		err := executed(t, New32(), code, &regs, &flat{0x10000, make([]byte, 256)})
		if !errors.As(err, &fault) || fault.Write != write || fault.Addr != 0x5000 {
			t.Errorf("% x: %v, want a fault of a write: %v", code, err, write)
		}
	}
}

// TestExecTrapFlag checks that popf and pushf treat the trap flag as data.
func TestExecTrapFlag(t *testing.T) {
	mem := &flat{0x10000, make([]byte, 256)}
	regs := arch.Regs{RSP: 0x10080, EFLAGS: 0x246 | flagTF}
	if err := executed(t, New64(), "\x9c", &regs, mem); err != nil || mem.b[0x79] != 0x03 {
		t.Errorf("pushf: %v, %#x", err, mem.b[0x78:0x80])
	}
	described := arch.Regs{RSP: 0x10080, EFLAGS: flagCF} // a program has IF and bit 1 set
	if err := executed(t, New64(), "\x9c", &described, &flat{0x10000, mem.b}); err != nil || binary.LittleEndian.Uint64(mem.b[0x78:]) != 0x203 {
		t.Errorf("pushf: %v, %#x, want 0x203", err, mem.b[0x78:0x80])
	}
	mem.b[0x78], mem.b[0x79] = 0x46, 0x03
	regs[EFLAGS] = 0x202
	if err := executed(t, New64(), "\x9d", &regs, mem); err != nil || regs[EFLAGS] != 0x246|flagTF {
		t.Errorf("popf: %v, %#x", err, regs[EFLAGS])
	}
}

func BenchmarkExec(b *testing.B) {
	in, err := New64().Decode([]byte("\x48\x0f\xaf\xc3"), 0x1000) // imul %rbx, %rax
	if err != nil {
		b.Fatal(err)
	}
	regs, mem := &arch.Regs{RAX: 3, RBX: 5}, &flat{0x10000, make([]byte, 256)}
	for b.Loop() {
		if err := Exec(in, regs, mem); err != nil {
			b.Fatal(err)
		}
	}
}
