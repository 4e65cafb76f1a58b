package fetch

import (
	"github.com/dop251/goja/token"

	"gotap/compile/js/tree"
	"gotap/compile/shape"
	"gotap/runtime/opcode"
)

// An interface of Go has a value of any type. Go's runtime knows the type: its kind, and its name.

// Kinds of types, as package reflect of Go numbers them. kindMask are the bits that hold the kind.
const (
	goBool    = 1
	goInt     = 2
	goFloat32 = 13
	goFloat64 = 14
	goPointer = 22
	goString  = 24
	kindMask  = 1<<5 - 1
)

// goIntegers are the operations that load the integers that follow goInt: int, int8 to int64, uint, uint8 to uint64,
// uintptr. Nop is one of a pointer's size.
var goIntegers = []struct {
	load     opcode.Op
	unsigned bool
}{{opcode.Nop, false}, {opcode.LoadS8, false}, {opcode.LoadS16, false}, {opcode.LoadS32, false}, {opcode.Load64, false},
	{opcode.Nop, true}, {opcode.Load8, true}, {opcode.Load16, true}, {opcode.Load32, true}, {opcode.Load64, true}, {opcode.Nop, true}}

// textErrors are the types of errors that begin with their text.
var textErrors = []string{"*errors.errorString", "*fmt.wrapError", "*fmt.wrapErrors"}

// extraStar is the flag of a type whose name is kept with a * in front that it has not.
const extraStar = 1 << 1

// dynamic is the text of an interface: nil, or a type and its value, as in int(5). A value that is neither a number,
// text, nor an error that is a text is shown as an address.
func (p *prettier) dynamic(a Path, d *shape.Dynamic) *tree.Expr {
	first, err := p.f.valueBelow(a, d.First, p.at)
	typ, err2 := p.f.Resolve(a.below(d.Type))
	data, err3 := p.f.valueBelow(a, d.Data, p.at)
	if err != nil || err2 != nil || err3 != nil {
		return tree.Text(p.at, UnknownText)
	}
	p.leaves += 2
	return p.f.Ops.Keep(p.at, []*tree.Expr{first, data}, func(kept []*tree.Expr) *tree.Expr {
		some := p.ifReadable(kept[0], func() *tree.Expr {
			return p.f.Ops.Keep(p.at, []*tree.Expr{p.f.access(a, typ, p.at)}, func(of []*tree.Expr) *tree.Expr {
				g := goValue{prettier: p, d: d, typ: Path{Of: &Given{Value: of[0], Ref: typ.Ref}}, data: kept[1]}
				return p.join(g.typeName(), tree.Text(p.at, "("), g.value(), tree.Text(p.at, ")"))
			})
		})
		return p.f.Ops.Choose(p.at, p.f.Ops.Truth(kept[0]), some, tree.Text(p.at, "nil"))
	})
}

// goValue makes the text of a value in an interface.
type goValue struct {
	*prettier
	d    *shape.Dynamic
	typ  Path       // of its type
	data *tree.Expr // the address of the value, or a value that is a pointer
}

// ofType is a number of the type. All its members are there, or the shape would not be that of an interface.
func (g *goValue) ofType(member string) *tree.Expr {
	e, err := g.f.valueBelow(g.typ, member, g.at)
	return orPoison(e, err, g.at)
}

func (g *goValue) integer(v int64) *tree.Expr { return tree.Integer(g.at, v) }

// op is an operation on integers.
func (g *goValue) op(op opcode.Op, args ...*tree.Expr) *tree.Expr {
	return tree.Apply(g.at, tree.KindInt, op, args...)
}

func (g *goValue) compare(t token.Token, a, b *tree.Expr) *tree.Expr {
	return g.f.Ops.Compare(t, g.at, a, b)
}

// typeName is the name of the type, a question mark for one that the program has made while it runs.
func (g *goValue) typeName() *tree.Expr {
	types := Path{Global: g.d.Module}
	start, err := g.f.valueBelow(types, g.d.Types, g.at)
	end, err2 := g.f.valueBelow(types, g.d.TypesEnd, g.at)
	if err != nil || err2 != nil {
		return tree.Text(g.at, UnknownText)
	}
	return g.f.Ops.Keep(g.at, []*tree.Expr{start}, func(kept []*tree.Expr) *tree.Expr {
		inside := g.f.Ops.Choose(g.at, g.compare(token.LESS_OR_EQUAL, kept[0], g.typ.Of.Value), g.compare(token.LESS, g.typ.Of.Value, end), tree.Boolean(g.at, false))
		name := g.f.Ops.Keep(g.at, []*tree.Expr{g.op(opcode.Add, kept[0], g.ofType(g.d.Name))}, g.nameAt)
		return g.f.Ops.Choose(g.at, inside, name, tree.Text(g.at, UnknownText))
	})
}

// nameAt is the text of a name in the program: a byte of flags, the length in groups of 7 bits, the lowest first, and
// the bytes.
func (g *goValue) nameAt(address []*tree.Expr) *tree.Expr {
	at := func(by int64) *tree.Expr { return offset(address[0], by, g.at) }
	isShort := g.compare(token.LESS, g.op(opcode.Load8, at(1)), g.integer(1<<7))
	long := g.op(opcode.Or, g.op(opcode.And, g.op(opcode.Load8, at(1)), g.integer(1<<7-1)), g.op(opcode.Shl, g.op(opcode.Load8, at(2)), g.integer(7)))
	length := g.f.Ops.Choose(g.at, isShort, g.op(opcode.Load8, at(1)), long)
	start := g.f.Ops.Choose(g.at, isShort, at(2), at(3))
	skipped := g.f.Ops.Choose(g.at, g.compare(token.STRICT_NOT_EQUAL, g.op(opcode.And, g.ofType(g.d.Flags), g.integer(extraStar)), g.integer(0)), g.integer(1), g.integer(0))
	return g.f.Ops.Keep(g.at, []*tree.Expr{skipped}, func(skip []*tree.Expr) *tree.Expr {
		shown := g.op(opcode.Min, g.op(opcode.Sub, length, skip[0]), g.integer(prettyText))
		return tree.Apply(g.at, tree.KindText, opcode.Bytes, g.op(opcode.Add, start, skip[0]), shown)
	})
}

// value is the text of the value.
func (g *goValue) value() *tree.Expr {
	kind := g.op(opcode.And, g.ofType(g.d.Kind), g.integer(kindMask))
	return g.f.Ops.Keep(g.at, []*tree.Expr{kind}, func(kept []*tree.Expr) *tree.Expr {
		whole := g.hex(g.data)
		add := func(kind int64, text *tree.Expr) {
			whole = g.f.Ops.Choose(g.at, g.compare(token.STRICT_EQUAL, kept[0], g.integer(kind)), text, whole)
		}
		add(goBool, g.number(tree.Apply(g.at, tree.KindBool, opcode.Load8, g.data)))
		add(goFloat32, g.number(tree.Apply(g.at, tree.KindFloat, opcode.LoadF32, g.data)))
		add(goFloat64, g.number(tree.Apply(g.at, tree.KindFloat, opcode.Load64, g.data)))
		for i, t := range goIntegers {
			add(goInt+int64(i), g.number(g.loaded(t.load, t.unsigned)))
		}
		add(goPointer, g.pointed())
		add(goString, g.text())
		return whole
	})
}

func (g *goValue) number(e *tree.Expr) *tree.Expr {
	text, _ := tree.TextOf(e)
	return text
}

// loaded is the integer at the address of the value.
func (g *goValue) loaded(load opcode.Op, unsigned bool) *tree.Expr {
	wide := g.f.State.Unit.WordSize == 8
	switch {
	case load != opcode.Nop:
	case wide:
		load = opcode.Load64
	case unsigned:
		load = opcode.Load32
	default:
		load = opcode.LoadS32
	}
	kind := tree.KindInt
	if unsigned && load == opcode.Load64 {
		kind = tree.KindUint
	}
	return tree.Apply(g.at, kind, load, g.data)
}

// pointed is the text of an error that begins with one, and the address of anything else.
func (g *goValue) pointed() *tree.Expr {
	shown := g.hex(g.data)
	for _, name := range textErrors {
		shown = g.f.Ops.Choose(g.at, g.compare(token.STRICT_EQUAL, g.typeName(), tree.Text(g.at, name)), g.text(), shown)
	}
	return oneText(shown)
}

// text is the string at the address of the value.
func (g *goValue) text() *tree.Expr {
	length := tree.Apply(g.at, tree.KindInt, opcode.LoadPtr, offset(g.data, int64(g.f.State.Unit.WordSize), g.at))
	bounded := g.op(opcode.Min, length, g.integer(prettyText))
	text := tree.Apply(g.at, tree.KindText, opcode.Bytes, g.op(opcode.LoadPtr, g.data), bounded)
	more := g.f.Ops.Choose(g.at, g.compare(token.GREATER, length, g.integer(prettyText)), tree.Text(g.at, prettyMore), tree.Text(g.at, ""))
	return g.inQuotes(text, more)
}
