package engine

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	goruntime "runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"gotap/engine/place"
	"gotap/engine/testenv"
	"gotap/engine/testenv/fixture"
	"gotap/runtime"
	"gotap/runtime/arena"
	"gotap/runtime/object"
	"gotap/runtime/opcode"
	rtoutcome "gotap/runtime/outcome"
	"gotap/runtime/record"
	"gotap/runtime/value"
)

// programs are C programs that were built once for all tests.
var programs struct {
	sync.Mutex
	dir   string
	built map[string]string
}

func TestMain(m *testing.M) {
	if plan := os.Getenv(crashVariable); plan != "" {
		beCrashed(plan)
	}
	dir, err := os.MkdirTemp("", "gotap-engine-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	programs.dir, programs.built = dir, map[string]string{}
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

// program builds a C program of testdata with flags.
func program(t testing.TB, source string, flags ...string) string {
	t.Helper()
	if dir := os.Getenv(prebuiltDir); dir != "" {
		return prebuilt(t, dir, source, flags)
	}
	testenv.Require(t, testenv.AMD64, testenv.GCC, testenv.Ptrace)
	key := source + strings.Join(flags, " ")
	programs.Lock()
	defer programs.Unlock()
	if path := programs.built[key]; path != "" {
		return path
	}
	name := strings.TrimSuffix(filepath.Base(source), ".c")
	path := filepath.Join(programs.dir, fmt.Sprintf("%s%d", name, len(programs.built)))
	args := append([]string{"-O2", "-g", "-pthread", "-o", path, filepath.Join("testdata", source), "-ldl"}, flags...)
	if out, err := fixture.Command("gcc", args...).CombinedOutput(); err != nil {
		t.Fatalf("gcc %s: %v\n%s", key, err, out)
	}
	programs.built[key] = path
	return path
}

// prebuiltDir names the directory of programs on machines that have no compiler: see package armtest.
const prebuiltDir = "GOTAP_PROGRAMS"

// prebuilt is a program that was built elsewhere: a file of the source's name and the flags.
func prebuilt(t testing.TB, dir, source string, flags []string) string {
	t.Helper()
	path := filepath.Join(dir, strings.TrimSuffix(source, ".c")+strings.Join(flags, ""))
	if _, err := os.Stat(path); err != nil {
		testenv.Lack(t, testenv.GCC)
	}
	return path
}

// world is a session with an arena.
type world struct {
	*Session
	t      testing.TB
	arena  *arena.Arena
	mu     sync.Mutex
	events []Event
	warned []string
	next   uint32
	fails  bool // the session is to end with an error
}

func newWorld(t testing.TB, cfg Config) *world {
	t.Helper()
	arena, err := arena.New(arena.Options{})
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, arena: arena}
	cfg.Arena = arena
	if cfg.MaxProbes == 0 {
		cfg.MaxProbes = 100000
	}
	cfg.Notify = func(e Event) { w.mu.Lock(); w.events = append(w.events, e); w.mu.Unlock() }
	cfg.Warn = func(s string) { w.mu.Lock(); w.warned = append(w.warned, s); w.mu.Unlock() }
	w.Session, err = New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.Close(false); err != nil && !w.fails {
			t.Error(err)
		}
		for _, text := range w.warned {
			t.Log("warning:", text)
		}
		arena.Close()
	})
	return w
}

// counter is a shared variable of the arena.
type counter struct {
	w  *world
	id int
}

func (w *world) counter() *counter {
	w.t.Helper()
	id, err := w.arena.Declare(object.Object{Name: fmt.Sprintf("n%d", w.arena.Objects()), Kind: object.KindInt})
	if err != nil {
		w.t.Fatal(err)
	}
	return &counter{w, id}
}

func (c *counter) get() int64 {
	d, _ := c.w.arena.Handle(c.id).Get()
	return d.Int
}

func (c *counter) offset() uint64 {
	_, off := c.w.arena.Lookup(c.id)
	return off
}

// code makes a program of instructions.
func (w *world) code(insts ...runtime.Inst) *runtime.Code {
	insts = append(insts, runtime.Inst{Op: opcode.Exit, A: uint32(rtoutcome.ExitPlain)})
	id := w.arena.Register(record.Program{Name: "test", Formats: []record.Format{
		{Kind: record.ItemLog, Fields: []record.Field{{Kind: value.KindInt}}}}})
	c := &runtime.Code{ID: id, Insts: insts, Stack: 16, Temps: 4}
	c.Needs = runtime.NeedsOf(c)
	return c
}

// counts is a program that counts.
func (w *world) counts(c *counter) *runtime.Code {
	return w.code(runtime.Inst{Op: opcode.IncGV, V: c.offset()})
}

// sums is a program that adds up a value.
func (w *world) sums(c *counter, op opcode.Op, a uint32) *runtime.Code {
	return w.code(runtime.Inst{Op: op, A: a}, runtime.Inst{Op: opcode.AddGV, V: c.offset()})
}

// probe adds a probe.
func (w *world) probe(spec string, h Handlers, change ...func(*ProbeSpec)) uint32 {
	w.t.Helper()
	id, err := w.tryProbe(spec, h, change...)
	if err != nil {
		w.t.Fatal(err)
	}
	return id
}

func (w *world) tryProbe(spec string, h Handlers, change ...func(*ProbeSpec)) (uint32, error) {
	w.t.Helper()
	parsed, err := place.Parse(spec)
	if err != nil {
		w.t.Fatal(err)
	}
	w.next++
	p := ProbeSpec{ID: w.next, Name: spec, Specs: []place.Spec{parsed}, Compile: func(PlaceInfo) (Handlers, error) { return h, nil }}
	for _, f := range change {
		f(&p)
	}
	return p.ID, w.Add(p)
}

// target is a launched program.
type target struct {
	pid int
	out *os.File
}

func (w *world) launch(path string, args ...string) *target {
	w.t.Helper()
	null, _ := os.Open(os.DevNull)
	return w.launchWith(null, path, args...)
}

// launchWith launches a program that reads from stdin.
func (w *world) launchWith(stdin *os.File, path string, args ...string) *target {
	w.t.Helper()
	out, err := os.Create(filepath.Join(w.t.TempDir(), "out"))
	if err != nil {
		w.t.Fatal(err)
	}
	pid, err := w.Launch(Command{Path: path, Args: append([]string{path}, args...), Stdin: stdin, Stdout: out, Stderr: out})
	if err != nil {
		w.t.Fatal(err)
	}
	return &target{pid: pid, out: out}
}

func (tg *target) output() string {
	text, _ := os.ReadFile(tg.out.Name())
	return string(text)
}

// patience is how long a target may take for anything: an emulated machine is a hundred times as slow as a real one, a
// machine that does other work as well may be. Only what hangs takes as long.
func patience() time.Duration {
	if os.Getenv(prebuiltDir) != "" || longRun() {
		return 20 * time.Minute
	}
	return 10 * time.Minute
}

// run starts the target and waits for its end.
func (w *world) run() {
	w.t.Helper()
	if err := w.Start(); err != nil {
		w.t.Fatal(err)
	}
	select {
	case <-w.Done():
	case <-time.After(patience()):
		w.t.Fatalf("the target does not end: %+v", w.Stats())
	}
	if err := w.Wait(); err != nil {
		w.t.Fatal(err)
	}
}

// touch makes an empty file: several targets wait for one, or end when it is there.
func touch(t testing.TB, path string) {
	t.Helper()
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
}

func want[T comparable](t testing.TB, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s: %v, not %v", what, got, want)
	}
}

// engines are the ways to run displaced instructions.
var engines = map[string]Engine{"auto": Auto, "emulate": Emulate, "step": Step, "mixed": Mixed}

// hasNativeCode reports whether programs can run in the targets of the tests.
func hasNativeCode() bool {
	return goruntime.GOARCH == "amd64" || filepath.Base(os.Getenv(prebuiltDir)) == "a64"
}

func eachEngine(t *testing.T, f func(t *testing.T, e Engine)) {
	for name, e := range engines {
		if goruntime.GOARCH != "amd64" && e != Auto && !(e == Mixed && hasNativeCode()) {
			continue // there are no other ways
		}
		t.Run(name, func(t *testing.T) { f(t, e) })
	}
}

func TestCountsAreExact(t *testing.T) {
	path := program(t, "target.c")
	for _, args := range [][]string{{"work", "2000"}, {"threads", "500", "4"}} {
		eachEngine(t, func(t *testing.T, e Engine) {
			w := newWorld(t, Config{Engine: e, Follow: FollowThreads})
			tg := w.launch(path, args...)
			n, sum := w.counter(), w.counter()
			w.probe("work", Handlers{Enter: w.counts(n)})
			w.probe("work", Handlers{Leave: w.sums(sum, opcode.Retval, 0)})
			w.run()
			want(t, "hits", n.get(), 2000)
			want(t, "output", tg.output(), args[0]+" bad=0\n")
			if args[0] == "work" {
				want(t, "sum of results", sum.get(), 2000*2000)
			} else {
				want(t, "sum of results", sum.get(), 4*500*500)
			}
			if q := w.Query(); q[0].Hits != 2000 || q[1].Hits != 2000 || q[0].Missed != 0 {
				t.Errorf("query: %+v", q)
			}
		})
	}
}

func TestEveryInstruction(t *testing.T) {
	path := program(t, "target.c")
	for _, args := range []string{"work 300", "copy 60", "fact 12", "tail 50", "pick 60", "jump 40", "fault 20", "kernel 30", "nap 30", "storm 20", "threads 60", "fork 30", "vfork 30", "exec 30"} {
		eachEngine(t, func(t *testing.T, e Engine) {
			w := newWorld(t, Config{Engine: e, Follow: FollowChildren})
			args := strings.Fields(args)
			if n, _ := strconv.Atoi(args[1]); os.Getenv(prebuiltDir) != "" && !longRun() { // emulated machines take a hundred times as long for a stop
				args[1] = strconv.Itoa(max(n/20, 3))
			}
			tg := w.launch(path, args...)
			n := w.counter()
			for _, f := range []string{"work", "copy", "fact", "outer", "inner", "pick", "jumper", "through", "touch", "kernel", "nap", "tick", "run", "runner", "main"} {
				if _, err := w.tryProbe("target*:"+f+"+*", Handlers{Enter: w.counts(n)}); err != nil {
					t.Log(err)
				}
			}
			w.run()
			if !strings.HasSuffix(tg.output(), " bad=0\n") || n.get() == 0 {
				t.Errorf("%v: %d hits, output %q", args, n.get(), tg.output())
			}
		})
	}
}

var _ = []any{bytes.NewReader, errors.New, io.EOF}
