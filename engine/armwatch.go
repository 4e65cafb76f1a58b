package engine

import (
	"fmt"
	"strings"

	"gotap/arch"
	"gotap/engine/isa"
	"gotap/engine/linux/debugreg"
	"gotap/engine/place"
)

// Watchpoints where nothing is stepped. The debug unit of ARM stops a thread in front of the access, or of the instruction, and would do so
// again and again; so the instruction is emulated, as at a probe, and the programs run behind it, as they do on x86. What an
// emulation reads and writes the debug unit does not see, so it is compared with the watchpoints there (threadMemory).

// watchedAccess deals with a stop of the debug unit. The registers have been read. An instruction that cannot be emulated, such as a
// store-exclusive, is let run without the watchpoints that it met, and is the last that they see of its thread until they are set anew.
func (t *thread) watchedAccess() bool {
	met := t.metWatches()
	if met == 0 {
		return false
	}
	if t.emulateHere() {
		t.runWatches(met&t.watchesOf(place.OnExecute) | t.view.met)
		t.endCall(0)
		t.setRegs()
	} else {
		ran := met
		if t.loadsHere() {
			ran &^= t.watchesOf(place.OnWrite)
		}
		t.s.stats.Unwatched++
		t.runWatches(ran)
		t.endCall(0)
		t.unwatch(met)
	}
	t.resume(0)
	return true
}

// watchesOf is the watchpoints of the process for one kind of access: bit i is watch i. The debug unit tells the address of an
// access and not its kind, and others of another kind may watch the same data.
func (t *thread) watchesOf(kind place.Access) (set uint64) {
	for i, w := range t.proc.watches {
		if w.spec.Access == kind {
			set |= 1 << i
		}
	}
	return set
}

// loadsHere reports whether the instruction that the thread stands at is one that loads, a load-exclusive among them. Their names
// all begin alike.
func (t *thread) loadsHere() bool {
	in, set, err := t.insnHere()
	return err == nil && strings.HasPrefix(set.Text(in.Bytes[:in.Len], in.Addr), "ld")
}

// insnHere decodes the instruction that the thread stands at.
func (t *thread) insnHere() (arch.Insn, arch.Arch, error) {
	var set arch.Arch = t.proc.arch.Arch
	if t.thumb() {
		_, set = isa.ARM.Pointer(1)
	}
	addr := *t.pc()
	in, err := set.Decode(t.proc.space.code(addr, longestInsn), addr)
	return in, set, err
}

// unwatch takes the watchpoints of a set off a stopped thread.
func (t *thread) unwatch(met uint64) {
	left := t.dr
	for i := range debugreg.Slots {
		if met>>i&1 == 1 {
			left.Unset(i)
		}
	}
	if e := debugreg.Write(t.tid, t.dr, left); e != 0 {
		t.s.warn(fmt.Sprintf("cannot set the debug registers of thread %d: %v", t.tid, e))
		return
	}
	t.dr = left
}

// emulateHere completes the instruction that the thread stands at, whatever module it is in.
func (t *thread) emulateHere() bool {
	in, set, err := t.insnHere()
	if err != nil || in.Control == arch.Syscall {
		return false
	}
	site, err := set.Prepare(in)
	return err == nil && t.complete(site) == nil
}
