package affinity

import (
	"os/exec"
	goruntime "runtime"
	"strings"
	"testing"
	"time"

	"gotap/engine/image/module"
	"gotap/engine/linux/cpumask"
	"gotap/engine/linux/procfs"
	"gotap/engine/linux/ptrace"
	"gotap/engine/testenv"
)

// world is a session on the test's thread with one process, whose masks are real. Time is what the test says.
type world struct {
	t      testing.TB
	k      Keeper
	now    uint64
	pid    int
	before string // the CPUs of the process
	why    string // why it is not the only thread; "": it is
	mods   []module.Loaded
	libC   bool

	watched  map[uint64]bool
	refuses  bool // instructions cannot be watched
	image    any
	recorded bool
	room     bool // for the record
	together bool
	warned   []string
	posted   chan func()
}

func newWorld(t testing.TB) *world {
	t.Helper()
	testenv.Require(t, testenv.CPUs)
	goruntime.LockOSThread() // ends with the test: its mask may be that of a session
	cmd := exec.Command("sleep", "3600")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, pid: cmd.Process.Pid, watched: map[uint64]bool{}, room: true, image: 1, posted: make(chan func(), 100), libC: true}
	t.Cleanup(func() {
		w.k.End()
		cmd.Process.Kill()
		cmd.Wait()
		for _, text := range w.warned {
			t.Error("warned:", text)
		}
	})
	for procfs.Name(w.pid) != "sleep" {
		time.Sleep(time.Millisecond)
	}
	w.before = w.cpus()
	path, err := exec.LookPath("sleep")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range append([]string{path}, libraries(t)[:1]...) {
		f, err := module.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { f.Close() })
		w.mods = append(w.mods, module.Loaded{Path: path, File: f})
	}
	w.k.Init(w, true)
	w.now = w.k.began
	return w
}

// The methods of Session.

func (w *world) Only() (Target, string)           { return w, w.why }
func (w *world) After(d time.Duration, fn func()) {}
func (w *world) Post(fn func())                   { w.posted <- fn }
func (w *world) Together(together bool)           { w.together = together }
func (w *world) Warn(text string)                 { w.warned = append(w.warned, text) }

// The methods of Target.

func (w *world) IDs() (pid, tid int)          { return w.pid, w.pid }
func (w *world) Image() any                   { return w.image }
func (w *world) Modules() []module.Loaded     { return w.mods }
func (w *world) IsLibC(m *module.Loaded) bool { return strings.Contains(m.Path, "libc") }
func (w *world) Unwatch()                     { clear(w.watched) }
func (w *world) ForgetPinned()                { w.recorded = false }

func (w *world) Watch(m *module.Loaded, at Site, on func(int, uint64)) bool {
	w.watched[at.Addr] = true
	return !w.refuses
}

func (w *world) RecordPinned(former, given cpumask.Mask) bool {
	if w.cpus() != w.before {
		w.t.Error("the record is written after the mask")
	}
	w.recorded = w.room
	return w.room
}

// cpus returns the CPUs of the process as the kernel lists them.
func (w *world) cpus() string { return procfs.Status(w.pid, "Cpus_allowed_list") }

// own returns those of the test's thread.
func (w *world) own() string { return procfs.Status(ptrace.Tid(), "Cpus_allowed_list") }

// windows lets windows pass with stops at a rate.
func (w *world) windows(n int, rate uint64) {
	for range n {
		stops := rate * uint64(window) / uint64(time.Second)
		for range stops {
			w.now += uint64(window) / stops
			w.k.Stopped(w.now)
		}
		if stops == 0 {
			w.now += uint64(window)
			w.k.windowOver(w.now)
		}
		w.search()
	}
}

// search waits for the searches of files that are under way.
func (w *world) search() {
	for _, s := range w.k.files {
		for !s.done {
			(<-w.posted)()
		}
	}
}

// join lets so many stops pass that the two are joined.
func (w *world) join() {
	w.t.Helper()
	for range 8 {
		if w.windows(1, 2*busyRate); w.k.with != nil {
			break
		}
	}
	w.expectTogether()
}

func (w *world) expectTogether() {
	w.t.Helper()
	if w.k.with == nil || !w.recorded || !w.together || strings.ContainsAny(w.cpus(), ",-") || w.own() != w.cpus() || w.k.Stats().Why != "" {
		w.t.Fatalf("not together: the process is on %s, the thread on %s, recorded: %v, because %q", w.cpus(), w.own(), w.recorded, w.k.Stats().Why)
	}
}

// expectApart expects that all is as before, and a reason.
func (w *world) expectApart(why string) {
	w.t.Helper()
	if w.k.with != nil || w.recorded || w.together || w.cpus() != w.before || w.own() != w.before {
		w.t.Fatalf("not apart: the process is on %s, the thread on %s, recorded: %v", w.cpus(), w.own(), w.recorded)
	}
	if got := w.k.Stats().Why; !strings.Contains(got, why) {
		w.t.Errorf("apart because %q, not %q", got, why)
	}
}

// TestRates: many stops join the two after some windows, few separate them.
func TestRates(t *testing.T) {
	w := newWorld(t)
	w.windows(6, busyRate/2)
	w.expectApart(tooRare)
	w.windows(1, 2*busyRate)
	w.windows(1, 0)
	w.windows(1, 2*busyRate)
	w.expectApart(tooRare)
	w.join()
	n := w.k.Stats().Together
	w.windows(1, quietRate/2)
	w.expectTogether()
	w.windows(1, busyRate)
	w.windows(1, quietRate/2)
	w.expectTogether()
	if w.k.Stats().Together <= n {
		t.Error("stops together are not counted")
	}
	w.windows(1, 0)
	w.expectApart(tooRare)
	w.join()
	w.k.End()
	w.expectApart("")
	w.windows(6, 2*busyRate)
	w.expectApart("")
}

// TestChoosesAgain: from time to time the two are apart for a few stops.
func TestChoosesAgain(t *testing.T) {
	w := newWorld(t)
	w.join()
	for range keeps {
		w.expectTogether()
		w.windows(1, 2*busyRate)
	}
	w.expectApart("")
	for range apartStops - 1 {
		w.k.Stopped(w.now)
	}
	w.expectApart("")
	w.k.Stopped(w.now)
	w.expectTogether()
	// If stops are rare when the two would be joined again, that is why they are not.
	for range keeps {
		w.windows(1, 2*busyRate)
	}
	w.windows(1, 0)
	w.expectApart(tooRare)
}

// TestReasons: each condition that is not met keeps the two apart, and is the reason.
func TestReasons(t *testing.T) {
	for want, change := range map[string]func(w *world){
		"2 threads":           func(w *world) { w.why = "2 threads are traced" },
		"cannot be watched":   func(w *world) { w.refuses = true },
		"cannot be recorded":  func(w *world) { w.room = false },
		"maps no program":     func(w *world) { w.mods = nil },
		"cannot be searched":  func(w *world) { w.mods = append(w.mods, module.Loaded{Path: "/dev/zero"}) },
		"--affinity off":      func(w *world) { w.k.Init(w, false) },
		"has ended":           func(w *world) { w.pid, w.before = 1<<22, "" },
		"scheduling class":    func(w *world) { run(w, "chrt", "-i", "-p", "0") },
		"takes precedence":    func(w *world) { testenv.Require(w.t, testenv.Root); run(w, "renice", "-n", "-20", "-p") },
		"may run on CPUs 0, ": func(w *world) { run(w, "taskset", "-pc", "0"); w.before = "0" },
	} {
		t.Run(want, func(t *testing.T) {
			w := newWorld(t)
			all := w.own()
			change(w)
			w.windows(6, 2*busyRate)
			if w.k.with != nil || w.recorded || w.cpus() != w.before || w.own() != all {
				t.Fatalf("not apart: the process is on %s, the thread on %s, recorded: %v", w.cpus(), w.own(), w.recorded)
			}
			if got := w.k.Stats().Why; !strings.Contains(got, want) {
				t.Errorf("apart because %q, not %q", got, want)
			}
		})
	}
}

// run runs a command on the process.
func run(w *world, argv ...string) {
	w.t.Helper()
	testenv.Require(w.t, testenv.Need(argv[0]))
	if out, err := exec.Command(argv[0], append(argv[1:], procfsName(w.pid))...).CombinedOutput(); err != nil {
		w.t.Fatalf("%v: %v\n%s", argv, err, out)
	}
}

func procfsName(pid int) string { return strings.Fields(procfs.Read(pid, "stat"))[0] }

// TestCalls: a program that reads its CPUs is let go, and for good if it does so again and again; one that sets them is
// at once.
func TestCalls(t *testing.T) {
	w := newWorld(t)
	w.join()
	if len(w.watched) == 0 {
		t.Fatal("no call is watched")
	}
	w.k.Called(w.pid, 39) // getpid
	w.k.Called(w.pid+1, SetAffinity)
	w.expectTogether()
	for range mostReads - 1 {
		w.k.Called(w.pid, GetAffinity)
		w.expectApart("just read")
		w.k.Called(w.pid, GetAffinity) // does not count while they are apart
		w.join()
	}
	w.k.Called(w.pid, GetAffinity)
	w.expectApart("again and again")
	if len(w.watched) != 0 {
		t.Error("calls are still watched")
	}
	w.windows(6, 2*busyRate)
	w.expectApart("again and again")

	w.image = 2
	w.join()
	w.k.Called(w.pid, SetAffinity)
	w.expectApart("it sets its CPUs")
	w.windows(6, 2*busyRate)
	w.expectApart("it sets its CPUs")

	w.image = 3
	w.join()
	for range callRate {
		w.k.Called(w.pid, 0)
	}
	w.windows(1, 2*busyRate)
	w.expectApart("expensive to watch")
}

// TestEvents: new threads, programs and libraries, and the end of the target separate the two.
func TestEvents(t *testing.T) {
	w := newWorld(t)
	w.k.Added(w.pid) // the first one
	for what, event := range map[string]func(){
		"thread": func() { w.k.Added(1) }, "image": w.k.Replaced, "end": func() { w.k.Gone(w.pid) }, "launch": func() { w.k.Apart("launch") },
		"condition": func() { w.why = "more"; w.windows(1, 2*busyRate); w.why = "" },
	} {
		w.join()
		event()
		if w.k.with != nil {
			t.Errorf("%s: they are still together", what)
		}
		w.expectApart("")
	}
	w.join()
	w.k.Gone(1)
	w.expectTogether()
}

// TestInherited: a child that was created while the two were together gets its creator's CPUs, also if it is reported
// later; what a program has set for a child stays.
func TestInherited(t *testing.T) {
	w := newWorld(t)
	w.join()
	child := sleeper(t)
	inherit := func() {
		if err := cpumask.Set(child, w.k.last.given); err != nil {
			t.Fatal(err)
		}
	}
	list := func() string { return procfs.Status(child, "Cpus_allowed_list") }
	inherit()
	w.k.Added(child)
	w.expectApart("thread or child")
	if list() != w.before {
		t.Errorf("the child may run on %s, not %s", list(), w.before)
	}
	inherit() // as if it had been reported only now
	if w.k.Added(child); list() != w.before {
		t.Errorf("a child that is reported late may run on %s, not %s", list(), w.before)
	}
	inherit()
	if err := cpumask.Set(w.pid, w.k.last.given); err != nil { // the program's own choice, which its child inherits
		t.Fatal(err)
	}
	if w.k.Added(child); list() == w.before {
		t.Error("what the program has set was changed")
	}
}

func sleeper(t *testing.T) int {
	t.Helper()
	cmd := exec.Command("sleep", "3600")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	return cmd.Process.Pid
}

// TestChangedByOthers: CPUs that another process sets meanwhile stay.
func TestChangedByOthers(t *testing.T) {
	w := newWorld(t)
	w.join()
	other := "0"
	if w.cpus() == "0" {
		other = "1"
	}
	run(w, "taskset", "-pc", other)
	w.windows(1, 2*busyRate)
	if w.k.with != nil || w.cpus() != other || w.own() != w.before || w.recorded {
		t.Errorf("the process may run on %s, %s was set; the thread on %s", w.cpus(), other, w.own())
	}
	w.windows(6, 2*busyRate)
	if w.k.with != nil || !strings.Contains(w.k.Stats().Why, "changed by another process") {
		t.Errorf("together again: %+v", w.k.Stats())
	}
}

// BenchmarkChoosingAgain measures what the tracing thread does about every second, besides the stops that are apart
// meanwhile.
func BenchmarkChoosingAgain(b *testing.B) {
	w := newWorld(b)
	w.join()
	for b.Loop() {
		w.k.Apart("")
		w.k.join()
	}
	w.expectTogether()
}

// BenchmarkStopped measures what a stop costs in this package, in windows of a usual length.
func BenchmarkStopped(b *testing.B) {
	w := newWorld(b)
	w.join()
	for b.Loop() {
		w.now += 5000
		w.k.Stopped(w.now)
	}
}
