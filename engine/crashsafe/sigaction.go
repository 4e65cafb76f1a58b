package crashsafe

import (
	"gotap/engine/crashsafe/fallback"
	"gotap/engine/inject"
	"gotap/engine/linux/ptrace"
	"gotap/engine/tracee"
)

// signalActions asks the kernel for the signal actions of a process and changes them, by calls that a stopped thread
// makes.
type signalActions struct {
	t     *tracee.Thread
	calls *inject.Caller
}

// queryTrapAction asks the kernel for the process's action for SIGTRAP, using a stopped thread.
func (a signalActions) queryTrapAction() (fallback.Action, error) {
	return a.QueryAction(ptrace.SIGTRAP)
}

// QueryAction asks the kernel for the process's action for a signal, using a stopped thread.
func (a signalActions) QueryAction(sig int) (fallback.Action, error) { return a.replaceAction(sig, 0) }

// replaceAction makes the action at an address that of the process for a signal, if the address is not 0, and returns
// the one before.
func (a signalActions) replaceAction(sig int, act uint64) (fallback.Action, error) {
	var p [fallback.ActionSize]byte
	err := a.withScratch(func(addr uint64) error {
		if err := a.callSigaction(sig, act, addr); err != nil {
			return err
		}
		return a.t.Memory().Peek(addr, p[:])
	})
	return fallback.ParseAction(p[:], a.t.ABI().WordSize()), err
}

// SetAction sets the process's action for a signal, using a stopped thread.
func (a signalActions) SetAction(sig int, to fallback.Action) error {
	return a.withScratch(func(addr uint64) error {
		if err := a.t.Memory().Poke(addr, to.Bytes(a.t.ABI().WordSize()), a.t.Tid); err != nil {
			return err
		}
		return a.callSigaction(sig, addr, 0)
	})
}

// callSigaction makes the thread call rt_sigaction.
func (a signalActions) callSigaction(sig int, act, old uint64) error {
	const setSize = 8 // bytes of a signal set
	_, err := a.calls.Call(a.t.ABI().Calls.Sigaction, uint64(sig), act, old, setSize)
	return err
}

// withScratch lends a few bytes of the thread's stack, below the part that the calling convention lets it use. They are
// restored afterwards.
func (a signalActions) withScratch(use func(addr uint64) error) error {
	const redZone, size = 128, 64
	addr := (a.t.SP() - redZone - size) &^ 15
	var old [size]byte
	mem := a.t.Memory()
	if err := mem.Peek(addr, old[:]); err != nil {
		return err
	}
	err := use(addr)
	if e := mem.Poke(addr, old[:], a.t.Tid); err == nil {
		err = e
	}
	return err
}
