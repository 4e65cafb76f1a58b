package stepping

import (
	"strings"

	"gotap/arch"
	"gotap/engine/isa"
)

// Instructions that have no breakpoint.

// LoadsHere reports whether the instruction at the thread's program counter is a load, which includes a
// load-exclusive. The names of all loads begin with "ld".
func (x *Thread) LoadsHere() bool {
	in, set, err := x.insnHere()
	return err == nil && strings.HasPrefix(set.Text(in.Bytes[:in.Len], in.Addr), "ld")
}

// insnHere decodes the instruction at the thread's program counter.
func (x *Thread) insnHere() (arch.Insn, arch.Arch, error) {
	var set arch.Arch = x.parts.View.Space.ABI.Arch
	if x.Thumb() {
		_, set = isa.ARM.Pointer(1)
	}
	addr := *x.PC()
	in, err := set.Decode(x.parts.View.Space.Code(addr, isa.LongestInsn), addr)
	return in, set, err
}

// EmulateHere completes the instruction at the thread's program counter by emulation, whatever module it is in, and
// reports whether it could.
func (x *Thread) EmulateHere() bool {
	in, set, err := x.insnHere()
	if err != nil || in.Control == arch.Syscall {
		return false
	}
	site, err := set.Prepare(in)
	return err == nil && x.parts.Emulation.Complete(site) == nil
}
