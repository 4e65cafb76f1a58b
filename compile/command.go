package compile

import (
	"fmt"
	"strconv"

	"gotap/runtime/opcode"
	"gotap/runtime/outcome"
)

// commandText returns a command as listings show it. A jump target is L and the index of its command, so labels stay
// unique when pieces of listings are combined by hand.
func (p *Program) commandText(i int) string {
	c := p.Code[i]
	row := opcode.RowOf(c.Op)
	if row == nil {
		return fmt.Sprintf("operation %d", c.Op)
	}
	switch row.Operand {
	case opcode.NoOperand:
		return row.Name
	// Signed: most constants are small, and -1 reads better than 18446744073709551615. The assembler accepts both.
	case opcode.WordOperand:
		return row.Name + "," + strconv.FormatInt(int64(c.V), 10)
	case opcode.LabelOperand:
		return row.Name + " L" + strconv.Itoa(int(c.A))
	case opcode.ExitOperand:
		return exitText(c)
	case opcode.WordsOperand:
		return fmt.Sprintf("%s,%d,%d", row.Name, c.A, c.V)
	case opcode.BaseOperand:
		return row.Name + "," + strconv.Itoa(int(int32(c.A)))
	}
	return row.Name + "," + p.operandText(row, c.A)
}

// operandText returns the name of an operand that has one. Operands out of range have no name and are shown as numbers,
// because listings are also made of refused programs.
func (p *Program) operandText(row *opcode.Row, a uint32) string {
	switch {
	case row.Operand == opcode.FieldOperand && int(a) < len(fieldNames):
		return fieldNames[a]
	case row.Operand == opcode.ContextOperand && int(a) < len(contextNames):
		return contextNames[a]
	case row.Operand == opcode.KindOperand && int(a) < len(kindNames):
		return kindNames[a]
	case row.Operand == opcode.WideOperand && int(a) < len(wideNames):
		return wideNames[a]
	case row.Operand == opcode.UnitsOperand && int(a) < len(unitNames):
		return unitNames[a]
	case row.Operand == opcode.RegisterOperand && p.plainRegister(a):
		return p.Regs[a]
	case row.Operand == opcode.RegisterOperand:
		return "#" + strconv.Itoa(int(a))
	}
	return strconv.Itoa(int(a))
}

// plainRegister reports whether a register can be written by its name: the name must be a word, and no earlier entry
// may have it. Two entries with one name are two numbers in the file. If both were written by name, both would become
// the first, and the encoding would change.
func (p *Program) plainRegister(a uint32) bool {
	if int(a) >= len(p.Regs) || !isWord(p.Regs[a]) {
		return false
	}
	for _, earlier := range p.Regs[:a] {
		if earlier == p.Regs[a] {
			return false
		}
	}
	return true
}

// isWord reports whether a name consists of letters, digits and underscores and does not begin with a digit.
func isWord(name string) bool {
	for i, r := range name {
		letter := r == '_' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
		if !letter && (i == 0 || r < '0' || r > '9') {
			return false
		}
	}
	return name != ""
}

// exitText returns the text of an exit.
func exitText(c Command) string {
	switch kind := outcome.ExitKind(c.A); {
	case kind == outcome.ExitPlain:
		return "exit"
	case kind == outcome.ExitFacility:
		return fmt.Sprintf("exit facility,%d", c.V)
	case int(kind) < len(exitNames):
		return "exit " + exitNames[kind]
	}
	return fmt.Sprintf("exit #%d", c.A)
}
