package dpdf

import (
	"fmt"

	"gotap/runtime/opcode"
	"gotap/runtime/record"
	"gotap/runtime/value"
)

// maxLoggedWords is how many words one command may log.
const maxLoggedWords = maxLogged / 8

func logCommands() {
	commands["log mrf"] = memoryLog(opcode.LogRange, record.ItemRange, value.KindBytes)
	commands["log str"] = memoryLog(opcode.LogStr, record.ItemString, value.KindText)
	commands["log"] = &command{0, 1, func(e *emitter, s statement) {
		if n, ok := e.operand(s, 0, maxLoggedWords); ok && n > 0 {
			e.logWords(s, words("", int(n)))
		}
	}}
	for _, v := range arrays {
		commands["log "+v.name] = v.log()
	}
	commands["push lp"] = simple(opcode.PushLP)
	commands["push plp"] = simple(opcode.PushPLP)
	commands["pop lp"] = simple(opcode.PopLP)
	commands["setmin"] = code("minor")
	commands["setmaj"] = code("major")
}

// words is the format of n words.
// Words of a definition have no type, so they are unsigned, and print as hexadecimal numbers.
func words(text string, n int) record.Format {
	fields := make([]record.Field, n)
	for i := range fields {
		fields[i] = record.Field{Kind: value.KindUint, Part: i}
	}
	return record.Format{Kind: record.ItemWords, Text: text, Fields: fields}
}

// logWords logs as many words of the stack as a format has fields. With logmax = 0
// nothing is logged, but the words are still taken from the stack, so that the rest of the program
// runs as before.
func (e *emitter) logWords(s statement, f record.Format) {
	e.logs++
	if e.logMax == 0 {
		e.b.A(opcode.Drop, uint32(len(f.Fields)))
		return
	}
	e.b.Emit(opcode.LogWords, uint32(len(f.Fields)), uint64(e.b.Format(f)), s.span)
}

// memoryLog is a command that logs memory: ( length address -- ).
// The order is DProbes': the length is pushed first.
func memoryLog(op opcode.Op, kind record.ItemKind, value value.Kind) *command {
	return &command{emit: func(e *emitter, s statement) {
		if e.logs++; e.logMax == 0 {
			e.b.A(opcode.Drop, 2)
			return
		}
		e.b.A(op, e.b.Format(record.Format{Kind: kind, Fields: []record.Field{{Kind: value}}}))
	}}
}

// log is the command that logs a range of variables: ( index count -- ), both behind it or
// pushed as constants just before.
func (v variables) log() *command {
	return &command{0, 2, func(e *emitter, s statement) {
		id, size, ok := v.declared(e, s)
		if !ok {
			return
		}
		first, count, ok := e.span(s, int64(size))
		if !ok || e.logMax == 0 {
			return
		}
		e.logs++
		f := words("", int(count))
		for i := range f.Fields {
			f.Fields[i].Name = fmt.Sprintf("%s[%d]", v.name, first+int64(i))
		}
		// Variables are read one by one, each atomically. Another thread may change one
		// between: there is no moment of all of them.
		e.b.A(opcode.Item, e.b.Format(f))
		for i := range count {
			e.b.Push(uint64(first + i))
			e.b.Object(opcode.PushLV, id)
			e.b.Op(opcode.LogInt)
		}
		e.b.Op(opcode.EndItem)
	}}
}

// span is a range of variables.
// How many there are must be known before the hit, because an item has a format made for it.
func (e *emitter) span(s statement, size int64) (first, count int64, ok bool) {
	switch len(s.operands) {
	case 0:
		n, known := e.takeConstant(s)
		if !known {
			return 0, 0, false
		}
		i, known := e.takeConstant(s)
		if first, count, ok = int64(i), int64(n), known; !ok {
			return 0, 0, false
		}
		if first < 0 || first >= size || count < 1 || count > min(size-first, maxLoggedWords) {
			e.diags.Errorf(s.span, "", "variables %d to %d do not exist: the header declares %d", first, first+count-1, size)
			return 0, 0, false
		}
		return first, count, true
	case 2:
		first, ok = e.number(s.operands[0], 0, size-1)
		count, fits := e.number(s.operands[1], 1, min(size-first, maxLoggedWords))
		return first, count, ok && fits
	}
	e.diags.Errorf(s.span, s.name+",FIRST,COUNT", "%s takes the first variable and a count", s.name)
	return 0, 0, false
}

// code is a command that gives the record another code: an item of one word whose format has
// the name of the code. The item does not print. Whoever prints the record looks for it, and
// takes its word for the probe's code; the last one counts, as each overrides what was before.
func code(name string) *command {
	return &command{0, 1, func(e *emitter, s statement) {
		if len(s.operands) == 1 {
			n, ok := e.number(s.operands[0], 0, 65535)
			if !ok {
				return
			}
			e.b.Push(uint64(n))
		}
		e.logWords(s, words(name, 1))
	}}
}
