package runtime

import (
	"gotap/runtime/opcode"
	"gotap/runtime/outcome"
)

// NeedsOf returns what a program needs from its executor: the needs of its operations, those that their operands add,
// and those of the program as a whole. Package compile uses it to set Code.Needs.
func NeedsOf(c *Code) opcode.Needs {
	var all opcode.Needs
	for i := range c.Insts {
		in := &c.Insts[i]
		if row := opcode.RowOf(in.Op); row != nil {
			all |= row.Needs | operandNeeds(in)
		}
	}
	if c.Wrap {
		all |= opcode.NeedWrap
	}
	if c.Auto {
		all |= opcode.NeedTrace
	}
	return all
}

// exitNeeds, fieldNeeds and textNeeds are the needs of operands. Unlisted operands add none.
var (
	exitNeeds = [...]opcode.Needs{
		outcome.ExitEvent: opcode.NeedEvent, outcome.ExitHold: opcode.NeedEvent | opcode.NeedHold, outcome.ExitDump: opcode.NeedDump,
		outcome.ExitStop: opcode.NeedStop, outcome.ExitFacility: opcode.NeedFacility,
	}
	fieldNeeds = [NumFields]opcode.Needs{FieldErrno: opcode.NeedErrno, FieldElapsed: opcode.NeedThis, FieldResult: opcode.NeedThis,
		FieldFrame: opcode.NeedThis}
	textNeeds = [NumTextFields]opcode.Needs{
		TextComm: opcode.NeedComm, TextFunc: opcode.NeedPlaceText, TextModule: opcode.NeedPlaceText, TextProbe: opcode.NeedPlaceText,
	}
)

// operandNeeds returns the needs that the operand of an instruction adds to those of its operation.
func operandNeeds(in *Inst) opcode.Needs {
	switch in.Op {
	case opcode.Exit:
		return at(exitNeeds[:], in.A)
	case opcode.Field:
		return at(fieldNeeds[:], in.A)
	case opcode.Text:
		return at(textNeeds[:], in.A)
	case opcode.PushR, opcode.PopR:
		if in.V>>16 >= FloatWords {
			return opcode.NeedFloatRegs
		}
	}
	return 0
}

// at returns an element of a list, or 0 beyond its end.
func at(list []opcode.Needs, i uint32) opcode.Needs {
	if uint64(i) < uint64(len(list)) {
		return list[i]
	}
	return 0
}
