package native

import (
	"strings"

	"gotap/runtime"
	"gotap/runtime/key"
	"gotap/runtime/opcode"
	"gotap/runtime/value"
)

// Comparison is a comparison of text in the target's memory with a constant one: the operations Str, PushS, and Seq or
// Sprefix, behind a PushD with the most bytes that Str reads. Native code executes the three as one, because it has no
// memory for texts.
type Comparison struct {
	Text  string
	Whole bool // the texts have to be equal; else the one in memory has to begin with Text
	Most  int  // bytes that Str reads
}

// maxCompared is the length of constants in bytes.
const maxCompared = 64

// Comparison returns the comparison that begins at an operation; ok is false if there is none that native code
// executes.
func (p *Plan) Comparison(pc int) (c Comparison, ok bool) {
	insts := p.Insts
	if pc < 1 || pc+2 >= len(insts) || !p.Place.Reads || p.targets[pc] || p.targets[pc+1] || p.targets[pc+2] || insts[pc-1].Op != opcode.PushD || insts[pc].Op != opcode.Str || insts[pc+1].Op != opcode.PushS {
		return c, false
	}
	end := insts[pc+2].Op
	if end != opcode.Seq && end != opcode.Sprefix || uint64(insts[pc+1].A) >= uint64(len(p.Code.Texts)) {
		return c, false
	}
	c = Comparison{p.Code.Texts[insts[pc+1].A], end == opcode.Seq, int(min(insts[pc-1].V, 1<<20))}
	return c, len(c.Text) < c.Most && c.Most <= value.MaxText && len(c.Text) > 0 && len(c.Text) <= maxCompared && !strings.Contains(c.Text, "\x00")
}

// Text is a text that is known when native code is made: a constant of the program, or a text of the place.
type Text struct {
	Ref   runtime.Ref // what the interpreter has on its stack
	Bytes string      // without what Ref has cut off
}

// Text returns the text that an operation pushes; ok is false if that is not known, or the operation pushes something
// else.
func (p *Plan) Text(pc int) (t Text, ok bool) {
	switch in := &p.Insts[pc]; in.Op {
	case opcode.PushS:
		if uint64(in.A) >= uint64(len(p.Code.Texts)) {
			return t, false
		}
		t.Bytes = p.Code.Texts[in.A]
		t.Ref = runtime.ConstRef(in.A, len(t.Bytes))
	case opcode.Text:
		n := p.Place.Names
		if in.A >= uint32(runtime.NumTextFields) || n == nil {
			return t, false
		}
		switch f := runtime.TextField(in.A); f {
		case runtime.TextFunc:
			t.Bytes = n.Func
		case runtime.TextModule:
			t.Bytes = n.Module
		case runtime.TextProbe:
			t.Bytes = n.Probe
		default:
			return t, false
		}
		t.Ref = runtime.PlaceRef(runtime.TextField(in.A), len(t.Bytes))
	default:
		return t, false
	}
	t.Bytes = t.Bytes[:t.Ref.Len()]
	return t, true
}

// Operands returns the n texts that an operation pops, the one on top last; ok is false if they are not known. They are
// known if the operations that push them stand directly before it.
func (p *Plan) Operands(pc, n int) (list [2]Text, ok bool) {
	for i := range n {
		at := pc - n + i
		if at < 0 || p.targets[at+1] {
			return list, false
		}
		if list[i], ok = p.Text(at); !ok {
			return list, false
		}
	}
	return list, true
}

// Words returns a text as it stands in records: its length, and its bytes.
func (t Text) Words() []uint64 {
	list := make([]uint64, 1+(len(t.Bytes)+7)/8)
	list[0] = value.HeaderWord(len(t.Bytes), t.Ref.Cut())
	value.PackBytes(list[1:], []byte(t.Bytes))
	return list
}

// KeyWords returns a text as it stands in keys.
func (t Text) KeyWords() []uint64 {
	var b key.Buffer
	b.AddText([]byte(t.Bytes), t.Ref.Cut())
	return b.Words()
}

// Compared returns the result of an operation that compares two texts, or measures one, all of them known; ok is false
// if it is another one.
func (p *Plan) Compared(pc int) (v uint64, ok bool) {
	op := p.Insts[pc].Op
	n := 2
	switch op {
	case opcode.Scmp, opcode.Seq, opcode.Sprefix:
	case opcode.Slen:
		n = 1
	default:
		return 0, false
	}
	of, ok := p.Operands(pc, n)
	if !ok {
		return 0, false
	}
	s, t := of[0].Bytes, of[1].Bytes
	is := false
	switch op {
	case opcode.Scmp:
		return uint64(int64(strings.Compare(s, t))), true
	case opcode.Slen:
		return uint64(len(s)), true
	case opcode.Seq:
		is = s == t
	case opcode.Sprefix:
		is = strings.HasPrefix(s, t)
	}
	if is {
		v = 1
	}
	return v, true
}

// Decided reports whether an operation jumps on the result of one on known texts, so that only one way leads on; jumps
// is that way.
func (p *Plan) Decided(pc int) (jumps, ok bool) {
	op := p.Insts[pc].Op
	if pc == 0 || op != opcode.Jz && op != opcode.Jnz || p.targets[pc] {
		return false, false
	}
	v, ok := p.Compared(pc - 1)
	return ok && (v == 0) == (op == opcode.Jz), ok
}

// lacksText decides about an operation on texts.
func (p *planner) lacksText(pc int, row *opcode.Row) string {
	if p.Insts[pc].Op == opcode.PushS {
		if _, ok := p.Text(pc); ok {
			return ""
		}
		return "the program has no constant text of this number"
	}
	if _, ok := p.Compared(pc); ok {
		return ""
	}
	for first := pc; first > pc-3 && first > 0; first-- {
		if p.Insts[first].Op != opcode.Str {
			continue
		}
		if _, ok := p.Comparison(first); ok {
			return ""
		}
	}
	if _, ok := p.Copied(pc); ok {
		p.Ops[pc].Unsure = IsDigits(p.Insts[pc].Op) || p.Insts[pc].Op == opcode.Scat
		return ""
	}
	if p.looksAt(pc) {
		return ""
	}
	return interpreted(row)
}
