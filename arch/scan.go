package arch

import "fmt"

// ScanError is a function that cannot be read to the end, or whose exits cannot all be told. It matches
// ErrUnsupported: the function has no return probe by return sites, but may have one by its return address.
type ScanError struct {
	Start  uint64 // of the function
	Addr   uint64 // of the instruction
	Reason string
}

func (e *ScanError) Error() string {
	return fmt.Sprintf("cannot find all exits of the function at %#x: %s at %#x", e.Start, e.Reason, e.Addr)
}

// Is makes it match ErrUnsupported.
func (e *ScanError) Is(target error) bool { return target == ErrUnsupported }

// Sweep decodes code, which lies at start, from its start to its end. It stops with an error at the first bytes that are no
// instruction; a last instruction that is cut off is such an error.
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

// JumpKind is what an indirect jump is, as far as the code in front of it tells.
type JumpKind uint8

// The kinds of indirect jumps.
const (
	UnclearJump JumpKind = iota
	TableJump            // through a table of the function's own places
	TailCall             // to another function
)

// Exits collects the places where a function is left.
type Exits struct {
	Start, End uint64
	Own        func(addr uint64) bool // tells that an address outside belongs to the function all the same
	Found      []Exit
}

// Visit adds an instruction if it leaves the function. indirect is asked what an indirect jump is; one that is unclear is a *ScanError.
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
