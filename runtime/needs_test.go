package runtime

import (
	"testing"

	"gotap/runtime/opcode"
	"gotap/runtime/outcome"
)

func TestNeeds(t *testing.T) {
	for what, c := range map[string]struct {
		code Code
		want opcode.Needs
	}{
		"arithmetic":   {Code{Insts: seq(push(1), push(2), op(opcode.Add), op(opcode.Exit))}, 0},
		"an argument":  {Code{Insts: seq(opA(opcode.Arg, 0))}, opcode.NeedArgs},
		"a register":   {Code{Insts: seq(opV(opcode.PushR, 3<<16|64))}, opcode.NeedRegs},
		"a vector":     {Code{Insts: seq(opV(opcode.PushR, (FloatWords+1)<<16|64))}, opcode.NeedRegs | opcode.NeedFloatRegs},
		"memory":       {Code{Insts: seq(op(opcode.Load8))}, opcode.NeedMemory},
		"a store":      {Code{Insts: seq(op(opcode.Store8))}, opcode.NeedMemory | opcode.NeedUnsafe},
		"a float":      {Code{Insts: seq(op(opcode.Fadd))}, opcode.NeedFloat},
		"a stack":      {Code{Insts: seq(op(opcode.Stack))}, opcode.NeedStack | opcode.NeedText},
		"comm":         {Code{Insts: seq(opA(opcode.Text, uint32(TextComm)))}, opcode.NeedText | opcode.NeedComm},
		"a module":     {Code{Insts: seq(opA(opcode.Text, uint32(TextModule)))}, opcode.NeedText | opcode.NeedPlaceText},
		"errno":        {Code{Insts: seq(opA(opcode.Field, uint32(FieldErrno)))}, opcode.NeedContext | opcode.NeedErrno},
		"a pid":        {Code{Insts: seq(opA(opcode.Field, uint32(FieldPid)))}, opcode.NeedContext},
		"an event":     {Code{Insts: seq(opA(opcode.Exit, uint32(outcome.ExitEvent)))}, opcode.NeedEvent},
		"holding":      {Code{Insts: seq(opA(opcode.Exit, uint32(outcome.ExitHold)))}, opcode.NeedEvent | opcode.NeedHold},
		"a core":       {Code{Insts: seq(opA(opcode.Exit, uint32(outcome.ExitDump)))}, opcode.NeedDump},
		"stopping":     {Code{Insts: seq(opA(opcode.Exit, uint32(outcome.ExitStop)))}, opcode.NeedStop},
		"a facility":   {Code{Insts: seq(opA(opcode.Exit, uint32(outcome.ExitFacility)))}, opcode.NeedFacility},
		"skipping":     {Code{Insts: seq(op(opcode.Skip))}, opcode.NeedUnsafe | opcode.NeedSkip},
		"a circle":     {Code{Wrap: true}, opcode.NeedWrap},
		"auto trace":   {Code{Auto: true}, opcode.NeedTrace},
		"wrong things": {Code{Insts: seq(opA(opcode.Exit, 99), opA(opcode.Text, 99), Inst{Op: opcode.NumOps})}, opcode.NeedText},
	} {
		if got := NeedsOf(&c.code); got != c.want {
			t.Errorf("%s needs %v, want %v", what, got, c.want)
		}
	}
}

// TestNeedsOfRows: whatever takes or leaves text needs memory for it, whatever changes the target is unsafe.
func TestNeedsOfRows(t *testing.T) {
	for i := range opcode.Table {
		row := &opcode.Table[i]
		for _, letter := range row.In + row.Out {
			if letter == 's' && row.Needs&opcode.NeedText == 0 {
				t.Errorf("%s works on text and does not need it", row.Const)
			}
		}
		for need, groups := range map[opcode.Needs][]opcode.Group{
			opcode.NeedMemory: {opcode.Loads, opcode.Stores, opcode.Access}, opcode.NeedUnsafe: {opcode.Stores, opcode.Changes},
			opcode.NeedHeap: {opcode.Heap}, opcode.NeedLog: {opcode.Log, opcode.Deferred}, opcode.NeedDeferred: {opcode.Deferred},
			opcode.NeedKeys: {opcode.Keys, opcode.Keyed}, opcode.NeedThis: {opcode.Calls}, opcode.NeedPerThread: {opcode.PerThread},
		} {
			for _, g := range groups {
				if row.Group == g && row.Needs&need == 0 {
					t.Errorf("%s is of group %d and does not need %v", row.Const, g, need)
				}
			}
		}
	}
}
