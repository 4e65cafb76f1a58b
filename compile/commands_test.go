package compile

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write files that tests compare with")

// operandTexts is how documentation shows the operand of a command.
var operandTexts = map[Operand]string{
	NoOperand: "", WordOperand: ",WORD", CountOperand: ",N", LabelOperand: " LABEL", TextOperand: ",TEXT", FormatOperand: ",FORMAT",
	ObjectOperand: ",OBJECT", RegisterOperand: ",REGISTER", TempOperand: ",N", ThisOperand: ",WORD", ThisTextOperand: ",BYTE",
	ArgOperand: ",N", FieldOperand: ",NAME", ContextOperand: ",NAME", KindOperand: ",KIND", ExitOperand: " [KIND]", WordsOperand: ",N,FORMAT",
}

// commandTable is the Table as documentation.
func commandTable() string {
	var b strings.Builder
	b.WriteString("# Commands of the machine\n\n")
	b.WriteString("Generated from the opcode table: `go test ./compile -run TestCommandsFile -update`.\n\n")
	b.WriteString("In stack pictures w is a word, s a text, x either; the top is on the right. Commands marked ! change the target.\n")
	b.WriteString("Each is charged one step.\n\n")
	b.WriteString("| code | command | stack | |\n|---|---|---|---|\n")
	for _, row := range Table {
		mark := ""
		if row.Unsafe {
			mark = " !"
		}
		fmt.Fprintf(&b, "| %02x | `%s%s`%s | %s | %s |\n", row.Code, row.Name, operandTexts[row.Operand], mark, row.Picture(), row.Doc)
	}
	return b.String()
}

func TestCommandsFile(t *testing.T) {
	want := commandTable() + referenceTable()
	if *update {
		if err := os.WriteFile("commands.md", []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile("commands.md")
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Error("commands.md is not what the table says: run this test with -update")
	}
	for _, row := range Table {
		if row.Cost != 1 {
			t.Errorf("%s costs %d", row.Name, row.Cost)
		}
	}
}
