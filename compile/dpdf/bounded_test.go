package dpdf

import (
	"fmt"
	"strings"
	"testing"

	"gotap/compile"
	"gotap/compile/diag"
	"gotap/runtime"
	"gotap/runtime/arena"
	"gotap/runtime/object"
	"gotap/runtime/outcome"
	"gotap/runtime/record"
)

// Programs that ran for ever, or out of their memory, in DProbes' interpreter. Here each ends
// within its fuel: jmpmax = 32 allows few steps, and nothing that a program does gives it more.

// everything lets all exceptions go to handlers, so that fuel would too if it were one.
const everything = "ex_mask = 0xffff"

// bounded runs the program of a file once; it must end with a trap after as many steps as its fuel.
func bounded(t *testing.T, commands string, want outcome.Trap) {
	t.Helper()
	text := strings.Replace(file("jmpmax = 32", commands), "minor = 7", "minor = 7\n"+everything, 1)
	w := load(t, text, Options{})
	b := w.file.Probes[0].Program.Bound
	out, _ := w.hit(0)
	if out.Trap != want || uint64(out.Steps) > uint64(b.Fuel) {
		t.Errorf("%q: %+v, want %v; %v", commands, out, want, b)
	}
	if want == outcome.TrapFuel && (b.Proved && b.Steps <= uint64(b.Fuel) || out.Steps != b.Fuel) {
		t.Errorf("%q: the bound is %v, and it took %d steps", commands, b, out.Steps)
	}
}

// A handler that sets itself again, and fails again.
func TestHandlerThatSetsItselfAgain(t *testing.T) {
	bounded(t, "sx H\npush d,8\npush mem,u8\nabort\nH: ros,3\nsx H\npush d,8\npush mem,u8\nabort", outcome.TrapFuel)
	bounded(t, "A: sx H\nB: jmp B\nH: ros,3\njmp A", outcome.TrapFuel)
	bounded(t, "A: sx H\npush d,1\npush d,2\npush d,3\nrx\nH: ros,3\njmp A", outcome.TrapFuel)
	bounded(t, "A: sx G\nsx H\npush d,8\npush mem,u8\nabort\nG: ros,3\njmp A\nH: ros,3\nsx G\npush d,8\npush mem,u8\nabort", outcome.TrapFuel)
}

// A loop goes on after the limit has been met: there, the limit was compared for equality, and caught.
func TestLoopAfterTheLimit(t *testing.T) {
	bounded(t, "sx H\nA: inc lv,0\njmp A\nH: ros,3\nB: inc lv,1\njmp B", outcome.TrapFuel)
	bounded(t, "sx H\npush d,0\nA: inc lv,0\nloop A\nexit\nH: ros,3\npush d,0\nB: inc lv,1\nloop B\nexit", outcome.TrapFuel)
	bounded(t, "push d,-1\nA: loop A\nexit", outcome.TrapFuel)
}

// Two calls on each of 31 levels are 2^31 calls, without a jump.
func TestCallFanOut(t *testing.T) {
	var b strings.Builder
	b.WriteString("call R0\nexit\n")
	for i := range 31 {
		fmt.Fprintf(&b, "R%d: call R%d\ncall R%d\nret\n", i, i+1, i+1)
	}
	b.WriteString("R31: nop\nret\n")
	bounded(t, b.String(), outcome.TrapFuel)
	deeper := strings.Replace(b.String(), "R31: nop\n", "R31: call R32\n", 1) + "R32: ret\n"
	if _, list := parseBody(t, deeper); !strings.Contains(list.Error(), "calls are nested more than 32 deep") {
		t.Errorf("33 levels: %v", list)
	}
	if _, list := parseBody(t, "call R\nexit\nR: call R\nret\n"); !strings.Contains(list.Error(), "a routine calls itself") {
		t.Errorf("recursion: %v", list)
	}
}

// The same with a circular stack, where recursion is allowed: calls are counted when they are made.
func TestRecursionOnACircularStack(t *testing.T) {
	w := load(t, file("stack = circular\njmpmax = 65535", "call R\nexit\nR: call R\nret"), Options{})
	if out, _ := w.hit(0); out.Trap != outcome.TrapCalls || out.Steps > 40 {
		t.Errorf("%+v", out)
	}
}

// Each of 31 frames has a handler; the innermost fails, and each handler fails again. The bound holds.
func TestNestedHandlers(t *testing.T) {
	var b strings.Builder
	b.WriteString("sx H\ncall R0\nexit\nH: inc lv,0\npush lv,0\nlog 1\nexit\n")
	for i := range 31 {
		fmt.Fprintf(&b, "R%d: sx H%d\ncall R%d\nret\nH%d: ros,3\ninc lv,0\npush d,1\npush d,0\ndiv\nabort\n", i, i, i+1, i)
	}
	b.WriteString("R31: push d,1\npush d,0\ndiv\nros,2\nret\n")
	w := load(t, file("jmpmax = 1000", b.String()), Options{})
	bound := w.file.Probes[0].Program.Bound
	out, logged := w.hit(0)
	if !bound.Proved || uint64(out.Steps) > bound.Steps || fmt.Sprint(logged) != "[32]" || out.Trap != outcome.NoTrap {
		t.Errorf("%+v logged %v; %v", out, logged, bound)
	}
}

// What a handler costs is part of the bound, also when the error comes late, and when a loop
// sets it each time round.
func TestBoundsWithHandlers(t *testing.T) {
	for _, c := range []struct {
		commands string
		most     uint64 // steps that are surely enough
	}{
		{"sx H\nnop\nnop\nnop\npush d,8\npush mem,u8\nabort\nH: nop\nnop\nnop\nexit", 7 + 4},
		{"sx H\npush r,rdi\njz A\nnop\nA: push d,8\npush mem,u8\nabort\nH: push d,4\nL: nop\nloop L\nexit", 7 + 1 + 2*4 + 1},
		{"push d,5\nL: sx H\nnop\nloop L\npush d,8\npush mem,u8\nabort\nH: nop\nnop\nexit", 1 + 3*5 + 3 + 3},
		{"call R\ncall R\nexit\nR: sx H\npush d,8\npush mem,u8\nros,1\nret\nH: ros,3\nret", 3 + 2*7},
	} {
		w := load(t, file("jmpmax = 1000", c.commands), Options{})
		bound := w.file.Probes[0].Program.Bound
		out, _ := w.hit(0)
		if !bound.Proved || uint64(out.Steps) > bound.Steps || bound.Steps > c.most || out.Trap != outcome.NoTrap {
			t.Errorf("%q: %+v; %v, want at most %d", c.commands, out, bound, c.most)
		}
	}
}

// What was trusted: targets of jumps, the end of the code, positions, depths, indexes one past the end.
func TestNothingIsTrusted(t *testing.T) {
	for commands, why := range map[string]string{
		"jmp gone":                     "unknown label",
		"sx gone\nexit":                "unknown label",
		"push d,1\nros,1":              "the program runs past its end",
		"push d,4\nrestore tsp\nexit":  "goes to a depth of 4, and can go to 0 to 0",
		"push lv,4\nexit":              "it is 4; it must be from 0 to 3",
		"push gv,2\nexit":              "it is 2; it must be from 0 to 1",
		"log lv,3,2\nexit":             "it is 2; it must be from 1 to 1",
		"add\nexit":                    "takes more from the stack than there is",
		"push d,1\ndup,40\nexit":       "the stack gets 41 words deep",
		"push d,1\nshl,64\nexit":       "it is 64; it must be from 0 to 63",
		"push d,1\npbl,65\nexit":       "it is 65; it must be from 1 to 64",
		"push d,1\nL: push d,2\njmp L": "the stack",
		"ret":                          "ret outside a routine",
	} {
		_, diags := Parse(diag.NewSource("test.dpdf", file("", commands)), Options{Arena: noArena{}})
		if !strings.Contains(diags.Error(), why) {
			t.Errorf("%q: %v, want %q", commands, diags, why)
		}
	}
	for _, c := range []struct {
		commands string
		trap     outcome.Trap
	}{
		{"push d,2\nneg\npop lp\nexit", outcome.TrapIndex},
		{"log lv,0,1\npush d,24\npop lp\nexit", outcome.TrapIndex},
		{"log st\npush d,1024\npop stp\nexit", outcome.TrapIndex},
		{"push d,4\npush lv\nlog 1\nexit", outcome.TrapIndex},
		{"push d,2\npush gv\nlog 1\nexit", outcome.TrapIndex},
	} {
		w := load(t, file("", c.commands), Options{})
		if out, _ := w.hit(0); out.Trap != c.trap {
			t.Errorf("%q: %+v", c.commands, out)
		}
	}
}

// A circular stack of 32 words starts as zeros, and over- and underflow turn it.
func TestCircularStack(t *testing.T) {
	var pushes strings.Builder
	for i := range 33 {
		fmt.Fprintf(&pushes, "push d,%d\n", i)
	}
	for commands, want := range map[string]string{
		"log 2":                           "[0 0]",
		"add\nlog 1":                      "[0]",
		pushes.String() + "ros,31\nlog 2": "[1 32]",
		pushes.String() + "log 1\nlog 1":  "[32 31]",
		"push d,7\nros,32\nlog 1":         "[7]",
		"sx H\npush d,7\npush d,8\npush mem,u8\nabort\nH: log 5": "[1 8 0 8 7]",
	} {
		w := load(t, file("stack = circular", commands+"\nexit"), Options{})
		if out, logged := w.hit(0); fmt.Sprint(logged) != want || out.Trap != outcome.NoTrap {
			t.Errorf("%q logged %v, want %s; %+v", commands, logged, want, out)
		}
	}
}

// TestLogMax: logmax counts the bytes of data, as DProbes' users do, whatever the log needs to
// store them. Text and memory are cut at it, and words that it has no room for are lost.
func TestLogMax(t *testing.T) {
	const word, text, memory = "push d,7\nlog 1\n", "push d,64\npush r,rdi\nlog str\n", "push d,64\npush r,rdi\nlog mrf\n"
	for _, c := range []struct {
		header, commands, want string
		lost                   bool
	}{
		{"logmax = 4", memory, `["seve"]`, false},
		{"logmax = 7", memory, `["sevente"]`, false},
		{"logmax = 8", memory, `["seventee"]`, false},
		{"logmax = 9", memory, `["seventeen"]`, false},
		{"logmax = 4", text, `["seve"]`, false},
		{"logmax = 9", text, `["seventeen"]`, false},
		{"logmax = 4", "push d,1\njz L\njmp M\nL: " + word + word + word + "M: " + text, `["seve"]`, false},
		{"logmax = 4", "push lv,1\njnz M\nL: " + text + "M: " + text, `["seve"]`, true},
		{"logmax = 7", word, "[]", true},
		{"logmax = 8", word, `["7"]`, false},
		{"logmax = 8", word + word, `["7"]`, true},
		{"logmax = 11", word + text, `["7" "sev"]`, false},
		{"logmax = 8", "log lv,0,1\n" + word, `["0"]`, true},
		{"logmax = 8", "log lv,0,2\n" + word, `["7"]`, true},
		{"logmax = 8", "setmin 3\n" + word + "setmaj 4\n", `["minor3" "7" "major4"]`, false},
		{"logmax = 8", "log lv,0,1\npush d,0\npop lp\n" + word, `["7"]`, false},
		{"logmax = 9", word + text + "push plp\npop lp\n" + text, `["7" "s"]`, false},
		{"logmax = 24\njmpmax = 100", "push d,4\nL: " + word + "loop L\n", `["7" "7" "7"]`, true},
		{"logmax = 80\njmpmax = 100", "push d,10\nL: " + word + "loop L\n", `["7" "7" "7" "7" "7" "7" "7" "7" "7" "7"]`, false},
		{"logmax = 4\nautostacktrace = yes", "sx H\n" + memory + "push d,8\npush mem,u8\nH: exit\n", `["seve" "command 5:\n"]`, false},
	} {
		w := load(t, file(c.header, c.commands+"exit"), Options{})
		out, logged := w.hit(0)
		if got := fmt.Sprintf("%q", logged); got != c.want || out.Trap != outcome.NoTrap {
			t.Errorf("%s, %q: logged %s, want %s; %+v", c.header, c.commands, got, c.want, out)
		}
		if _, lost := w.arena.Lost()["log full"]; lost != c.lost {
			t.Errorf("%s, %q: lost %v, want %v", c.header, c.commands, lost, c.lost)
		}
	}
}

// BenchmarkParse10000 reads, emits and verifies a file of 10,000 commands with loops and
// branches in it.
func BenchmarkParse10000(b *testing.B) {
	var text strings.Builder
	for i := range 76 {
		fmt.Fprintf(&text, "push d,10\nL%d: nop\n", i)
		for j := range 16 {
			fmt.Fprintf(&text, "push r,rdi\npush d,3\nmul\njz M%d_%d\ninc lv,1\nM%d_%d: nop\n", i, j, i, j)
		}
		fmt.Fprintf(&text, "loop L%d\n", i)
	}
	src := diag.NewSource("large.dpdf", file("jmpmax = 65535", text.String()+"exit"))
	for b.Loop() {
		f, diags := Parse(src, Options{Arena: noArena{}})
		if diags.HasErrors() {
			b.Fatal(diags)
		}
		b.ReportMetric(float64(len(f.Probes[0].Program.Code)), "commands")
	}
}

// sharedArrays declares one array of each name, of the greatest size, so that a long run does
// not fill the arena.
type sharedArrays struct {
	a   *arena.Arena
	ids map[string]int
}

func (s sharedArrays) Declare(o object.Object) (id int, err error) {
	id, known := s.ids[o.Name]
	if !known {
		o.Size = maxVars
		id, err = s.a.Declare(o)
		s.ids[o.Name] = id
	}
	return id, err
}

// openShared makes the arena for a run of the fuzzer.
func openShared(t testing.TB) sharedArrays {
	t.Helper()
	a, err := arena.New(arena.Options{Size: 16 << 20})
	if err != nil {
		t.Fatal(err)
	}
	return sharedArrays{a, map[string]int{}}
}

// FuzzRun runs whatever parses: it must end within its bound, without a trap that the verifier
// excludes, and log no more than it was said to. In the tree it runs on every command's tests,
// and on the programs above.
func FuzzRun(f *testing.F) {
	for _, c := range commandCases {
		f.Add(file("jmpmax = 10\nheapmax = 64", c.commands+"\nexit"))
	}
	f.Add(file("autostacktrace = yes\njmpmax = 100", "sx H\npush d,0\npush d,4\ntrace lv\ncall R\nabort\nR: push d,8\npush mem,u8\nret\nH: log 3\nlog st\npush lp\npop lp\nexit"))
	f.Add(file("stack = circular\njmpmax = 100", "sx H\nadd\nL: push d,8\npush mem,u8\nloop L\nH: log 5\njmp L"))
	shared, runs := openShared(f), 0
	f.Fuzz(func(t *testing.T, text string) {
		if runs++; runs%1000 == 0 { // an arena remembers every program
			shared.a.Close()
			shared = openShared(t)
		}
		file, _ := Parse(diag.NewSource("fuzz.dpdf", text), Options{Open: openTest, Arena: shared, Unsafe: true})
		if file == nil {
			return
		}
		for _, p := range file.Probes {
			checkRun(t, shared.a, p.Program, text)
		}
	})
}

// checkRun runs a program and compares what it does with its bound.
func checkRun(t *testing.T, a *arena.Arena, p *compile.Program, text string) {
	t.Helper()
	code, err := compile.Lower(p, compile.Env{Arena: a, Register: lookUp, WordSize: 8})
	checkListing(t, p)
	if err != nil {
		return // another architecture's register
	}
	var hit record.Log
	hit.Reset()
	out := runtime.NewMachine(a).Run(code, &runtime.Context{Thread: thread{}, Regs: []uint64{0, 0x1000, 5}, Word: 8}, &hit)
	impossible := out.Trap == outcome.TrapOp || !p.Wrap && (out.Trap == outcome.TrapStack || out.Trap == outcome.TrapCalls)
	if impossible || out.Steps > p.Bound.Fuel || p.Bound.Proved && uint64(out.Steps) > p.Bound.Steps || hit.Len() > p.Bound.LogBytes {
		t.Errorf("%+v, %d bytes logged, bound %v\n%s", out, hit.Len(), p.Bound, text)
	}
}
