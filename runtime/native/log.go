package native

import (
	"fmt"

	"gotap/runtime"
	"gotap/runtime/opcode"
	"gotap/runtime/record"
)

// Log is what a program has logged when native code is about to execute an operation. Its form is the same whichever way led there, so
// that only the values of the fields have to be kept. It is immutable, and equal ones of a plan are the same.
type Log struct {
	Items  []LogItem
	Open   bool // the last item is not complete
	Fields int  // of all items, in words
	Bytes  int  // of all items, with their headers
}

// LogItem is an item: the number of its format, and how many words its fields have so far. A number is a word, a text is several.
type LogItem struct{ Format, Fields int }

// maxFields is how many words the fields of all items may have.
const maxFields = 32

// logs are the logs of a plan.
type logs map[string]*Log

// logAfter returns the log behind an operation, from that before it.
func (p *planner) logAfter(to *Log, pc int) *Log {
	in, words := &p.Insts[pc], 1
	if in.Op == opcode.LogText {
		text, _ := p.Operands(pc, 1)
		words = len(text[0].Words())
	}
	return p.logs.add(to, in, words)
}

// add returns a log with one more operation, which adds a number of words to an item if it adds a field.
func (l logs) add(to *Log, in *runtime.Inst, words int) *Log {
	n := Log{Items: append([]LogItem(nil), to.Items...), Open: to.Open, Fields: to.Fields, Bytes: to.Bytes}
	switch in.Op {
	case opcode.Item:
		n.Items = append(n.Items, LogItem{Format: int(in.A & 0xffff)})
		n.Open, n.Bytes = true, n.Bytes+record.ItemHeader
	case opcode.LogInt, opcode.LogFloat, opcode.LogText:
		n.Items[len(n.Items)-1].Fields += words
		n.Fields, n.Bytes = n.Fields+words, n.Bytes+8*words
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
	return p.lacksItem(pc, log)
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
		if _, ok := p.Operands(pc, 1); !ok && in.Op == opcode.LogText {
			return "the text is not known"
		}
	default:
		return interpreted(opcode.RowOf(in.Op))
	}
	if next := p.logAfter(log, pc); next.Bytes > p.Code.LogLimit() || next.Fields > maxFields {
		return "the log is too long"
	}
	return ""
}
