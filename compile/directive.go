package compile

import (
	"math"
	"strconv"
	"strings"

	"gotap/runtime"
)

// directive reads a line that begins with a period. Directives carry all that a program is
// besides its commands, so that a listing is the whole program: without them it could not be
// assembled to the same bytes. Each may stand anywhere; those that number something count in
// the order in which they stand.
func (a *assembler) directive(t token) {
	name, rest := t.word()
	switch name.text {
	case ".program":
		a.program(a.quoted(rest))
	case ".text":
		a.p.Texts = append(a.p.Texts, a.quoted(rest))
	case ".reg":
		a.p.Regs = append(a.p.Regs, a.quoted(rest))
	case ".object":
		a.p.Objects = append(a.p.Objects, a.size(rest, math.MaxInt32))
	case ".format":
		a.p.Formats = append(a.p.Formats, a.format(rest))
	case ".stack":
		a.p.Stack = a.size(rest, runtime.MaxStack)
	case ".temps":
		a.p.Temps = a.size(rest, runtime.MaxTemps)
	case ".this":
		a.p.This = a.size(rest, runtime.MaxThisBytes)
	case ".fuel":
		a.p.Fuel = uint32(a.size(rest, runtime.MaxFuel))
	case ".log":
		a.p.LogMax = a.size(rest, runtime.MaxLog)
	case ".logdata":
		a.p.LogData = a.size(rest, runtime.MaxLog)
	case ".trace":
		a.p.TraceMax = a.size(rest, runtime.MaxTrace)
	case ".heap":
		a.p.Heap = a.size(rest, runtime.MaxHeap)
	case ".mask":
		a.p.Mask = uint32(a.word(rest))
	case ".autotrace":
		a.p.AutoTrace = true
	case ".wrap":
		a.p.Wrap = true
	case ".unsafe":
		a.p.Unsafe = true
	default:
		a.errorf(name, "", "unknown directive %q", name.text)
	}
}

// size reads a number that is at most most. The limits are the machine's. A listing beyond them
// would be refused by Verify too, but there without the place in the text.
func (a *assembler) size(t token, most int) int {
	n, err := strconv.Atoi(t.text)
	if err != nil || n < 0 || n > most {
		a.errorf(t, "", "%q is not a number from 0 to %d", t.text, most)
		return 0
	}
	return n
}

// quoted reads a quoted text. Quoting is Go's: any bytes can be written, also such as are no
// UTF-8, which texts from a target often are.
func (a *assembler) quoted(t token) string {
	s, err := strconv.Unquote(t.text)
	if err != nil || !strings.HasPrefix(t.text, `"`) {
		a.errorf(t, "", "%s is not quoted text", t.text)
	}
	return s
}

// format reads what formatText writes. Kinds that have no name are written as # and a number,
// so that a listing of a damaged program says what is in it.
func (a *assembler) format(t token) (f runtime.Format) {
	word, rest := t.word()
	f.Kind = runtime.ItemKind(a.name(word, itemNames[:]))
	if strings.HasPrefix(rest.text, `"`) {
		word, rest = rest.word()
		f.Text = a.quoted(word)
	}
	for rest.text != "" {
		var bar token
		if bar, rest = rest.word(); bar.text != "|" {
			a.errorf(bar, "", "expected a bar and a field, found %q", bar.text)
			return f
		}
		var field runtime.RecordField
		field, rest = a.field(rest)
		f.Fields = append(f.Fields, field)
	}
	return f
}

// field reads one field of a format, up to the next bar. Part says which argument of log() a
// field belongs to: fields of one part are printed without a blank between them.
func (a *assembler) field(t token) (f runtime.RecordField, rest token) {
	kind, rest := t.word()
	f.Kind = runtime.ValueKind(a.name(kind, kindNames[:]))
	part, rest := rest.word()
	f.Part = a.size(part, math.MaxInt32)
	for rest.text != "" && !strings.HasPrefix(rest.text, "|") {
		var what, value token
		what, rest = rest.word()
		value, rest = rest.word()
		switch what.text {
		case "named":
			f.Name = a.quoted(value)
		case "is":
			f.IsLiteral, f.Literal = true, a.quoted(value)
		default:
			a.errorf(what, "", "expected named, is or a bar, found %q", what.text)
			return f, token{}
		}
	}
	return f, rest
}
