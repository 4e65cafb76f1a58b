package dpdf

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"testing"

	"gotap/compile"
	"gotap/compile/diag"
	"gotap/runtime"
	"gotap/runtime/arena"
	"gotap/runtime/outcome"
	"gotap/runtime/record"
	"gotap/runtime/value"
)

// thread is a target: text at 0x1000, and everything below 0x100 unreadable.
type thread struct{}

const content = "seventeen\x00after it"

func (thread) ReadMemory(addr uint64, p []byte) int {
	if addr < 0x1000 || addr >= 0x1000+uint64(len(content)) {
		return 0
	}
	return copy(p, content[addr-0x1000:])
}
func (thread) WriteMemory(addr uint64, p []byte) bool { return addr >= 0x1000 }
func (thread) Writable(addr, n uint64) bool           { return addr >= 0x1000 }
func (thread) Arg(n int) (uint64, bool)               { return 0, false }
func (thread) FloatWord(n int) (uint64, bool)         { return uint64(n) * 3, n < 8 }
func (thread) ArgFloat(n int) (float64, bool)         { return 0, false }
func (thread) Return() uint64                         { return 0 }
func (thread) SetReturn(v uint64)                     {}
func (thread) Field(f runtime.Field) uint64           { return 100 + uint64(f) }
func (thread) Text(f runtime.TextField, p []byte) int { return 0 }
func (thread) Stack(pcs []uint64) int                 { return 0 }

// lookUp knows rdi, whose value is 0x1000, and ecx.
func lookUp(name string) (index, bits, shift int, ok bool) {
	switch name {
	case "rdi":
		return 1, 64, 0, true
	case "ecx":
		return 2, 32, 0, true
	case "xmm2":
		return runtime.FloatWords + 4, 64, 0, true
	case "xmm2h":
		return runtime.FloatWords + 5, 64, 0, true
	case "fcw":
		return runtime.FloatWords + 80, 64, 0, true // which the thread of these tests does not have
	}
	return 0, 0, 0, false
}

// world is an arena with one file in it.
type world struct {
	t     *testing.T
	arena *arena.Arena
	file  *File
}

// load reads a definition file that must be right.
func load(t *testing.T, text string, o Options) *world {
	t.Helper()
	a, err := arena.New(arena.Options{Size: 8 << 20})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.Close() })
	o.Arena = a
	f, diags := Parse(diag.NewSource("test.dpdf", text), o)
	if err := diags.Err(); err != nil {
		t.Fatal(err)
	}
	for _, p := range f.Probes {
		checkListing(t, p.Program)
	}
	return &world{t, a, f}
}

// checkListing assembles the listing of a program again: every program of these tests must come
// out byte by byte.
func checkListing(t *testing.T, p *compile.Program) {
	t.Helper()
	var listing strings.Builder
	if err := compile.List(&listing, p, compile.ListOptions{}); err != nil {
		t.Fatal(err)
	}
	again, diags := compile.Assemble(diag.NewSource("listing", listing.String()))
	if err := diags.Err(); err != nil {
		t.Fatalf("%v\n%s", err, listing.String())
	}
	want, err := p.MarshalBinary()
	got, errAgain := again.MarshalBinary()
	if err != nil || errAgain != nil || !bytes.Equal(got, want) {
		t.Fatalf("assembled to something else, %v, %v:\n%s", err, errAgain, listing.String())
	}
}

// hit runs a probe's program once, and gives what it logged, as text.
func (w *world) hit(probe int) (outcome.Outcome, []string) {
	w.t.Helper()
	p := w.file.Probes[probe].Program
	c, err := compile.Lower(p, compile.Env{Arena: w.arena, Register: lookUp, WordSize: 8})
	if err != nil {
		w.t.Fatal(err)
	}
	var hit record.Log
	hit.Reset()
	ctx := runtime.Context{Thread: thread{}, Regs: []uint64{0, 0x1000, 0xffff_ffff_0000_0005}, Word: 8}
	out := runtime.NewMachine(w.arena).Run(c, &ctx, &hit)
	if p.Bound.Proved && uint64(out.Steps) > p.Bound.Steps {
		w.t.Errorf("%d steps, proved %v", out.Steps, p.Bound)
	}
	if !hit.HasItems() {
		return out, nil
	}
	if !w.arena.Commit(record.Header{Program: c.ID}, &hit) {
		w.t.Fatal("the ring is full")
	}
	r, _ := w.arena.Next()
	var logged []string
	for _, item := range r.Items {
		for _, v := range item.Values {
			if v.Kind == value.KindUint {
				logged = append(logged, fmt.Sprint(item.Format.Text, v.Int))
			} else {
				logged = append(logged, v.Text)
			}
		}
	}
	return out, logged
}

// file is a definition file with one probe of some commands.
func file(header, commands string) string {
	return "name = say\nmodtype = user\nmajor = 1\nvars = 4\nglobals = 2\n" + header + "\noffset = say\nopcode = 0x55\nminor = 7\n" + commands + "\n"
}

// Each case is commands and the words they leave, the top last, or a trap.
var commandCases = []struct {
	commands string
	want     []int64
	trap     outcome.Trap
}{
	{"nop", nil, 0},
	{"push d,5", []int64{5}, 0},
	{"push d, -1", []int64{-1}, 0},
	{"push d,0xffffffffffffffff", []int64{-1}, 0},
	{"push d,(2+3)*4-6/2", []int64{17}, 0},
	{"push d,1<<40|1", []int64{1<<40 | 1}, 0},
	{"push d,~0 ^ 2", []int64{-3}, 0},
	{"push d,7 % 4 & 3 >> 1", []int64{1}, 0},
	{"push d,6\npush d,7\nadd", []int64{13}, 0},
	{"push d,6\npush d,7\nsub", []int64{-1}, 0},
	{"push d,6\npush d,7\nmul", []int64{42}, 0},
	{"push d,0xf0\npush d,0x3c\nand", []int64{0x30}, 0},
	{"push d,0xf0\npush d,0x3c\nor", []int64{0xfc}, 0},
	{"push d,0xf0\npush d,0x3c\nxor", []int64{0xcc}, 0},
	{"push d,5\nneg", []int64{-5}, 0},
	{"push d,5\nnot", []int64{-6}, 0},
	{"push d,47\npush d,5\ndiv", []int64{2, 9}, 0},
	{"push d,-1\npush d,2\ndiv", []int64{1, math.MaxInt64}, 0},
	{"push d,-47\npush d,5\nidiv", []int64{-2, -9}, 0},
	{"push d,1\npush d,0\ndiv", nil, outcome.TrapDivide},
	{"push d,1\npush d,0\nidiv", nil, outcome.TrapDivide},
	{"push d,3\nshl,4", []int64{48}, 0},
	{"push d,48\nshr,4", []int64{3}, 0},
	{"push d,-1\nshr,60", []int64{15}, 0},
	{"push d,4\npush d,3\nshl", []int64{48}, 0},
	{"push d,4\npush d,48\nshr", []int64{3}, 0},
	{"push d,1\nror,1", []int64{math.MinInt64}, 0},
	{"push d,1\npush d,1\nror", []int64{math.MinInt64}, 0},
	{"push d,-9223372036854775807-1\nrol,1", []int64{1}, 0},
	{"push d,1\npush d,3\nrol", []int64{6}, 0},
	{"push d,0x0c\npbl,4", []int64{-4}, 0},
	{"push d,0x04\npbl,4", []int64{4}, 0},
	{"push d,0x0c\npush d,4\npbl", []int64{-4}, 0},
	{"push d,-5\npbl,64", []int64{-5}, 0},
	{"push d,0x5c\npbr,4", []int64{0x5f}, 0},
	{"push d,0x54\npbr,4", []int64{0x50}, 0},
	{"push d,0x5c\npush d,4\npbr", []int64{0x5f}, 0},
	{"push d,0x54\npush d,4\npbr", []int64{0x50}, 0},
	{"push d,0x5c\npzl,4", []int64{0x0c}, 0},
	{"push d,0x5c\npush d,4\npzl", []int64{0x0c}, 0},
	{"push d,0x5f\npzr,4", []int64{0x58}, 0},
	{"push d,0x5f\npush d,4\npzr", []int64{0x58}, 0},
	{"push d,5\npush d,3\nxchg", []int64{3, 5}, 0},
	{"push d,5\ndup,2", []int64{5, 5, 5}, 0},
	{"push d,2\npush d,5\ndup", []int64{5, 5, 5}, 0},
	{"push d,9\npush d,0\npush d,5\ndup", []int64{9, 5}, 0},
	{"push d,2\npush wid\ndup\nros,1\nadd", []int64{-128}, 0},
	{"push d,5\npush d,6\npush d,7\nros,2", []int64{5}, 0},
	{"push d,5\npush d,6\npush tsp,1", []int64{5, 6, 5}, 0},
	{"push d,5\npush d,6\npush d,1\npush tsp", []int64{5, 6, 5}, 0},
	{"push d,5\npush d,6\npush d,7\npop tsp,2", []int64{7, 6}, 0},
	{"push d,5\npush d,6\npush d,7\ncopy tsp,2", []int64{7, 6, 7}, 0},
	{"push r,rdi", []int64{0x1000}, 0},
	{"push u, rdi", []int64{0x1000}, 0},
	{"push r,ecx", []int64{5}, 0},
	{"push u,xmm2", []int64{15, 12}, 0},
	{"push u,fcw", nil, outcome.TrapRegister},
	{"push r,rdi\npush mem,u8", []int64{'s'}, 0},
	{"push r,rdi\npush mem,u16", []int64{'s' | 'e'<<8}, 0},
	{"push r,rdi\npush mem,u32", []int64{'s' | 'e'<<8 | 'v'<<16 | 'e'<<24}, 0},
	{"push r,rdi\npush mem,u64\nshr,56", []int64{'e'}, 0},
	{"push d,8\npush mem,u8", nil, outcome.TrapRead},
	{"push d,0x1000\npush d,1\npop mem,u8", nil, 0},
	{"push d,8\npush d,1\npop mem,u32", nil, outcome.TrapWrite},
	{"push d,9\npop r,rdi\npush r,rdi", []int64{9}, 0},
	{"push pid", []int64{100 + int64(runtime.FieldPid)}, 0},
	{"push procid", []int64{100 + int64(runtime.FieldCPU)}, 0},
	{"push wid", []int64{-64}, 0},
	{"push r,rdi\nvfy r", []int64{0}, 0},
	{"push d,8\nvfy r", []int64{1}, 0},
	{"push r,rdi\nvfy rw", []int64{0}, 0},
	{"push d,8\nvfy rw", []int64{1}, 0},
	{"push lv,0", []int64{0}, 0},
	{"push d,7\npop lv,1\npush lv,1\npush lv,0", []int64{7, 0}, 0},
	{"push d,1\npush d,7\npop lv\npush d,1\npush lv", []int64{7}, 0},
	{"push d,7\nmove lv,3\npush lv,3", []int64{7, 7}, 0},
	{"push d,7\npush d,3\nmove lv\npush lv,3", []int64{7, 7}, 0},
	{"inc lv,2\ninc lv,2\ndec lv,2\npush lv,2", []int64{1}, 0},
	{"push d,2\ninc lv\npush d,2\ndec lv\npush d,2\ninc lv\npush lv,2", []int64{1}, 0},
	{"inc gv,1\npush gv,1", []int64{1}, 0},
	{"push d,7\npop gv,0\npush d,0\npush gv\npush d,9\nmove gv,1\ndec gv,1\npush gv,1", []int64{7, 9, 8}, 0},
	{"push d,9\npop u,rdi\npush u,rdi", []int64{9}, 0},
	{"push r,rdi\npush lv", nil, outcome.TrapIndex},
	{"push d,3\nL: dec lv,0\nloop L\npush lv,0", []int64{-3}, 0},
	{"push d,1\njz L\npush d,5\njmp M\nL: push d,6\nM:", []int64{5}, 0},
	{"push d,0\njz L\npush d,5\njmp M\nL: push d,6\nM:", []int64{6}, 0},
	{"push d,-1\njlt L\nabort\nL: push d,0\njle M\nabort\nM: push d,1\njgt N\nabort\nN: push d,0\njge O\nabort\nO: push d,1\njnz P\nabort\nP:", nil, 0},
	{"call R\ncall R\njmp E\nR: inc lv,0\nret\nE: push lv,0", []int64{2}, 0},
	{"L: jmp L", nil, outcome.TrapFuel},

	// Exceptions: the handler finds p2 p1 code.
	{"sx H\npush d,8\npush mem,u8\nabort\nH:", []int64{0, 8, 0x1}, 0},
	{"push d,5\nsx H\npush d,8\npush d,1\npop mem,u8\nabort\nH:", []int64{0, 8, 0x1}, 0},
	{"sx H\npush d,1\npush d,0\ndiv\nabort\nH:", []int64{0, 0, 0x20}, 0},
	{"sx H\npush d,4\npush lv\nabort\nH:", []int64{4, 1, 0x40}, 0},
	{"sx H\npush d,9\npush d,-1\npop gv\nabort\nH:", []int64{9, 2, 0x40}, 0},
	{"sx H\npush d,3\npop lp\nabort\nH:", []int64{3, 5, 0x40}, 0},
	{"sx H\npush d,1\npop stp\nabort\nH:", []int64{1, 5, 0x40}, 0},
	{"sx H\npush d,1\npush d,2\npush d,0x8000\nrx\nH:", []int64{1, 2, 0x8000}, 0},
	{"push d,1\npush d,2\npush d,0x8000\nrx", nil, outcome.TrapUser},
	{"sx H\nux\npush d,1\npush d,0\ndiv\nabort\nH: abort", nil, outcome.TrapDivide},
	{"push x", []int64{0, 0, 0}, 0},
	{"sx H\npush d,1\npush d,0\ndiv\nabort\nH: ros,3\npush x", []int64{0, 0, 0x20}, 0},
	// A handler serves once: the second error ends the program.
	{"sx H\npush d,1\npush d,0\ndiv\nabort\nH: push d,1\npush d,0\ndiv\nabort", nil, outcome.TrapDivide},
	// The frame that called handles what its routine does not; rx from a handler goes further out.
	{"sx H\ncall R\nabort\nR: push d,1\npush d,0\ndiv\nret\nH:", []int64{0, 0, 0x20}, 0},
	{"sx H\ncall R\nabort\nR: sx G\npush d,1\npush d,0\ndiv\nret\nG: ros,1\npush d,77\nrx\nH:", []int64{0, 0, 77}, 0},
	// A routine that handles its errors returns as if nothing had been.
	{"push d,5\ncall R\njmp E\nR: sx G\npush d,1\npush d,0\ndiv\nros,2\nret\nG: ros,3\nret\nE: push x\nxchg\nros,1\nros,1", []int64{5, 0}, 0},

	// Depths of the stack. Those that are saved count from the entry of the routine.
	{"push d,5\nsave tsp\npush d,6\npush d,7\npush tsp,2\nrestore tsp", []int64{5}, 0},
	{"push d,5\nsave tsp", []int64{5, 1}, 0},
	{"push d,5\nsave sbp", []int64{5, 0}, 0},
	{"push d,5\npush d,6\nsave tsp\nrestore sbp\nsave sbp\npush d,7\npush sbp,0\npush sbp,-2", []int64{5, 6, 2, 7, 2, 5}, 0},
	{"push d,5\npush d,6\npush d,1\npush sbp", []int64{5, 6, 6}, 0},
	{"push d,5\npush d,6\npush d,7\npop sbp,0", []int64{7, 6}, 0},
	{"push d,5\npush d,6\npush d,7\ncopy sbp,0", []int64{7, 6, 7}, 0},
	{"push d,5\ncall R\njmp E\nR: save tsp\nrestore sbp\npush d,6\npush sbp,-1\nxchg\nros,1\nret\nE: save sbp", []int64{5, 5, 0}, 0},

	// The heap: handles count from 1, and a new hit has none.
	{"push d,8\nmalloc\npush d,8\nmalloc", []int64{1, 2}, 0},
	{"push d,0\nmalloc", []int64{1}, 0},
	{"push d,8\nmalloc\nfree\npush d,8\nmalloc", []int64{2}, 0},
	{"push d,64\nmalloc\nfree\npush d,64\nmalloc\nfree\npush d,64\nmalloc", []int64{3}, 0},
	{"push d,64\nmalloc\npop lv,0\npush d,0x1122334455667788\npush lv,0\npush d,8\npoph,u64\npush lv,0\npush d,8\npushh,u8\npush lv,0\npush d,14\npushh,u16\npush lv,0\npush d,12\npushh,u32\npush lv,0\npush d,8\npushh,u64", []int64{0x88, 0x1122, 0x11223344, 0x1122334455667788}, 0},
	{"push d,64\nmalloc\npop lv,0\npush d,-1\npush lv,0\npush d,0\npoph,u8\npush d,-1\npush lv,0\npush d,2\npoph,u16\npush d,-1\npush lv,0\npush d,8\npoph,u32\npush lv,0\npush d,0\npushh,u64,2", []int64{0xffff00ff, 0xffffffff}, 0},
	{"push d,3\nmalloc\npop lv,0\npush d,7\npush d,8\npush d,9\npush lv,0\npush d,0\npoph,u8,3\npush lv,0\npush d,0\npushh,u8,3\npush lv,0\npush d,0\npushh,u16", []int64{7, 8, 9, 0x0807}, 0},
	{"push d,8\nmalloc\npush d,0\npushh,u8,4", []int64{0, 0, 0, 0}, 0},
	{"push d,65\nmalloc", nil, outcome.TrapHeap},
	{"push d,-1\nmalloc", nil, outcome.TrapHeap},
	{"push d,60\nmalloc\npush d,1\nmalloc", nil, outcome.TrapHeap},
	{"push d,0\nfree", nil, outcome.TrapHandle},
	{"push d,8\nmalloc\nfree\npush d,1\nfree", nil, outcome.TrapHandle},
	{"push d,8\nmalloc\npush d,8\npushh,u8", nil, outcome.TrapOffset},
	{"push d,7\nmalloc\npush d,4\npushh,u32", nil, outcome.TrapOffset},
	{"push d,8\nmalloc\npush d,-1\npushh,u16", nil, outcome.TrapOffset},
	{"push d,3\nmalloc\npop lv,0\npush d,1\ndup,3\npush lv,0\npush d,0\npoph,u8,4", nil, outcome.TrapOffset},
	{"sx H\npush d,65\nmalloc\nabort\nH:", []int64{0, 65, 0x100}, 0},
	{"sx H\npush d,9\npush d,4\npushh,u8\nabort\nH:", []int64{4, 9, 0x200}, 0},
	{"sx H\npush d,9\nfree\nabort\nH:", []int64{0, 9, 0x200}, 0},
	{"sx H\npush d,8\nmalloc\npop lv,0\npush d,5\npush lv,0\npush d,8\npoph,u8\nabort\nH:", []int64{8, 1, 0x400}, 0},

	// The trace: its length, and what it can be shortened to.
	{"push stp", []int64{0}, 0},
	{"log st\npush d,0\npop stp\npush stp", []int64{0}, 0},
	{"log st\npurge st\npush stp", []int64{0}, 0},

	// Positions in the log: two words are an item of 24 bytes.
	{"push lp", []int64{0}, 0},
	{"log lv,0,2\nlog lv,1,2\npush lp\npush plp\npush d,0\npop lp", []int64{48, 24}, 0},
	{"sx H\nlog lv,0,2\npush d,8\npop lp\nabort\nH: push d,0\npop lp", []int64{8, 5, 0x40}, 0},
}

// TestTrace shows the frames of a program that fails in a routine, which its caller handles.
func TestTrace(t *testing.T) {
	const fails = "push d,5\npop lv,1\npush d,0\npush d,2\ntrace lv\nsx H\npush d,9\ncall R\nabort\n" +
		"R: push d,0\npush d,1\ntrace gv\npush d,7\npush d,0\npush d,2\ntrace pv\npush d,0\ndiv\nret\nH: "
	const frames = "command 18 of routine 10: gv[0]=0x0 stack=0x0 stack=0x7\ncommand 8: lv[0]=0x0 lv[1]=0x5\n"
	for _, c := range []struct {
		header, commands string
		want             []string
	}{
		{"autostacktrace = yes", fails + "exit", []string{frames}},
		{"autostacktrace = yes\nex_logmax = 0", fails + "exit", nil},
		{"autostacktrace = yes", fails + "purge st\nexit", nil},
		{"", fails + "exit", nil},
		{"autostacktrace = no", fails + "log st\nexit", []string{"command 20: lv[0]=0x0 lv[1]=0x5\n"}},
		{"ex_logmax = 15", "log st\nexit", []string{"command 0:\n"}},
		{"ex_logmax = 15", "log st\nlog st\nexit", []string{"command 0:\ncomm"}},
		{"logmax = 0", "log st\nexit", []string{"command 0:\n"}},
		{"", "log st\nabort", nil},
	} {
		w := load(t, file(c.header, c.commands), Options{})
		out, logged := w.hit(0)
		if out.Trap != 0 || fmt.Sprintf("%q", logged) != fmt.Sprintf("%q", c.want) {
			t.Errorf("%q %q: logged %q, want %q; %+v", c.header, c.commands, logged, c.want, out)
		}
	}
}

// TestMasks: what a mask does not name ends the program at once; what overflows the log is an
// error only with a mask.
func TestMasks(t *testing.T) {
	const handled = "sx H\npush d,1\npush d,0\ndiv\nabort\nH: log 3\nexit"
	const overflow = "sx H\npush d,1\ndup,9\nlog 10\nabort\nH: log 1\nros,2\nexit"
	for _, c := range []struct {
		header, mask, commands string
		trap                   outcome.Trap
		abort                  bool
		want                   string
	}{
		{"", "ex_mask = 0x20", handled, 0, false, "[32 0 0]"},
		{"", "ex_mask = 0x1", handled, outcome.TrapDivide, false, "[]"},
		{"", "ex_mask = 0", handled, outcome.TrapDivide, false, "[]"},
		{"", "ex_mask = 0", "sx H\npush d,1\npush d,2\npush d,3\nrx\nH: log 3\nexit", 0, false, "[3 2 1]"},
		{"logmax = 8", "", overflow, 0, true, "[]"},
		{"logmax = 8", "ex_mask = 0x1000", overflow, 0, false, "[4096]"},
		{"logmax = 8", "ex_mask = 0x1000", "push d,1\ndup,9\nlog 10\nexit", outcome.TrapLog, false, "[]"},
	} {
		text := strings.Replace(file(c.header, c.commands), "minor = 7", "minor = 7\n"+c.mask, 1)
		out, logged := load(t, text, Options{}).hit(0)
		if out.Trap != c.trap || out.Abort != c.abort || fmt.Sprint(logged) != c.want {
			t.Errorf("%s %q: logged %v, want %v; %+v", c.mask, c.commands, logged, c.want, out)
		}
	}
}

func TestCommands(t *testing.T) {
	for _, c := range commandCases {
		t.Run(strings.ReplaceAll(c.commands, "\n", ";"), func(t *testing.T) {
			w := load(t, file("jmpmax = 10\nheapmax = 64", c.commands+fmt.Sprintf("\nlog %d\nexit", len(c.want))), Options{Unsafe: true})
			out, logged := w.hit(0)
			var want []string
			for _, n := range c.want {
				want = append([]string{fmt.Sprint(n)}, want...) // the top is logged first
			}
			if out.Trap != c.trap || out.Abort || fmt.Sprint(logged) != fmt.Sprint(want) {
				t.Errorf("logged %v, outcome %+v; want %v, trap %v", logged, out, want, c.trap)
			}
		})
	}
}

func TestLogCommands(t *testing.T) {
	for _, c := range []struct{ header, commands, want string }{
		{"", "push d,64\npush r,rdi\nlog str", "[seventeen]"},
		{"", "push d,4\npush r,rdi\nlog str", "[seve]"},
		{"", "push d,12\npush r,rdi\nlog mrf", "[seventeen\x00af]"},
		{"", "push d,1\npush d,2\npush d,2\nlog", "[2 1]"},
		{"", "push d,1\npop lv,1\nlog lv,0,2", "[0 1]"},
		{"", "push d,1\npop lv,1\npush d,0\npush d,2\nlog lv", "[0 1]"},
		{"", "log gv,1,1\nlog lv,0,1\npush lp\npush plp\npop lp\nlog 1", "[0 32]"},
		{"", "setmin,9\npush d,8\nsetmaj", "[minor9 major8]"},
		{"logmax = 0", "push d,64\npush r,rdi\nlog str\npush d,1\nlog 1\nsetmin,3\nlog lv,0,1", "[]"},
		{"logmax = 18", "push d,64\npush r,rdi\nlog str\npush d,64\npush r,rdi\nlog str", "[seventeen seventeen]"},
	} {
		w := load(t, file(c.header, c.commands+"\nexit"), Options{})
		if out, logged := w.hit(0); out.Trap != 0 || fmt.Sprint(logged) != c.want {
			t.Errorf("%q: logged %q, want %s; %+v", c.commands, logged, c.want, out)
		}
	}
}

func TestEnds(t *testing.T) {
	for _, c := range []struct {
		commands string
		want     outcome.Outcome
	}{
		{"exit", outcome.Outcome{}},
		{"exit 0", outcome.Outcome{}},
		{"exit 1", outcome.Outcome{Kind: outcome.ExitFacility, Facility: 1}},
		{"exit 2", outcome.Outcome{Kind: outcome.ExitFacility, Facility: 2}},
		{"exit 3", outcome.Outcome{Kind: outcome.ExitFacility, Facility: 3}},
		{"exit 9", outcome.Outcome{Kind: outcome.ExitFacility, Facility: 9}},
		{"abort", outcome.Outcome{Abort: true}},
		{"remove", outcome.Outcome{Remove: true}},
	} {
		w := load(t, file("", c.commands), Options{})
		out, _ := w.hit(0)
		out.Steps = 0
		if out != c.want {
			t.Errorf("%s: %+v, want %+v", c.commands, out, c.want)
		}
	}
}

// The second example of the paper, with its compare step and on a 64-bit register.
const paper = `name = "/lib/libc.so.6"
modtype = user
major = 1
jmpmax = 32
logmax = 100
dfltexit=0
offset = malloc
opcode = 0x55
minor = 1
pass_count = 0
max_hits = 1000
push r, rdi             // the size asked for
push d,0x20000000       /* size 0x20000000 */
sub                     // compare
jz take_dump            // if equal, take core dump
exit                    // else exit without further ado
take_dump: exit 3
`

func TestPaperExample(t *testing.T) {
	w := load(t, paper, Options{})
	p := w.file.Probes[0]
	if p.Place != "/lib/libc.so.6:malloc" || p.Opcode != 0x55 || p.Minor != 1 || p.Major != 1 || p.MaxHits != 1000 || p.PassCount != 0 {
		t.Errorf("%+v", p)
	}
	if b := p.Program.Bound; !b.Proved || b.Steps != 5 || b.Stack != 2 {
		t.Errorf("bound %v", b)
	}
	if out, _ := w.hit(0); out.Kind != outcome.ExitPlain {
		t.Errorf("%+v", out)
	}
	w = load(t, strings.Replace(paper, "0x20000000  ", "0x1000  ", 1), Options{})
	if out, _ := w.hit(0); out.Kind != outcome.ExitFacility || out.Facility != 3 {
		t.Errorf("%+v", out)
	}
}

func TestProbes(t *testing.T) {
	w := load(t, `
name = ./prog
modtype = user
major = 3
vars = 2

offset = first + 2*8
minor = 1
group = 4
type = 5
logonfault = yes
inc lv,1
call shared
exit

offset = 0x1136
major = 9
exit
shared: inc lv,0
ret
address = 0x400000
push lv,0
push lv,1
log 2
jmp done
done: exit
offset = "Foo::bar(int)"
exit
offset = Foo::bar
exit
offset = memcpy@GLIBC_2.14
exit
`[1:], Options{})
	var places []string
	for _, p := range w.file.Probes {
		places = append(places, p.Place)
	}
	want := "[./prog:first+0x10 ./prog:0x1136 0x400000 ./prog:Foo::bar(int) ./prog:Foo::bar ./prog:memcpy@GLIBC_2.14]"
	if fmt.Sprint(places) != want {
		t.Errorf("places %v", places)
	}
	first, second := w.file.Probes[0], w.file.Probes[1]
	if first.Group != 4 || first.Type != 5 || !first.LogOnFault || first.Major != 3 || second.Major != 9 || second.Opcode != -1 {
		t.Errorf("%+v\n%+v", first, second)
	}
	w.hit(0)
	w.hit(0)
	if _, logged := w.hit(2); fmt.Sprint(logged) != "[2 2]" {
		t.Errorf("logged %v", logged)
	}
}
