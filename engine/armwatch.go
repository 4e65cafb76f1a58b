package engine

import (
	"gotap/arch"
	"gotap/engine/isa"
)

// Watchpoints where nothing is stepped. The debug unit of ARM stops a thread in front of the access, or of the instruction, and would do so
// again and again; so the instruction is emulated, as at a probe, and the programs run behind it, as they do on x86. What an
// emulation reads and writes the debug unit does not see, so it is compared with the watchpoints there (threadMemory).

// watchedAccess deals with a stop of the debug unit. The registers have been read. An instruction that cannot be emulated, such as a
// store-exclusive, is let run with nothing watched, and is the last of its thread that is seen until its watchpoints are set anew.
func (t *thread) watchedAccess() bool {
	met := t.metWatches()
	if met == 0 {
		return false
	}
	if t.emulateHere() {
		t.runWatches(met | t.view.met)
		t.endCall(0)
		t.setRegs()
	} else {
		t.s.warn(t.unwatched())
		t.runWatches(met)
		t.endCall(0)
		t.clearDebugRegs()
	}
	t.resume(0)
	return true
}

// unwatched says that a thread could not go on with its watchpoints.
func (t *thread) unwatched() string {
	return "a thread met a watchpoint with an instruction that cannot be emulated, and is watched no more"
}

// emulateHere completes the instruction that the thread stands at, whatever module it is in.
func (t *thread) emulateHere() bool {
	var set arch.Arch = t.proc.arch.Arch
	if t.thumb() {
		_, set = isa.ARM.Pointer(1)
	}
	addr := *t.pc()
	in, err := set.Decode(t.proc.space.code(addr, longestInsn), addr)
	if err != nil || in.Control == arch.Syscall {
		return false
	}
	site, err := set.Prepare(in)
	return err == nil && t.complete(site) == nil
}
