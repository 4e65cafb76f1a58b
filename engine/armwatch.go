package engine

import (
	"strings"

	"gotap/arch"
	"gotap/engine/isa"
	"gotap/engine/place"
)

// Watchpoints on processors where nothing is stepped. The debug unit of ARM stops a thread before the access or the
// instruction, and would do so again and again. So the instruction is emulated, as at a probe, and the programs run
// after it, as on x86. The debug unit does not see what the emulation reads and writes, so the emulation compares
// its accesses with the watchpoints (emulation.Memory).

// watchedAccess handles a stop of the debug unit. The registers have been read. An instruction that cannot be
// emulated, such as a store-exclusive, runs without the watchpoints that it hit. Those see nothing more of its
// thread until they are set again.
func (d *watches) watchedAccess() bool {
	met := d.Met()
	if met == 0 {
		return false
	}
	if d.emulateHere() {
		d.runWatches(met&d.t.proc.watches.Of(place.OnExecute) | d.t.emu.Met())
		d.commit()
		d.t.SetRegs()
	} else {
		ran := met
		if d.loadsHere() {
			ran &^= d.t.proc.watches.Of(place.OnWrite)
		}
		d.t.s.stats.Unwatched++
		d.runWatches(ran)
		d.commit()
		d.t.s.warnOf(d.Unwatch(met))
	}
	d.t.resume(0)
	return true
}

// loadsHere reports whether the instruction at the thread's program counter is a load, which includes a
// load-exclusive. The names of all loads begin with "ld".
func (d *watches) loadsHere() bool {
	in, set, err := d.insnHere()
	return err == nil && strings.HasPrefix(set.Text(in.Bytes[:in.Len], in.Addr), "ld")
}

// insnHere decodes the instruction at the thread's program counter.
func (d *watches) insnHere() (arch.Insn, arch.Arch, error) {
	var set arch.Arch = d.t.proc.arch.Arch
	if d.t.exec.Thumb() {
		_, set = isa.ARM.Pointer(1)
	}
	addr := *d.t.PC()
	in, err := set.Decode(d.t.proc.space.Code(addr, isa.LongestInsn), addr)
	return in, set, err
}

// emulateHere completes the instruction at the thread's program counter by emulation, whatever module it is in, and
// reports whether it could.
func (d *watches) emulateHere() bool {
	in, set, err := d.insnHere()
	if err != nil || in.Control == arch.Syscall {
		return false
	}
	site, err := set.Prepare(in)
	return err == nil && d.t.emu.Complete(site) == nil
}
