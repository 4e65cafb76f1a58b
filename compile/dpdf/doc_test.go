package dpdf

import (
	"os"
	"strings"
	"testing"

	"gotap/compile/dprobes"
)

// The commands of DProbes.
var reference = strings.Split(`nop|jmp|jlt|jle|jgt|jge|jz|jnz|loop|call|ret|abort|remove|exit|suspend|resume|callk|call_kmod|setmin|setmaj|log str|log mrf|log|log lv|log gv
push lp|push plp|pop lp|push lv|pop lv|move lv|inc lv|dec lv|push gv|pop gv|move gv|inc gv|dec gv|alloc gv|free gv|add|sub|mul|and|or|xor|neg|div|idiv|shl|shr|rol|ror
pbl|pbr|pzl|pzr|xchg|dup|ros|push tsp|pop tsp|copy tsp|push sbp|pop sbp|copy sbp|save tsp|restore tsp|save sbp|restore sbp|push r|pop r|push u|pop u|push d|push mem|pop mem
push task|push pid|push procid|vfy r|vfy rw|seg2lin|push io|pop io|malloc|free|push wid|pushh|poph|sx|ux|rx|push x|log st|purge st|trace lv|trace gv|trace pv|push stp|pop stp`, "|")

func TestEveryCommandIsKnown(t *testing.T) {
	for _, names := range reference {
		for _, name := range strings.Split(names, "\n") {
			if known, why := commands[name] != nil, dprobes.Refused(name); known == (why != "") {
				t.Errorf("%q: known %v, refused %q", name, known, why)
			}
		}
	}
}

// TestReferenceIsTaken reads the table of DProbes' commands in the documentation of package
// compile: what it says is done parses.
func TestReferenceIsTaken(t *testing.T) {
	text, err := os.ReadFile("../commands.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(text), "# Commands of DProbes")
	done, refused := map[string]bool{}, 0
	for row := range strings.Lines(table) {
		cells := strings.Split(row, "|")
		if len(cells) < 5 || !strings.Contains(cells[1], "`") {
			continue
		}
		name, _, _ := strings.Cut(strings.Trim(cells[1], " `"), "[")
		name = strings.TrimSuffix(strings.TrimSuffix(name, " L"), " N")
		if before, _, operand := strings.Cut(name, ","); operand && commands[before] != nil && dprobes.Refused(name) == "" {
			name = before
		}
		switch strings.TrimSpace(cells[2]) {
		case "done":
			done[name] = true
			if commands[name] == nil {
				t.Errorf("%q is said to be done", name)
			}
		case "refused":
			refused++
			if dprobes.Refused(name) == "" {
				t.Errorf("%q is said to be refused", name)
			}
		default:
			t.Errorf("%q is neither done nor refused", name)
		}
	}
	for name := range commands {
		if !done[name] {
			t.Errorf("%q is not in the table", name)
		}
	}
	if refused < 20 {
		t.Errorf("only %d commands are refused", refused)
	}
}

func TestCommandsAreDocumentedAndTested(t *testing.T) {
	doc, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	tested := ""
	for _, c := range commandCases {
		tested += c.commands + "\n"
	}
	elsewhere := "trace lv|trace gv|trace pv|log str|log mrf|log|log lv|log gv|setmin|setmaj|exit|abort|remove"
	for name := range commands {
		words := strings.Fields(name)
		if !strings.Contains(string(doc), words[len(words)-1]) {
			t.Errorf("%q is not in doc.go", name)
		}
		if !strings.Contains(tested, name) && !strings.Contains(elsewhere, name) {
			t.Errorf("%q is not tested", name)
		}
	}
}
