package runtime

import (
	"strings"
	"testing"

	"gotap/runtime/object"
	"gotap/runtime/opcode"
	"gotap/runtime/outcome"
	"gotap/runtime/value"
)

// TestEveryOperationHasMeaning runs each operation of the table alone, on a stack of zeros, and says which of them the
// machine does not know: a row without a case in the function that its group names.
func TestEveryOperationHasMeaning(t *testing.T) {
	b := newBench(t)
	for i := range opcode.Table {
		row := &opcode.Table[i]
		// Some operations look at their operand first: a format, a kind of key or of object, a class of arrays.
		in := Inst{Op: row.Op(), A: 1}
		switch {
		case row.Operand == opcode.KindOperand:
			in.A = uint32(value.KindText)
		case row.Operand == opcode.ExitOperand:
			in.A = uint32(outcome.ExitPlain)
		case row.Operand.IsObject():
			in.V = b.fitting(t, row)
		}
		list := seq(push(0), push(0), push(0), in)
		if row.Operand == opcode.MapOperand {
			list = seq(push(0), push(0), push(0), op(opcode.KeyInt), in)
		}
		_, out := b.eval(Code{Insts: list, Unsafe: true, Texts: []string{"", ""}, Heap: 64}, 0)
		if out.Trap == outcome.TrapOp && out.PC == uint32(len(list)-1) {
			t.Errorf("operation %s: the machine has no case for it in the function of its group (see opcode.Group)", row.Const)
		}
	}
}

// fitting is the offset of an object that an operation can work on.
func (b *bench) fitting(t *testing.T, row *opcode.Row) uint64 {
	kinds := map[opcode.Operand]object.Kind{
		opcode.NumberOperand: object.KindInt, opcode.CellOperand: object.KindText, opcode.ArrayOperand: object.KindArray, opcode.PerThreadOperand: object.KindPerThread,
		opcode.AggregationOperand: object.KindCount, opcode.MapOperand: object.KindMap, opcode.TrailOperand: object.KindTrail, opcode.DeferredOperand: object.KindRecorder,
	}
	if row.Operand != opcode.MapOperand {
		_, off := b.declare(t, object.Object{Kind: kinds[row.Operand], Max: 3, Size: 128})
		return off
	}
	id, off := b.declare(t, object.Object{Kind: object.KindMap, Keys: 1, Max: 3})
	v := value.KindInt
	if strings.Contains(row.In+row.Out, "s") {
		v = value.KindText
	}
	b.refine(t, id, v, value.KindInt)
	return off
}

// TestUnknownOperationsTrap: what is not in the table has no meaning.
func TestUnknownOperationsTrap(t *testing.T) {
	b := newBench(t)
	for op := int(opcode.NumOps); op < 256; op++ {
		if _, out := b.eval(Code{Insts: seq(push(0), push(0), push(0), Inst{Op: opcode.Op(op)}), Unsafe: true}, 0); out.Trap != outcome.TrapOp {
			t.Errorf("operation %d is not in the table and ends with %v", op, out)
		}
	}
}
