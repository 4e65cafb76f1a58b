package arch

// EmulatedSite is the part of a Site that is the same for every instruction of an architecture that emulates them
// all: nothing is copied, and nothing is stepped. It is immutable.
type EmulatedSite struct {
	Prepared Insn
}

// ErrEmulatedOnly is the refusal to step an instruction of an architecture that emulates all of them.
const ErrEmulatedOnly = Refusal("cannot step the instruction: this architecture emulates all of them")

// Insn returns the instruction that was prepared.
func (s EmulatedSite) Insn() Insn { return s.Prepared }

// Strategy returns Emulated.
func (EmulatedSite) Strategy() Strategy { return Emulated }

// Allowed reports that only emulation is possible.
func (EmulatedSite) Allowed(how Strategy) bool { return how == Emulated }

// OutOfLine fails: there are no copies, except of system calls, which an architecture adds.
func (EmulatedSite) OutOfLine(uint64) ([]byte, error) { return nil, ErrEmulatedOnly }

// BeforeStep does nothing, because no instruction is stepped.
func (EmulatedSite) BeforeStep(*Regs, uint64) StepState { return StepState{} }

// AfterStep fails, because no instruction is stepped.
func (EmulatedSite) AfterStep(*Regs, Memory, uint64, StepState) (bool, error) {
	return false, ErrEmulatedOnly
}
