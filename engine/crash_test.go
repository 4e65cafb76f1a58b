package engine

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"

	"gotap/engine/crashsafe"
	"gotap/engine/crashsafe/fallback"
	"gotap/engine/image/module"
	"gotap/engine/linux/procfs"
	"gotap/engine/linux/ptrace"
	"gotap/engine/place"
	"gotap/engine/testenv"
	"gotap/engine/tracee"
	"gotap/runtime"
	"gotap/runtime/arena"
	"gotap/runtime/opcode"
	rtoutcome "gotap/runtime/outcome"
	"gotap/runtime/record"
)

// crashVariable tells this test binary to be a session that is going to be killed; it holds a crashPlan.
const crashVariable = "GOTAP_CRASH_PLAN"

// crashPlan is what such a session does.
type crashPlan struct {
	Pid     int      // to attach to; 0: launches Command
	Command []string // runs on our standard files
	Specs   []string
	Engine  Engine
	Threads bool // only threads are followed, no children
	InPlace bool
	Counts  bool          // programs count in shares of threads
	Armed   string        // a file to make when all is armed
	At      tracee.Moment // kind of moment at which the session kills itself
	AtStep  int           // the number of that moment, counted from 1; 0: the session does not kill itself
	Ends    bool          // the session ends by itself, a moment after all is armed
	Cleans  bool          // Clean runs on Pid instead of a session
	Begin   string        // the pipe that tells the target to begin a section: see attachAtSection
	Late    bool          // the section begins while breakpoints are planted
	Waits   bool          // it has begun when the breakpoints are planted that show sections, and its thread waits for a child of vfork
	Looks   int           // with Late or Waits: the session is killed just before it looks for such sections for the nth time; 0: never
	Within  []string      `json:"-"` // the command that runs the session
}

// beCrashed is the session that is killed.
func beCrashed(text string) {
	var plan crashPlan
	if err := json.Unmarshal([]byte(text), &plan); err != nil {
		panic(err)
	}
	if plan.Cleans {
		if _, err := Clean(plan.Pid); err != nil {
			fmt.Fprintln(os.Stderr, "cannot clean:", err)
		}
		os.Exit(0)
	}
	arena, err := arena.New(arena.Options{})
	if err != nil {
		panic(err)
	}
	follow := FollowChildren
	if plan.Threads {
		follow = FollowThreads
	}
	s, err := New(Config{Engine: plan.Engine, Follow: follow, MaxProbes: 100000, Arena: arena,
		Warn: func(text string) { fmt.Fprintln(os.Stderr, "warning:", text) }})
	if err != nil {
		panic(err)
	}
	s.do(func() error { s.patcher.InPlaceOnly(plan.InPlace); return nil })
	if plan.AtStep != 0 {
		s.do(func() error { s.testAt = plan.killAtStep(); return nil })
	}
	switch {
	case plan.Begin != "":
		err = plan.attachAtSection(s)
	case plan.Pid != 0:
		err = s.Attach(plan.Pid)
	default:
		_, err = s.Launch(Command{Path: plan.Command[0], Args: plan.Command})
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "cannot begin:", err)
		os.Exit(3)
	}
	for i, text := range plan.Specs {
		spec, err := place.Parse(text)
		if err != nil {
			panic(err)
		}
		id := arena.Register(record.Program{Name: "crash"})
		code := &runtime.Code{ID: id, Insts: []runtime.Inst{{Op: opcode.Exit, A: uint32(rtoutcome.ExitPlain)}}, Stack: 4, Temps: 1}
		if i%4 == 0 { // which native code reads
			code.Insts = append([]runtime.Inst{{Op: opcode.Field, A: uint32(runtime.FieldSP)}, {Op: opcode.Load64}, {Op: opcode.Drop, A: 1}}, code.Insts...)
		}
		if i%2 == 1 { // which native code cannot execute
			code.Insts = append([]runtime.Inst{{Op: opcode.Field, A: uint32(runtime.FieldUid)}, {Op: opcode.Drop, A: 1}}, code.Insts...)
		}
		if plan.Counts {
			_, _, _, code = countsInShares(arena, func(insts ...runtime.Inst) *runtime.Code {
				code.Insts = append(insts, code.Insts[len(code.Insts)-1])
				return code
			})
		}
		s.Add(ProbeSpec{ID: uint32(i + 1), Name: text, Specs: []place.Spec{spec}, Optional: true,
			Compile: func(PlaceInfo) (Handlers, error) { return Handlers{Enter: code}, nil }})
	}
	s.Start()
	if plan.Armed != "" {
		os.WriteFile(plan.Armed, nil, 0o600)
	}
	if plan.Ends {
		time.Sleep(5 * time.Millisecond)
		if err := s.Close(false); err != nil {
			fmt.Fprintln(os.Stderr, "cannot end:", err)
		}
	}
	s.Wait()
	os.Exit(0)
}

// killAtStep kills the session at its step.
func (plan crashPlan) killAtStep() func(tracee.Moment) {
	step := 0
	return func(at tracee.Moment) {
		if at != plan.At {
			return
		}
		if step++; step == plan.AtStep {
			syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		}
	}
}

// crashCase is one kind of target and way to probe it.
type crashCase struct {
	name    string
	program func(t *testing.T) string
	args    []string
	specs   []string
	engine  Engine
	inPlace bool
}

func crashCases() []crashCase {
	c := func(flags ...string) func(t *testing.T) string {
		return func(t *testing.T) string {
			if len(flags) > 0 && flags[0] == "-m32" {
				testenv.Require(t, testenv.M32, testenv.IA32)
			}
			return program(t, "victim.c", flags...)
		}
	}
	sections := func(t *testing.T) string { return program(t, "sections.c") }
	sections32 := func(t *testing.T) string {
		testenv.Require(t, testenv.M32, testenv.IA32)
		return program(t, "sections.c", "-m32")
	}
	blocking := []string{"work+*", "libc:snprintf", "libc:*fork*", "libc:*spawn*", "libc:pthread_*", "libc:sig*", "libc:*clone*", "libc:exec*", "libc:malloc"}
	all := []string{"mixed+*", "leaf+*", "other+*", "stack+*", "global+*", "recurse+*", "copies+*", "counted+*", "loads+*", "runner+*", "tick+*"}
	return []crashCase{
		{"entries", c(), []string{"3"}, []string{"leaf", "stack", "recurse", "libc:memset"}, Auto, false},
		{"every", c(), []string{"3"}, all, Auto, false},
		{"every O0", c("-O0"), []string{"1"}, all, Auto, false},
		{"every, step", c(), []string{"3"}, all, Step, false},
		{"every, step, fixed", c("-no-pie"), []string{"1"}, all, Step, false},
		{"every, in place", c(), []string{"1"}, all, Step, true},
		{"timer", c(), []string{"1", "timer"}, all, Auto, false},
		{"timer, step", c(), []string{"1", "timer"}, all, Step, false},
		{"static", c("-static"), []string{"2"}, all, Auto, false},
		{"32", c("-m32"), []string{"2"}, append([]string{"libc:memset"}, all...), Auto, false},
		{"32 timer", c("-m32"), []string{"1", "timer"}, all, Auto, false},
		{"32 O0, step", c("-m32", "-O0", "-no-pie", "-fno-pie"), []string{"2"}, all, Step, false},
		{"32 PIC, step", c("-m32", "-O0"), []string{"2"}, all, Step, false},
		{"32 static", c("-m32", "-static"), []string{"0"}, all, Step, false},
		{"sections", sections, nil, blocking, Auto, false},
		{"sections, timer, step", sections, []string{"timer"}, blocking, Step, false},
		{"32 sections", sections32, nil, blocking, Auto, false},
		{"inline", c(), []string{"3"}, all, Inline, false},
		{"mixed", c(), []string{"3"}, all, Mixed, false},
		{"inline, O0", c("-O0"), []string{"1"}, all, Inline, false},
		{"inline, timer", c(), []string{"1", "timer"}, all, Inline, false},
		{"inline, sections", sections, nil, blocking, Inline, false},
		{"go", goVictim, nil, []string{"main.work", "main.mixed+*"}, Auto, false},
		{"go, step", goVictim, nil, []string{"main.work", "main.mixed+*"}, Step, false},
	}
}

func goVictim(t *testing.T) string {
	t.Helper()
	testenv.Require(t, testenv.AMD64, testenv.Ptrace, "go")
	programs.Lock()
	defer programs.Unlock()
	if path := programs.built["go victim"]; path != "" {
		return path
	}
	path := programs.dir + "/gopher"
	if out, err := exec.Command("go", "build", "-o", path, "./testdata/victim").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	programs.built["go victim"] = path
	return path
}

// TestKilledSessions kills sessions at random moments, from their first steps on, and has the targets prove that they
// are unharmed. With GOTAP_LONG=1 there are a thousand rounds of each kind.
func TestKilledSessions(t *testing.T) {
	adoptOrphans(t)
	for _, c := range crashCases() {
		t.Run(c.name, func(t *testing.T) {
			path := c.program(t)
			for i := range rounds(4, 1000) {
				if i%2 == 0 {
					c.attached(t, path, i%4 == 0)
				} else {
					c.launched(t, path)
				}
				if t.Failed() {
					t.Fatalf("in round %d", i)
				}
			}
		})
	}
}

// rounds is how often a test kills: GOTAP_ROUNDS times if that is set, long times with GOTAP_LONG=1.
func rounds(usual, long int) int {
	if n, err := strconv.Atoi(os.Getenv("GOTAP_ROUNDS")); err == nil {
		return n
	}
	if os.Getenv("GOTAP_LONG") != "" {
		return long
	}
	return usual
}

// TestKilledInCall kills sessions at each step of the calls of the kernel that they have targets make: whatever
// registers a thread then has, it finds home.
func TestKilledInCall(t *testing.T) {
	t.Parallel()
	for _, c := range crashCases() {
		if c.name != "entries" && c.name != "timer" && c.name != "static" && c.name != "32" && c.name != "go" {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			path := c.program(t)
			steps, stride := 1, 1
			if os.Getenv(prebuiltDir) != "" && !longRun() { // an emulated machine takes seconds for one
				stride = 5
			}
			for ; c.killedAtStep(t, path, steps); steps += stride {
				if t.Failed() {
					t.Fatalf("at step %d", steps)
				}
			}
			if steps < 15 { // three calls when the handler is put in, of five steps at least
				t.Errorf("the session made no more than %d steps", steps-1)
			}
		})
	}
}

// TestKilledAsSignalIsReplaced kills sessions while a thread is in the stop of a breakpoint and is about to go on with
// a signal that was withheld from it.
func TestKilledAsSignalIsReplaced(t *testing.T) {
	for _, c := range crashCases() {
		if c.name != "timer" && c.name != "timer, step" {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			for step := 1; step <= 20; step += 3 {
				p := start(t, c.program(t), c.args...)
				if line, err := p.out.ReadString('\n'); err != nil {
					t.Fatalf("the target does not begin: %q, %v", line, err)
				}
				before := text(t, p.pid())
				plan := c.plan()
				plan.Pid, plan.At, plan.AtStep = p.pid(), tracee.InSignal, step
				startCrashed(t, plan, nil, nil).Wait()
				endsUnharmed(t, p, before)
			}
		})
	}
}

// TestNoteOfHandler: a signal with which the handler of a killed session's fallback tells a thread to settle is not
// lost to the next session: sent again without its siginfo, or after the handler was removed, it would end the program.
func TestNoteOfHandler(t *testing.T) {
	c := crashCases()[0]
	p := start(t, c.program(t), c.args...)
	if line, err := p.out.ReadString('\n'); err != nil {
		t.Fatalf("the target does not begin: %q, %v", line, err)
	}
	plan := c.plan()
	plan.Pid, plan.Armed = p.pid(), filepath.Join(t.TempDir(), "armed")
	s := startCrashed(t, plan, nil, nil)
	eventually(t, "breakpoints", func() bool { _, err := os.Stat(plan.Armed); return err == nil })
	s.Process.Kill()
	s.Wait()
	w := newWorld(t, Config{Follow: FollowThreads})
	if err := w.Attach(p.pid()); err != nil {
		t.Fatal(err)
	}
	crashsafe.TakeUp(undoer{w.Session, p.pid()})
	w.do(func() error {
		held := w.world.holdAll()
		for _, th := range held { // stopped until the session ends
			var note ptrace.SigInfo
			note.Make(ptrace.SIGTRAP, fallback.CodeNote, 0)
			th.queue.Defer(note)
		}
		if len(held) == 0 {
			t.Error("no thread runs")
		}
		return nil
	})
	if err := w.Close(false); err != nil {
		t.Error(err)
	}
	if got := p.end(); got != "victim bad=0" {
		t.Errorf("the target said %q, %v", got, p.cmd.Wait())
	}
}

// killedAtStep attaches a session that kills itself at a step, and reports whether it came to that before all was
// armed.
func (c crashCase) killedAtStep(t *testing.T, path string, step int) bool {
	p := start(t, path, append(c.args, "")[:max(1, len(c.args))]...)
	if line, err := p.out.ReadString('\n'); err != nil {
		t.Fatalf("the target does not begin: %q, %v", line, err)
	}
	plan := c.plan()
	plan.Pid, plan.AtStep, plan.Armed = p.pid(), step, filepath.Join(t.TempDir(), "armed")
	s := startCrashed(t, plan, nil, nil)
	reached := endAtStep(t, s, plan.Armed)
	if got := p.end(); got != "victim bad=0" {
		t.Errorf("the target said %q, %v", got, p.cmd.Wait())
	} else if err := p.cmd.Wait(); err != nil {
		t.Error(err)
	}
	return reached
}

// endAtStep waits until a session has killed itself at its step, and reports whether it did. If all is armed before, it
// kills the session.
func endAtStep(t *testing.T, s *exec.Cmd, armed string) (reached bool) {
	t.Helper()
	ended := make(chan error, 1)
	go func() { ended <- s.Wait() }()
	eventually(t, "the step, or breakpoints", func() bool {
		_, err := os.Stat(armed)
		select {
		case <-ended:
			reached = true
		default:
		}
		return reached || err == nil
	})
	if !reached {
		s.Process.Kill()
		<-ended
	}
	return reached
}

// plan is the session's part of a case.
func (c crashCase) plan() crashPlan {
	return crashPlan{Specs: c.specs, Engine: c.engine, InPlace: c.inPlace}
}

// attached kills a session that attaches to a running target, at any moment, or at one after all is armed.
func (c crashCase) attached(t *testing.T, path string, armed bool) {
	p := start(t, path, append(c.args, "")[:max(1, len(c.args))]...)
	if line, err := p.out.ReadString('\n'); err != nil {
		t.Fatalf("the target does not begin: %q, %v", line, err)
	}
	before := text(t, p.pid())
	plan := c.plan()
	plan.Pid = p.pid()
	if armed {
		plan.Armed = filepath.Join(t.TempDir(), "armed")
	}
	s := startCrashed(t, plan, nil, nil)
	if armed { // slow machines would seldom come that far in time
		eventually(t, "breakpoints", func() bool { _, err := os.Stat(plan.Armed); return err == nil })
	}
	killSoon(s, c.moment())
	endsUnharmed(t, p, before)
}

// endsUnharmed has a target whose session was killed end, and checks that it is unharmed. In every other round what is
// left is cleaned up first, while threads run into it, as a supervisor does.
func endsUnharmed(t *testing.T, p *stranger, before string) {
	t.Helper()
	if rand.IntN(2) == 0 {
		_, err := Clean(p.pid())
		if procfs.Ended(p.pid()) {
			t.Errorf("the target said %q and is dead: %v", p.end(), p.cmd.Wait())
			return
		}
		if err != nil {
			t.Error(err)
		}
		untouched(t, p.pid(), before)
	} else {
		time.Sleep(time.Duration(rand.IntN(20)) * time.Millisecond)
	}
	if got := p.end(); got != "victim bad=0" {
		t.Errorf("the target said %q, %v", got, p.cmd.Wait())
	} else if err := p.cmd.Wait(); err != nil {
		t.Error(err)
	}
}

// moment is how long a session lives. The first milliseconds, in which most is set up, get their share.
func (c crashCase) moment() time.Duration {
	return time.Duration(rand.IntN(1+[...]int{5000, 20000, 60000}[rand.IntN(3)])) * time.Microsecond
}

func pipe(t *testing.T) (r, w *os.File) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	return r, w
}

// startCrashed starts the session that is to be killed.
func startCrashed(t *testing.T, plan crashPlan, in, out *os.File) *exec.Cmd {
	t.Helper()
	text, err := json.Marshal(plan)
	if err != nil {
		t.Fatal(err)
	}
	argv := append(slices.Clone(plan.Within), os.Args[0])
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env = append(os.Environ(), crashVariable+"="+string(text))
	if in != nil {
		cmd.Stdin, cmd.Stdout = in, out
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	return cmd
}

// killSoon kills a process after a time.
func killSoon(cmd *exec.Cmd, after time.Duration) {
	time.Sleep(after)
	cmd.Process.Signal(syscall.SIGKILL)
	cmd.Wait()
}

// TestCleanAfterKilledSession cleans up in a process that slept through it all, and so has met no breakpoint.
func TestCleanAfterKilledSession(t *testing.T) {
	pid := sleeping(t)
	before := text(t, pid)
	s := startCrashed(t, crashPlan{Pid: pid, Specs: []string{"libc:mallo*", "libc:free+*"}}, nil, nil)
	eventually(t, "the fallback and the breakpoints", func() bool { return procfs.SignalSet(pid, "SigCgt")&ptrace.TrapBit != 0 && text(t, pid) != before })
	killSoon(s, 20*time.Millisecond)
	if procfs.SignalSet(pid, "SigCgt")&ptrace.TrapBit == 0 {
		t.Fatal("there was no fallback")
	}
	got, err := Clean(pid)
	if err != nil || len(got.Restored) == 0 {
		t.Errorf("restored %v, %v", got.Restored, err)
	}
	untouched(t, pid, before)
	if procfs.SignalSet(pid, "SigCgt")&ptrace.TrapBit != 0 {
		t.Error("the action for SIGTRAP is still ours")
	}
	if again, err := Clean(pid); err != nil || len(again.Restored) != 0 {
		t.Errorf("a second time: restored %v, %v", again.Restored, err)
	}
}

// TestKilledWatch kills a session while its watchpoint is met all the time: the debug registers stay armed, and the
// handler takes what they raise, in native code too.
func TestKilledWatch(t *testing.T) {
	testenv.Require(t, testenv.AMD64, testenv.Ptrace, testenv.Watched)
	for _, c := range []struct {
		flags  []string
		engine Engine
		cleans bool
	}{{nil, Auto, false}, {[]string{"-m32"}, Auto, false}, {nil, Auto, true}, {[]string{"-m32"}, Auto, true}, {nil, Inline, false}, {nil, Inline, true}} {
		if len(c.flags) > 0 {
			testenv.Require(t, testenv.M32, testenv.IA32)
		}
		p := start(t, program(t, "victim.c", c.flags...), "2")
		if line, err := p.out.ReadString('\n'); err != nil {
			t.Fatalf("the target does not begin: %q, %v", line, err)
		}
		s := startCrashed(t, crashPlan{Pid: p.pid(), Specs: []string{"watch:table/4/rw", "leaf", "global"}, Engine: c.engine}, nil, nil)
		eventually(t, "debug registers", func() bool { return debugTraps(p.pid()) })
		killSoon(s, 20*time.Millisecond)
		time.Sleep(50 * time.Millisecond)
		if c.cleans { // the handler goes, and so the registers have to
			if _, err := Clean(p.pid()); err != nil {
				t.Error(err)
			}
			if procfs.SignalSet(p.pid(), "SigCgt")&ptrace.TrapBit != 0 {
				t.Error("the action for SIGTRAP is still ours")
			}
			time.Sleep(20 * time.Millisecond)
		}
		if got := p.end(); got != "victim bad=0" {
			t.Errorf("%v: the target said %q, %v", c, got, p.cmd.Wait())
		} else if err := p.cmd.Wait(); err != nil {
			t.Errorf("%v: %v", c, err)
		}
	}
}

// debugTraps reports whether the fallback of a process has been told of debug registers.
func debugTraps(pid int) bool {
	mem, err := ptrace.OpenMemory(pid)
	if err != nil {
		return false
	}
	defer mem.Close()
	maps, _ := module.Maps(pid)
	for _, word := range []int{4, 8} {
		for _, r := range crashsafe.FindRegions(mem, maps, word) {
			if r.Head.Watching {
				return true
			}
		}
	}
	return false
}
