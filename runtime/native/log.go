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
	Fields int  // of all items
	Bytes  int  // of all items, with their headers
}

// LogItem is an item: the number of its format, and how many fields it has so far.
type LogItem struct{ Format, Fields int }

// maxFields is the number of fields that the items of a program may have.
const maxFields = 32

// logs are the logs of a plan.
type logs map[string]*Log

// add returns a log with one more operation.
func (l logs) add(to *Log, in *runtime.Inst) *Log {
	n := Log{Items: append([]LogItem(nil), to.Items...), Open: to.Open, Fields: to.Fields, Bytes: to.Bytes}
	switch in.Op {
	case opcode.Item:
		n.Items = append(n.Items, LogItem{Format: int(in.A & 0xffff)})
		n.Open, n.Bytes = true, n.Bytes+record.ItemHeader
	case opcode.LogInt, opcode.LogFloat:
		n.Items[len(n.Items)-1].Fields++
		n.Fields, n.Bytes = n.Fields+1, n.Bytes+8
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
	in, log := &p.Insts[pc], p.Ops[pc].Log
	switch {
	case p.logsDiffer:
		return "the log has several forms there"
	case !p.Place.Thread || !p.Place.Clock || p.Code.LogData > 0:
		return interpreted(row)
	}
	return p.lacksItem(in, log)
}

// lacksItem returns why native code cannot add an operation to a log, or "".
func (p *planner) lacksItem(in *runtime.Inst, log *Log) string {
	switch in.Op {
	case opcode.Item:
		if log.Open {
			return "an item is open"
		}
	case opcode.LogInt, opcode.LogFloat, opcode.EndItem:
		if !log.Open {
			return "no item is open"
		}
	default:
		return interpreted(opcode.RowOf(in.Op))
	}
	if next := p.logs.add(log, in); next.Bytes > p.Code.LogLimit() || next.Fields > maxFields {
		return "the log is too long"
	}
	return ""
}
