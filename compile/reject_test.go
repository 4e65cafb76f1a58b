package compile

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"gotap/compile/diag"
	"gotap/runtime"
	"gotap/runtime/opcode"
	"gotap/runtime/outcome"
	"gotap/runtime/record"
)

// assembled makes a program of a listing that must be right.
func assembled(t testing.TB, text string) *Program {
	t.Helper()
	p, diags := Assemble(diag.NewSource("test.s", text))
	if err := diags.Err(); err != nil {
		t.Fatal(err)
	}
	return p
}

// Each case is what must be said of a program; "" when it must be accepted.
var verifierCases = []struct{ name, text, want string }{
	{"empty", "", "the program is empty"},
	{"underflow", "add\nexit", "test.s:1:1: error: takes more from the stack than there is"},
	{"underflow of a copy", "push d,1\npush tsp,1\nexit", "takes more from the stack"},
	{"no copy of nothing", "dup,0\nexit", "takes more from the stack"}, // found by running random programs
	{"drop too many", "push d,1\nros,2\nexit", "takes more from the stack"},
	{"overflow", ".stack 2\npush d,1\npush d,1\npush d,1\nexit", "the stack gets 3 words deep, and the program has 2"},
	{"overflow by copies", "push d,1\ndup,40\nexit", "the stack gets 41 words deep, and the program has 32"},
	{"past the end", "push d,1", "runs past its end"},
	{"past the end by a label", "push d,1\njz L\nexit\nL:", "test.s:2:1: error: the program runs past its end"},
	{"past the end by a jump", "exit\nL: push d,1\njz L", "never comes here: only the unreached part does"},
	{"uneven join", "push c,pid\njz L\npush d,1\nL: exit", "the stack is not equally deep"},
	{"growing loop", "L: push d,1\njmp L", "the stack is not equally deep"},
	{"text as number", ".text \"x\"\npush s,0\npush d,1\nadd\nexit", "wants a number, and there is text"},
	{"number as text", "push d,1\nslen\nros,1\nexit", "wants text, and there is a number"},
	{"either as text", ".text \"x\"\npush c,pid\njz L\npush d,1\njmp M\nL: push s,0\nM: slen\nros,1\nexit", "wants text"},
	{"either dropped", ".text \"x\"\npush c,pid\njz L\npush d,1\njmp M\nL: push s,0\nM: ros,1\nexit", ""},
	{"unassigned", ".temps 1\npush tv,0\nros,1\nexit", "scratch word 0 is not assigned"},
	{"assigned on one way", ".temps 1\npush c,pid\njz L\npush d,1\npop tv,0\nL: push tv,0\nros,1\nexit", "scratch word 0 is not assigned"},
	{"assigned on both ways", ".temps 1\npush c,pid\njz L\npush d,1\npop tv,0\njmp M\nL: push d,2\npop tv,0\nM: push tv,0\nros,1\nexit", ""},
	{"no such scratch word", ".temps 1\npush d,1\npop tv,1\nexit", "operand 1 of pop tv is out of range: 0 to 0"},
	{"no such text", "push s,0\nros,1\nexit", "out of range: there are none"},
	{"no such word of the call", ".this 8\npush this,1\nros,1\nexit", "out of range: 0 to 0"},
	{"destructive", "push d,1\npop r,rax\nexit", "changes the target, which is not allowed here"},
	{"destructive allowed", ".unsafe\npush d,1\npop r,rax\nexit", ""},
	{"field outside", "push d,1\nlog d\nexit", "logs a field outside an item"},
	{"item not ended", ".format log | int 0\nitem,0\npush d,1\nlog d\nexit", "ends inside a log item"},
	{"item too short", ".format log | int 0\nitem,0\nend item\nexit", "the item ends before its field 0"},
	{"item too long", ".format log\nitem,0\npush d,1\nlog d\nend item\nexit", "the item has only 0 fields"},
	{"item of another type", ".format log | text 0\nitem,0\npush d,1\nlog d\nend item\nexit", "field 0 of the item is of type text"},
	{"item inside another", ".format log\nitem,0\nitem,0\nend item\nend item\nexit", "begins a log item inside another"},
	{"item on one way", ".format log\npush c,pid\njz L\nitem,0\nL: exit", "a log item is not equally far"},
	{"item with a choice", ".format log | int 0\nitem,0\npush c,pid\njz L\npush d,1\njmp M\nL: push d,2\nM: log d\nend item\nexit", ""},
	{"literals take no field", ".format log | text 0 is \"a\" | int 0 | text 0 is \"b\"\nitem,0\npush d,1\nlog d\nend item\nexit", ""},
	{"range of another kind", ".format log\npush d,1\npush d,1\nlog mrf,0\nexit", "log mrf cannot log an item of kind log"},
	{"keys of two shapes", ".object 0\npush d,1\nkey\npush d,1\nagg,0\npush d,1\nagg,0\nexit", "the key has no parts here, and (int) at command 3"},
	{"values of two types", ".object 0\n.text \"x\"\npush d,1\nkey\npush d,1\nmap set,0\npush d,1\nkey\npush s,0\nmap sets,0\nexit", "the value is of type text here"},
	{"key on one way", "push c,pid\njz L\npush d,1\nkey\nL: exit", "the key is not the same"},
	{"ret at the top", "ret", "ret outside a routine"},
	{"routine", "call L\nexit\nL: push d,1\nros,1\nret", ""},
	{"routine with an argument", "push d,5\ncall L\nros,1\npush d,1\npush d,6\ncall L\nros,2\nexit\nL: push d,1\nadd\nret", ""},
	{"routine short of an argument", "push d,5\ncall L\nros,1\ncall L\nexit\nL: push d,1\nadd\nret", "takes more from the stack than every caller"},
	{"routine that takes text from one", ".text \"x\"\npush d,5\ncall L\nros,1\npush s,0\ncall L\nros,1\nexit\nL: push d,1\nadd\nret", "wants a number"},
	{"routine with uneven rets", "call L\nexit\nL: push c,pid\njz M\npush d,1\nret\nM: ret", "rets of one routine differ"},
	{"recursion", "L: call L\nexit", "a routine calls itself"},
	{"mutual recursion", "call L\nexit\nL: call M\nret\nM: call L\nret", "a routine calls itself"},
	{"recursion on a circular stack", ".wrap\nL: call L\nexit", ""},
	{"text on a circular stack", ".wrap\n.text \"x\"\npush s,0\nexit", "text cannot be kept on a circular stack"},
	{"copies on a circular stack", ".wrap\n.stack 8\ndup,8\nexit", "dup needs 9 words, and the circular stack has 8"}, // found by FuzzUnmarshal
	{"anything on a circular stack", ".wrap\nL: add\npush c,pid\njz L\nexit", ""},
	{"shared end", "call L\nexit\nL: push c,pid\njz E\nret\nE: abort", ""},
	{"fuel", ".fuel 1000000\nexit", ""},
	{"too many words logged", ".format words\nlog,3,0\nexit", "takes more from the stack"},
	{"no such format of words", "push d,1\nlog,1,0\nexit", "names format 0, and there are 0"},
}

func TestVerifier(t *testing.T) {
	for _, c := range verifierCases {
		t.Run(c.name, func(t *testing.T) {
			if strings.HasPrefix(c.want, "never comes here") {
				c.want = "" // code that is not reached is not looked at
			}
			p := assembled(t, c.text)
			diags := Verify(p)
			switch {
			case c.want == "" && diags.HasErrors():
				t.Error(diags)
			case c.want != "" && !strings.Contains(diags.Error(), c.want):
				t.Errorf("said %q\nwant %q", diags.Error(), c.want)
			}
			if p.Bound.Verified == diags.HasErrors() {
				t.Errorf("verified: %v", p.Bound.Verified)
			}
		})
	}
}

func TestDeepCalls(t *testing.T) {
	chain := func(n int) string {
		var b strings.Builder
		b.WriteString("call L0\nexit\n")
		for i := range n {
			b.WriteString("L" + string(rune('A'+i/26)) + string(rune('a'+i%26)) + ":")
			if i == 0 {
				b.WriteString("L0:")
			}
			if i+1 < n {
				b.WriteString(" call L" + string(rune('A'+(i+1)/26)) + string(rune('a'+(i+1)%26)))
			}
			b.WriteString("\nret\n")
		}
		return b.String()
	}
	if diags := Verify(assembled(t, chain(runtime.MaxCalls))); diags.HasErrors() {
		t.Error(diags)
	}
	if diags := Verify(assembled(t, chain(runtime.MaxCalls+1))); !strings.Contains(diags.Error(), "nested more than 32 deep") {
		t.Error(diags)
	}
}

// TestSharedCodeIsLimited has many routines run through one long tail, each of which would be
// looked at for all of it.
func TestSharedCodeIsLimited(t *testing.T) {
	var b strings.Builder
	for i := range 500 {
		fmt.Fprintf(&b, "call R%d\n", i)
	}
	b.WriteString("exit\n")
	for i := range 500 {
		fmt.Fprintf(&b, "R%d: jmp S\n", i)
	}
	b.WriteString("S: nop\n")
	for i := range 5000 {
		fmt.Fprintf(&b, "push c,pid\njz T%d\nT%d: nop\n", i, i)
	}
	b.WriteString("ret\n")
	if diags := Verify(assembled(t, b.String())); !strings.Contains(diags.Error(), "too large to be verified") {
		t.Errorf("%.300s", diags.Error())
	}
}

func TestAllErrorsAtOnce(t *testing.T) {
	diags := Verify(assembled(t, "push c,pid\njz L\nadd\nL: slen\nexit"))
	if len(diags) != 2 {
		t.Errorf("%d errors: %v", len(diags), diags)
	}
}

// Each case is a program and the steps that the verifier must prove, 0 when it must not prove any.
var boundCases = []struct {
	name, text  string
	least, most uint64 // what may be proved: the true worst case, and a little more
}{
	{"straight", "push d,1\nros,1\nexit", 3, 3},
	{"longer way", "push c,pid\njz L\nnop\nnop\nL: exit", 5, 5},
	{"loop command", "push d,10\nL: nop\nloop L\nexit", 22, 22},
	{"loop command reads its counter", "push d,10\nL: dup\nros,1\nloop L\nexit", 32, 32},
	{"loop command from zero", "push d,0\nL: nop\nloop L\nexit", 0, 0},
	{"loop command from below zero", "push d,-1\nL: nop\nloop L\nexit", 0, 0},
	{"loop command with an unknown counter", "push c,pid\nL: nop\nloop L\nexit", 0, 0},
	{"loop command with a masked counter", "push c,pid\npush d,7\nand\npush d,1\nadd\nL: nop\nloop L\nexit", 5 + 16 + 1, 5 + 16 + 1},
	{"loop command, counter changed", "push d,10\nL: push d,1\nadd\nloop L\nexit", 0, 0},
	{"loop command, counter poked", "push d,10\nL: push d,5\npop tsp,1\nloop L\nexit", 0, 0},
	{"loop command in a loop", "push d,3\nL: push d,4\nM: nop\nloop M\nloop L\nexit", 1 + 3*(1+8+1) + 1, 1 + 3*(1+8+1) + 1},
	{"loop command passed by", "push d,10\nL: push c,pid\njz L\nloop L\nexit", 0, 0},
	{"loop command and a routine", "push d,10\nL: call R\nloop L\nexit\nR: nop\nret", 1 + 10*(1+2+1) + 1, 1 + 10*(1+2+1) + 1},
	{"loop command, counter changed by a routine", "push d,10\nL: call R\nloop L\nexit\nR: push d,1\nadd\nret", 0, 0},
	{"no end", "L: jmp L", 0, 0},
	{"up to a constant", counting("0", "10", "lt", "1"), 2 + 10*9 + 5, 2 + 11*9 + 1},
	{"up to and with a constant", counting("0", "10", "le", "1"), 2 + 11*9 + 5, 2 + 12*9 + 1},
	{"by two", counting("0", "10", "lt", "2"), 2 + 5*9 + 5, 2 + 6*9 + 1},
	{"by three", counting("0", "10", "lt", "3"), 2 + 4*9 + 5, 2 + 5*9 + 1},
	{"down", counting("10", "0", "gt", "-1"), 2 + 10*9 + 5, 2 + 11*9 + 1},
	{"down and with", counting("10", "0", "ge", "-1"), 2 + 11*9 + 5, 2 + 12*9 + 1},
	{"unsigned", counting("0", "10", "ult", "1"), 2 + 10*9 + 5, 2 + 11*9 + 1},
	{"wrong way", counting("0", "10", "lt", "-1"), 0, 0},
	{"not at all", counting("0", "10", "lt", "0"), 0, 0},
	{"already there", counting("10", "10", "lt", "1"), 2 + 5, 2 + 9 + 1},
	{"round the end", counting("9223372036854775800", "9223372036854775807", "le", "1"), 0, 0},
	{"round the end by a large step", counting("0", "9223372036854775807", "lt", "4611686018427387904"), 0, 0},
	{"up to something unknown", ".temps 1\npush d,0\npop tv,0\nL: push tv,0\npush c,pid\nlt\njz E\npush tv,0\npush d,1\nadd\npop tv,0\njmp L\nE: exit", 0, 0},
	{"from something unknown", ".temps 1\npush c,pid\npop tv,0\nL: push tv,0\npush d,10\nlt\njz E\npush tv,0\npush d,1\nadd\npop tv,0\njmp L\nE: exit", 0, 0},
	{"up to a masked number", ".temps 1\npush d,0\npop tv,0\nL: push tv,0\npush c,pid\npush d,7\nand\nlt\njz E\npush tv,0\npush d,1\nadd\npop tv,0\njmp L\nE: exit", 2 + 7*11 + 7, 2 + 8*11 + 1},
	{"test at the end", ".temps 1\npush d,0\npop tv,0\nL: push tv,0\npush d,1\nadd\npop tv,0\npush tv,0\npush d,10\nlt\njnz L\nexit", 2 + 10*8 + 1, 2 + 11*8 + 1},
	{"difference tested", ".temps 1\npush d,0\npop tv,0\nL: push tv,0\npush d,1\nadd\npop tv,0\npush tv,0\npush d,10\nsub\njlt L\nexit", 2 + 10*8 + 1, 2 + 11*8 + 1},
	{"constant on the left", ".temps 1\npush d,0\npop tv,0\nL: push d,10\npush tv,0\ngt\njz E\npush tv,0\npush d,1\nadd\npop tv,0\njmp L\nE: exit", 2 + 10*9 + 5, 2 + 11*9 + 1},
	{"negated test", ".temps 1\npush d,0\npop tv,0\nL: push tv,0\npush d,10\nlt\nlnot\njnz E\npush tv,0\npush d,1\nadd\npop tv,0\njmp L\nE: exit", 2 + 10*10 + 6, 2 + 11*10 + 1},
	{"a way without the step", ".temps 1\npush d,0\npop tv,0\nL: push tv,0\npush d,10\nlt\njz E\npush c,pid\njz L\npush tv,0\npush d,1\nadd\npop tv,0\njmp L\nE: exit", 0, 0},
	{"a way without the test", ".temps 1\npush d,0\npop tv,0\nL: push tv,0\npush d,1\nadd\npop tv,0\npush c,pid\njz L\npush tv,0\npush d,10\nlt\njz E\njmp L\nE: exit", 0, 0},
	{"set back", ".temps 1\npush d,0\npop tv,0\nL: push tv,0\npush d,10\nlt\njz E\npush tv,0\npush d,1\nadd\npop tv,0\npush c,pid\njz L\npush d,0\npop tv,0\njmp L\nE: exit", 0, 0},
	{"set back by a routine", ".temps 1\npush d,0\npop tv,0\nL: push tv,0\npush d,10\nlt\njz E\ncall R\npush tv,0\npush d,1\nadd\npop tv,0\njmp L\nE: exit\nR: push d,0\npop tv,0\nret", 0, 0},
	{"stepped in an inner loop", ".temps 1\npush d,0\npop tv,0\nL: push tv,0\npush d,10\nlt\njz E\nM: push tv,0\npush d,1\nadd\npop tv,0\npush c,pid\njz M\njmp L\nE: exit", 0, 0},
	{"inner loop up to the outer's counter", triangle, 2 + 4*15 + 6*9, 2 + 5*(15+10*9)},
	{"down to zero, step first", ".temps 1\npush d,10\npop tv,0\nL: push tv,0\npush d,1\nsub\npop tv,0\npush tv,0\npush d,1\nadd\njz E\njmp L\nE: exit", 2 + 10*9 + 9, 2 + 13*9 + 1},
	{"up to equal", ".temps 1\npush d,0\npop tv,0\nL: push tv,0\npush d,10\nne\njz E\npush tv,0\npush d,1\nadd\npop tv,0\njmp L\nE: exit", 2 + 10*9 + 5, 2 + 13*9 + 1},
	{"past equal", ".temps 1\npush d,11\npop tv,0\nL: push tv,0\npush d,10\nne\njz E\npush tv,0\npush d,1\nadd\npop tv,0\njmp L\nE: exit", 0, 0},
	{"down to zero from a masked number", countDown("7", "0"), 6 + 7*7 + 3, 6 + 9*7 + 1},
	{"down to zero from a masked number that may be below", countDown("7", "-1"), 0, 0},
	{"down to zero from a masked number, step first", ".temps 1\npush c,pid\npush d,7\nand\npop tv,0\nL: push tv,0\npush d,-1\nadd\npop tv,0\npush tv,0\njnz L\nexit", 0, 0},
	{"handler", "sx H\nnop\nexit\nH: nop\nnop\nexit", 3 + 3, 3 + 3},
	{"handler set in a loop", "push d,5\nL: sx H\nloop L\nexit\nH: nop\nexit", 1 + 10 + 1 + 2, 1 + 10 + 1 + 2},
	{"handler that goes back into the loop", "push d,5\nL: sx H\nloop L\nexit\nH: ros,2\njmp L", 0, 0},
	{"handler that sets itself", "sx H\nexit\nH: ros,3\nsx H\nexit", 0, 0},
	{"handler that sets another", "sx H\nexit\nH: ros,3\nsx I\nexit\nI: nop\nexit", 2 + 3 + 2, 2 + 3 + 2},
	{"handler with a loop", "sx H\nexit\nH: ros,3\npush d,4\nL: nop\nloop L\nexit", 2 + 2 + 8 + 1, 2 + 2 + 8 + 1},
	{"handler that is a loop", "sx H\nexit\nH: ros,3\npush d,1\npush d,1\npush d,1\npush c,pid\njz H\nexit", 0, 0},
	{"handler in a routine called in a loop", "push d,5\nL: call R\nloop L\nexit\nR: sx H\nret\nH: ros,3\nret", 1 + 5*(1+2+2+1) + 1, 1 + 5*(1+2+2+1) + 1},
	{"by two past equal", ".temps 1\npush d,0\npop tv,0\nL: push tv,0\npush d,11\nne\njz E\npush tv,0\npush d,2\nadd\npop tv,0\njmp L\nE: exit", 0, 0},
	{"test and step change places", ".temps 1\npush d,0\npop tv,0\nL: push c,pid\njz M\npush tv,0\npush d,10\neq\njnz E\npush tv,0\npush d,1\nadd\npop tv,0\njmp L\nM: push tv,0\npush d,1\nadd\npop tv,0\npush tv,0\npush d,10\neq\njnz E\njmp L\nE: exit", 0, 0},
	{"inner loop in a loop with a constant", strings.Replace(triangle, "push d,4", "push d,100", 1), 2, 120 * 2000},
	{"two entries", ".temps 1\npush c,pid\njz M\nL: nop\nM: nop\npush c,pid\njz L\nexit", 0, 0},
	{"loop in a routine", "call R\ncall R\nexit\nR: push d,3\nL: loop L\nret", 3 + 2*(1+3+1), 3 + 2*(1+3+1)},
	{"loop at the entry of a routine", "push d,3\ncall R\npush d,5\ncall R\nexit\nR: loop R\nret", 5 + 2*(5+1), 5 + 2*(5+1)},
	{"fan-out of calls", fanOut(4, 3), 1 + 81*1 + 1, 1000},
}

// counting is "for (t = from; t op to; t += by);" as front ends write it.
func counting(from, to, op, by string) string {
	return ".temps 1\npush d," + from + "\npop tv,0\nL: push tv,0\npush d," + to + "\n" + op +
		"\njz E\npush tv,0\npush d," + by + "\nadd\npop tv,0\njmp L\nE: exit"
}

// countDown is "for (t = (pid & mask) + more; t; t--);".
func countDown(mask, more string) string {
	return ".temps 1\npush c,pid\npush d," + mask + "\nand\npush d," + more +
		"\nadd\npop tv,0\nL: push tv,0\njz E\npush tv,0\npush d,-1\nadd\npop tv,0\njmp L\nE: exit"
}

// triangle is "for (i = 0; i < 4; i++) for (j = 0; j < i; j++);".
const triangle = `.temps 2
push d,0
pop tv,0
L: push tv,0
push d,4
lt
jz E
push d,0
pop tv,1
M: push tv,1
push tv,0
lt
jz N
push tv,1
push d,1
add
pop tv,1
jmp M
N: push tv,0
push d,1
add
pop tv,0
jmp L
E: exit`

// fanOut is depth routines, each calling the next times times.
func fanOut(depth, times int) string {
	var b strings.Builder
	b.WriteString("call R0\nexit\n")
	for i := range depth {
		b.WriteString("R" + string(rune('0'+i)) + ": nop\n")
		for range times {
			if i+1 < depth {
				b.WriteString("call R" + string(rune('1'+i)) + "\n")
			}
		}
		b.WriteString("ret\n")
	}
	return b.String()
}

func TestBounds(t *testing.T) {
	for _, c := range boundCases {
		t.Run(c.name, func(t *testing.T) {
			p := assembled(t, c.text)
			if err := Verify(p).Err(); err != nil {
				t.Fatal(err)
			}
			b := p.Bound
			if b.Proved != (c.most > 0) || b.Steps < c.least || b.Steps > c.most {
				t.Errorf("%v, want %d to %d", b, c.least, c.most)
			}
		})
	}
}

func TestLogBound(t *testing.T) {
	for _, c := range []struct {
		text string
		want int
	}{
		{"exit", 0},
		{".format log | int 0\nitem,0\npush d,1\nlog d\nend item\nexit", 16},
		{".format log | text 0\n.text \"nine char\"\nitem,0\npush s,0\nlog s\nend item\nexit", 8 + 8 + 16},
		{".format log | text 0\nitem,0\npush d,8\npush d,20\nstr\nlog s\nend item\nexit", 8 + 8 + 24},
		{".format log | text 0\n.text \"eight ch\"\nitem,0\npush d,8\npush d,16\nstr\npush s,0\nscat\nlog s\nend item\nexit", 8 + 8 + 32}, // the first may be cut: 16 bytes, its mark and 8
		{".format range | bytes 0\npush d,100\npush d,8\nlog mrf,0\nexit", 8 + 8 + 104},
		{".format words | int 0 | int 0\npush d,100\npush d,8\nlog,2,0\nexit", 8 + 16},
		{".format log | text 0\nitem,0\npush d,8\npush c,pid\nstr\nlog s\nend item\nexit", record.DefaultLog},
		{".format log\nL: item,0\nend item\njmp L", record.DefaultLog},
	} {
		p := assembled(t, c.text)
		if err := Verify(p).Err(); err != nil {
			t.Fatal(err)
		}
		if p.Bound.LogBytes != c.want {
			t.Errorf("%q: %d bytes, want %d", c.text, p.Bound.LogBytes, c.want)
		}
	}
}

// large is a program of about n commands with branches and loops in it.
func large(n int) *Program {
	b := NewBuilder("large")
	for b.Len() < n {
		countingLoop(b, 0, opcode.Lt, 10, 1, func(i uint32) {
			for range 20 {
				l := b.NewLabel()
				b.A(opcode.PushTV, i)
				b.Push(3)
				b.Op(opcode.Mul)
				b.Jump(opcode.Jz, l)
				b.Op(opcode.Nop)
				b.Place(l)
			}
		})
	}
	b.Exit(outcome.ExitPlain)
	p, err := b.Program()
	if err != nil {
		panic(err)
	}
	return p
}

func BenchmarkVerify10000(b *testing.B) {
	p := large(10_000)
	for b.Loop() {
		if diags := Verify(p); diags.HasErrors() {
			b.Fatal(diags)
		}
	}
	b.ReportMetric(float64(b.Elapsed())/float64(time.Millisecond)/float64(b.N), "ms/op")
}
