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
	switch n := g.IntN(24); {
	case n < 10:
		g.op(opcode.PushS, g.IntN(len(genTexts)+len(moreTexts)))
	case n < 12 && g.bells:
		g.op(opcode.Text, int(pick(g.Rand, runtime.TextComm, runtime.TextCgroup)))
	default:
		g.op(opcode.Text, int(pick(g.Rand, runtime.TextFunc, runtime.TextFunc, runtime.TextModule, runtime.TextProbe)))
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
	switch g.IntN(10) {
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
		if g.bells {
			g.op(opcode.Hash, 0)
			return
		}
		g.op(opcode.Slen, 0)
	default:
		g.usedText()
		g.op(pick(g.Rand, opcode.Seq, opcode.Seq, opcode.Sprefix, opcode.Scmp), 0)
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

// textKey appends the building of a key with texts, and its use.
func (g *generator) textKey() {
	o := pick(g.Rand, g.objects.texted...)
	for _, kind := range o.kinds {
		switch {
		case kind == value.KindInt:
			g.keyPart(true)
			g.op(opcode.KeyInt, 0)
			continue
		case g.IntN(8) == 0:
			g.usedText()
		default:
			g.anyText()
		}
		g.op(opcode.KeyText, int(value.KindText))
	}
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
	switch g.IntN(5) {
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
