package runtime

import "gotap/runtime/opcode"

// effect is how many words an operation takes from the operand stack, and how many it then puts there.
type effect struct{ pops, pushes uint8 }

// effects are checked before each step, so that no operation need look at the stack's ends. Operations whose effect depends
// on their operand have the least of it here, and check the rest themselves (need). A number that is not an operation has
// no effect, and traps. groups says which function is an operation's meaning.
var effects, groups = tabulate()

func tabulate() (words [256]effect, groups [256]opcode.Group) {
	for i := range opcode.Table {
		pops, pushes := opcode.Table[i].Reach(0)
		words[i], groups[i] = effect{uint8(pops), uint8(pushes)}, opcode.Table[i].Group
	}
	return words, groups
}

// need is the whole effect of an instruction: words that must be on the stack, and the room it needs above what is left of
// them. It is called only where the table does not say all, or where a circular stack has to be turned.
func need(in *Inst) (pops, pushes int) {
	if row := opcode.RowOf(in.Op); row != nil {
		return row.Reach(min(in.A, MaxStack+1)) // more than any stack has
	}
	return 0, 0
}
