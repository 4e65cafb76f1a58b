package engine

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"gotap/engine/linux/procfs"
	"gotap/engine/testenv"
	"gotap/engine/testenv/fixture"
)

// cpus returns the CPUs that a thread may run on, as the kernel lists them.
func cpus(tid int) string { return procfs.Status(tid, "Cpus_allowed_list") }

// isOne reports whether a list of CPUs has one.
func isOne(list string) bool { _, err := strconv.Atoi(list); return err == nil }

// sharing is a target that makes calls all the time, and a session with a probe on them.
type sharing struct {
	*stranger
	w      *world
	before string // its CPUs without a session
	number string // and how many there are, as nproc counts them
}

// share attaches a session to a new target, and waits until the two share a CPU.
func share(t *testing.T, path string, args ...string) *sharing {
	t.Helper()
	testenv.Require(t, testenv.CPUs)
	out, err := exec.Command("nproc").Output()
	if err != nil {
		t.Fatal(err)
	}
	h := &sharing{stranger: start(t, path, append(args, "")...), number: strings.TrimSpace(string(out))}
	h.line()
	h.before = cpus(h.pid())
	h.attach(Config{Follow: FollowChildren})
	h.awaitTogether()
	return h
}

// attach begins a session.
func (h *sharing) attach(cfg Config) {
	h.t.Helper()
	h.w = newWorld(h.t, cfg)
	if err := h.w.Attach(h.pid()); err != nil {
		h.t.Fatal(err)
	}
	n := h.w.counter()
	h.w.probe("work", Handlers{Enter: h.w.counts(n)})
	if err := h.w.Start(); err != nil {
		h.t.Fatal(err)
	}
}

func (h *sharing) awaitTogether() {
	h.t.Helper()
	for end := time.Now().Add(2 * time.Minute); !isOne(cpus(h.pid())); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			h.t.Fatalf("target and session do not get together: %+v", h.w.Stats())
		}
	}
}

// line returns the next line of the target.
func (h *sharing) line() string {
	h.t.Helper()
	line := make(chan string, 1)
	go func() { s, _ := h.out.ReadString('\n'); line <- s }()
	select {
	case s := <-line:
		return strings.TrimSpace(s)
	case <-time.After(patience()):
		h.t.Fatal("the target prints nothing")
		return ""
	}
}

// ask makes the target do something, and returns what it prints.
func (h *sharing) ask(letter string) string {
	h.t.Helper()
	h.in.Write([]byte(letter))
	return h.line()
}

// tracerCPUs returns the CPUs of the tracing thread.
func (w *world) tracerCPUs() string { return cpus(w.loop.Tid()) }

// taskset returns the mask of a process as util-linux prints it.
func taskset(t *testing.T, pid int) string {
	t.Helper()
	out, err := exec.Command("taskset", "-p", strconv.Itoa(pid)).Output()
	if err != nil {
		t.Fatal(err)
	}
	_, mask, _ := strings.Cut(string(out), ": ")
	return mask
}

// TestSharesCPU has taskset and the kernel look at target and tracing thread before, while and after they share a CPU.
func TestSharesCPU(t *testing.T) {
	testenv.Require(t, testenv.Taskset)
	h := share(t, program(t, "sharer.c"))
	eventually(t, "the tracing thread on the target's CPU", func() bool { return isOne(cpus(h.pid())) && h.w.tracerCPUs() == cpus(h.pid()) })
	eventually(t, "stops together", func() bool { return h.w.Stats().Together > 1000 })
	if own := cpus(os.Getpid()); own != h.before {
		t.Errorf("this process may run on CPUs %s, and on %s before", own, h.before)
	}
	if err := h.w.Close(false); err != nil {
		t.Fatal(err)
	}
	want(t, "CPUs of the target after the session", cpus(h.pid()), h.before)
	want(t, "taskset after the session", taskset(t, h.pid()), taskset(t, os.Getpid()))
	if st := h.w.Stats(); st.Together == 0 || st.Together > st.Stops {
		t.Errorf("%+v", st)
	}
	want(t, "target", h.ask("x"), "end")
}

// TestAffinityIsUnseen has a target that shares a CPU read its CPUs in all ways, and create threads, children and
// programs: it sees what it would see without a session.
func TestAffinityIsUnseen(t *testing.T) {
	for name, letter := range map[string]string{
		"sched_getaffinity": "r", "pthread_getaffinity_np": "p", "syscall": "y", "sysconf": "c", "get_nprocs": "n",
		"thread": "t", "fork": "f", "posix_spawn": "v", "system": "g", "exec": "e",
	} {
		t.Run(name, func(t *testing.T) {
			h := share(t, program(t, "sharer.c"))
			expected := h.number
			if letter == "t" || letter == "f" {
				expected = h.before
			}
			want(t, name, h.ask(letter), expected)
			if letter == "e" {
				<-h.w.Done()
				return
			}
			h.awaitTogether()
			if err := h.w.Close(false); err != nil {
				t.Fatal(err)
			}
			want(t, "CPUs after the session", cpus(h.pid()), h.before)
			want(t, "target", h.ask("x"), "end")
		})
	}
}

// TestAffinityOfPython is the same for an interpreter.
func TestAffinityOfPython(t *testing.T) {
	testenv.Require(t, testenv.AMD64, testenv.Ptrace, testenv.Python3)
	const script = `
import os, sys, fcntl
os.set_blocking(0, False)
print("begin", flush=True)
while True:
    for i in range(200): os.getppid()
    try: c = os.read(0, 1)
    except BlockingIOError: continue
    if c == b"x": print("end", flush=True); break
    print(len(os.sched_getaffinity(0)), os.cpu_count(), os.sysconf("SC_NPROCESSORS_ONLN"), flush=True)
`
	python, err := exec.Command("python3", "-c", "import sys; print(sys.executable)").Output()
	if err != nil {
		t.Fatal(err)
	}
	bare, err := exec.Command("python3", "-c", `import os; print(len(os.sched_getaffinity(0)), os.cpu_count(), os.sysconf("SC_NPROCESSORS_ONLN"))`).Output()
	if err != nil {
		t.Fatal(err)
	}
	h := &sharing{stranger: start(t, strings.TrimSpace(string(python)), "-c", script)}
	h.line()
	h.before = cpus(h.pid())
	h.w = newWorld(t, Config{Follow: FollowThreads})
	if err := h.w.Attach(h.pid()); err != nil {
		t.Fatal(err)
	}
	n := h.w.counter()
	h.w.probe("libc:getppid", Handlers{Enter: h.w.counts(n)})
	h.w.Start()
	h.awaitTogether()
	want(t, "python", h.ask("r"), strings.TrimSpace(string(bare)))
	want(t, "python", h.ask("x"), "end")
}

// setByTaskset sets the target's CPUs by taskset, to another one than that which the session may just have set: the
// kernel does not tell the two apart if they are the same. The session's reason may be another than the change, if stops
// are rare at this moment, so this looks at what it does: it lets the CPUs be, and shares none.
func (h *sharing) setByTaskset() {
	h.t.Helper()
	for range 20 {
		other := "0"
		if cpus(h.pid()) == "0" {
			other = "1"
		}
		if out, err := exec.Command("taskset", "-pc", other, strconv.Itoa(h.pid())).CombinedOutput(); err != nil {
			h.t.Fatalf("%v: %s", err, out)
		}
		time.Sleep(600 * time.Millisecond)
		before := h.w.Stats()
		time.Sleep(300 * time.Millisecond)
		after := h.w.Stats()
		if cpus(h.pid()) == other && before.Together == after.Together && after.Stops > before.Stops {
			return
		}
	}
	h.t.Fatalf("the target's CPUs cannot be set: it may run on %s, %+v", cpus(h.pid()), h.w.Stats())
}

// TestAffinityThatIsSet: CPUs that the program sets, or another process sets for it, are not touched.
func TestAffinityThatIsSet(t *testing.T) {
	testenv.Require(t, testenv.Taskset)
	t.Run("by itself", func(t *testing.T) {
		h := share(t, program(t, "sharer.c"))
		want(t, "CPUs that it has set", h.ask("s"), "0")
		time.Sleep(time.Second)
		want(t, "CPUs a second later", cpus(h.pid()), "0")
		eventually(t, "a reason", func() bool { return strings.Contains(h.w.Stats().Apart, "CPUs") })
		h.w.Close(false)
		want(t, "CPUs after the session", cpus(h.pid()), "0")
	})
	t.Run("by taskset", func(t *testing.T) {
		h := share(t, program(t, "sharer.c"))
		h.setByTaskset()
		now := cpus(h.pid())
		h.w.Close(false)
		want(t, "CPUs after the session", cpus(h.pid()), now)
	})
	t.Run("before", func(t *testing.T) {
		testenv.Require(t, testenv.CPUs)
		h := &sharing{stranger: start(t, "/usr/bin/taskset", "-c", "0", program(t, "sharer.c"))}
		h.line()
		h.attach(Config{Follow: FollowThreads})
		eventually(t, "a reason", func() bool { return strings.Contains(h.w.Stats().Apart, "the target may run on CPUs 0, gotap on") })
		want(t, "stops together", h.w.Stats().Together, 0)
	})
}

// TestAffinityOfStaticProgram: a static program, whose system calls cannot all be told apart, is left alone.
func TestAffinityOfStaticProgram(t *testing.T) {
	testenv.Require(t, testenv.CPUs)
	h := &sharing{stranger: start(t, program(t, "sharer.c", "-static"), "")}
	h.line()
	h.attach(Config{Follow: FollowThreads})
	eventually(t, "a reason", func() bool { return strings.Contains(h.w.Stats().Apart, "may make any system call") })
	want(t, "stops together", h.w.Stats().Together, 0)
}

// TestAffinityOff: with AffinityOff nothing is set.
func TestAffinityOff(t *testing.T) {
	testenv.Require(t, testenv.CPUs)
	h := &sharing{stranger: start(t, program(t, "sharer.c"), "")}
	h.line()
	before := cpus(h.pid())
	h.attach(Config{Follow: FollowThreads, Affinity: AffinityOff})
	time.Sleep(1500 * time.Millisecond)
	want(t, "CPUs", cpus(h.pid()), before)
	st := h.w.Stats()
	want(t, "reason", st.Apart, "--affinity off")
	want(t, "stops together", st.Together, 0)
}

// TestAffinityApart: the two separate when stops get rare, when there is a second target, and when the target ends.
func TestAffinityApart(t *testing.T) {
	path := program(t, "sharer.c")
	t.Run("rare stops", func(t *testing.T) {
		h := share(t, path)
		h.in.Write([]byte("z"))
		eventually(t, "the target's own CPUs", func() bool { return cpus(h.pid()) == h.before })
		eventually(t, "the tracing thread's", func() bool { return h.w.tracerCPUs() == h.before })
		h.in.Write([]byte("r"))
		want(t, "CPUs that it reads", h.line(), h.number)
		h.awaitTogether()
	})
	t.Run("second target", func(t *testing.T) {
		h := share(t, path)
		other := start(t, path, "")
		other.out.ReadString('\n')
		if err := h.w.Attach(other.pid()); err != nil {
			t.Fatal(err)
		}
		want(t, "CPUs", cpus(h.pid()), h.before)
		want(t, "CPUs of the other", cpus(other.pid()), h.before)
		time.Sleep(time.Second)
		want(t, "CPUs a second later", cpus(h.pid()), h.before)
	})
	t.Run("launch", func(t *testing.T) {
		h := share(t, path)
		tg := h.w.launch("/bin/cat", "/proc/self/status")
		h.w.Start()
		eventually(t, "the status", func() bool { return strings.Contains(tg.output(), "nonvoluntary") })
		if !strings.Contains(tg.output(), "Cpus_allowed_list:\t"+h.before+"\n") {
			t.Errorf("a program that was launched meanwhile may not run on all CPUs: %s", tg.output())
		}
	})
	t.Run("end of the target", func(t *testing.T) {
		h := share(t, path)
		want(t, "target", h.ask("x"), "end")
		<-h.w.Done()
		want(t, "CPUs of the tracing thread", h.w.tracerCPUs(), h.before)
	})
	t.Run("kill of the target", func(t *testing.T) {
		h := share(t, path)
		h.cmd.Process.Kill()
		<-h.w.Done()
		want(t, "CPUs of the tracing thread", h.w.tracerCPUs(), h.before)
	})
}

// killedSharing starts a target, and a session in another process that shares a CPU with it. It returns them when that
// is so.
func killedSharing(t *testing.T) (h *sharing, session *exec.Cmd) {
	t.Helper()
	testenv.Require(t, testenv.CPUs)
	h = &sharing{stranger: start(t, program(t, "sharer.c"), "")}
	h.line()
	h.before = cpus(h.pid())
	session = startCrashed(t, crashPlan{Pid: h.pid(), Specs: []string{"work"}}, nil, nil)
	for end := time.Now().Add(2 * time.Minute); !isOne(cpus(h.pid())); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("target and session do not get together")
		}
	}
	return h, session
}

// TestAffinityOfKilledSession: the handler restores the CPUs at the next hit after a kill; Clean, or the next session,
// restores those of a target that hits nothing.
func TestAffinityOfKilledSession(t *testing.T) {
	t.Run("handler", func(t *testing.T) {
		h, session := killedSharing(t)
		session.Process.Kill()
		session.Wait()
		eventually(t, "the target's own CPUs", func() bool { return cpus(h.pid()) == h.before })
		want(t, "target", h.ask("x"), "end")
	})
	for name, repair := range map[string]func(t *testing.T, pid int){
		"clean": func(t *testing.T, pid int) {
			got, err := Clean(pid)
			if err != nil || got.CPUs != cpus(pid) {
				t.Errorf("clean: %+v, %v", got, err)
			}
			if again, err := Clean(pid); err != nil || again.CPUs != "" {
				t.Errorf("a second time: %+v, %v", again, err)
			}
		},
		"next session": func(t *testing.T, pid int) {
			w := newWorld(t, Config{Follow: FollowThreads, Affinity: AffinityOff})
			if err := w.Attach(pid); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			h, session := asleepTogether(t)
			session.Process.Kill()
			session.Wait()
			if now := cpus(h.pid()); !isOne(now) {
				t.Fatalf("the target that hits nothing has the CPUs %s again: what does this test show?", now)
			}
			repair(t, h.pid())
			want(t, "CPUs", cpus(h.pid()), h.before)
		})
	}
}

// asleepTogether is killedSharing with a target that has just gone to sleep.
func asleepTogether(t *testing.T) (h *sharing, session *exec.Cmd) {
	t.Helper()
	const poll = "7 " // its number on x86-64
	for range 20 {
		h, session = killedSharing(t)
		h.in.Write([]byte("z"))
		for range 100 {
			if strings.HasPrefix(procfs.Read(h.pid(), "syscall"), poll) {
				break
			}
			time.Sleep(time.Millisecond)
		}
		session.Process.Signal(syscall.SIGSTOP) // it may be about to separate them
		eventually(t, "the session to stop", func() bool {
			return !slices.ContainsFunc(procfs.Threads(session.Process.Pid), func(tid int) bool { return !strings.HasPrefix(procfs.Status(tid, "State"), "T") })
		})
		if isOne(cpus(h.pid())) {
			return h, session
		}
		session.Process.Kill()
		session.Wait()
	}
	t.Fatal("the two are never together when the target falls asleep")
	return nil, nil
}

// TestAffinityOfLibrary: a library that is opened while a CPU is shared is searched too, before its code runs.
func TestAffinityOfLibrary(t *testing.T) {
	testenv.Require(t, testenv.AMD64, testenv.Ptrace, testenv.Python3, testenv.GCC, testenv.CPUs)
	dir := t.TempDir()
	source, library := filepath.Join(dir, "count.c"), filepath.Join(dir, "count.so")
	const text = `
long count(void) { unsigned long set[16] = {0}; long n = 0, r;
	__asm__ volatile("syscall" : "=a"(r) : "a"(204L), "D"(0L), "S"(sizeof set), "d"(set) : "rcx", "r11", "memory");
	for (int i = 0; i < 16; i++) n += __builtin_popcountl(set[i]);
	return n; }
static long atStart;
__attribute__((constructor)) static void begin(void) { atStart = count(); }
long first(void) { return atStart; }`
	if err := os.WriteFile(source, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := fixture.Command("gcc", "-O1", "-shared", "-fPIC", "-o", library, source).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	const script = `
import os, ctypes, sys
os.set_blocking(0, False)
lib = None
print("begin", flush=True)
while True:
    for i in range(200): os.getppid()
    try: c = os.read(0, 1)
    except BlockingIOError: continue
    lib = lib or ctypes.CDLL(sys.argv[1])
    print(lib.first(), lib.count(), flush=True)
`
	python, err := exec.Command("python3", "-c", "import sys; print(sys.executable)").Output()
	if err != nil {
		t.Fatal(err)
	}
	out, _ := exec.Command("nproc").Output()
	number := strings.TrimSpace(string(out))
	h := &sharing{stranger: start(t, strings.TrimSpace(string(python)), "-c", script, library)}
	h.line()
	h.w = newWorld(t, Config{Follow: FollowThreads})
	if err := h.w.Attach(h.pid()); err != nil {
		t.Fatal(err)
	}
	n := h.w.counter()
	h.w.probe("libc:getppid", Handlers{Enter: h.w.counts(n)})
	h.w.Start()
	h.awaitTogether()
	want(t, "first use", h.ask("r"), number+" "+number)
	h.awaitTogether()
	want(t, "second use", h.ask("r"), number+" "+number)
}

// BenchmarkStop measures a hit with a CPU that is shared, and with two.
func BenchmarkStop(b *testing.B) {
	for name, a := range map[string]Affinity{"auto": AffinityAuto, "off": AffinityOff} {
		b.Run(name, func(b *testing.B) {
			path := program(b, "target.c")
			w := newWorld(b, Config{Follow: FollowThreads, Affinity: a})
			w.launch(path, "work", strconv.Itoa(max(b.N, 100)))
			n := w.counter()
			w.probe("work", Handlers{Enter: w.counts(n)})
			b.ResetTimer()
			w.Start()
			<-w.Done()
			b.ReportMetric(float64(w.Stats().Together)/float64(w.Stats().Stops), "together")
		})
	}
}
