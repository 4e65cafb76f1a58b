package arm64

import (
	"gotap/runtime"
	"gotap/runtime/opcode"
	"gotap/runtime/value"
)

// textTemp is a scratch word that has a text, if it has been assigned.
const textTemp = 12

// textKeyed is an object whose keys have texts.
type textKeyed struct {
	offset uint64
	kinds  []value.Kind
	isMap  bool
	texts  bool // its values are texts
}

// anyText pushes a text, mostly one that is known when code is made.
func (g *generator) anyText() {
	switch n := g.IntN(10); {
	case n < 4:
		g.knownText()
	case n < 6 && g.assigned[textTemp]:
		g.op(opcode.PushTV, textTemp)
	case n < 7 && g.rings:
		g.op(opcode.Text, uint32(runtime.TextComm))
	default:
		g.madeText()
	}
}

// madeText pushes a text that is made when the program runs.
func (g *generator) madeText() {
	switch n := g.IntN(8); {
	case n == 0 && g.call:
		g.op(opcode.PushThisS, 32)
	case n == 1 && g.room() && g.depth < genStack-6:
		g.anyText()
		g.anyText()
		g.op(opcode.Scat, 0)
	case n < 4:
		if g.push(); g.IntN(2) == 0 {
			g.constant(3)
			g.op(opcode.And, 0)
		}
		g.op(pick(g.Rand, opcode.Sdec, opcode.Sudec, opcode.Shex), 0)
	case n < 6:
		g.constant(dataAddr + pick[uint64](g.Rand, 100, 100, 101, pageSize+501, g.Uint64N(2*pageSize)))
		g.counted()
		g.op(opcode.Str, 0)
	default:
		g.address()
		g.counted()
		g.op(pick(g.Rand, opcode.Bytes, opcode.Str), 0)
	}
}

// counted pushes how many bytes are to be copied: known or not, with a bound or none.
func (g *generator) counted() {
	n := pick(g.Rand, 1, 4, 7, 8, 9, 16, 64, 256, 256, 256, 1016, g.Uint64N(300))
	if g.rings {
		n = pick(g.Rand, n, n, 0, -g.Uint64N(10), 1017, value.MaxText, value.MaxText+1, ^uint64(0)>>1)
	}
	if g.constant(n); g.IntN(2) == 0 {
		return
	}
	g.op(opcode.PopTV, genTemps-1)
	g.assigned[genTemps-1] = true
	g.op(opcode.PushTV, genTemps-1)
	if g.IntN(2) == 0 {
		g.constant(pick[uint64](g.Rand, 8, 64, 300))
		g.op(opcode.Min, 0)
	}
}

// useText appends an operation on texts.
func (g *generator) useText() {
	switch g.IntN(7) {
	case 0:
		g.anyText()
		g.op(opcode.PopTV, textTemp)
		g.assigned[textTemp] = true
	case 1:
		g.anyText()
		g.op(pick(g.Rand, opcode.Slen, opcode.Hash), 0)
		g.sink()
	case 2:
		g.anyText()
		g.anyText()
		g.op(pick(g.Rand, opcode.Seq, opcode.Sprefix, opcode.Scmp), 0)
		g.sink()
	case 3:
		if g.call {
			g.anyText()
			g.op(opcode.PopThisS, 32)
		}
	case 4:
		g.op(opcode.Item, g.Uint32N(4))
		for range 1 + g.IntN(3) {
			if g.IntN(3) == 0 {
				g.push()
				g.op(opcode.LogInt, 0)
				continue
			}
			g.anyText()
			g.op(opcode.LogText, 0)
		}
		g.op(opcode.EndItem, 0)
	default:
		g.textKey()
	}
}

// textKey appends an operation with a key that has texts.
func (g *generator) textKey() {
	o := pick(g.Rand, g.world.texts...)
	for _, k := range o.kinds {
		if k == value.KindText {
			g.anyText()
			g.op(opcode.KeyText, uint32(value.KindText))
			continue
		}
		g.push()
		g.constant(1)
		g.op(opcode.And, 0)
		g.op(opcode.KeyInt, 0)
	}
	op := opcode.Agg
	switch {
	case o.texts && g.rings && g.IntN(2) == 0:
		op = opcode.MapSetS
	case o.texts:
		op = opcode.MapGetS
	case o.isMap:
		op = pick(g.Rand, opcode.MapGet, opcode.MapHas, opcode.MapSet, opcode.MapAdd, opcode.MapDel)
	}
	if pops, _ := opcode.RowOf(op).Effect(0); pops > 0 && op == opcode.MapSetS {
		g.knownText()
	} else if pops > 0 {
		g.push()
	}
	depth := g.depth
	g.op(op, 0)
	g.code[len(g.code)-1].V = o.offset
	if op == opcode.MapGetS {
		g.op(opcode.PopTV, textTemp)
		g.assigned[textTemp] = true
	} else if g.depth > depth {
		g.sink()
	}
}
