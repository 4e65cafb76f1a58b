package amd64

import (
	"bytes"
	"encoding/binary"
	"testing"

	"gotap/runtime"
	"gotap/runtime/native"
	"gotap/runtime/opcode"
	"gotap/runtime/outcome"
	"gotap/runtime/record"
)

// TestTimeOfRecord: a record has the time that its program has read last, if nothing may have come in between, and
// otherwise the time at which it is written.
func TestTimeOfRecord(t *testing.T) {
	w := newWorld(t)
	if w.clock == nil {
		return // TestThread has what happens then
	}
	now, item, logs, end := opA(opcode.Field, uint32(runtime.FieldTime)), op(opcode.Item), op(opcode.LogInt), op(opcode.EndItem)
	exit := opA(opcode.Exit, uint32(outcome.ExitPlain))
	for _, c := range []struct {
		name   string
		insts  []runtime.Inst
		clocks int  // how often the clock is read
		same   bool // the record has the time that it logs
	}{
		{"one block", []runtime.Inst{item, now, logs, end, exit}, 1, true},
		{"the last of two", []runtime.Inst{now, opA(opcode.Drop, 1), item, now, logs, end, exit}, 2, true},
		{"another block", []runtime.Inst{now, opA(opcode.PopTV, 0), opA(opcode.Arg, 0), opA(opcode.Jnz, 5), op(opcode.Nop), item, opA(opcode.PushTV, 0), logs, end, exit}, 2, false},
		{"no time", []runtime.Inst{item, push(7), logs, end, exit}, 1, false},
	} {
		stub := w.place(w.c, []native.Program{{Run: w.plan(c.insts...)}}, Site{Addr: codeAddr})
		if n := bytes.Count(stub.Code, []byte{0x0f, 0x31}); n != c.clocks {
			t.Errorf("%s: the clock is read %d times", c.name, n)
		}
		l := w.arena.RingLayout()
		at := l.Data + binary.LittleEndian.Uint64(w.memory[l.Head:])
		if d := w.ring(codeAddr, stub, stackAddr+stackSize/2, 1); d != nil {
			t.Fatalf("%s: it rings: %+v", c.name, d)
		}
		written := binary.LittleEndian.Uint64(w.memory[at+record.TimeAt:])
		read := binary.LittleEndian.Uint64(w.memory[at+record.HeaderSize+8:])
		if written < read || c.same && written != read {
			t.Errorf("%s: read at %d, written at %d", c.name, read, written)
		}
	}
}
