package compile

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"gotap/runtime/opcode"
)

var update = flag.Bool("update", false, "write files that tests compare with")

// commandTable is the Table as documentation.
func commandTable() string {
	var b strings.Builder
	b.WriteString("# Commands of the machine\n\n")
	b.WriteString("Generated from the opcode table: `go test ./compile -run TestCommandsFile -update`.\n\n")
	b.WriteString("In stack pictures w is a word, s a text, x either; the top is on the right. Commands marked ! change the target.\n")
	b.WriteString("Each is charged one step.\n\n")
	b.WriteString("| code | command | stack | |\n|---|---|---|---|\n")
	for _, row := range opcode.Table {
		mark := ""
		if row.Unsafe() {
			mark = " !"
		}
		fmt.Fprintf(&b, "| %02x | `%s%s`%s | %s | %s |\n", row.Code, row.Name, row.Operand.Placeholder(), mark, row.Picture(), row.Doc)
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
}
