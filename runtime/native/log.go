package native

import (
	"encoding/binary"
	"fmt"
	"slices"

	"gotap/runtime"
	"gotap/runtime/opcode"
	"gotap/runtime/record"
)

// Log is what a program has logged when native code is about to execute an operation. Its form is the same whichever
// way led there, so that only the values of the fields have to be kept. It is immutable, and equal ones of a plan are
// the same.
type Log struct {
	Items  []LogItem
	Open   bool // the last item is not complete
	Fields int  // of all items, in words
	Bytes  int  // of all items, with their headers, at most
	Least  int  // the same without the bytes of texts that are not known
}

// LogItem is an item: the number of its format, and how many words its fields have so far. A number is a word, a text
// that is known is several, and one that is not is a word, its runtime.Ref: then its bit of Texts is set.
type LogItem struct {
	Format, Fields int
	Texts          uint32
}

// IsText reports whether a word of the fields is the reference of a text.
func (it *LogItem) IsText(i int) bool { return it.Texts>>i&1 != 0 }

// Header returns the first word of an item of a program, with the bytes that its fields have as words.
func (it *LogItem) Header(program uint32) uint64 {
	return uint64(program)<<32 | uint64(it.Format)<<16 | uint64(record.ItemHeader+8*it.Fields)
}

// HasTexts reports whether there are texts that are not known.
func (l *Log) HasTexts() bool {
	return slices.ContainsFunc(l.Items, func(it LogItem) bool { return it.Texts != 0 })
}

// Write writes what a program has logged. word returns a word of the fields.
func (l *Log) Write(to *record.Part, program uint32, word func(i int) uint64, texts *Texts) {
	items, open := to.Items[:0], to.Item[:0]
	field := 0
	for i, it := range l.Items {
		p, isOpen := &items, l.Open && i == len(l.Items)-1
		if isOpen {
			p = &open
		}
		start := len(*p)
		*p = binary.LittleEndian.AppendUint64(*p, it.Header(program))
		for n := range it.Fields {
			if v := word(field); it.IsText(n) {
				*p = texts.appendTo(*p, runtime.Ref(v))
			} else {
				*p = binary.LittleEndian.AppendUint64(*p, v)
			}
			field++
		}
		size := len(*p) - start
		if isOpen {
			size = 0
		}
		binary.LittleEndian.PutUint16((*p)[start:], uint16(size))
	}
	*to = record.Part{Items: items, Item: open, InItem: l.Open}
}

// maxFields is how many words the fields of all items may have.
const maxFields = 32

// logs are the logs of a plan.
type logs map[string]*Log

// logAfter returns the log behind an operation, from that before it.
func (p *planner) logAfter(to *Log, pc int) *Log {
	in, words := &p.Insts[pc], 1
	if in.Op == opcode.LogText {
		text, known := p.Operands(pc, 1)
		if !known {
			return p.logs.addText(to, (p.longestText()+7)/8)
		}
		words = len(text[0].Words())
	}
	return p.logs.add(to, in, words)
}

// addText returns a log with one more field, for a text that is not known, which has at most a number of words.
func (l logs) addText(to *Log, most int) *Log {
	n := Log{Items: append([]LogItem(nil), to.Items...), Open: to.Open, Fields: to.Fields + 1, Bytes: to.Bytes + 8 + 8*most, Least: to.Least + 8}
	if it := &n.Items[len(n.Items)-1]; it.Fields < maxFields {
		it.Texts |= 1 << it.Fields
		it.Fields++
	}
	return l.one(&n)
}

// add returns a log with one more operation, which adds a number of words to an item if it adds a field.
func (l logs) add(to *Log, in *runtime.Inst, words int) *Log {
	n := Log{Items: append([]LogItem(nil), to.Items...), Open: to.Open, Fields: to.Fields, Bytes: to.Bytes, Least: to.Least}
	switch in.Op {
	case opcode.Item:
		n.Items = append(n.Items, LogItem{Format: int(in.A & 0xffff)})
		n.Open, n.Bytes, n.Least = true, n.Bytes+record.ItemHeader, n.Least+record.ItemHeader
	case opcode.LogInt, opcode.LogFloat, opcode.LogText:
		n.Items[len(n.Items)-1].Fields += words
		n.Fields, n.Bytes, n.Least = n.Fields+words, n.Bytes+8*words, n.Least+8*words
	case opcode.EndItem:
		n.Open = false
	default:
		return to
	}
	return l.one(&n)
}

// one returns the log that is equal to another.
func (l logs) one(n *Log) *Log {
	key := fmt.Sprint(*n)
	if l[key] == nil {
		l[key] = n
	}
	return l[key]
}

// lacksLog decides about an operation on the log.
func (p *planner) lacksLog(pc int, row *opcode.Row) string {
	log := p.Ops[pc].Log
	switch {
	case p.logsDiffer:
		return "the log has several forms there"
	case !p.Place.Thread || !p.Place.Clock || p.Code.LogData > 0:
		return interpreted(row)
	}
	why := p.lacksItem(pc, log)
	p.Ops[pc].Unsure = why == "" && p.logAfter(log, pc).Bytes > p.Code.LogLimit()
	return why
}

// lacksItem returns why native code cannot add an operation to a log, or "".
func (p *planner) lacksItem(pc int, log *Log) string {
	in := &p.Insts[pc]
	switch in.Op {
	case opcode.Item:
		if log.Open {
			return "an item is open"
		}
	case opcode.LogInt, opcode.LogFloat, opcode.LogText, opcode.EndItem:
		if !log.Open {
			return "no item is open"
		}
		if _, ok := p.Operands(pc, 1); !ok && in.Op == opcode.LogText && p.Place.Texts == 0 {
			return "the text is not known"
		}
	default:
		return interpreted(opcode.RowOf(in.Op))
	}
	if next := p.logAfter(log, pc); next.Least > p.Code.LogLimit() || next.Fields > maxFields {
		return "the log is too long"
	}
	return ""
}
