package remote_test

import (
	"bytes"
	"cmp"
	"debug/elf"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"gotap/engine/testenv"
	"gotap/engine/testenv/fixture"
)

// A kind is a stub and the program that it runs.
type kind struct {
	name     string
	needs    []testenv.Need
	compiler []string
	source   string // "": testdata/target.c
	stub     func(port int, program string) []string
}

func qemu(name string) func(int, string) []string {
	return func(port int, program string) []string { return []string{name, "-g", fmt.Sprint(port), program} }
}

func gdbserver(port int, program string) []string {
	return []string{"gdbserver", "--once", fmt.Sprintf("127.0.0.1:%d", port), program}
}

// kinds are the stubs that the tests run against.
var kinds = []kind{
	{"a32", []testenv.Need{testenv.GCCARM, testenv.QEMUARM}, []string{"arm-linux-gnueabihf-gcc", "-marm", "-static"}, "", qemu("qemu-arm")},
	{"thumb", []testenv.Need{testenv.GCCARM, testenv.QEMUARM}, []string{"arm-linux-gnueabihf-gcc", "-mthumb", "-static"}, "", qemu("qemu-arm")},
	{"arm64", []testenv.Need{testenv.GCCARM64, testenv.QEMUARM64}, []string{"aarch64-linux-gnu-gcc", "-static"}, "", qemu("qemu-aarch64")},
	{"amd64", []testenv.Need{testenv.GCC, testenv.AMD64, testenv.QEMUAMD64}, []string{"gcc", "-static"}, "", qemu("qemu-x86_64")},
	{"i386", []testenv.Need{testenv.GCC, testenv.M32, testenv.AMD64, testenv.QEMUI386}, []string{"gcc", "-m32", "-static"}, "", qemu("qemu-i386")},
	{"gdbserver32", []testenv.Need{testenv.GCC, testenv.M32, testenv.IA32, testenv.AMD64, testenv.GDBServer, testenv.Ptrace}, []string{"gcc", "-m32"}, "", gdbserver},
	{"gdbserver", []testenv.Need{testenv.GCC, testenv.AMD64, testenv.GDBServer, testenv.Ptrace}, []string{"gcc"}, "", gdbserver},
}

// tools are built once, into a directory that TestMain takes away.
var tools struct {
	dir string
	mu  sync.Mutex
	err map[string]error
}

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "gotap-remote-")
	if err != nil {
		panic(err)
	}
	tools.dir, tools.err = dir, map[string]error{}
	status := m.Run()
	os.RemoveAll(dir)
	os.Exit(status)
}

// build makes a file by a command, once.
func build(t *testing.T, name string, command ...string) string {
	t.Helper()
	tools.mu.Lock()
	defer tools.mu.Unlock()
	file := filepath.Join(tools.dir, name)
	err, done := tools.err[name]
	if !done {
		var out []byte
		if out, err = fixture.Command(command[0], command[1:]...).CombinedOutput(); err != nil {
			err = fmt.Errorf("%w\n%s", err, out)
		}
		tools.err[name] = err
	}
	if err != nil {
		t.Fatalf("cannot build %s: %v", name, err)
	}
	return file
}

// gotap is the command, without debug information of its own, because linking is faster then.
func gotap(t *testing.T) string {
	t.Helper()
	return build(t, "gotap", "go", "build", "-ldflags=-s -w", "-o", filepath.Join(tools.dir, "gotap"), "gotap/cmd/gotap")
}

// program is the target of a kind.
func (k kind) program(t *testing.T) string {
	t.Helper()
	testenv.Require(t, k.needs...)
	return build(t, "target-"+k.name, append(append([]string{}, k.compiler...), "-g", "-O1", cmp.Or(k.source, "testdata/target.c"), "-o", filepath.Join(tools.dir, "target-"+k.name))...)
}

// A target is a stub with the program that it runs.
type target struct {
	cmd     *exec.Cmd
	address string
	out     bytes.Buffer
	ended   chan struct{}
}

// start starts a program behind its stub, and waits until that listens.
func (k kind) start(t *testing.T, args ...string) *target {
	t.Helper()
	return k.startFile(t, k.program(t), args...)
}

// startFile is start with a program that is there.
func (k kind) startFile(t *testing.T, program string, args ...string) *target {
	t.Helper()
	port := freePort(t)
	argv := append(k.stub(port, program), args...)
	g := &target{cmd: exec.Command(argv[0], argv[1:]...), address: fmt.Sprintf("127.0.0.1:%d", port), ended: make(chan struct{})}
	g.cmd.Stdout = &g.out
	g.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := g.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { g.cmd.Wait(); close(g.ended) }()
	t.Cleanup(func() { g.cmd.Process.Kill(); <-g.ended })
	g.awaitListener(t, port)
	return g
}

// freePort is a port that nobody uses at the moment: one of those that the kernel gives to nobody who does not ask for
// it.
func freePort(t *testing.T) int {
	for range 1000 {
		port := 10000 + rand.IntN(20000)
		if l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port)); err == nil {
			l.Close()
			return port
		}
	}
	t.Fatal("there is no free port")
	return 0
}

// patience is how long tests wait for what takes a moment when nothing else is to be done: only what hangs takes as
// long.
const patience = 5 * time.Minute

// awaitListener waits until a stub listens at a port, without connecting: stubs serve the first connection only.
func (g *target) awaitListener(t *testing.T, port int) {
	t.Helper()
	want := fmt.Sprintf(":%04X 00000000:0000 0A", port)
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		select {
		case <-g.ended:
			t.Fatalf("the stub has ended: %s", g.cmd.ProcessState)
		default:
		}
		for _, table := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
			text, _ := os.ReadFile(table)
			if strings.Contains(string(text), want) || strings.Contains(string(text), strings.Replace(want, "00000000:", "00000000000000000000000000000000:", 1)) {
				return
			}
		}
	}
	t.Fatalf("nothing listens at port %d", port)
}

// wait waits for the end of the target, and returns its output and status.
func (g *target) wait(t *testing.T) (string, int) {
	t.Helper()
	select {
	case <-g.ended:
	case <-time.After(patience):
		t.Fatal("the target does not end")
	}
	return strings.ReplaceAll(g.out.String(), "\r", ""), g.cmd.ProcessState.ExitCode()
}

// run runs gotap with a script on a target.
func run(t *testing.T, text string, args ...string) (stdout, stderr string, status int) {
	t.Helper()
	return runTold(t, func(string) {}, text, args...)
}

// runTold is run for who wants to know what was printed so far.
func runTold(t *testing.T, tell func(sofar string), text string, args ...string) (stdout, stderr string, status int) {
	t.Helper()
	cmd := exec.Command(gotap(t), append([]string{"run", "-e", text}, args...)...)
	out, errs := told{tell: tell}, bytes.Buffer{}
	cmd.Stdout, cmd.Stderr = &out, &errs
	timer := time.AfterFunc(patience, func() { cmd.Process.Kill() })
	defer timer.Stop()
	cmd.Run()
	return out.text.String(), errs.String(), cmd.ProcessState.ExitCode()
}

// told is what was written, and tells of it.
type told struct {
	text strings.Builder
	tell func(string)
}

func (w *told) Write(p []byte) (int, error) {
	w.text.Write(p)
	w.tell(w.text.String())
	return len(p), nil
}

// each runs a test for every kind of stub.
func each(t *testing.T, test func(t *testing.T, k kind)) {
	for _, k := range kinds {
		t.Run(k.name, func(t *testing.T) {
			testenv.Require(t, k.needs...)
			test(t, k)
		})
	}
}

const output = "sum 45 d 25.0 fact 720 length 5 even 0\n"

// TestCounts: hits, arguments, results and stacks are those of the program, which does what it does without us.
func TestCounts(t *testing.T) {
	each(t, func(t *testing.T, k kind) {
		g := k.start(t)
		got, errs, status := run(t, `
			let n = 0;
			probe("work", { enter(c) { n++; this.a = c.arg0; }, leave(c) { log("work", this.a, c.args.b, c.ret); } });
			probe("fact", { enter(c) { this.n = c.arg0; }, leave(c) { log("fact", this.n, c.ret); } });
			probe("even", { enter(c) { this.n = c.arg0; }, leave(c) { log("even", this.n, c.ret); } });
			probe("scale", { leave(c) { log("scale"); }, after: 1, limit: 2 });
			probe("length", { enter(c) { exit({ s: str(c.arg0, 16), stack: c.stack(4) }); },
			  exit(e) { console.log("length", e.s, e.stack.toString().includes("length+0x0")); } });
			end(() => console.log("n", n));`, "--remote", g.address, "--exe", k.program(t))
		want := "work 0 1 1\nscale\nwork 1 2 3\nscale\nwork 2 3 7\nwork 3 4 13\nwork 4 5 21\n"
		if status != 0 {
			t.Fatalf("status %d\n%s", status, errs)
		}
		for _, part := range []string{"work 4", "fact 6 720\n", "fact 1 1\n", "length hello true\n", "n 5\n", "even 7 0\n"} {
			if !strings.Contains(got, part) {
				t.Errorf("no %q in\n%s", part, got)
			}
		}
		if n := len(regexp.MustCompile(`(?m)^scale$`).FindAllString(got, -1)); n != 2 {
			t.Errorf("scale was left %d times within its limit of 2; wanted as in\n%s", n, want)
		}
		if out, status := g.wait(t); !strings.Contains(out, output) || !strings.HasPrefix(k.name, "gdbserver") && status != 3 {
			t.Errorf("the target ended with status %d and wrote %q", status, out)
		}
	})
}

// TestFloats: floating results are read, on IA-32 from the stack of the floating-point unit.
func TestFloats(t *testing.T) {
	each(t, func(t *testing.T, k kind) {
		g := k.start(t)
		got, errs, status := run(t, `probe("scale", { leave(c) { log(c.ret); } });`, "-q", "--remote", g.address, "--exe", k.program(t))
		if want := "0\n2.5\n5\n7.5\n10\n"; status != 0 || got != want {
			t.Errorf("status %d, %q, not %q\n%s", status, got, want, errs)
		}
		g.wait(t)
	})
}

// TestCallerAtReturn: a call is seen to return to where it was made from, however its return is seen.
func TestCallerAtReturn(t *testing.T) {
	each(t, func(t *testing.T, k kind) {
		g := k.start(t)
		got, errs, status := run(t, `
			let same = 0, other = 0;
			for (const f of ["work", "fact", "even", "odd"]) probe(f, {
			  enter(c) { this.from = c.caller; },
			  leave(c) { if (this.from === c.caller) same++; else other++; } });
			end(() => console.log(same, other));`, "--remote", g.address, "--exe", k.program(t))
		if want := "19 0\n"; status != 0 || got != want {
			t.Errorf("status %d, %q, not %q\n%s", status, got, want, errs)
		}
		g.wait(t)
	})
}

// TestEveryInstruction: a program whose functions have a probe on every instruction does what it does without us.
func TestEveryInstruction(t *testing.T) {
	each(t, func(t *testing.T, k kind) {
		g := k.start(t)
		got, errs, status := run(t, `
			let n = 0;
			probe(["main+*", "work+*", "scale+*", "fact+*", "length+*", "even+*", "odd+*"], () => { n++; });
			end(() => console.log("n", n));`, "--remote", g.address, "--exe", k.program(t), "--stats")
		if status != 0 {
			t.Fatalf("status %d\n%s", status, errs)
		}
		if out, status := g.wait(t); !strings.Contains(out, output) || !strings.HasPrefix(k.name, "gdbserver") && status != 3 {
			t.Errorf("the target ended with status %d and wrote %q", status, out)
		}
		var n int
		if fmt.Sscanf(got, "n %d", &n); n < 200 {
			t.Errorf("only %d instructions were counted", n)
		}
		if steps := regexp.MustCompile(`[,;] ([0-9]+) instructions stepped`).FindStringSubmatch(errs); strings.HasPrefix(k.compiler[0], "a") && (steps == nil || steps[1] != "0") {
			t.Errorf("an ARM target was stepped: %v", steps)
		}
	})
}

// TestSignedPointers: code that signs its return addresses, as distributions compile it for AArch64, does what it does
// without us, on processors that have pointer authentication and on those that have not.
func TestSignedPointers(t *testing.T) {
	for _, cpu := range []string{"max", "cortex-a57"} {
		k := kind{"signed", []testenv.Need{testenv.GCCARM64, testenv.QEMUARM64}, []string{"aarch64-linux-gnu-gcc", "-static", "-mbranch-protection=standard"}, "",
			func(port int, program string) []string {
				return []string{"qemu-aarch64", "-cpu", cpu, "-g", fmt.Sprint(port), program}
			}}
		g := k.start(t)
		got, errs, status := run(t, `
			let n = 0, left = 0; // where signed, and not where checked: signing cannot be left out then
			probe(["main", "work", "scale", "fact", "length", "even", "odd"], { enter() { n++; }, leave() { left++; } });
			end(() => console.log(n, left));`, "--remote", g.address, "--exe", k.program(t))
		if want := "26 26\n"; status != 0 || got != want {
			t.Errorf("-cpu %s: status %d, %q, not %q\n%s", cpu, status, got, want, errs)
		}
		if out, status := g.wait(t); !strings.Contains(out, output) || status != 3 {
			t.Errorf("-cpu %s: the target ended with status %d and wrote %q", cpu, status, out)
		}
	}
}

// TestLetGo: when gotap ends, the target goes on to its own end.
func TestLetGo(t *testing.T) {
	each(t, func(t *testing.T, k kind) {
		g := k.start(t, "20", "50000")
		_, errs, status := run(t, `probe("work", { leave() {} }); probe("scale+*", () => {});`, "--remote", g.address, "--exe", k.program(t), "-T", "300ms")
		if status != 0 {
			t.Fatalf("status %d\n%s", status, errs)
		}
		if out, status := g.wait(t); !strings.Contains(out, "sum 2680 d 475.0") || !strings.HasPrefix(k.name, "gdbserver") && status != 3 {
			t.Errorf("the target ended with status %d and wrote %q", status, out)
		}
	})
}

// TestLetGoBusy: a target that is let go in the midst of hits goes on. The interrupt that stops it is mostly overtaken
// by a hit then, and must not reach it afterwards.
func TestLetGoBusy(t *testing.T) {
	for _, k := range kinds {
		if !strings.HasPrefix(k.name, "gdbserver") {
			continue // the machines of other stubs have no signals, or take none from their stub
		}
		t.Run(k.name, func(t *testing.T) {
			for range 6 {
				g := k.start(t, "5000")
				_, errs, status := run(t, `probe("work", { leave() {} }); probe("scale+*", () => {});`, "--remote", g.address, "--exe", k.program(t), "-T", "100ms")
				if out, _ := g.wait(t); status != 0 || !strings.Contains(out, "fact 720 length 5 even 0") {
					t.Fatalf("gotap ended with status %d, the target wrote %q\n%s", status, out, errs)
				}
			}
		})
	}
}

// TestLetGoTwice: a second Ctrl-C right after the first leaves no breakpoint in a target either that soon comes by one:
// it would end it.
func TestLetGoTwice(t *testing.T) {
	each(t, func(t *testing.T, k kind) {
		g := k.start(t, "200", "10000")
		cmd := exec.Command(gotap(t), "run", "-q", "-e", `let n = 0; probe("work", { enter(c) { if (++n === 3) log("hit"); }, leave() {} });`,
			"--remote", g.address, "--exe", k.program(t))
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if _, err := out.Read(make([]byte, 4)); err != nil {
			t.Errorf("no hit: %v", err)
		}
		cmd.Process.Signal(syscall.SIGINT)
		cmd.Process.Signal(syscall.SIGINT)
		io.Copy(io.Discard, out)
		cmd.Wait()
		if out, status := g.wait(t); !strings.Contains(out, "fact 720 length 5 even 0") || !strings.HasPrefix(k.name, "gdbserver") && status != 3 {
			t.Errorf("the target ended with status %d and wrote %q", status, out)
		}
	})
}

// TestStubEnds: the loss of a stub is told, with what was counted.
func TestStubEnds(t *testing.T) {
	k := kinds[0]
	g := k.start(t, "1000000", "10000")
	kill := func(sofar string) {
		if strings.Contains(sofar, "hit") {
			g.cmd.Process.Kill()
		}
	}
	got, errs, status := runTold(t, kill, `let n = 0; probe("work", { enter(c) { n++; if (n === 1) log("hit"); } }); end(() => console.log("n is", n > 0));`,
		"--remote", g.address, "--exe", k.program(t))
	if status != 1 || !strings.Contains(errs, "the connection is lost") || !strings.Contains(got, "n is true") {
		t.Errorf("status %d\n%s\n%s", status, got, errs)
	}
}

// TestRefusals: what cannot be is refused with its reason and a status of its own.
func TestRefusals(t *testing.T) {
	testenv.Require(t, kinds[0].needs...)
	script := `probe("work", () => {});`
	other := build(t, "other", "arm-linux-gnueabihf-gcc", "-marm", "-static", "-O1", "testdata/guest.c", "-o", filepath.Join(tools.dir, "other"))
	big := build(t, "big", "arm-linux-gnueabihf-gcc", "-mbig-endian", "-nostdlib", "-static", "-Wl,-e,0", "-x", "c", "/dev/null", "-o", filepath.Join(tools.dir, "big"))
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	for _, c := range []struct {
		name, script, want string
		args               []string
		status             int
		target             bool
	}{
		{"nothing listens", script, "nothing listens there", []string{"--remote", fmt.Sprintf("127.0.0.1:%d", freePort(t)), "--exe", "x"}, 3, false},
		{"no stub", script, "does not answer as a GDB stub", []string{"--remote", silent.Addr().String(), "--exe", "x"}, 3, false},
		{"no program", script, "does not say which file its target runs", nil, 3, true},
		{"another processor", script, "a file for x86-64", []string{"--exe", gotap(t)}, 3, true},
		{"big-endian", script, "it is big-endian", []string{"--exe", big}, 3, true},
		{"another program", script, "the target runs another program", []string{"--exe", other}, 3, true},
		{"system calls", `probe("syscall:open", () => {});`, "this stub does not tell of system calls", []string{"--exe", kinds[0].program(t)}, 3, true},
		{"watchpoints", `probe("watch:environ/4/w", () => {});`, "the stub has no watchpoints", []string{"--exe", kinds[0].program(t)}, 3, true},
		{"no such function", `probe("wrok", () => {});`, `cannot find function "wrok"`, []string{"--exe", kinds[0].program(t)}, 4, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.target {
				c.args = append([]string{"--remote", kinds[0].start(t).address}, c.args...)
			}
			if _, errs, status := run(t, c.script, c.args...); status != c.status || !strings.Contains(errs, c.want) {
				t.Errorf("status %d, not %d; no %q in\n%s", status, c.status, c.want, errs)
			}
		})
	}
}

// TestWatch: a stub's watchpoints tell of writes, and of what is in variables then.
func TestWatch(t *testing.T) {
	testenv.Require(t, testenv.Watched)
	k := kinds[len(kinds)-1]
	g := k.start(t)
	got, errs, status := run(t, `probe("watch:counter/4/w", { enter(c) { log("wrote", global("counter"), "in", c.func); }, limit: 3 });`, "--remote", g.address)
	if status != 0 || got != "wrote 0 in bump\nwrote 1 in bump\nwrote 3 in bump\n" {
		t.Errorf("status %d\n%s\n%s", status, got, errs)
	}
	if out, _ := g.wait(t); !strings.Contains(out, output) {
		t.Errorf("the target wrote %q", out)
	}
}

// TestWatchAddress: data that no file knows is watched by its address, as in native tracing.
func TestWatchAddress(t *testing.T) {
	testenv.Require(t, testenv.Watched)
	k := kinds[len(kinds)-1]
	k.name, k.compiler = k.name+"-fixed", append(slices.Clone(k.compiler), "-no-pie")
	f, err := elf.Open(k.program(t))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	all, err := f.Symbols()
	i := slices.IndexFunc(all, func(s elf.Symbol) bool { return s.Name == "counter" })
	if err != nil || i < 0 {
		t.Fatalf("no variable counter: %v", err)
	}
	g := k.start(t)
	got, errs, status := run(t, fmt.Sprintf(`probe("watch:%#x/4/w", { enter(c) { log("wrote", global("counter"), "in", c.func); }, limit: 3 });`, all[i].Value), "--remote", g.address)
	if status != 0 || got != "wrote 0 in bump\nwrote 1 in bump\nwrote 3 in bump\n" {
		t.Errorf("status %d\n%s\n%s", status, got, errs)
	}
	if out, _ := g.wait(t); !strings.Contains(out, output) {
		t.Errorf("the target wrote %q", out)
	}
}

// TestHold: a held target goes on when the callback has returned; probes that end keep the others going.
func TestHold(t *testing.T) {
	each(t, func(t *testing.T, k kind) {
		g := k.start(t)
		got, errs, status := run(t, `
			let n = 0;
			probe("work", { enter(c) { n++; if (c.arg0 === 2) exit.hold({ v: c.arg0 }); }, exit(e) { console.log("held", e.v); } });
			probe("work", { enter(c) { remove(); } });
			end(() => console.log("n", n));`, "--remote", g.address, "--exe", k.program(t))
		if status != 0 || got != "held 2\nn 5\n" {
			t.Errorf("status %d\n%s\n%s", status, got, errs)
		}
		if out, _ := g.wait(t); !strings.Contains(out, output) {
			t.Errorf("the target wrote %q", out)
		}
	})
}

// children is what testdata/children.c writes.
const children = "fork 100\nfork 200\nfork 300\nspawn 500\nvfork 900\nthread 1275\nthread 1275\nthread 1275\nthread 1275\n"

// TestChildren: a program's children do what they do without us, and hits of the program itself are counted, of all its
// threads, before a child and after it. An exec is followed.
func TestChildren(t *testing.T) {
	k := kinds[len(kinds)-1]
	k.name, k.source, k.compiler = "gdbserver-children", "testdata/children.c", []string{"gcc", "-pthread"}
	for args, want := range map[string]string{"": "forks 5 n 205\n", "x": "forks 5 exec target-gdbserver-children n 205\n"} {
		g := k.start(t, strings.Fields(args)...)
		got, errs, status := run(t, `
			let n = 0, forks = 0, exec = "";
			probe("work", { enter(c) { n++; this.a = c.arg0; }, leave(c) { if (c.ret !== this.a + 1) log("returned", c.ret); } });
			on("fork", () => { forks++; });
			on("exec", (e) => { exec = "exec " + e.path.split("/").pop() + " "; });
			end(() => console.log(`+"`forks ${forks} ${exec}n ${n}`"+`));`, "--remote", g.address)
		if status != 0 || got != want {
			t.Errorf("%q: status %d\n%s\n%s", args, status, got, errs)
		}
		if out, _ := g.wait(t); !strings.Contains(out, children) {
			t.Errorf("%q: the target wrote %q", args, out)
		}
	}
}

// TestSyscalls: gdbserver tells of system calls, with what the kernel got and gave.
func TestSyscalls(t *testing.T) {
	for _, k := range kinds[len(kinds)-2:] {
		t.Run(k.name, func(t *testing.T) {
			g := k.start(t)
			got, errs, status := run(t, `
				let naps = 0;
				probe("syscall:write", { enter(c) { this.n = c.arg2; this.fd = c.args.fd; }, leave(c) { log("write", this.fd, this.n, c.ret, c.elapsed > 0, c.func); } });
				probe("syscall:*nanosleep*", { leave(c) { naps++; if (c.ret !== 0) log("nap", c.ret); } });
				probe("syscall:close", { enter(c) { log("close"); }, limit: 1 });
				end(() => console.log("naps", naps));`, "--remote", g.address)
			if want := "close\nwrite 1 39 39 true write\nnaps 5\n"; status != 0 || got != want {
				t.Errorf("status %d\n%s\n%s", status, got, errs)
			}
			if out, _ := g.wait(t); !strings.Contains(out, output) {
				t.Errorf("the target wrote %q", out)
			}
		})
	}
}

// TestInterruptedSyscalls: a call that a signal interrupts ends once, with what the program gets: also when a handler
// runs before it is made again, and when the kernel sleeps the rest of a time.
func TestInterruptedSyscalls(t *testing.T) {
	for _, k := range kinds[len(kinds)-2:] {
		t.Run(k.name, func(t *testing.T) {
			k.name, k.source = k.name+"-interrupted", "testdata/interrupted.c"
			g := k.start(t)
			got, errs, status := run(t, `
				const reads = count({ keys: 1 });
				let slept = 0, asked = 0;
				probe("syscall:read", { enter(c) { this.one = c.arg2 === 1 ? 1 : 0; }, leave(c) { if (this.one === 1) reads.at(c.ret).inc(); } });
				probe("syscall:*nanosleep*", { leave(c) { slept++; } });
				probe("syscall:getppid", { leave(c) { asked++; } });
				end(() => console.log(reads.get(-4), reads.get(1), slept, asked));`, "--remote", g.address)
			if status != 0 || !strings.HasPrefix(got, "3 3 2 6\n") {
				t.Errorf("status %d\n%s\n%s", status, got, errs)
			}
			if out, _ := g.wait(t); !strings.Contains(out, "bad=0\n") {
				t.Errorf("the target wrote %q", out)
			}
		})
	}
}

// TestLibraries: functions of libraries are found when the loader has mapped them.
func TestLibraries(t *testing.T) {
	k := kinds[len(kinds)-1]
	g := k.start(t)
	got, errs, status := run(t, `probe("libc:atoi", () => {}); probe("libc:usleep", { leave(c) { log("slept", c.ret); }, limit: 2 });
		probe("libc:write+*", () => {});`, "--remote", g.address)
	if status != 0 || got != "slept 0\nslept 0\n" {
		t.Errorf("status %d\n%s\n%s", status, got, errs)
	}
	if out, _ := g.wait(t); !strings.Contains(out, output) {
		t.Errorf("the target wrote %q", out)
	}
}
