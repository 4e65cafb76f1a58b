package runtime

import "gotap/runtime/opcode"

// effect is the number of words that an operation pops from the operand stack, and the number that it then pushes.
type effect struct{ pops, pushes uint8 }

// effects are checked before each step, so that operations need not check the stack's ends. For an operation whose
// effect depends on its operand, the table has the minimum, and the operation checks the rest itself (need). A number
// that is not an operation has no effect, and traps. groups gives the group whose function implements an operation.
var effects, groups = tabulate()

func tabulate() (words [256]effect, groups [256]opcode.Group) {
	for i := range opcode.Table {
		pops, pushes := opcode.Table[i].Reach(0)
		words[i], groups[i] = effect{uint8(pops), uint8(pushes)}, opcode.Table[i].Group
	}
	return words, groups
}

// need returns the whole effect of an instruction: the words that must be on the stack, and the room that it needs
// above the remaining words. It is called only if the table is not sufficient, or a circular stack must be rotated.
func need(in *Inst) (pops, pushes int) {
	if row := opcode.RowOf(in.Op); row != nil {
		return row.Reach(min(in.A, MaxStack+1)) // more than any stack has
	}
	return 0, 0
}
