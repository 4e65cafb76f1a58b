package arm64

import (
	"encoding/binary"

	"gotap/arch"
)

// windows is A64 with jumps in the place of instructions. Every instruction is as long as a jump, so a window is one
// instruction, and nothing can lead into its middle. It may be one that breakpoints are refused at.
type windows struct{ a64 }

// Windows is A64 as an arch.WindowArch. A jump is b, which reaches 128 MiB in both directions.
var Windows arch.WindowArch = windows{}

const insnLen = 4

// JumpLen returns 4.
func (windows) JumpLen() int { return insnLen }

// WindowAt returns the instruction at addr, if a copy of it does the same elsewhere.
func (windows) WindowAt(code []byte, addr uint64) (arch.Window, error) {
	insn, err := A64.Decode(code, addr)
	if err != nil {
		return arch.Window{}, &arch.WindowError{Addr: addr, Reason: err.Error()}
	}
	if reason := stays(insn); reason != "" {
		return arch.Window{}, &arch.WindowError{Addr: addr, Reason: reason}
	}
	return arch.Window{Addr: addr, Len: insnLen, Insns: []arch.Insn{insn}, RedZoneFree: true, LandingPad: isLandingPad(insn.Op.(*inst).word), Completes: completes(insn), Arch: Windows}, nil
}

// WindowOver is WindowAt: a window has no instruction but the first.
func (w windows) WindowOver(code []byte, addr, last uint64) (arch.Window, error) {
	if last != addr {
		return arch.Window{}, &arch.WindowError{Addr: addr, Reason: "a jump replaces one instruction"}
	}
	return w.WindowAt(code, addr)
}

// staying says why instructions of a class are not copied. Those of the other classes are, unless stays knows better.
var staying = map[Class]string{
	Exclusive:  "it is a load-exclusive or a store-exclusive, which a jump would separate from its pair",
	SystemCall: "it calls the kernel, which would see another address",
	Breakpoint: "it is a trap of the program's own",
	Privileged: "it is privileged",
	Scalable:   "it is one of SVE or SME",
	MemoryTag:  "it is about memory tags",
	MemoryCopy: "it is a memory copy that can be interrupted",
	Beyond:     "it is not known well enough",
}

// stays returns why a copy of an instruction would not do the same elsewhere, or "".
func stays(insn arch.Insn) string {
	in := insn.Op.(*inst)
	const literal, literalMask, adr, adrMask = 0x18000000, 0x3b000000, 0x10000000, 0x9f000000
	switch w := in.word; {
	case in.open():
		return string(errUnpredictable)
	case staying[in.row.class] != "":
		return staying[in.row.class]
	case insn.Control == arch.Call || insn.Control == arch.IndirCall:
		return "it is a call, which would return to the copy"
	case w&literalMask == literal:
		return "it loads from an address relative to its own"
	case w&adrMask == adr:
		return "it computes an address relative to its own"
	}
	return ""
}

// completes reports whether an instruction raises no exception for certain, except where the stack ends: branches that
// are not computed, hints, those that sign the return address, calculations in general registers, and loads and stores
// relative to the stack pointer.
func completes(insn arch.Insn) bool {
	in := insn.Op.(*inst)
	const hint, hintMask = 0xd503201f, 0xfffff01f
	w := in.word
	switch {
	case insn.Control == arch.Jump || insn.Control == arch.CondJump || isLandingPad(w):
		return true
	case insn.Control != arch.Plain || in.row.class != Ordinary:
		return false
	case w&hintMask == hint:
		return true
	case w>>26&7 == 4, w>>25&7 == 5: // data processing with an immediate, and with registers
		return true
	}
	const base, stack = 5, 31
	memory := w>>27&1 == 1 && w>>25&1 == 0
	pair, offset, update := w>>28&3 == 2, w>>28&3 == 3 && w>>24&1 == 1, w>>28&3 == 3 && w>>24&1 == 0 && w>>21&1 == 0
	return memory && (pair || offset || update) && field(w, base, 5) == stack
}

// isLandingPad reports bti, paciasp and pacibsp.
func isLandingPad(w uint32) bool {
	const bti, btiMask, paciasp, pacibsp = 0xd503241f, 0xffffff3f, 0xd503233f, 0xd503237f
	return w&btiMask == bti || w == paciasp || w == pacibsp
}

// Jump returns b.
func (windows) Jump(from, to uint64) ([]byte, error) {
	w, err := branch(from, to)
	return binary.LittleEndian.AppendUint32(nil, w), err
}

// branch returns a b.
func branch(from, to uint64) (uint32, error) {
	const reach = 1 << 27
	if far := int64(to - from); far < -reach || far >= reach || far%insnLen != 0 {
		return 0, &arch.WindowError{Addr: from, Reason: "the target of a branch is out of reach"}
	}
	return 0x14000000 | uint32((to-from)/insnLen)&0x3ffffff, nil
}

// CopyWindow copies the instruction. A conditional branch jumps over the way back, to a branch to its target.
func (windows) CopyWindow(w *arch.Window, at uint64, back bool) ([]byte, []int, error) {
	const adrp, adrpMask = 0x90000000, 0x9f000000
	insn := &w.Insns[0]
	word := insn.Op.(*inst).word
	var words []uint32
	var err error
	add := func(to uint64) {
		b, e := branch(at+uint64(insnLen*len(words)), to)
		if words = append(words, b); e != nil {
			err = e
		}
	}
	switch {
	case insn.Control == arch.Jump:
		add(insn.Target)
	case insn.Control == arch.CondJump && !back:
		return nil, nil, &arch.WindowError{Addr: insn.Addr, Reason: "it is a branch"}
	case insn.Control == arch.CondJump:
		words = []uint32{overOne(word)}
		add(w.End())
		add(insn.Target)
	case word&adrpMask == adrp:
		if word, err = adrpAt(word, insn.Addr, at); err != nil {
			return nil, nil, err
		}
		fallthrough
	default:
		words = []uint32{word}
		if back && insn.Control != arch.Return && insn.Control != arch.IndirJump {
			add(w.End())
		}
	}
	var code []byte
	for _, word := range words {
		code = binary.LittleEndian.AppendUint32(code, word)
	}
	return code, []int{0}, err
}

// overOne returns a conditional branch that leads over the instruction behind it.
func overOne(w uint32) uint32 {
	width := 19
	if w>>25&63 == 0x1b { // tbz, tbnz
		width = 14
	}
	return w&^((1<<width-1)<<5) | 2<<5
}

// adrpAt returns an adrp that computes at one address what another one computes at its own.
func adrpAt(w uint32, addr, at uint64) (uint32, error) {
	const reach = 1 << 20 // pages
	pages := int64(signedField(w, 5, 19)<<2|int64(field(w, 29, 2))) + int64(addr>>12) - int64(at>>12)
	if pages < -reach || pages >= reach {
		return 0, &arch.WindowError{Addr: addr, Reason: "the address that it computes is out of reach"}
	}
	return w&^(3<<29|(1<<19-1)<<5) | uint32(pages&3)<<29 | uint32(pages>>2)&(1<<19-1)<<5, nil
}
