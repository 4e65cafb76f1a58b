package engine

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"gotap/engine/linux/procfs"
	"gotap/engine/testenv"
	"gotap/engine/testenv/fixture"
)

// builtWith builds a program with a compiler of its own, once.
func builtWith(t *testing.T, need testenv.Need, name string, argv ...string) string {
	t.Helper()
	testenv.Require(t, testenv.AMD64, testenv.Ptrace, need)
	programs.Lock()
	defer programs.Unlock()
	if path := programs.built[name]; path != "" {
		return path
	}
	path := filepath.Join(programs.dir, name)
	for i := range argv {
		if argv[i] == "OUT" {
			argv[i] = path
		}
	}
	if out, err := fixture.Command(argv[0], argv[1:]...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", argv, err, out)
	}
	programs.built[name] = path
	return path
}

// TestOpenedLate: a library that a process opens after it was attached to is probed, with the loader of each C library.
func TestOpenedLate(t *testing.T) {
	for name, need := range map[string]testenv.Need{"gcc": testenv.GCC, "musl-gcc": "musl-gcc"} {
		t.Run(name, func(t *testing.T) {
			path := builtWith(t, need, "opens "+name, name, "-O2", "-o", "OUT", "testdata/opens.c", "-ldl")
			lib := builtWith(t, need, "opened "+name, name, "-O2", "-shared", "-fPIC", "-o", "OUT", "testdata/opened.c")
			p := start(t, path, lib)
			eventually(t, "the call to begin", func() bool { return strings.HasPrefix(procfs.Read(p.pid(), "syscall"), "0 ") })
			w := newWorld(t, Config{Follow: FollowThreads})
			if err := w.Attach(p.pid()); err != nil {
				t.Fatal(err)
			}
			n := w.counter()
			w.probe("opened*:twice", Handlers{Enter: w.counts(n)}, func(s *ProbeSpec) { s.Optional = true })
			w.Start()
			want(t, "target", p.end(), "opened 6")
			if n.get() != 3 {
				t.Errorf("%d hits of 3", n.get())
			}
		})
	}
}

// TestEveryInstructionOfLanguages puts a probe on every instruction of programs whose compilers and run-time libraries
// do things that C does not, watches all returns, and has them print what they print without.
func TestEveryInstructionOfLanguages(t *testing.T) {
	t.Parallel()
	throws, calls := strconv.Itoa(scaled(10, 30)), strconv.Itoa(scaled(30, 100))
	musl := func(t *testing.T) string {
		return builtWith(t, "musl-gcc", "musl", "musl-gcc", "-O2", "-static", "-o", "OUT", "testdata/plain.c")
	}
	for _, c := range []struct {
		name  string
		build func(t *testing.T) string
		args  []string
		every []string // all instructions
		leave []string // returns
	}{
		{"exceptions", func(t *testing.T) string {
			return builtWith(t, testenv.GXX, "thrower", "g++", "-O2", "-g", "-o", "OUT", "testdata/thrower.cc")
		}, []string{throws}, []string{"thrower:*+*"}, []string{"thrower:*"}},
		{"exceptions, 32 bits", func(t *testing.T) string {
			testenv.Require(t, testenv.M32, testenv.IA32)
			return builtWith(t, testenv.GXX, "thrower32", "g++", "-m32", "-idirafter", "/usr/include/x86_64-linux-gnu", "-O2", "-g", "-o", "OUT", "testdata/thrower.cc")
		}, []string{throws}, []string{"thrower32:*+*"}, []string{"thrower32:*"}},
		{"static, musl", musl, []string{calls, "3"}, []string{"musl:work+*", "musl:fact+*", "musl:main+*", "musl:run+*", "musl:*printf*+*", "musl:mem*+*", "musl:*fork*+*", "musl:*pthread_create*+*"}, []string{"musl:*"}},
		{"go, collecting garbage", func(t *testing.T) string {
			return builtWith(t, "go", "collector", "go", "build", "-o", "OUT", "./testdata/collector")
		}, []string{strconv.Itoa(scaled(2, 5))}, []string{"main.*+*"}, []string{"main.*"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := c.build(t)
			plain, err := exec.Command(path, c.args...).Output()
			if err != nil {
				t.Fatal(err)
			}
			eachEngine(t, func(t *testing.T, e Engine) {
				w := newWorld(t, Config{Engine: e, Follow: FollowChildren})
				tg := w.launch(path, c.args...)
				n, l := w.counter(), w.counter()
				for _, spec := range c.every {
					w.probe(spec, Handlers{Enter: w.counts(n)}, func(p *ProbeSpec) { p.Optional = true })
				}
				for _, spec := range c.leave {
					w.probe(spec, Handlers{Leave: w.counts(l)}, func(p *ProbeSpec) { p.Optional = true })
				}
				w.run()
				got, _ := os.ReadFile(tg.out.Name())
				want(t, "output", string(got), string(plain))
				t.Logf("%d hits at %d points, %d returns", n.get(), w.Stats().Points, l.get())
				if n.get() == 0 || l.get() == 0 {
					t.Error("nothing was hit")
				}
			})
		})
	}
}
