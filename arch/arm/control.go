package arm

import "gotap/arch"

// control is what the instruction does to the flow of control.
func (in *inst) control() arch.Control {
	return in.row.control
}

// target is where a direct branch goes, and 0 for all else.
func (in *inst) target(addr uint64, how arch.Control) uint64 {
	return 0
}
