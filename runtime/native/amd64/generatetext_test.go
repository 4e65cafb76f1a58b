package amd64

import (
	"math/rand/v2"
	"strings"

	"gotap/runtime"
	"gotap/runtime/native"
	"gotap/runtime/opcode"
	"gotap/runtime/record"
	"gotap/runtime/value"
)

// moreTexts are constants of programs behind genTexts.
var moreTexts = []string{"", "malloc", strings.Repeat("m", 40), strings.Repeat("x", 256), strings.Repeat("x", 257), strings.Repeat("y", value.MaxText)}

// names are texts of places.
var names = []string{"malloc", "a", "abcdefgh", "/usr/lib/x86_64-linux-gnu/libc.so.6", "", strings.Repeat("x", 256), strings.Repeat("x", 300)}

// anyNames returns the texts of a random place.
func anyNames(r *rand.Rand) native.Names {
	return native.Names{Func: pick(r, names[:4]...), Module: pick(r, names...), Probe: pick(r, names...)}
}

// textKeyed is an object whose keys have texts.
type textKeyed struct {
	index int // of compile.Program.Objects
	kinds []value.Kind
	isMap bool
}

// textTemps is the number of scratch words for texts, behind those for numbers.
const textTemps = 2

// textFormats are formats of items with texts, behind those without.
var textFormats = []record.Format{{Kind: record.ItemLog, Fields: []record.Field{{Kind: value.KindText}}},
	{Kind: record.ItemLog, Fields: []record.Field{{Kind: value.KindInt}, {Kind: value.KindText}, {Kind: value.KindInt}}},
	{Kind: record.ItemLog, Fields: []record.Field{{Kind: value.KindText}, {Kind: value.KindText}}}}

const firstTextFormat = 3

// anyText pushes a text, mostly one that is known when code is made.
func (g *generator) anyText() {
	switch n := g.IntN(30); {
	case n >= 24:
		g.madeText()
	case n < 10:
		n := g.IntN(len(genTexts) + len(moreTexts))
		if n >= len(genTexts)+3 && g.IntN(4) != 0 { // with a long one no log is certain to fit
			n = g.IntN(len(genTexts))
		}
		g.op(opcode.PushS, n)
	case n < 12 && g.bells:
		g.op(opcode.Text, int(pick(g.Rand, runtime.TextComm, runtime.TextCgroup)))
	default:
		g.op(opcode.Text, int(pick(g.Rand, runtime.TextFunc, runtime.TextFunc, runtime.TextModule, runtime.TextProbe)))
	}
}

// madeText pushes a text that is made when the program runs: one in memory, or one in the storage of the call.
func (g *generator) madeText() {
	if g.calls && g.IntN(2) == 0 {
		g.op(opcode.PushThisS, pick(g.Rand, thisTexts...))
		return
	}
	if g.IntN(5) == 0 && g.room() && g.depth < genStack-6 {
		g.anyText()
		g.anyText()
		g.op(opcode.Scat, 0)
		return
	}
	if g.IntN(4) == 0 {
		if g.keyed {
			g.emit(opcode.PushD, 0, g.Uint64N(4))
			g.depth++
		} else {
			g.push()
		}
		g.op(pick(g.Rand, opcode.Sdec, opcode.Sudec, opcode.Shex), 0)
		return
	}
	addr := pick[uint64](g.Rand, dataAddr, dataAddr+4*pageSize) + g.Uint64N(3000)
	switch g.IntN(6) {
	case 0:
		addr = anyAddress(g.Rand)
	case 1:
		addr = dataAddr + pageSize*g.Uint64N(uint64(len(dataPages))) - g.Uint64N(300)
	}
	g.emit(opcode.PushD, 0, addr)
	g.depth++
	if g.IntN(3) == 0 {
		g.counted()
		g.op(opcode.Bytes, 0)
		return
	}
	if g.IntN(4) == 0 {
		g.counted()
		g.op(opcode.Str, 0)
		return
	}
	most := pick[uint64](g.Rand, 1, 2, 7, 8, 9, 15, 16, 17, 64, 255, 256, 256, 256)
	if g.bells {
		most = pick(g.Rand, most, 0, 257, value.MaxText, ^uint64(0))
	}
	g.emit(opcode.PushD, 0, most)
	g.depth++
	g.op(opcode.Str, 0)
}

// counted pushes how many bytes are to be copied: known or not, with a bound or none.
func (g *generator) counted() {
	n := pick(g.Rand, 0, 1, 7, 8, 9, 16, 64, 255, 256, 256, 1016, g.Uint64N(300), -g.Uint64N(10))
	if g.bells {
		n = pick(g.Rand, n, 1017, value.MaxText, value.MaxText+1, ^uint64(0)>>1)
	}
	if g.IntN(2) == 0 {
		g.emit(opcode.PushD, 0, n)
		g.depth++
		return
	}
	if g.push(); g.IntN(3) == 0 {
		g.emit(opcode.PushD, 0, 0x1ff)
		g.depth++
		g.op(opcode.And, 0)
	}
	if g.IntN(4) != 0 {
		g.emit(opcode.PushD, 0, n)
		g.depth++
		g.op(opcode.Min, 0)
	}
}

// thisBytes is the size of the storage of calls.
const thisBytes = 1 << 10

// thisTexts are positions of texts in the storage of a call. Some overlap.
var thisTexts = []int{0, 0, 264, 264, 528, 760, 8}

// storage appends something with the storage of the call.
func (g *generator) storage() {
	if !g.room() {
		return
	}
	switch g.IntN(5) {
	case 0:
		g.push()
		g.op(opcode.PopThis, pick(g.Rand, 0, 1, 33, g.IntN(thisBytes/8)))
	case 1:
		g.op(opcode.PushThis, g.IntN(thisBytes/8))
		g.sink()
	default:
		g.usedText()
		g.op(opcode.PopThisS, pick(g.Rand, thisTexts...))
	}
}

// selected pushes one of two texts, so that it is not known which.
func (g *generator) selected() {
	g.op(opcode.Arg, g.IntN(6))
	jump := len(g.code)
	g.op(pick(g.Rand, jumpOps...), 0)
	g.anyText()
	over := len(g.code)
	g.emit(opcode.Jmp, 0, 0)
	g.code[jump].A = uint32(len(g.code))
	g.depth--
	g.anyText()
	g.code[over].A = uint32(len(g.code))
}

// usedText pushes a text; now and then it is copied, or was in a scratch word.
func (g *generator) usedText() {
	n := g.IntN(12)
	if n == 10 && !g.keyed {
		g.namedText()
		return
	}
	switch n {
	case 0:
		t := genTemps + g.IntN(textTemps)
		g.anyText()
		g.op(opcode.PopTV, t)
		g.op(opcode.PushTV, t)
	case 1:
		g.anyText()
		g.op(opcode.Dup, 0)
		g.op(opcode.Drop, 1)
	case 2:
		g.selected()
	default:
		g.anyText()
	}
}

// measured pushes a number that depends on texts.
func (g *generator) measured() {
	g.usedText()
	switch g.IntN(6) {
	case 0:
		g.op(opcode.Slen, 0)
	case 1:
		g.op(opcode.Hash, 0)
	default:
		if g.code[len(g.code)-1].Op == opcode.Str { // else it is compared where it lies, to the first difference: see generator.text
			g.op(opcode.Nop, 0)
		}
		g.usedText()
		g.op(pick(g.Rand, opcode.Seq, opcode.Scmp, opcode.Sprefix, opcode.Scmp), 0)
	}
}

// textItem appends an item with texts.
func (g *generator) textItem() {
	n := g.IntN(len(textFormats))
	g.op(opcode.Item, firstTextFormat+n)
	for _, f := range textFormats[n].Fields {
		if f.Kind == value.KindText {
			g.usedText()
			g.op(opcode.LogText, 0)
		} else {
			g.push()
			g.op(opcode.LogInt, 0)
		}
	}
	g.op(opcode.EndItem, 0)
}

// keyParts appends the building of a key of an object.
func (g *generator) keyParts(o *textKeyed) {
	for _, kind := range o.kinds {
		switch {
		case kind == value.KindInt:
			g.keyPart(true)
			g.op(opcode.KeyInt, 0)
			continue
		case g.IntN(8) == 0:
			g.usedText()
		case g.IntN(4) == 0:
			g.knownKey()
		default:
			g.anyText()
		}
		g.op(opcode.KeyText, int(value.KindText))
	}
}

// knownKey pushes a text of memory that is likely to be in a key: a constant there, from its start to its end.
func (g *generator) knownKey() {
	g.emit(opcode.PushD, 0, textsAddr+textsStep*g.Uint64N(uint64(len(genTexts))))
	g.depth++
	g.emit(opcode.PushD, 0, pick[uint64](g.Rand, 256, 64, 4))
	g.depth++
	g.op(opcode.Str, 0)
}

// namedText pushes a text of a map, or now and then stores one first.
func (g *generator) namedText() {
	g.keyed = true
	defer func() { g.keyed = false }()
	o := pick(g.Rand, g.objects.named...)
	if g.bells && g.IntN(3) == 0 {
		g.keyParts(&o)
		g.anyText()
		g.op(opcode.MapSetS, o.index)
	}
	g.keyParts(&o)
	g.op(opcode.MapGetS, o.index)
}

// textKey appends the building of a key with texts, and its use.
func (g *generator) textKey() {
	g.keyed = true
	defer func() { g.keyed = false }()
	o := pick(g.Rand, g.objects.texted...)
	g.keyParts(&o)
	op := opcode.Agg
	if o.isMap {
		op = pick(g.Rand, opcode.MapGet, opcode.MapHas, opcode.MapSet, opcode.MapAdd, opcode.MapDel)
	}
	if pops, _ := opcode.RowOf(op).Effect(0); pops > 0 {
		if g.IntN(4) == 0 {
			g.measured()
		} else {
			g.calculated()
		}
	}
	g.op(op, o.index)
}

// texts appends something with texts.
func (g *generator) texts() {
	if !g.room() || g.depth > genStack-10 {
		return
	}
	switch g.IntN(6) {
	case 5:
		if g.calls {
			g.storage()
			return
		}
		g.textItem()
	case 0:
		g.measured()
		g.sink()
	case 1:
		if g.nested < 4 {
			g.measured()
			jump := len(g.code)
			g.conditionalOn()
			g.code[jump].Op = pick(g.Rand, opcode.Jz, opcode.Jnz)
		}
	case 2:
		g.textItem()
	default:
		g.textKey()
	}
}

// textWords returns a key of an object with texts.
func (o *textKeyed) key(r *rand.Rand) (list []value.Value) {
	for _, kind := range o.kinds {
		if kind == value.KindInt {
			list = append(list, value.Int(int64(r.IntN(4))))
			continue
		}
		text := pick(r, append(append(genTexts[:2:2], moreTexts[:4]...), names[:6]...)...)
		list = append(list, value.Text(text))
	}
	return list
}

// tooLong is a text that no verified program has.
var tooLong = strings.Repeat("y", value.MaxText+1)
