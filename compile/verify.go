package compile

import (
	"fmt"

	"gotap/compile/diag"
	"gotap/runtime"
	"gotap/runtime/arena"
	"gotap/runtime/element"
	"gotap/runtime/opcode"
	"gotap/runtime/outcome"
	"gotap/runtime/record"
	rtvalue "gotap/runtime/value"
)

// MaxCode is the maximum number of commands of a program. A jump target then fits in 16 bits, which suits every
// executor, and a program of that size takes a fifth of a second to verify.
const MaxCode = 1 << 16

// maxFacility is the largest number of an exit facility.
const maxFacility = 255

// Verify proves that a program is safe to run, and sets p.Bound. Only a program for which the list contains no error
// may be lowered. Verify reports all errors of a stage: first those of single commands, then those of the flow between
// them.
//
// It proves, along every path from the first command:
//
//   - The operand stack and the call stack neither underflow nor overflow.
//   - The stack depth, the open log item and the current key are the same on every path to a command.
//   - Texts are used as text and numbers as numbers.
//   - Scratch words are assigned before they are read.
//   - Items are complete.
//   - The program does not run past its end.
//
// The time taken is proportional to the size of the program.
func Verify(p *Program) (diags diag.List) {
	// A program that was changed after it was verified is not verified any more.
	p.Bound = Bound{}
	checkProgram(p, &diags)
	if diags.HasErrors() {
		return diags
	}
	for i := range p.Code {
		checkCommand(p, i, &diags)
	}
	if diags.HasErrors() {
		return diags
	}
	f := analyse(p, &diags)
	if diags.HasErrors() {
		return diags
	}
	f.bound()
	return diags
}

// checkProgram checks the sizes that a program declares. All later stages rely on it, because they size their tables by
// these declarations.
func checkProgram(p *Program, diags *diag.List) {
	limit := func(what string, is, most int) {
		if is < 0 || is > most {
			diags.Errorf(diag.Span{}, "", "%s: %s is %d, and at most %d are allowed", p.Name, what, is, most)
		}
	}
	limit("the number of commands", len(p.Code), MaxCode)
	limit("the number of texts", len(p.Texts), MaxCode)
	limit("the number of formats", len(p.Formats), MaxCode)
	limit("the operand stack", p.Stack, runtime.MaxStack)
	limit("the number of scratch words", p.Temps, runtime.MaxTemps)
	limit("the storage of a call in bytes", p.This, arena.MaxThisBytes)
	limit("the fuel", int(p.Fuel), runtime.MaxFuel)
	limit("the log in bytes", p.LogMax, record.MaxLog)
	limit("the data in the log in bytes", p.LogData, record.MaxLog)
	limit("the trace in bytes", p.TraceMax, runtime.MaxTrace)
	limit("the heap in bytes", p.Heap, runtime.MaxHeap)
	if known := runtime.MaskSet | 0xffff; p.Mask&^known != 0 || p.Mask != 0 && p.Mask&runtime.MaskSet == 0 {
		diags.Errorf(diag.Span{}, "", "%s: %#x is not a mask of exceptions", p.Name, p.Mask)
	}
	for _, t := range p.Texts {
		limit("a text in bytes", len(t), rtvalue.MaxText)
	}
	if len(p.Code) == 0 {
		diags.Errorf(diag.Span{}, "", "%s: the program is empty", p.Name)
	}
	for i, f := range p.Formats {
		checkFormat(p, i, f, diags)
	}
}

// checkFormat checks that the kinds in a format exist. The host reads the formats of a file without further checks.
func checkFormat(p *Program, i int, f record.Format, diags *diag.List) {
	if int(f.Kind) >= len(itemNames) {
		diags.Errorf(diag.Span{}, "", "%s: format %d is of no known kind", p.Name, i)
	}
	for _, field := range f.Fields {
		if int(field.Kind) >= len(kindNames) {
			diags.Errorf(diag.Span{}, "", "%s: format %d has a field of no known type", p.Name, i)
		}
		if field.Part < 0 || !field.IsLiteral && field.Literal != "" {
			diags.Errorf(diag.Span{}, "", "%s: format %d has a malformed field", p.Name, i)
		}
	}
}

// checkCommand checks one command by itself: that it exists, is allowed here, and has an operand in range.
func checkCommand(p *Program, i int, diags *diag.List) {
	c := p.Code[i]
	row := opcode.RowOf(c.Op)
	if row == nil {
		p.errorf(diags, i, "", "%d is not an operation", c.Op)
		return
	}
	if row.Unsafe() && !p.Unsafe {
		p.errorf(diags, i, "run with --unsafe", "%s changes the target, which is not allowed here", row.Name)
	}
	if p.Heap == 0 && row.Needs&opcode.NeedHeap != 0 {
		p.errorf(diags, i, "", "%s needs a heap, and the program has none", row.Name)
	}
	least, most := operandRange(p, row)
	a := int(c.A)
	if row.Operand == opcode.BaseOperand {
		a = int(int32(c.A))
	}
	if row.Operand == opcode.LabelOperand && a == len(p.Code) { // a label behind the last command
		p.errorf(diags, i, "end every way with exit or abort", "the program runs past its end")
	} else if a < least || a > most {
		p.errorf(diags, i, "", "operand %d of %s is out of range: %s", a, row.Name, rangeText(least, most))
	}
	if n := room(row, c); p.Wrap && n > p.stackSize() {
		p.errorf(diags, i, "", "%s needs %d words, and the circular stack has %d", row.Name, n, p.stackSize())
	}
	if c.V != 0 && row.Operand != opcode.WordOperand && !usesBoth(row, c.A) {
		p.errorf(diags, i, "", "%s has no operand V, and it is %d", row.Name, c.V)
	}
	if c.Op == opcode.Element && a <= most {
		if _, err := element.Parse(p.Texts[a]); err != nil {
			p.errorf(diags, i, "", "%v", err)
		}
	}
	checkFormatUse(p, i, row, diags)
}

// room returns how many words of the stack a command reads or pushes. A circular stack never underflows, but a command
// may ask for more than the whole circle.
func room(row *opcode.Row, c Command) int {
	pops, pushes := row.Reach(c.A)
	return max(pops, pushes)
}

// rangeText describes the range of allowed operands.
func rangeText(least, most int) string {
	if most < least {
		return "there are none"
	}
	return fmt.Sprintf("%d to %d", least, most)
}

// operandRange returns the range of operand A of a command.
func operandRange(p *Program, row *opcode.Row) (least, most int) {
	if row.Operand.IsObject() {
		return 0, len(p.Objects) - 1
	}
	switch row.Operand {
	case opcode.NoOperand, opcode.WordOperand:
		return 0, 0
	case opcode.CountOperand:
		return countRange(row.Op())
	case opcode.WordsOperand:
		return 1, runtime.MaxStack
	case opcode.LabelOperand:
		return 0, len(p.Code) - 1
	case opcode.TextOperand:
		return 0, len(p.Texts) - 1
	case opcode.FormatOperand:
		return 0, len(p.Formats) - 1
	case opcode.RegisterOperand:
		return 0, len(p.Regs) - 1
	case opcode.TempOperand:
		return 0, p.Temps - 1
	case opcode.ThisOperand:
		return 0, p.This/8 - 1
	case opcode.ThisTextOperand:
		return 0, p.This - arena.TextCell
	case opcode.ArgOperand:
		return 0, 255
	case opcode.FieldOperand:
		return 0, int(runtime.NumFields) - 1
	case opcode.ContextOperand:
		return 0, int(runtime.NumTextFields) - 1
	case opcode.KindOperand:
		return int(rtvalue.KindText), int(rtvalue.KindStack)
	case opcode.WideOperand:
		return 0, int(rtvalue.NumWide) - 1
	case opcode.UnitsOperand:
		return 0, int(rtvalue.NumUnits) - 1
	case opcode.ExitOperand:
		return 0, int(outcome.ExitFacility)
	case opcode.BaseOperand:
		return -runtime.MaxStack, runtime.MaxStack
	}
	return 0, -1
}

// countRange returns the range of a command's count. Widths of 0 and 64 would be no-ops, and shifts by 64 differ
// between processors.
func countRange(op opcode.Op) (least, most int) {
	switch op {
	case opcode.Ext, opcode.Zext:
		return 1, 63
	}
	return 0, runtime.MaxStack - 1
}

// checkFormatUse checks that a command that logs names a format of the kind that it logs. Two commands may share a
// format, but only one command logs each kind of item.
func checkFormatUse(p *Program, i int, row *opcode.Row, diags *diag.List) {
	c := p.Code[i]
	number := uint64(c.A)
	switch row.Operand {
	case opcode.WordsOperand:
		number = c.V
	case opcode.ExitOperand:
		if c.V > maxFacility {
			p.errorf(diags, i, "", "%d is not the number of an exit facility", c.V)
		}
		return
	case opcode.FormatOperand:
	default:
		return
	}
	if number >= uint64(len(p.Formats)) {
		p.errorf(diags, i, "", "%s names format %d, and there are %d", row.Name, number, len(p.Formats))
	} else if kind := p.Formats[number].Kind; !formatFits(row.Op(), kind) {
		p.errorf(diags, i, "", "%s cannot log an item of kind %s", row.Name, itemNames[kind])
	}
}

// formatFits reports whether a command logs items of a kind. The kind of an item determines how the host prints it, and
// the fields of another command would not match.
func formatFits(op opcode.Op, kind record.ItemKind) bool {
	switch kind {
	case record.ItemRange:
		return op == opcode.LogRange
	case record.ItemString:
		return op == opcode.LogStr
	case record.ItemWords:
		return op == opcode.LogWords || op == opcode.Item
	case record.ItemFault, record.ItemTrace:
		return false
	}
	return op == opcode.Item
}
