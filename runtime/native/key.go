package native

import (
	"gotap/runtime/key"
	"gotap/runtime/object"
	"gotap/runtime/opcode"
	"gotap/runtime/value"
)

// lacksKey decides about an operation that adds a part to a key. At the first part it decides about all up to the use
// of the key, which are all native or not: if the key is not in the table, native code forgets what it has done since
// the first part, and rings before that. So nothing in between may have an effect that cannot be repeated, trap, or be
// entered by a jump.
func (p *planner) lacksKey(pc int) string {
	if p.Ops[pc].Key {
		return ""
	}
	depth, left := p.Ops[pc].Depth, p.Ops[pc].Depth
	var parts keyParts
	for i := pc; i < len(p.Ops); i++ {
		in := &p.Insts[i]
		if i != pc && p.targets[i] {
			return "control can arrive while the key is built"
		}
		pops, pushes, why := p.effect(in, depth)
		switch {
		case why != "":
			return why
		case in.Op.Has(opcode.BuildsKey):
			if why := p.addPart(i, &parts); why != "" {
				return why
			}
		case in.Op.Has(opcode.UsesKey):
			if why := p.lacksUse(i, &parts); why != "" {
				return why
			}
			p.MaxDepth = max(p.MaxDepth, left+1)
			for ; i >= pc; i-- {
				p.Ops[i].Key = true
			}
			return ""
		case !p.repeatable(i):
			return opcode.RowOf(in.Op).Name + " stands while the key is built"
		default:
			if why := p.lacks(i); why != "" {
				return why
			}
		}
		depth += pushes - pops
		_, pushed := opcode.RowOf(in.Op).Effect(in.A)
		left += pushed // words popped remain until the key is used
		if left+p.Temps >= MaxWords {
			return "there are too many words while the key is built"
		}
	}
	return "the key is not used"
}

// keyParts is the form of a key: its longest one, and the words that are known when code is made.
type keyParts struct {
	key.Buffer
	known int
}

// maxKey is how many words of a key may be known. The code of a search has some instructions for each.
const maxKey = 48

// addPart adds a part to a key of which only the form matters, and returns why native code cannot, or "".
func (p *planner) addPart(pc int, parts *keyParts) string {
	in, fits, before := &p.Insts[pc], false, len(parts.Words())
	text, known := p.Operands(pc, 1)
	switch {
	case in.Op == opcode.KeyInt:
		known, fits = true, parts.AddWord(0)
	case in.Op != opcode.KeyText || in.A > 0xff || value.Kind(in.A).Class() != value.ClassText:
		return interpreted(opcode.RowOf(in.Op))
	case known:
		fits = parts.AddText([]byte(text[0].Bytes), text[0].Ref.Cut())
	case p.Place.Texts == 0:
		return "the text is not known"
	default:
		fits = parts.AddText(make([]byte, p.longestAt(pc)), false)
	}
	if known {
		parts.known += len(parts.Words()) - before
	}
	if !fits || parts.known > maxKey {
		return "the key is too long"
	}
	return ""
}

// repeatable reports whether an operation only looks and calculates, and cannot trap. One that reads memory may, and
// one on floats or a text may ring: native code then rings before the first part.
func (p *planner) repeatable(pc int) bool {
	in := &p.Insts[pc]
	switch in.Op {
	case opcode.Nop, opcode.PushD, opcode.Dup, opcode.DupN, opcode.Over, opcode.Drop, opcode.Pick, opcode.Depth, opcode.PushTV,
		opcode.PushR, opcode.Arg, opcode.ArgF, opcode.Retval, opcode.Field, opcode.Text, opcode.PushGV, opcode.PushThis, opcode.PushPT, opcode.PushS, opcode.Scmp, opcode.Seq, opcode.Sprefix,
		opcode.Slen, opcode.Readable, opcode.Str, opcode.Bytes, opcode.PushThisS, opcode.Hash, opcode.Sdec, opcode.Sudec, opcode.Shex, opcode.Scat:
		return true
	}
	return isInteger(in.Op) && (!MayRing(in) || p.DividesByConstant(pc)) || IsFloat(in.Op) || ReadSize(in.Op) > 0
}

// lacksUse decides about the use of a key with the given parts.
func (p *planner) lacksUse(pc int, parts *keyParts) string {
	if why := p.object(pc); why != "" {
		return why
	}
	op, l := p.Insts[pc].Op, p.Ops[pc].Object
	name := opcode.RowOf(op).Name
	switch {
	case l.Table == nil || !parts.Fits(l.Table.Shape):
		return name + " has a key of another form"
	case p.adds(op) && isAggregation(l):
		return ""
	case l.Object.Kind != object.KindMap || op == opcode.MapSetS || op == opcode.MapGetS && p.made(value.DefaultText) > p.Place.Texts:
		return name + " is left to the interpreter"
	case (l.Object.Value.Class() == value.ClassText) != (op == opcode.MapGetS) && op != opcode.MapHas && op != opcode.MapDel:
		return "the values of its map are of another kind"
	case op == opcode.AggFloat && !p.features.Floats:
		return name + " is left to the interpreter"
	case op == opcode.Agg || op == opcode.AggFloat:
		return "its object is not an aggregation"
	}
	return ""
}
