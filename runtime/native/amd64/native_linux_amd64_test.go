package amd64

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"gotap/runtime/opcode"
)

// TestRandomPrograms compares native code with the interpreter: random programs, registers and contents of the arena. A
// usual run ends when all operations were executed, but not before 1000 cases.
func TestRandomPrograms(t *testing.T) {
	w := newWorld(t)
	n, least := uint64(2500), uint64(1000)
	switch {
	case os.Getenv("GOTAP_LONG") != "":
		n = 200_000
		if v, err := strconv.ParseUint(os.Getenv("GOTAP_CASES"), 10, 64); err == nil {
			n = v
		}
		least = n
	case testing.Short():
		n = 100 // too few to execute every operation
	}
	start := time.Now()
	cases := uint64(0)
	for cases < n && (cases < least || cases%100 != 0 || len(w.uncovered()) > 0) {
		w.anyCase(t, cases)
		cases++
	}
	if !testing.Short() {
		for _, what := range w.uncovered() {
			t.Error(what)
		}
	}
	t.Logf("%+v; %.0f cases a minute", w.counts, float64(cases)/time.Since(start).Minutes())
}

func FuzzNative(f *testing.F) {
	f.Add(uint64(1))
	w := newWorld(f)
	f.Fuzz(func(t *testing.T, seed uint64) { w.anyCase(t, seed) })
}

// nativeOps are the operations that native code executes.
var nativeOps = []opcode.Op{
	opcode.Nop, opcode.Jmp, opcode.Jlt, opcode.Jle, opcode.Jgt, opcode.Jge, opcode.Jz, opcode.Jnz, opcode.Loop, opcode.Abort, opcode.Exit,
	opcode.PushD, opcode.Dup, opcode.DupN, opcode.Xchg, opcode.Over, opcode.Drop, opcode.Pick, opcode.Poke, opcode.Depth, opcode.PushTV,
	opcode.PopTV, opcode.Add, opcode.Sub, opcode.Mul, opcode.Quo, opcode.Rem, opcode.Udivmod, opcode.Sdivmod, opcode.Neg, opcode.Not, opcode.And,
	opcode.Or, opcode.Xor, opcode.Shl, opcode.Shr, opcode.Sar, opcode.Rol, opcode.Ror, opcode.Eq, opcode.Ne, opcode.Lt, opcode.Le, opcode.Gt,
	opcode.Ge, opcode.Ult, opcode.Ule, opcode.Lnot, opcode.Bool, opcode.Min, opcode.Max, opcode.Abs, opcode.Clz, opcode.Popcnt, opcode.Ext,
	opcode.Zext, opcode.PushR, opcode.Arg, opcode.Retval, opcode.Field, opcode.PushGV, opcode.PopGV, opcode.AddGV, opcode.IncGV, opcode.DecGV,
	opcode.FetchAddGV, opcode.PushLV, opcode.PopLV, opcode.AddLV, opcode.KeyInt, opcode.Agg,
	opcode.MapGet, opcode.MapGetS, opcode.MapHas, opcode.MapSet, opcode.MapAdd, opcode.MapDel, opcode.Item, opcode.LogInt, opcode.EndItem,
	opcode.Load8, opcode.Load16, opcode.Load32, opcode.Load64, opcode.LoadPtr, opcode.LoadS8, opcode.LoadS16, opcode.LoadS32,
	opcode.PushThis, opcode.PopThis, opcode.PushThisS, opcode.PopThisS, opcode.Readable, opcode.Str, opcode.Bytes, opcode.Hash, opcode.Sdec, opcode.Sudec, opcode.Shex, opcode.Scat, opcode.PushS, opcode.Seq, opcode.Sprefix, opcode.Scmp, opcode.Slen, opcode.Text, opcode.KeyText, opcode.LogText,
	opcode.Within, opcode.PushPT, opcode.PopPT, opcode.AddPT,
	opcode.Fadd, opcode.Fsub, opcode.Fmul, opcode.Fdiv, opcode.Fneg, opcode.Feq, opcode.Fne, opcode.Flt, opcode.Fle, opcode.Fbool, opcode.Itof, opcode.Utof,
	opcode.Ftoi, opcode.F32, opcode.ToF32, opcode.LoadF32, opcode.ArgF, opcode.AggFloat, opcode.LogFloat,
}

// uncovered lists operations that were never executed natively, although they can be, and aggregations.
func (w *world) uncovered() (out []string) {
	for op := range opcode.NumOps {
		if w.clock == nil && opcode.RowOf(op).Group == opcode.Log { // records have the time
			continue
		}
		if native := slices.Contains(nativeOps, op); native != w.executed(int(op)) {
			out = append(out, fmt.Sprintf("%s is native: %v; executed: %v", opcode.RowOf(op).Name, native, !native))
		}
	}
	for _, i := range append(slices.Clone(w.objects.aggregations), w.objects.keyed...) {
		if !w.executed(marksObject + i) {
			out = append(out, fmt.Sprintf("%+v was not used", w.arena.Handle(w.objects.all[i]).Object()))
		}
	}
	return out
}
