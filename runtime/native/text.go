package native

import (
	"strings"

	"gotap/runtime/opcode"
	"gotap/runtime/value"
)

// Comparison is a comparison of text in the target's memory with a constant one: the operations Str, PushS, and Seq or Sprefix, behind a PushD
// with the most bytes that Str reads. Native code executes the three as one, because it has no memory for texts.
type Comparison struct {
	Text  string
	Whole bool // the texts have to be equal; else the one in memory has to begin with Text
	Most  int  // bytes that Str reads
}

// maxCompared is the length of constants in bytes.
const maxCompared = 64

// Comparison returns the comparison that begins at an operation; ok is false if there is none that native code executes.
func (p *Plan) Comparison(pc int) (c Comparison, ok bool) {
	insts := p.Insts
	if pc < 1 || pc+2 >= len(insts) || insts[pc-1].Op != opcode.PushD || insts[pc].Op != opcode.Str || insts[pc+1].Op != opcode.PushS {
		return c, false
	}
	end := insts[pc+2].Op
	if end != opcode.Seq && end != opcode.Sprefix || uint64(insts[pc+1].A) >= uint64(len(p.Code.Texts)) {
		return c, false
	}
	c = Comparison{p.Code.Texts[insts[pc+1].A], end == opcode.Seq, int(min(insts[pc-1].V, 1<<20))}
	return c, len(c.Text) < c.Most && c.Most <= value.MaxText && len(c.Text) > 0 && len(c.Text) <= maxCompared && !strings.Contains(c.Text, "\x00")
}

// lacksText decides about an operation on texts.
func (p *planner) lacksText(pc int, row *opcode.Row) string {
	for first := pc; first > pc-3 && first > 0; first-- {
		if p.Insts[first].Op != opcode.Str {
			continue
		}
		if _, ok := p.Comparison(first); ok && p.Place.Reads && !p.targets[first] && !p.targets[first+1] && !p.targets[first+2] {
			return ""
		}
	}
	return interpreted(row)
}
