package dpdf

import (
	"fmt"
	"strings"
	"testing"

	"gotap/compile/diag"
	"gotap/runtime/object"
)

// noArena declares nothing.
type noArena struct{}

func (noArena) Declare(o object.Object) (int, error) { return 0, nil }

// Each case is a file and what is said of it.
var errorCases = []struct{ text, want string }{
	{file("", "psuh d,5\nexit"), "test.dpdf:10:1: error: unknown command \"psuh\"\n  psuh d,5\n  ^^^^\nhint: did you mean push d?\n"},
	{file("", "jmp nowhere\nexit"), "test.dpdf:10:5: error: unknown label \"nowhere\"\n  jmp nowhere\n      ^^^^^^^\n"},
	{file("", "here: jmp hre\nexit"), "hint: did you mean here?"},
	{file("", "here: here: exit"), `label "here" is defined twice`},
	{file("", "push d\nexit"), "push d takes one operand"},
	{file("", "push d,foo\nexit"), `"foo" is not a number, and not defined`},
	{file("", "push d,1/0\nexit"), "division by 0"},
	{file("", "push d,(1\nexit"), "closing bracket is missing"},
	{file("", "push d,1 1\nexit"), `"1" does not belong here`},
	{file("", "push d,1+\nexit"), "a number is missing after this"},
	{file("", "push d,,\nexit"), "an operand is missing"},
	{file("", "push mem,u7\nexit"), "takes u8, u16, u32 or u64"},
	{file("", "push lv,4\nexit"), "it is 4; it must be from 0 to 3"},
	{file("", "shl,64\nexit"), "it is 64; it must be from 0 to 63"},
	{file("", "pbl,0\nexit"), "it is 0; it must be from 1 to 64"},
	{file("", "push r,rdi\nlog\nexit"), "takes a number from the stack that is not known before the hit"},
	{file("", "push d,2\npush u,xmm0\ndup\nexit"), "dup takes a number from below the top that is not known before the hit"},
	{file("", "dup\nexit"), "dup takes a number from below the top that is not known before the hit"},
	{file("", "push d,2\nL: push r,rdi\ndup\nexit"), "dup takes a number from below the top"}, // loop comes from elsewhere
	{file("", "push d,2\npush r,rdi\npush r,rsi\ndup\nexit"), "dup takes a number from below the top"},
	{file("", "push d,256\npush r,rdi\ndup\nexit"), "the number is 256; it must be from 0 to 255"},
	{file("", "exit 256"), ""},
	{file("", "exit -1"), ""},
	{file("", "add\nexit"), "takes more from the stack than there is"},
	{file("", "push d,1"), "the program runs past its end"},
	{file("", "push d,1\npop r,rax\nexit"), "run with --unsafe"},
	{file("", "push io,u8\nexit"), "I/O ports cannot be read from a user program"},
	{file("", "push r, cr0\nexit"), "it is a register of the kernel"},
	{file("", "callk\nexit"), "it calls into the kernel"},
	{file("", "push task\nexit"), "use push pid"},
	{file("", "sx L\nexit"), "unknown label \"L\""},
	{file("", "push d,1\npush d,2\nrx"), "takes more from the stack than there is"},
	{file("", "sx L\nexit\nL: ros,4\nexit"), "takes more from the stack than there is"},
	{file("", "sx L\nL: save tsp\nrestore tsp\nexit"), "the stack is not equally deep on all ways to here"},
	{file("", "push d,5\ncall R\nexit\nR: sx L\nros,1\npush d,0\nret\nL: ros,3\nret"), "takes words of its caller from the stack, and a handler would not find them"},
	{file("", "push r,rdi\nrestore tsp\nexit"), "the depth that it goes back to is not known"},
	{file("", "push d,1\nrestore tsp\nexit"), "goes to a depth of 1, and can go to 0 to 0"},
	{file("", "push d,-1\nrestore tsp\nexit"), "goes to a depth of -1, and can go to 0 to 0"},
	{file("", "push sbp,0\nexit"), "the stack has no word 0 above the base"},
	{file("", "push d,1\npop sbp,-1\nexit"), "the stack has no word -1 above the base"},
	{file("", "call R\nexit\nR: push d,1\npush sbp,0\nros,2\nret"), "the base of the stack is not known here"},
	{file("stack = circular", "save tsp\nrestore tsp\nexit"), "a circular stack has no depth to go back to"},
	{file("stack = 2", "sx L\nexit\nL: exit"), "the stack gets 3 words deep"},
	{file("", "log st 5\nexit"), "log st takes no operand"},
	{file("ex_logmax = 2000", "exit"), "ex_logmax is 2000; it must be from 0 to 1024"},
	{file("autostacktrace = 2", "exit"), "autostacktrace must be yes or no"},
	{file("", "push d,4\npush d,1\nlog lv\nexit"), "variables 4 to 4 do not exist: the header declares 4"},
	{file("", "push d,1\nlog lv\nexit"), "log lv takes a number from the stack that is not known before the hit"},
	{file("", "push d,8\nmalloc\nexit"), "test.dpdf:11:1: error: the header does not declare the size of the heap\n  malloc\n  ^^^^^^\nhint: heapmax = 1024"},
	{strings.Replace(file("heapmax = 64", "push d,8\nmalloc\nexit"), "minor = 7", "heap = 0", 1), "does not declare the size of the heap"},
	{file("heapmax = 64", "pushh,u9\nexit"), "pushh takes u8, u16, u32 or u64"},
	{file("heapmax = 64", "poph,u8,0\nexit"), "it is 0; it must be from 1 to 254"},
	{file("heapmax = 64", "pushh\nexit"), "another number of operands"},
	{file("heapmax = 64", "free\nexit"), "takes more from the stack than there is"},
	{file("heapmax = 16385", "exit"), "heapmax is 16385; it must be from 0 to 16384"},
	{strings.Replace(file("", "exit"), "minor = 7", "ex_mask = 0x10000", 1), "ex_mask is 65536; it must be from 0 to 65535"},
	{file("", ""), "the probe has no commands"},
	{file("", "L:"), "the probe has no commands"},
	{file("", "push d,1\njz L\nexit\nL:"), "test.dpdf:11:1: error: the program runs past its end"},
	{file("modtpye = user", "exit"), "did you mean modtype?"},
	{file("minor = 3", "exit"), "minor belongs to a probe"},
	{file("major = 2", "exit"), "major is set a second time; the first is at test.dpdf:3:1"},
	{file("logmax = 2000", "exit"), "logmax is 2000; it must be from 0 to 1024"},
	{file("", "exit\nminor = 3"), "minor stands after the commands of the probe"},
	{"name = x\nmodtype = kernel\noffset = f\nexit", "the kernel and its modules cannot be probed"},
	{"modtype = user\noffset = f\nexit", "does not name its module"},
	{"name = x\n", "the file defines no probes"},
	{"name = x\nexit\n", "a command stands before the first probe"},
	{"name = x\noffset = f - 4\nexit", "the place lies before f"},
	{"name = x\noffset = f * 4\nexit", "only a number can be added to a symbol"},
	{"name = x\noffset = \nexit", "a number is missing"},
	{"name = x\noffset = Foo<int>::bar\nexit", "hint: a symbol with other characters, as of C++, stands in quotes"},
	{"name = x\nvars = 300\noffset = f\nexit", "vars is 300; it must be from 0 to 256"},
	{"name = x\noffset = f\npush lv,0\nexit", "hint: vars = 1"},
	{"name = \"x\noffset = f\nexit", "the quoted text does not end"},
	{"/* name = x", "the comment does not end"},
	{"#ifdef A\nname = x", "this has no #endif"},
	{"#endif", "no #if, #ifdef or #ifndef"},
	{"#else", "no #if, #ifdef or #ifndef"},
	{"#elif 1", "no #if, #ifdef or #ifndef before this #elif"},
	{"#ifdef A\n#else\n#else\n#endif", "a second #else"},
	{"#if 0\n#else\n#elif 1\n#endif", "an #elif after #else"},
	{"#if\n#endif", "test.dpdf:1:1: error: a number is missing"},
	{"#if 1 +\n#endif", "a number is missing after this"},
	{"#if 0\ncaf\xe9\n#endif\n#error ISO 8859", "error: #error ISO 8859"},
	{"name = x\noffset = f\nlog lv,0,1\nexit", "the header does not declare how many variables lv there are"},
	{"#if 1/0\n#endif", "test.dpdf:1:6: error: division by 0\n  #if 1/0\n       ^\n"},
	{"#if A(1)\n#endif", `"(" does not belong here`},
	{"#if 1 ? 2\n#endif", "this ? has no :"},
	{"#if defined\n#endif", "defined takes one name"},
	{"#if defined(A\n#endif", "defined takes one name"},
	{"#ifdef A B\n#endif", "#ifdef takes one name"},
	{"#if 1", "this has no #endif"},
	{"#error the page is 4096 bytes", "test.dpdf:1:1: error: #error the page is 4096 bytes\n  #error the page is 4096 bytes\n  ^^^^^"},
	{"#define F(x x) y", "these are not parameters of a macro"},
	{"#define F(x", "these are not parameters of a macro"},
	{"#define F(..., x) x", "these are not parameters of a macro"},
	{"#define F(x, x) x", "these are not parameters of a macro"},
	{"#define F(x) #y", "# stands before a parameter"},
	{"#define F(x) x ##", "## stands between two words"},
	{"#define defined 1", "#define takes a name"},
	{"#define F(x) x\n" + file("", "push d,F(1,2)\nexit"), "test.dpdf:11:8: error: F takes 1 argument\n  push d,F(1,2)\n         ^\n"},
	{"#define F(x, ...) x\n" + file("", "push d,F()\nexit"), "an operand is missing"},
	{"#define F(x, y) x\n" + file("", "push d,F(1\nexit"), "the arguments of F do not end"},
	{"#define F(x) x ## -\n" + file("", "push d,F(1)\nexit"), `## cannot join "1" and "-" into one word`},
	{"#define F(x) push r,#x\n" + file("", "F(a \"b\" c)\nexit"), "# cannot quote text that contains quotes"},
	{"#define F(x) x\n" + file("", "push d,"+strings.Repeat("F(", 200)+"1"+strings.Repeat(")", 200)+"\nexit"), "macros are nested more than 100 deep"},
	{strings.Replace(strings.Repeat("#include \"wide\"\n", 1), "wide", "wide0", 1), "more than 1000 files are included"},
	{"#define", "#define takes a name"},
	{"#frob", "unknown directive #frob"},
	{"#include <x>", "cannot include <x>: no -I is given"},
	{"#include x", "#include takes a quoted path, or one in <>"},
	{"#include \"self\"", "self:1:10: error: self includes itself without end\n  #include \"self\"\n           ^^^^^^\nhint: #pragma once"},
	{file("", "push d,"+strings.Repeat("(", 200)+"1\nexit"), "more than 100 brackets"},
	{doubling(40), "macros make a line of more than 1000 words"},
	{"#include \"gone\"", "cannot include: no file gone"},
}

// doubling is a file whose macros make 2^n words of one.
func doubling(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "#define A%d A%d A%d\n", i, i+1, i+1)
	}
	return b.String() + file("", "push d,A0\nexit")
}

// openTest has two files.
func openTest(path string) ([]byte, error) {
	switch path {
	case "self":
		return []byte("#include \"self\"\n"), nil
	case "lib/common":
		return []byte("#define SIZE 16\n#include \"more\"\n"), nil
	case "guarded":
		return []byte("#ifndef GUARDED\n#define GUARDED\n#include \"guarded\"\n#include \"once\"\n#endif\n"), nil
	case "once":
		return []byte("#pragma once\n#include \"once\"\n#include \"once\"\n"), nil
	case "dir/sys.h":
		return []byte("#define SYS 4UL\n#include \"bad\"\n"), nil
	case "dir/bad":
		return []byte("\n  psuh d,SYS // included\n"), nil
	case "lib/more":
		return []byte("#define TWICE (SIZE*2)\n#define LOOP LOOP+1\n"), nil
	}
	if n, ok := strings.CutPrefix(path, "wide"); ok && len(n) < 5 {
		return []byte(strings.Repeat(fmt.Sprintf("#include \"wide%s0\"\n", n), 10)), nil
	}
	return nil, fmt.Errorf("no file %s", path)
}

func TestErrors(t *testing.T) {
	for _, c := range errorCases {
		_, diags := Parse(diag.NewSource("test.dpdf", c.text), Options{Open: openTest, Arena: noArena{}})
		if text := diags.Error() + "\n"; !diags.HasErrors() || !strings.Contains(text, c.want) {
			t.Errorf("%q\nsaid %s\nwant %s", c.text, text, c.want)
		}
	}
}

func TestAllErrorsAreReported(t *testing.T) {
	_, diags := Parse(diag.NewSource("test.dpdf", file("foo = 1", "psuh d,1\njmp x\npush d,y\nexit")), Options{Arena: noArena{}})
	if len(diags) != 4 { // the header, the first bad command, the label and the operand
		t.Errorf("%d: %v", len(diags), diags)
	}
	// What a program does as a whole is looked at in the probes that are right themselves.
	other := "\noffset = more\nmaxhits = 3\njmp gone\nexit\noffset = last\nadd\nexit"
	_, diags = Parse(diag.NewSource("test.dpdf", file("", "push d,y\nadd\nexit")+other), Options{Arena: noArena{}})
	want := []string{`:10:8: error: "y"`, `:15:1: error: unknown keyword "maxhits"`, `:16:5: error: unknown label "gone"`, `:19:1: error: takes more`}
	for i, d := range diags {
		if len(diags) != len(want) || !strings.Contains(d.String(), want[i]) {
			t.Errorf("%d: %v", len(diags), diags)
			break
		}
	}
	// Without what could not be included, its labels are not known to be missing.
	_, diags = Parse(diag.NewSource("test.dpdf", file("", "#include \"gone\"\njmp x\nexit")), Options{Arena: noArena{}, Open: openTest})
	if len(diags) != 1 {
		t.Errorf("%d: %v", len(diags), diags)
	}
	_, diags = Parse(diag.NewSource("test.dpdf", file("", "jmp x\npush d,y\nexit")), Options{Arena: noArena{}})
	if len(diags) != 2 {
		t.Errorf("%d: %v", len(diags), diags)
	}
}

func TestPreprocessor(t *testing.T) {
	text := file("", `#include "lib/common"
#define FIVE 5
#ifdef DEBUG
push d,1
#else
push d,FIVE
#endif
#ifndef DEBUG
push d,TWICE \
  + 1
#ifdef NOT
push d,99
#else
push d,3 // three
#endif
#endif
#undef FIVE
#ifdef FIVE
push d,98
#endif
push d,LIMIT
log 4
exit`)
	w := load(t, text, Options{Open: openTest, Defs: map[string]string{"LIMIT": "0x10 + 1"}})
	if _, logged := w.hit(0); fmt.Sprint(logged) != "[17 3 33 5]" {
		t.Errorf("logged %v", logged)
	}
}

func TestMacrosKeepPositions(t *testing.T) {
	_, diags := Parse(diag.NewSource("test.dpdf", "#define N y\n"+file("", "push d,N\nexit")), Options{Arena: noArena{}})
	want := "test.dpdf:11:8: error: \"y\" is not a number, and not defined\n  push d,N\n         ^\n"
	if got := diags.Error() + "\n"; got != want {
		t.Errorf("got %s", got)
	}
}

// Errors in an included file are told there, where it is included, and carets point at what a macro was given.
func TestErrorsKeepTheirFile(t *testing.T) {
	text := "#define PUSH(a, b) push d,b + a\n" + file("", "jmp gone\n#include <sys.h>\nPUSH(1, 2 3)\nexit")
	_, diags := Parse(diag.NewSource("test.dpdf", text), Options{Arena: noArena{}, Open: openTest, Include: []string{"none", "dir"}})
	want := "test.dpdf:11:5: error: unknown label \"gone\"\n  jmp gone\n      ^^^^\n" +
		"dir/bad:2:3: error: unknown command \"psuh\"\n    psuh d,SYS // included\n    ^^^^\nhint: did you mean push d?\n" +
		"test.dpdf:13:11: error: \"3\" does not belong here\n  PUSH(1, 2 3)\n            ^\n"
	if got := diags.Error() + "\n"; got != want {
		t.Errorf("got %s", got)
	}
}

func FuzzParse(f *testing.F) {
	f.Add(paper)
	for _, c := range errorCases {
		f.Add(c.text)
	}
	for _, c := range commandCases {
		f.Add(file("", c.commands))
	}
	f.Fuzz(func(t *testing.T, text string) {
		file, diags := Parse(diag.NewSource("fuzz.dpdf", text), Options{Open: openTest, Arena: noArena{}, Unsafe: true})
		if (file == nil) != diags.HasErrors() {
			t.Error("neither a file nor an error")
		}
		_ = diags.Error()
		if file == nil {
			return
		}
		for _, p := range file.Probes {
			if !p.Program.Bound.Verified {
				t.Error("a program was not verified")
			}
		}
	})
}
