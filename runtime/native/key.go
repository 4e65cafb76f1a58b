package native

import (
	"gotap/runtime/object"
	"gotap/runtime/opcode"
	"gotap/runtime/value"
)

// lacksKey decides about an operation that adds a part to a key. At the first part it decides about all up to the use of
// the key, which are all native or not: if the key is not in the table, native code forgets what it has done since the
// first part, and rings before that. So nothing in between may have an effect that cannot be repeated, trap, or be
// entered by a jump.
func (p *planner) lacksKey(pc int) string {
	if p.Ops[pc].Key {
		return ""
	}
	depth, left, parts := p.Ops[pc].Depth, p.Ops[pc].Depth, 0
	for i := pc; i < len(p.Ops); i++ {
		in := &p.Insts[i]
		if i != pc && p.targets[i] {
			return "control can arrive while the key is built"
		}
		pops, pushes, why := p.effect(in, depth)
		switch {
		case why != "":
			return why
		case in.Op == opcode.KeyInt:
			parts++
		case in.Op.Has(opcode.UsesKey):
			if why := p.lacksUse(i, parts); why != "" {
				return why
			}
			p.MaxDepth = max(p.MaxDepth, left+1)
			for ; i >= pc; i-- {
				p.Ops[i].Key = true
			}
			return ""
		case !repeatable(in.Op):
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

// repeatable reports whether an operation only looks and calculates, and cannot trap. One that reads memory may, and one on
// floats may ring: native code then rings before the first part.
func repeatable(op opcode.Op) bool {
	switch op {
	case opcode.Nop, opcode.PushD, opcode.Dup, opcode.DupN, opcode.Over, opcode.Drop, opcode.Pick, opcode.Depth, opcode.PushTV,
		opcode.PushR, opcode.Arg, opcode.ArgF, opcode.Retval, opcode.Field, opcode.PushGV, opcode.PushThis:
		return true
	}
	return isInteger(op) && !MayRing(op) || IsFloat(op) || ReadSize(op) > 0
}

// lacksUse decides about the use of a key of integers, with a number of parts.
func (p *planner) lacksUse(pc, parts int) string {
	if why := p.object(pc); why != "" {
		return why
	}
	op, l := p.Insts[pc].Op, p.Ops[pc].Object
	name := opcode.RowOf(op).Name
	switch {
	case l.Table == nil || l.Table.KeyWords != parts:
		return name + " has a key of another form"
	case p.adds(op) && isAggregation(l):
		return ""
	case l.Object.Kind != object.KindMap || op == opcode.MapGetS || op == opcode.MapSetS:
		return name + " is left to the interpreter"
	case l.Object.Value.Class() == value.ClassText && op != opcode.MapHas && op != opcode.MapDel:
		return "the values of its map are texts"
	case op == opcode.AggFloat && !p.features.Floats:
		return name + " is left to the interpreter"
	case op == opcode.Agg || op == opcode.AggFloat:
		return "its object is not an aggregation"
	}
	return ""
}
