package arch

import "fmt"

// ScanError reports a function that cannot be decoded to its end, or whose exits cannot all be determined. It
// matches ErrUnsupported. Such a function has no probes on its return instructions, but it can be watched at its
// return address.
type ScanError struct {
	Start  uint64 // of the function
	Addr   uint64 // of the instruction
	Reason string
}

func (e *ScanError) Error() string {
	return fmt.Sprintf("cannot find all exits of the function at %#x: %s at %#x", e.Start, e.Reason, e.Addr)
}

// Is reports that the error matches ErrUnsupported.
func (e *ScanError) Is(target error) bool { return target == ErrUnsupported }

// Sweep decodes code, whose address is start, from start to end. It fails at the first bytes that are not an
// instruction, or at a last instruction that is cut off.
func Sweep(a Arch, code []byte, start uint64, visit func(Insn) error) error {
	for off := 0; off < len(code); {
		in, err := a.Decode(code[off:], start+uint64(off))
		if err != nil {
			return fmt.Errorf("cannot decode the function at %#x: %w", start, err)
		}
		if err := visit(in); err != nil {
			return err
		}
		off += in.Len
	}
	return nil
}

// JumpKind classifies an indirect jump by the code in front of it.
type JumpKind uint8

// The kinds of indirect jumps.
const (
	UnclearJump JumpKind = iota
	TableJump            // through a jump table of the function
	TailCall             // to another function
)

// OnePiece reports that no address outside of its code belongs to a function.
func OnePiece(uint64) bool { return false }

// Exits collects the exits of a function.
type Exits struct {
	Start, End uint64
	Own        func(addr uint64) bool // reports whether an address outside [Start, End) belongs to the function
	Found      []Exit
}

// Visit adds an instruction if it leaves the function. It calls indirect to classify an indirect jump. An unclear
// one is a *ScanError.
func (e *Exits) Visit(in Insn, indirect func() JumpKind) error {
	switch in.Control {
	case Return:
		e.add(in, false)
	case Jump, CondJump:
		if (in.Target < e.Start || in.Target >= e.End) && !e.Own(in.Target) {
			e.add(in, true)
		}
	case IndirJump:
		switch indirect() {
		case TailCall:
			e.add(in, true)
		case UnclearJump:
			return &ScanError{e.Start, in.Addr, "an indirect jump"}
		}
	}
	return nil
}

func (e *Exits) add(in Insn, tail bool) { e.Found = append(e.Found, Exit{Insn: in, Tail: tail}) }
