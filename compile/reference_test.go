package compile

import (
	"fmt"
	"strings"
	"testing"

	"gotap/compile/dprobes"
)

// A referenceCommand is a command of DProbes 5.0 (its interpreter's opcodes, in their textual
// form) and what became of it.
type referenceCommand struct {
	name  string // as the list of refusals and the parser of definition files have it
	form  string // operands, as documentation shows them
	stack string // before and after, in this machine
	note  string // what differs from DProbes; for a refused command nothing: Refused has the reason
}

// reference has every command of DProbes. Package dpdf checks that each is taken, or refused
// with the reason.
var reference = []struct {
	group    string
	commands []referenceCommand
}{
	{"Execution and sequencing", []referenceCommand{
		{"nop", "", "( -- )", ""},
		{"jmp", " L", "( -- )", "charged like every command"},
		{"jlt", " L", "( v -- )", "v is taken; there it stays"}, {"jle", " L", "( v -- )", "the same"}, {"jgt", " L", "( v -- )", "the same"},
		{"jge", " L", "( v -- )", "the same"}, {"jz", " L", "( v -- )", "the same"}, {"jnz", " L", "( v -- )", "the same"},
		{"loop", " L", "( n -- n-1 )", "n is dropped when it has become 0"},
		{"call", " L", "( -- )", "charged; deeper than 32, or recursive without a circular stack, is refused"},
		{"ret", "", "( -- )", "outside a routine it is refused"},
		{"abort", "", "( -- )", ""}, {"remove", "", "( -- )", ""}, {"exit", "", "( -- )", ""},
		{"exit", " N", "( -- )", "1 stops the process for a debugger, 2 holds the thread until its record has been dealt with, both there the kernel's; 3 is a core of the process; others are facilities, 0 is none"},
		{"suspend", "", "", ""}, {"resume", "", "", ""}, {"callk", "", "", ""}, {"call_kmod", "", "", ""},
	}},
	{"Logging", []referenceCommand{
		{"setmin", "[,N]", "( [N] -- )", "without N: a word"}, {"setmaj", "[,N]", "( [N] -- )", "the same"},
		{"log str", "", "( maxlen addr -- )", "text that is cut is marked; a bad address is an exception, and no fault record is written"},
		{"log mrf", "", "( len addr -- )", "what does not fit is cut and marked"},
		{"log", ",N", "( wN … w1 -- )", "an item is logged whole or, counted, not at all"},
		{"log", "", "( wN … w1 N -- )", "N is a constant pushed just before"},
		{"log lv", "[,I,N]", "( [I N] -- )", "numbers behind it, or constants pushed just before"},
		{"log gv", "[,I,N]", "( [I N] -- )", "the same"},
		{"push lp", "", "( -- p )", "counted from the first item of this program"}, {"push plp", "", "( -- p )", ""},
		{"pop lp", "", "( p -- )", "only to where an item begins or the log ends; elsewhere an exception 0x40, p1 5"},
	}},
	{"Local and global variables", []referenceCommand{
		{"push lv", "[,I]", "( [i] -- v )", ""}, {"push gv", "[,I]", "( [i] -- v )", ""},
		{"pop lv", "[,I]", "( [i] v -- )", ""}, {"pop gv", "[,I]", "( [i] v -- )", ""},
		{"move lv", "[,I]", "( v [i] -- v )", ""}, {"move gv", "[,I]", "( v [i] -- v )", ""},
		{"inc lv", "[,I]", "( [i] -- )", "atomic"}, {"inc gv", "[,I]", "( [i] -- )", "atomic"},
		{"dec lv", "[,I]", "( [i] -- )", "atomic"}, {"dec gv", "[,I]", "( [i] -- )", "atomic"},
		{"alloc gv", "", "", ""}, {"free gv", "[,I]", "", ""},
	}},
	{"Arithmetic and logic", []referenceCommand{
		{"add", "", "( a b -- a+b )", ""}, {"sub", "", "( a b -- a-b )", "the order that DProbes left open"}, {"mul", "", "( a b -- a*b )", ""},
		{"and", "", "( a b -- r )", ""}, {"or", "", "( a b -- r )", ""}, {"xor", "", "( a b -- r )", ""},
		{"neg", "", "( a -- -a )", "two's complement; there one's"}, {"not", "", "( a -- ~a )", "DProbes' neg"},
		{"div", "", "( a b -- a%b a/b )", "unsigned"}, {"idiv", "", "( a b -- a%b a/b )", "signed; the smallest by -1 wraps"},
		{"shl", "[,N]", "( [n] v -- r )", "64 bits; n modulo 64"}, {"shr", "[,N]", "( [n] v -- r )", "the same"},
		{"rol", "[,N]", "( [n] v -- r )", "the same"}, {"ror", "[,N]", "( [n] v -- r )", "the same"},
		{"pbl", "[,I]", "( v [i] -- r )", "64 bits; i of 1 to 64, from the stack modulo 64"}, {"pbr", "[,I]", "( v [i] -- r )", "the same"},
		{"pzl", "[,I]", "( v [i] -- r )", "the same"}, {"pzr", "[,I]", "( v [i] -- r )", "the same"},
	}},
	{"Stack", []referenceCommand{
		{"xchg", "", "( a b -- b a )", ""}, {"dup", ",N", "( v -- v … v )", ""},
		{"dup", "", "( n v -- v … v )", "n is a constant pushed just before v: how deep the stack gets has to be known before the hit"},
		{"ros", ",N", "( v1 … vN -- )", ""},
		{"push tsp", "[,I]", "( -- v )", "without I: a constant pushed just before, also below"}, {"pop tsp", "[,I]", "( v -- )", ""}, {"copy tsp", "[,I]", "( v -- v )", ""},
		{"push sbp", "[,I]", "( -- v )", "counted upwards: 0 is the first word above the base, -1 the one below"}, {"pop sbp", "[,I]", "( v -- )", ""}, {"copy sbp", "[,I]", "( v -- v )", ""},
		{"save tsp", "", "( -- p )", "counted from the entry of the routine"}, {"restore tsp", "", "( p -- )", "p is what save gave, or a constant"},
		{"save sbp", "", "( -- p )", ""}, {"restore sbp", "", "( p -- )", "ret gives the caller's back"},
	}},
	{"Registers", []referenceCommand{
		{"push r", ",REG", "( -- v )", "one that the target does not have is an error when the program is bound"}, {"push u", ",REG", "( -- v )", "the same as r"},
		{"pop r", ",REG", "( v -- )", "with --unsafe"}, {"pop u", ",REG", "( v -- )", "the same as r"},
		{"push r,tr", "", "", ""}, {"push r,ldtr", "", "", ""}, {"push r,gdtr", "", "", ""}, {"push r,idtr", "", "", ""}, {"push r,cr0", "", "", ""},
		{"push r,cr2", "", "", ""}, {"push r,cr3", "", "", ""}, {"push r,cr4", "", "", ""}, {"push r,dr0", "", "", ""}, {"push r,dr7", "", "", ""},
		{"push r,cpuid", "", "", ""}, {"push r,msr", "", "", ""}, {"pop r,msr", "", "", ""}, {"push u,fcs", "", "", ""}, {"push u,fds", "", "", ""},
		{"push u", ",fr0 … fr7", "( -- high low )", "16 bits of sign and exponent, 64 of significand; there three words of 32 bits"},
		{"push u", ",xmm0 …", "( -- high low )", "there four words of 32 bits; v0 … on AArch64; d0 … on ARM are one word"},
		{"push u", ",fcw fsw ftw fip fdp mxcsr", "( -- v )", "the tag word is FXSAVE's, of 8 bits; fpcr, fpsr and fpscr on ARM"},
		{"pop u,xmm0", "", "", ""}, {"pop u,fr0", "", "", ""}, {"pop u,mxcsr", "", "", ""},
	}},
	{"Data, system variables, addresses, ports, heap", []referenceCommand{
		{"push d", ",N", "( -- N )", "an expression of 64 bits"},
		{"push mem", ",u8 u16 u32", "( p -- v )", ""}, {"push mem", ",u64", "( p -- v )", "one word; there two"},
		{"pop mem", ",u8 u16 u32", "( p v -- )", "with --unsafe"}, {"pop mem", ",u64", "( p v -- )", "the same, one word"},
		{"push task", "", "", ""}, {"push pid", "", "( -- v )", ""}, {"push procid", "", "( -- v )", ""}, {"push wid", "", "( -- -64 )", ""},
		{"vfy r", "", "( p -- 0 or 1 )", ""}, {"vfy rw", "", "( p -- 0 or 1 )", "nothing is written to find out"},
		{"seg2lin", "", "", ""}, {"push io", ",u8 u16 u32", "", ""}, {"pop io", ",u8 u16 u32", "", ""},
		{"malloc", "", "( n -- h )", "at most 64 blocks at a time; a block of 0 bytes is one"}, {"free", "", "( h -- )", "a handle is never used twice in a hit"},
		{"pushh", ",u8 u16 u32[,N]", "( h off -- v … )", "1 without N"}, {"pushh", ",u64[,N]", "( h off -- v … )", "each is one word; there two"},
		{"poph", ",u8 u16 u32[,N]", "( v … h off -- )", "the last is on top; one that lies outside ends it where it is"}, {"poph", ",u64[,N]", "( v … h off -- )", "the same, one word each"},
	}},
	{"Exceptions and stack trace", []referenceCommand{
		{"sx", " L", "( -- )", "serves once; L starts on the stack as it was at the entry of the routine, with p2 p1 code on top"}, {"ux", "", "( -- )", ""},
		{"rx", "", "( p2 p1 code -- )", "the words are taken; no mask stops it"}, {"push x", "", "( -- p2 p1 code )", "zeros when there was none"},
		{"log st", "", "( -- )", "the trace becomes one item when the program ends"}, {"purge st", "", "( -- )", ""},
		{"trace lv", "", "( i n -- )", ""}, {"trace gv", "", "( i n -- )", ""}, {"trace pv", "", "( i n -- )", "i is counted from the top"},
		{"push stp", "", "( -- p )", ""}, {"pop stp", "", "( p -- )", "more than there is: an exception 0x40, p1 5"},
	}},
}

// referenceTable is the reference as documentation.
func referenceTable() string {
	var b strings.Builder
	b.WriteString("\n# Commands of DProbes\n\nEvery command of DProbes 5.0, as definition files write it, and what became of it. In brackets is what may be left out and\n")
	b.WriteString("then comes from the stack. Words have 64 bits. Each command is charged at least one step, and nothing is charged less.\n")
	for _, g := range reference {
		fmt.Fprintf(&b, "\n## %s\n\n| command | state | stack | |\n|---|---|---|---|\n", g.group)
		for _, c := range g.commands {
			state, note := "done", c.note
			if why := dprobes.Refused(c.name); why != "" {
				state, note = "refused", why
			}
			fmt.Fprintf(&b, "| `%s%s` | %s | %s | %s |\n", c.name, c.form, state, c.stack, note)
		}
	}
	return b.String()
}

func TestReferenceHasReasons(t *testing.T) {
	for _, g := range reference {
		for _, c := range g.commands {
			if refused := dprobes.Refused(c.name) != ""; refused != (c.stack == "") {
				t.Errorf("%s: refused %v, and its stack is %q", c.name, refused, c.stack)
			}
		}
	}
}
