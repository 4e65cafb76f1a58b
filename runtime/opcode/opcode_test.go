package opcode

import (
	"bytes"
	"os"
	"strings"
	"testing"
)

// TestNamesAreCurrent compares the generated constants with the table.
func TestNamesAreCurrent(t *testing.T) {
	want, err := Constants()
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile("names.go")
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Equal(got, want) {
		return
	}
	for i := range Table {
		if !bytes.Contains(got, []byte("\t"+Table[i].Const+" ")) {
			t.Errorf("operation %s (row %d) has no constant", Table[i].Const, i)
		}
	}
	t.Error("names.go is not what the table says: run go generate ./runtime/opcode")
}

// TestRows says which column of which row lacks, or stands twice.
func TestRows(t *testing.T) {
	seen := map[string]string{}
	once := func(r *Row, what, value string) {
		if before := seen[what+value]; before != "" {
			t.Errorf("%s and %s have the same %s, %s", before, r.Const, what, value)
		}
		seen[what+value] = r.Const
	}
	for i := range Table {
		r := &Table[i]
		once(r, "constant", r.Const)
		once(r, "code", string(r.Code))
		spelling := r.Name
		if r.Operand != NoOperand {
			spelling += r.Operand.Placeholder()[:1]
		}
		once(r, "name", spelling)
		for what, lacks := range map[string]bool{
			"a name": r.Name == "", "documentation": r.Doc == "", "a group": r.Group == None, "a constant": r.Const == "",
			"a placeholder for its operand": r.Operand != NoOperand && r.Operand.Placeholder() == "",
			"a stack picture of w, s and x": strings.Trim(r.In+r.Out, "wsxWX") != "",
		} {
			if lacks {
				t.Errorf("operation %d, %q, lacks %s", i, r.Const, what)
			}
		}
	}
	if int(NumOps) != len(Table) || len(Table) > 255 {
		t.Errorf("there are %d operations and %d constants; an Op has room for 255", len(Table), NumOps)
	}
}

func TestEffects(t *testing.T) {
	for _, c := range []struct {
		op                                   Op
		a                                    uint32
		pops, pushes, reachPops, reachPushes int
		picture                              string
	}{
		{Add, 0, 2, 1, 2, 1, "( w w -- w )"},
		{Loop, 7, 1, 1, 1, 1, "( w -- w )"},
		{DupN, 3, 1, 4, 1, 4, "( x -- x x… )"},
		{Drop, 3, 3, 0, 3, 0, "( x… -- )"},
		{LogWords, 2, 2, 0, 2, 0, "( w… -- )"},
		{Pick, 2, 0, 1, 3, 4, "( -- x )"},
		{Poke, 2, 1, 0, 3, 2, "( x -- )"},
		{Poke, 0, 1, 0, 1, 0, "( x -- )"},
	} {
		r := RowOf(c.op)
		pops, pushes := r.Effect(c.a)
		if pops != c.pops || pushes != c.pushes {
			t.Errorf("%s,%d pops %d and pushes %d", r.Name, c.a, pops, pushes)
		}
		if pops, pushes = r.Reach(c.a); pops != c.reachPops || pushes != c.reachPushes {
			t.Errorf("%s,%d reaches %d words and leaves %d", r.Name, c.a, pops, pushes)
		}
		if r.Picture() != c.picture {
			t.Errorf("%s is pictured as %s", r.Name, r.Picture())
		}
	}
}

func TestFindingRows(t *testing.T) {
	for i := range Table {
		r := &Table[i]
		if RowOf(Op(i)) != r || r.Op() != Op(i) || ByCode(r.Code) != r {
			t.Errorf("the row of %s is not found", r.Const)
		}
	}
	if len(ByName("dup")) != 2 || ByName("no such") != nil || RowOf(NumOps) != nil || NumOps.Has(0) {
		t.Error("rows are found that do not exist, or not found that do")
	}
	if len(Names()) != len(Table) {
		t.Error("not all names are listed")
	}
}

func TestTraits(t *testing.T) {
	for op, want := range map[Op]bool{Jz: true, Jge: true, Jmp: false, Loop: false, Call: false, Add: false} {
		if RowOf(op).Conditional() != want {
			t.Errorf("%s: conditional is %v", RowOf(op).Const, !want)
		}
	}
	for i := range Table {
		r := &Table[i]
		if r.Does.Has(Jumps) != (r.Operand == LabelOperand && r.Op() != SetX) {
			t.Errorf("%s has a label and does not jump, or jumps without one", r.Const)
		}
		if r.Does.Has(UsesKey|BuildsKey) || r.Does.Has(BeginsItem|EndsItem) {
			t.Errorf("the traits of %s exclude each other", r.Const)
		}
	}
	if lo, hi, ok := Int16.Bounds(); lo != -32768 || hi != 32767 || !ok {
		t.Error("the bounds of Int16 are wrong")
	}
	if _, _, ok := StackText.Bounds(); ok {
		t.Error("a text has bounds")
	}
}

func TestNeedsAreSpelled(t *testing.T) {
	for bit := range numNeeds {
		if needNames[bit] == "" {
			t.Errorf("need %d has no name", bit)
		}
	}
	if got := (NeedHold | NeedRegs).String(); got != "regs hold" {
		t.Errorf("needs are spelled %q", got)
	}
	if Needs(0).String() != "nothing" || (NeedRegs|NeedHold).Without(NeedRegs|NeedDump) != NeedHold {
		t.Error("no needs, or those left over, are wrong")
	}
}
