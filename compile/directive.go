package compile

import (
	"math"
	"strconv"
	"strings"

	"gotap/runtime"
	"gotap/runtime/arena"
	"gotap/runtime/record"
	rtvalue "gotap/runtime/value"
)

// directive reads a line that begins with a period. Directives contain everything in a program except its commands, so
// a listing is the whole program. Without them it could not be assembled to the same bytes. Each may appear anywhere;
// those that number something count in their order of appearance.
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
		a.p.This = a.size(rest, arena.MaxThisBytes)
	case ".fuel":
		a.p.Fuel = uint32(a.size(rest, runtime.MaxFuel))
	case ".log":
		a.p.LogMax = a.size(rest, record.MaxLog)
	case ".logdata":
		a.p.LogData = a.size(rest, record.MaxLog)
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

// size reads a number of at most most. The limits are those of the machine. Verify would also refuse a listing that
// exceeds them, but without the position in the text.
func (a *assembler) size(t token, most int) int {
	n, err := strconv.Atoi(t.text)
	if err != nil || n < 0 || n > most {
		a.errorf(t, "", "%q is not a number from 0 to %d", t.text, most)
		return 0
	}
	return n
}

// quoted reads a quoted text. Quoting is Go's, so any bytes can be written, including invalid UTF-8, which is common in
// texts from a target.
func (a *assembler) quoted(t token) string {
	s, err := strconv.Unquote(t.text)
	if err != nil || !strings.HasPrefix(t.text, `"`) {
		a.errorf(t, "", "%s is not quoted text", t.text)
	}
	return s
}

// format reads the output of formatText. Kinds without a name are written as # and a number, so that a listing of a
// damaged program still shows its contents.
func (a *assembler) format(t token) (f record.Format) {
	word, rest := t.word()
	f.Kind = record.ItemKind(a.name(word, itemNames[:]))
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
		var field record.Field
		field, rest = a.field(rest)
		f.Fields = append(f.Fields, field)
	}
	return f
}

// field reads one field of a format, up to the next bar. Part is the argument of log() that a field belongs to: fields
// of one part are printed without a space between them.
func (a *assembler) field(t token) (f record.Field, rest token) {
	kind, rest := t.word()
	f.Kind = rtvalue.Kind(a.name(kind, kindNames[:]))
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
