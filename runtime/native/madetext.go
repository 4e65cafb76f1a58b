package native

import (
	"encoding/binary"
	"slices"

	"gotap/runtime"
	"gotap/runtime/arena"
	"gotap/runtime/opcode"
	"gotap/runtime/value"
)

// Texts that are made when a program runs, and those of which it is not known which of several they are.

// TextRoom is how many bytes behind a text native code may write when it makes one.
const TextRoom = 8

// MostDigits is how many characters the operations write that make texts of integers, at most.
const MostDigits = 20

// MostJoined is how many bytes a text has at most that native code joins of two: two texts that are cut nowhere fit.
const MostJoined = 2 * value.DefaultText

// IsDigits reports whether an operation makes a text of an integer.
func IsDigits(op opcode.Op) bool {
	return op == opcode.Sdec || op == opcode.Sudec || op == opcode.Shex
}

// Copied returns how many bytes an operation makes a text of at most: of memory Str or Bytes; of a number; or of two
// texts. ok is false if native code does not execute it.
func (p *Plan) Copied(pc int) (most int, ok bool) {
	switch p.Insts[pc].Op {
	case opcode.Str:
		v, known := p.pushed(pc)
		if most = int(v); !known {
			most, _ = p.Asked(pc)
		}
		ok = (!known || v <= value.MaxText) && most >= 1
	case opcode.Bytes:
		most, _ = p.Asked(pc)
		ok = true
	case opcode.Sdec, opcode.Sudec, opcode.Shex:
		return MostDigits, p.made(MostDigits) <= p.Place.Texts
	case opcode.Scat:
		return MostJoined, p.made(MostJoined) <= p.Place.Texts
	}
	return most, ok && p.Place.Reads && p.made(most) <= p.Place.Texts
}

// looksAt reports whether native code executes an operation that computes a number from texts which are not known. It
// rings for a text that is not where native code makes them.
func (p *planner) looksAt(pc int) bool {
	switch p.Insts[pc].Op {
	case opcode.Scmp, opcode.Seq, opcode.Sprefix, opcode.Slen, opcode.Hash:
		p.Ops[pc].Unsure = p.Place.Texts > 0
		return p.Place.Texts > 0
	}
	return false
}

// Asked returns for how many bytes the operation Str or Bytes asks: exactly that many if they are known; otherwise
// native code rings if it asks for more.
func (p *Plan) Asked(pc int) (n int, known bool) {
	v, known := p.pushed(pc)
	if !known {
		bound, bounded := uint64(0), false
		if pc > 0 && !p.targets[pc] && p.Insts[pc-1].Op == opcode.Min {
			bound, bounded = p.pushed(pc - 1)
		}
		if v = value.DefaultText; bounded {
			v = min(v, uint64(max(int64(bound), 0)))
		}
	}
	return int(min(max(int64(v), 0), value.MaxText+1)), known
}

// pushed returns the constant that the operation before another one pushes.
func (p *Plan) pushed(pc int) (v uint64, ok bool) {
	if pc < 1 || p.targets[pc] || p.Insts[pc-1].Op != opcode.PushD {
		return 0, false
	}
	return p.Insts[pc-1].V, true
}

// made returns how many bytes a text takes that is made when the program runs, at most.
func (p *Plan) made(most int) int { return (most + TextRoom + 7) &^ 7 }

// makes returns how many bytes of memory the text takes that an operation makes; 0 if it makes none.
func (p *Plan) makes(pc int) int {
	if _, compares := p.Comparison(pc); compares {
		return 0
	}
	if n, ok := p.Copied(pc); ok {
		return p.made(n)
	} else if op := p.Insts[pc].Op; op == opcode.PushThisS || op == opcode.MapGetS {
		return p.made(value.DefaultText)
	}
	return 0
}

// textMemory returns how many bytes the texts take that native code makes, each of them once. A program that makes more
// of them rings.
func (p *Plan) textMemory() (bytes int) {
	for pc := range p.Ops {
		if p.Ops[pc].Verdict == Native {
			bytes += p.makes(pc)
		}
	}
	return min(bytes, p.Place.Texts)
}

// MakesTexts reports whether native code makes a text from an operation that begins a key up to the use of the key.
func (p *Plan) MakesTexts(pc int) bool {
	for ; p.makes(pc) == 0; pc++ {
		if p.Insts[pc].Op.Has(opcode.UsesKey) {
			return false
		}
	}
	return true
}

// longestAt is how many bytes the text on top, which is not known, has in a key at most.
func (p *Plan) longestAt(pc int) int {
	if n, ok := p.Copied(max(pc-1, 0)); ok && !p.targets[pc] {
		return min(n, value.DefaultText)
	}
	return value.DefaultText
}

// longestText is the length of the longest text that a native operation can have on the stack.
func (p *Plan) longestText() int {
	most := value.DefaultText
	for pc := range p.Insts {
		if t, ok := p.Text(pc); ok {
			most = max(most, len(t.Bytes))
		}
		if n, ok := p.Copied(pc); ok {
			most = max(most, n)
		}
	}
	return most
}

// Chooses reports whether native code uses texts that are not known.
func (p *Plan) Chooses() bool {
	for pc := range p.Ops {
		if p.Ops[pc].Verdict != Native {
			continue
		}
		switch p.Insts[pc].Op {
		case opcode.Str:
			if _, compares := p.Comparison(pc); !compares {
				return true
			}
		case opcode.Scmp, opcode.Seq, opcode.Sprefix, opcode.Slen:
			_, known := p.Compared(pc)
			if _, compares := p.Comparison(pc - 2); !known && !compares {
				return true
			}
		case opcode.Bytes, opcode.PushThisS, opcode.Hash, opcode.MapGetS, opcode.Sdec, opcode.Sudec, opcode.Shex, opcode.Scat:
			return true
		case opcode.PopThisS, opcode.LogText, opcode.KeyText:
			if _, known := p.Operands(pc, 1); !known {
				return true
			}
		}
	}
	return false
}

// Constants returns the texts that are known where native code pushes them, without the empty one.
func (p *Plan) Constants() (list []Text) {
	for pc := range p.Ops {
		if p.Ops[pc].Verdict != Native {
			continue
		}
		if t, ok := p.Text(pc); ok && t.Ref.Len() > 0 && !slices.Contains(list, t) {
			list = append(list, t)
		}
	}
	return list
}

// lacksThisText decides about a text in the storage of a call.
func (p *planner) lacksThisText(pc int, row *opcode.Row) string {
	_, known := p.Operands(pc, 1)
	switch at := int(p.Insts[pc].A); {
	case !p.Place.Call:
		return "no call is followed natively"
	case at%8 != 0 || at+arena.TextCell > p.Place.This:
		return "the storage of the call has no such text"
	case p.Insts[pc].Op == opcode.PopThisS && known:
		return ""
	case p.made(value.DefaultText) > p.Place.Texts:
		return interpreted(row)
	}
	return ""
}

// Texts are those of a program that native code has begun.
type Texts struct {
	Constants []Text
	Made      []byte // one behind the other, as in the interpreter's scratch memory
}

// appendTo appends a text as it stands in records.
func (t *Texts) appendTo(to []byte, ref runtime.Ref) []byte {
	to = binary.LittleEndian.AppendUint64(to, value.HeaderWord(ref.Len(), ref.Cut()))
	if i := slices.IndexFunc(t.Constants, func(c Text) bool { return c.Ref == ref }); i >= 0 {
		to = append(to, t.Constants[i].Bytes...)
	} else if n := ref.Len(); n > 0 {
		start := min(int(uint32(ref)), len(t.Made))
		to = append(to, t.Made[start:min(start+n, len(t.Made))]...)
	}
	for len(to)%8 != 0 {
		to = append(to, 0)
	}
	return to
}
