package tracee

import (
	"os"
	"testing"

	"gotap/engine/abi"
	"gotap/engine/crashsafe/fallback"
	"gotap/engine/linux/ptrace"
)

// process is a process without a session.
type process struct{ a *abi.ABI }

func (p process) Pid() int                 { return os.Getpid() }
func (p process) ABI() *abi.ABI            { return p.a }
func (p process) Memory() *ptrace.Memory   { return nil }
func (p process) Region() *fallback.Region { return nil }

// TestRegisters: the named registers are those of each ABI.
func TestRegisters(t *testing.T) {
	for _, a := range abi.Host() {
		th := Thread{Tid: os.Getpid(), Of: process{a}}
		*th.PC() = 0x1234
		th.Regs[a.SP()] = 0x7000
		if th.Regs[a.PC()] != 0x1234 || th.SP() != 0x7000 {
			t.Errorf("%#x and %#x", th.Regs[a.PC()], th.SP())
		}
		th.JumpTo(0x4000)
		if *th.PC() != 0x4000 {
			t.Errorf("jumped to %#x", *th.PC())
		}
	}
}

// TestNotStopped: of a thread that is not traced, nothing is known, and nothing is consumed.
func TestNotStopped(t *testing.T) {
	th := Thread{Tid: os.Getpid(), Of: process{abi.Host()[0]}}
	if th.GetRegs() || th.SignalCode() != 0 || th.RaisedTrap() {
		t.Error("registers or a signal of a thread that is not traced")
	}
	if th.Consume(); th.Peeked {
		t.Error("peeked")
	}
	if th.Status("Pid") == "" {
		t.Error("no status")
	}
}
