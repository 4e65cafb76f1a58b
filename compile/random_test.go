package compile

import (
	"math"
	"math/rand/v2"

	"gotap/runtime"
	"gotap/runtime/opcode"
	"gotap/runtime/record"
	rtvalue "gotap/runtime/value"
)

// anyProgram is a program of random commands whose operands are in range; most such programs
// Verify refuses.
func anyProgram(r *rand.Rand) *Program {
	p := &Program{Name: randomText(r), Wrap: r.IntN(8) == 0, Unsafe: r.IntN(2) == 0}
	p.This, p.Temps, p.Stack = 8*r.IntN(60), r.IntN(8), r.IntN(40)
	if r.IntN(3) == 0 {
		p.Mask, p.TraceMax, p.AutoTrace = runtime.MaskSet|uint32(r.IntN(1<<16)), r.IntN(runtime.MaxTrace+1), r.IntN(2) == 0
	}
	if r.IntN(3) == 0 {
		p.Heap = r.IntN(runtime.MaxHeap + 1)
	}
	if r.IntN(3) == 0 {
		p.LogData = r.IntN(record.DefaultLog)
	}
	p.Fuel, p.LogMax = uint32(r.IntN(1000)), r.IntN(2000)
	for range r.IntN(4) {
		p.Texts = append(p.Texts, randomText(r))
	}
	for range r.IntN(4) {
		p.Regs = append(p.Regs, []string{"rax", "rdi", "rax", "r 1", "\xff"}[r.IntN(5)])
	}
	for range r.IntN(4) {
		p.Formats = append(p.Formats, randomFormat(r))
	}
	for range r.IntN(4) {
		p.Objects = append(p.Objects, r.IntN(10))
	}
	p.Code = make([]Command, 1+r.IntN(40))
	for i := range p.Code {
		p.Code[i] = randomCommand(r, p)
	}
	return p
}

func randomText(r *rand.Rand) string {
	texts := []string{"", "a", "two words", "semi;colon", `"quoted"`, "line\nend", "\x00\xff", "ünïcode", "|", "L1:"}
	return texts[r.IntN(len(texts))]
}

func randomFormat(r *rand.Rand) record.Format {
	f := record.Format{Kind: record.ItemKind(r.IntN(len(itemNames))), Text: randomText(r)}
	for range r.IntN(4) {
		field := record.Field{Name: randomText(r), Kind: rtvalue.Kind(r.IntN(len(kindNames))), Part: r.IntN(3)}
		if r.IntN(3) == 0 {
			field.IsLiteral, field.Literal = true, randomText(r)
		}
		f.Fields = append(f.Fields, field)
	}
	return f
}

// randomCommand is a command that checkCommand accepts, nop when the one drawn cannot be made here.
func randomCommand(r *rand.Rand, p *Program) Command {
	row := &opcode.Table[r.IntN(len(opcode.Table))]
	least, most := operandRange(p, row)
	if most < least {
		return Command{Op: opcode.Nop}
	}
	c := Command{Op: row.Op(), A: uint32(least + r.IntN(min(most-least, 12)+1))}
	switch {
	case row.Operand == opcode.WordOperand:
		c.V = randomWord(r)
	case row.Operand == opcode.WordsOperand:
		c.V = uint64(r.IntN(4))
	case usesBoth(row, c.A):
		c.V = uint64(r.IntN(maxFacility))
	}
	return c
}

// randomWord prefers the words at which arithmetic goes wrong.
func randomWord(r *rand.Rand) uint64 {
	edges := []uint64{0, 1, 2, 7, 63, 64, math.MaxUint64, 1 << 63, math.MaxInt64, 1 << 32, 0xff}
	if r.IntN(4) == 0 {
		return r.Uint64()
	}
	return edges[r.IntN(len(edges))]
}
