package bench

import (
	"fmt"
	"io"
	gort "runtime"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"gotap/compile"
	"gotap/compile/diag"
	"gotap/compile/dpdf"
	"gotap/runtime"
	"gotap/runtime/arena"
	"gotap/runtime/object"
	"gotap/runtime/opcode"
	"gotap/runtime/record"
)

// The benchmark of the machine alone, without any process: what the interpreter makes of steps, and what compiling
// costs.

const (
	// machineRounds is how often the loops go round in one hit; a hit's fuel has to suffice.
	machineRounds = 1000
	// runTime is how long each row is measured, unless few hits are wanted.
	runTime = 400 * time.Millisecond
	// compiledCommands is the size of the program that is compiled.
	compiledCommands = 10_000
)

// machinePrograms are the rows: the commands of one round of a loop, which leave the stack unchanged. Object 0 is a
// shared variable.
var machinePrograms = []struct{ name, round string }{
	{"simple steps", "push tv,0\npush d,3\nadd\npush d,5\nxor\npop tv,0"},
	{"branches", "push tv,0\njz A\nnop\nA: push tv,0\njnz B\nnop\nB: nop"},
	{"calls", "call R"},
	{"registers", "push r,rdi\nros,1"},
	{"shared variables", "inc gv,0"},
	{"nothing but a hit", ""},
}

// measureMachine prints the table of the interpreter and the line of the compiler.
func measureMachine(out io.Writer, each time.Duration) {
	if err := measureInterpreter(out, each); err != nil {
		fmt.Fprintf(out, "interpreter: %v\n", err)
	}
	if err := measureCompiler(out); err != nil {
		fmt.Fprintf(out, "compiler: %v\n", err)
	}
}

func measureInterpreter(out io.Writer, each time.Duration) error {
	arena, err := arena.New(arena.Options{})
	if err != nil {
		return err
	}
	defer arena.Close()
	id, err := arena.Declare(object.Object{Name: "n"})
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%-34s %12s %12s %12s\n", "interpreter, one core", "Msteps/s", "ns/hit", "allocs/hit")
	for _, p := range machinePrograms {
		code, err := roundsCode(arena, id, p.round)
		if err != nil {
			return fmt.Errorf("cannot compile the program of %q: %w", p.name, err)
		}
		steps, ns, allocs := measureRun(arena, code, each)
		fmt.Fprintf(out, "%-34s %12.0f %12.0f %12.2f\n", p.name, steps, ns, allocs)
	}
	return nil
}

// roundsCode returns a program that does a round machineRounds times; once and without a loop when there is nothing in
// it.
func roundsCode(arena *arena.Arena, object int, round string) (*runtime.Code, error) {
	text := fmt.Sprintf(".object %d\n.temps 1\npush d,7\npop tv,0\npush d,%d\nL: %s\nloop L\nexit\nR: ret\n", object, machineRounds, round)
	if round == "" {
		text = "exit\n"
	} else if !strings.Contains(round, "call") {
		text = strings.TrimSuffix(text, "R: ret\n")
	}
	p, list := compile.Assemble(diag.NewSource("bench", text))
	if !list.HasErrors() {
		list = compile.Verify(p)
	}
	if err := list.Err(); err != nil {
		return nil, err
	}
	return compile.Lower(p, compile.Env{Arena: arena, WordSize: 8,
		Register: func(string) (index, bits, shift int, ok bool) { return 0, 64, 0, true }})
}

// emptyCode returns the shortest program, for hits that only need to have one.
func emptyCode() *runtime.Code {
	return &runtime.Code{Stack: 1, Fuel: 1, Insts: []runtime.Inst{{Op: opcode.Exit}}}
}

// measureRun runs a program for a time: million steps a second of processor time, nanoseconds and allocations a hit.
func measureRun(arena *arena.Arena, code *runtime.Code, each time.Duration) (msteps, ns, allocs float64) {
	machine, hit := runtime.NewMachine(arena), &record.Log{}
	ctx := &runtime.Context{Word: 8, Regs: make([]uint64, 1)}
	machine.Run(code, ctx, hit)
	var steps, hits uint64
	gort.LockOSThread()
	defer gort.UnlockOSThread()
	before, began, used := allocations(), time.Now(), threadTime()
	for time.Since(began) < each {
		for range 16 { // the clock is not what is measured
			hit.Reset()
			steps += uint64(machine.Run(code, ctx, hit).Steps)
		}
		hits += 16
	}
	took := threadTime() - used // what others had of the processor is not the interpreter's
	allocs = float64(allocations()-before) / float64(hits)
	return float64(steps) / took.Seconds() / 1e6, float64(took) / float64(hits), allocs
}

// allocations counts those of this process so far.
func allocations() uint64 {
	var m gort.MemStats
	gort.ReadMemStats(&m)
	return m.Mallocs
}

// measureCompiler measures a definition file of compiledCommands commands with branches and loops: read, verified and
// lowered. The time is the processor's, in which the collector's is too; the best of five counts.
func measureCompiler(out io.Writer) error {
	src := diag.NewSource("bench.dpdf", bigDefinition())
	best, commands := time.Duration(0), 0
	for i := range 5 {
		arena, err := arena.New(arena.Options{})
		if err != nil {
			return err
		}
		before := cpuTime()
		f, list := dpdf.Parse(src, dpdf.Options{Arena: arena})
		if err = list.Err(); err == nil {
			_, err = compile.Lower(f.Probes[0].Program, compile.Env{Arena: arena, WordSize: 8,
				Register: func(string) (index, bits, shift int, ok bool) { return 0, 64, 0, true }})
		}
		took := cpuTime() - before
		arena.Close()
		if err != nil {
			return err
		}
		commands = len(f.Probes[0].Program.Code)
		if i == 0 || took < best {
			best = took
		}
	}
	fmt.Fprintf(out, "%-34s %12.1f ms of processor time for %d commands\n", "read, verify, lower", float64(best)/1e6, commands)
	return nil
}

// bigDefinition returns the text that measureCompiler compiles.
func bigDefinition() string {
	var b strings.Builder
	b.WriteString("name = bench\njmpmax = 65535\nvars = 2\noffset = work\n")
	const perLoop = 169 // commands of the machine in one loop
	for i := range compiledCommands / perLoop {
		fmt.Fprintf(&b, "push d,10\nL%d: nop\n", i)
		for j := range 21 {
			fmt.Fprintf(&b, "push r,rdi\npush d,3\nmul\njz M%d_%d\ninc lv,1\nM%d_%d: nop\n", i, j, i, j)
		}
		fmt.Fprintf(&b, "loop L%d\n", i)
	}
	b.WriteString("exit\n")
	return b.String()
}

// cpuTime returns the processor time that this process has used, in user space and in the kernel.
func cpuTime() time.Duration { return usedTime(unix.RUSAGE_SELF) }

// threadTime returns the processor time that this thread has used.
func threadTime() time.Duration { return usedTime(unix.RUSAGE_THREAD) }

func usedTime(who int) time.Duration {
	var u unix.Rusage
	if unix.Getrusage(who, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
