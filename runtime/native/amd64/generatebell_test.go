package amd64

import (
	"math/rand/v2"

	"gotap/runtime"
	"gotap/runtime/arena"
	"gotap/runtime/opcode"
	"gotap/runtime/outcome"
)

// bell appends an operation that native code leaves to the interpreter.
func (g *generator) bell() {
	if !g.room() {
		return
	}
	switch g.IntN(7) {
	case 0:
		g.emit(opcode.PushD, 0, 0x1000+uint64(g.IntN(0x80)))
		g.depth++
		g.op(opcode.Load32, 0)
	case 1:
		g.op(opcode.Field, int(runtime.FieldUid))
	case 2:
		g.item()
	case 3:
		g.float()
		g.emit(opcode.PushD, 0, anyFloat(g.Rand))
		g.depth++
		g.op(opcode.Frem, 0)
	case 4:
		g.op(opcode.PushS, g.IntN(2))
		g.op(opcode.Slen, 0)
	case 5:
		g.op(opcode.PushR, len(registers)-1-g.IntN(leftRegisters))
	case 6:
		g.op(opcode.Arg, len(args)+stackArgs+g.IntN(3))
	}
}

// item appends an item of one field or of three, in which native code may have to stop.
func (g *generator) item() {
	format := g.IntN(3)
	g.op(opcode.Item, format)
	if format == 2 {
		g.float()
		g.op(opcode.LogFloat, 0)
		g.op(opcode.EndItem, 0)
		return
	}
	for range 1 + 2*format {
		if g.bells && g.IntN(8) == 0 && g.room() {
			g.op(opcode.Field, int(runtime.FieldUid))
		} else {
			g.push()
		}
		g.op(opcode.LogInt, 0)
	}
	g.op(opcode.EndItem, 0)
}

// end ends the program.
func (g *generator) end() {
	switch g.IntN(5) {
	case 0:
		g.emit(opcode.Abort, 0, 0)
	case 1:
		g.emit(opcode.Exit, uint32(outcome.ExitEvent), 0)
	case 2:
		if g.bells {
			g.emit(opcode.Exit, uint32(pick(g.Rand, outcome.ExitHold, outcome.ExitStop)), 0)
			return
		}
		fallthrough
	default:
		g.emit(opcode.Exit, 0, 0)
	}
}

// anyCode returns instructions that nobody has verified.
func (o *objects) anyCode(r *rand.Rand, a *arena.Arena) *runtime.Code {
	c := &runtime.Code{Insts: make([]runtime.Inst, 1+r.IntN(40)), Fuel: 1 + r.Uint32N(100), Texts: []string{"a", "bc", tooLong, names[5]}, Stack: r.IntN(20), LogMax: 400}
	for i := range c.Insts {
		in := &c.Insts[i]
		in.Op, in.A, in.V = opcode.Op(r.IntN(int(opcode.NumOps)+1)), uint32(r.IntN(10)), anyWord(r)
		switch r.IntN(8) {
		case 0:
			in.A = r.Uint32() >> r.IntN(32)
		case 1, 2:
			in.Op = opcode.PushD
		case 3:
			in.Op = pick(r, opcode.PushR, opcode.Arg, opcode.PushTV, opcode.PopTV, opcode.KeyInt, opcode.Agg, opcode.MapAdd, opcode.PushGV, opcode.AddGV)
		case 4:
			in.Op = pick(r, pick(r, jumpOps...), pick(r, unaryOps...), pick(r, binaryOps...), pick(r, floatUnary...), pick(r, floatBinary...), opcode.AggFloat, opcode.ArgF)
		case 5:
			if i > 0 && r.IntN(2) == 0 {
				c.Insts[i-1].Op, c.Insts[i-1].A = pick(r, opcode.PushS, opcode.Text), uint32(r.IntN(5))
				in.Op = pick(r, opcode.KeyText, opcode.LogText, opcode.Slen, opcode.Seq, opcode.Agg)
			}
		}
		row := opcode.RowOf(in.Op)
		switch {
		case row == nil:
		case row.Unsafe():
			in.Op = opcode.Nop
		case row.Operand == opcode.LabelOperand:
			in.A = uint32(r.IntN(len(c.Insts) + r.IntN(2)))
		case row.Operand.IsObject() && r.IntN(8) != 0:
			_, in.V = a.Lookup(pick(r, o.all...))
		case in.Op == opcode.PushR && r.IntN(8) != 0:
			in.V = uint64(pick(r, r.IntN(20), r.IntN(20), runtime.FloatWords+r.IntN(90)))<<16 | uint64(r.IntN(256))<<8*uint64(r.IntN(2)) | uint64(r.IntN(256))
		}
	}
	return c
}
