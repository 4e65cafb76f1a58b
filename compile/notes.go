package compile

import (
	"math"
	"strings"

	"gotap/runtime/key"
	"gotap/runtime/opcode"
	"gotap/runtime/record"
	rtvalue "gotap/runtime/value"
)

// notes tracks the effects of a command besides moving words: log items, the key being built, objects. These rules are
// independent of the depth of the stack.
func (w *walker) notes(c Command, row *opcode.Row) {
	switch does := row.Does; {
	case does == 0: // most commands
	case does.Has(opcode.BeginsItem):
		w.beginItem(int(c.A))
	case does.Has(opcode.LogsField):
		w.logField(c.Op)
	case does.Has(opcode.EndsItem):
		w.endItem()
		if row.Operand.IsObject() { // whose offset is the last word of the item
			w.logs(wordBytes)
		}
	case does.Has(opcode.LogsItem):
		w.wholeItem(w.itemSize(c, row))
	case does.Has(opcode.BuildsKey):
		w.keyPart(partKind(c, row))
	case does.Has(opcode.UsesKey):
		w.useKey(c, row)
	case does.Has(opcode.OutsideItem) && w.item >= 0:
		w.fail("", "%s inside a log item", pickText(does.Has(opcode.Ends), "the program ends", "a position"))
	}
}

// itemSize returns the maximum number of bytes of fields in the item of a command.
func (w *walker) itemSize(c Command, row *opcode.Row) uint64 {
	switch {
	case row.Operand.IsObject():
		return wordBytes
	case row.Operand == opcode.WordsOperand:
		return wordBytes * uint64(c.A)
	}
	return textBytes(w.first)
}

// partKind returns the kind of the part that a command adds to the key.
func partKind(c Command, row *opcode.Row) rtvalue.Kind {
	if row.Operand == opcode.KindOperand {
		return rtvalue.Kind(c.A)
	}
	return rtvalue.KindInt
}

func pickText(cond bool, yes, no string) string {
	if cond {
		return yes
	}
	return no
}

// Bytes in the log, as package runtime lays it out.
const (
	itemBytes = 8 // an item: its format and length
	wordBytes = 8 // an integer or float
)

// textBytes returns the maximum size of a text of n bytes with its length, in multiples of 8. An unknown length counts
// as the maximum: an item has at most 64 KiB in any case.
func textBytes(n int64) uint64 {
	n = max(0, min(n, math.MaxUint16))
	return 8 + uint64(n+7)&^7
}

// logs adds to the bytes logged.
func (w *walker) logs(n uint64) { w.f.nodes[w.n].logged += n }

// beginItem runs item. Items do not nest: the machine has one open item, and undoing it must undo all of it.
func (w *walker) beginItem(format int) {
	if w.item >= 0 {
		w.fail("", "begins a log item inside another")
		return
	}
	w.item, w.field = format, 0
	w.skipLiterals()
	w.logs(itemBytes)
}

// skipLiterals advances to the next field that is stored in the log.
func (w *walker) skipLiterals() {
	fields := w.f.p.Formats[w.item].Fields
	for w.field < len(fields) && fields[w.field].IsLiteral {
		w.field++
	}
}

// logField runs the commands that append a field. Fields have no tags in the log, so each must have the type that its
// format gives, in order.
func (w *walker) logField(op opcode.Op) {
	if w.item < 0 {
		w.fail("", "logs a field outside an item")
		return
	}
	fields := w.f.p.Formats[w.item].Fields
	if w.field >= len(fields) {
		w.fail("", "the item has only %d fields", len(fields))
		return
	}
	if kind := fields[w.field].Kind; logs(op, kind) {
		w.field++
		w.skipLiterals()
	} else {
		w.fail("", "field %d of the item is of type %s", w.field, kindNames[kind])
	}
	if op == opcode.LogText {
		w.logs(textBytes(min(w.first, rtvalue.MaxText)))
	} else {
		w.logs(wordBytes)
	}
}

// logs reports whether a command logs a field of a kind.
func logs(op opcode.Op, kind rtvalue.Kind) bool {
	switch kind {
	case rtvalue.KindFloat:
		return op == opcode.LogFloat
	case rtvalue.KindText, rtvalue.KindBytes, rtvalue.KindStack, rtvalue.KindQuoted, rtvalue.KindWhole, rtvalue.KindDump:
		return op == opcode.LogText
	}
	return op == opcode.LogInt
}

// endItem runs end item. A record with missing fields would be misread.
func (w *walker) endItem() {
	switch {
	case w.item < 0:
		w.fail("", "ends a log item that was not begun")
	case w.field < len(w.f.p.Formats[w.item].Fields):
		w.fail("", "the item ends before its field %d", w.field)
	default:
		w.item, w.field = -1, 0
	}
}

// wholeItem runs the commands that log a complete item. The item cannot exceed the size of the log, whatever length is
// requested.
func (w *walker) wholeItem(n uint64) {
	if w.item >= 0 {
		w.fail("", "logs an item inside another")
		return
	}
	w.logs(itemBytes + min(n, record.MaxLog))
}

// keyPart appends a part to the key. The key is stored as one byte for each part, so keys are compared as strings.
func (w *walker) keyPart(kind rtvalue.Kind) {
	if len(w.key) >= key.MaxParts {
		w.fail("", "a key has at most %d parts", key.MaxParts)
		return
	}
	w.key += string(rune(kind))
}

// useKey uses the key for an object. All uses of one object have keys of one shape, because the width of its slots
// depends on the shape, and values of one type. Different programs are compared when they are bound to the arena
// (Refine).
func (w *walker) useKey(c Command, row *opcode.Row) {
	object, value := int(c.A), valueOf(row)
	first, used := w.f.uses[object]
	switch {
	case !used:
		first = use{key: w.key, at: w.at, value: value}
	case first.key != w.key:
		w.fail("", "the key has %s here, and %s at command %d", parts(w.key), parts(first.key), first.at)
	case first.value == rtvalue.KindAny:
		first.value = value
	case value != rtvalue.KindAny && value != first.value:
		w.fail("", "the value is of type %s here, and %s at command %d", kindNames[value], kindNames[first.value], first.at)
	}
	w.f.uses[object] = first
	w.key = ""
}

// valueOf returns the type of the value that a command on a map moves, or ValueAny if it moves none.
func valueOf(row *opcode.Row) rtvalue.Kind {
	switch moved := row.In + row.Out; {
	case row.Operand != opcode.MapOperand || moved == "" || row.Result == opcode.Truth:
		return rtvalue.KindAny
	case strings.Contains(moved, "s"):
		return rtvalue.KindText
	}
	return rtvalue.KindInt
}

// parts describes the shape of a key.
func parts(key string) string {
	if key == "" {
		return "no parts"
	}
	text := ""
	for i, k := range key {
		if i > 0 {
			text += ", "
		}
		text += kindNames[k]
	}
	return "(" + text + ")"
}
