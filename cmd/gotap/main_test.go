package main

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"gotap/engine/image/sectioncache"
	"gotap/engine/testenv"
	"gotap/engine/testenv/fixture"
)

// TestMain makes the test binary the command itself when it is called as gotap, as the transcripts do.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"gotap": main})
}

// needs are what a transcript can ask for with [!NAME] skip, or for one line with [NAME]; where everything has to be
// there, a missing need fails.
var needs = map[string][]testenv.Need{
	"gcc": {testenv.GCC}, "g++": {testenv.GXX}, "gdb": {testenv.GDB}, "python3": {testenv.Python3}, "redis": {testenv.Redis},
	"m32": {testenv.M32, testenv.IA32}, "ia32": {testenv.IA32}, "ptrace": {testenv.Ptrace}, "amd64": {testenv.AMD64}, "root": {testenv.Root},
	"sqlite3": {testenv.SQLite}, "openssl": {testenv.OpenSSL}, "node": {testenv.Node}, "sdt": {testenv.SDT},
	"strace": {testenv.Strace}, "postgres": {testenv.Postgres}, "clang++": {testenv.Clang}, "libc++": {testenv.LibCxx}, "rustc": {testenv.Rust}, "gdbserver": {testenv.GDBServer},
	"taskset": {testenv.Taskset}, "cpus": {testenv.CPUs}, "watched": {testenv.Watched},
	"cgroups": {testenv.Cgroups}, "musl": {"musl-gcc"},
}

// patience is how long tests wait for what takes a moment when nothing else is to be done: only what hangs takes as
// long.
const patience = 5 * time.Minute

func TestTranscripts(t *testing.T) {
	update, _ := strconv.ParseBool(os.Getenv("UPDATE"))
	testscript.Run(t, testscript.Params{
		Dir:           "testdata",
		UpdateScripts: update,
		Setup:         setUp,
		Condition: func(cond string) (bool, error) {
			list, known := needs[cond]
			if !known {
				return false, nil
			}
			for _, need := range list {
				if testenv.Have(need) {
					continue
				}
				if testenv.Expected(need) {
					t.Errorf("%s is needed, and has to be here in continuous integration", need)
				}
				return false, nil
			}
			return true, nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"build": buildTarget,
			"await": awaitText,
			"until": awaitAnswer,
			"later": killLater,
			"alive": checkAlive,

			"samecalls": sameCalls,
		},
	})
}

// setUp keeps NAME_c sources of the transcripts' targets at hand.
func setUp(e *testscript.Env) error {
	dir, err := filepath.Abs("testdata/targets")
	if err != nil {
		return err
	}
	e.Setenv("TARGETS", dir)
	e.Setenv("NO_COLOR", "1")
	if home, err := os.UserHomeDir(); err == nil { // transcripts have no home, in which rustup keeps its compilers
		e.Setenv("RUSTUP_HOME", cmp.Or(os.Getenv("RUSTUP_HOME"), filepath.Join(home, ".rustup")))
	}
	if caches, err := os.UserCacheDir(); err == nil { // without Go's, the standard library is compiled again
		e.Setenv("GOCACHE", cmp.Or(os.Getenv("GOCACHE"), filepath.Join(caches, "go-build")))
		e.Setenv(sectioncache.Variable, cmp.Or(os.Getenv(sectioncache.Variable), filepath.Join(caches, "gotap", "sections")))
	}
	e.Defer(func() { sweep(e.WorkDir) })
	return nil
}

// sweep ends what a transcript that failed in its middle left running, sessions before their targets: nothing else has
// its working directory there.
func sweep(dir string) {
	self, _ := os.Executable()
	for _, pid := range gotapsIn(dir, self) {
		syscall.Kill(pid, syscall.SIGTERM)
	}
	for end := time.Now().Add(time.Minute); len(gotapsIn(dir, self)) > 0 && time.Now().Before(end); {
		time.Sleep(20 * time.Millisecond)
	}
	for _, pid := range workingIn(dir) {
		syscall.Kill(pid, syscall.SIGKILL)
	}
}

// gotapsIn are the sessions that have their working directory there.
func gotapsIn(dir, self string) (pids []int) {
	for _, pid := range workingIn(dir) {
		if exe, _ := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid)); filepath.Base(exe) == "gotap" || exe == self {
			pids = append(pids, pid)
		}
	}
	return pids
}

// workingIn are the processes whose working directory is in a directory, this one excepted.
func workingIn(dir string) (pids []int) {
	links, _ := filepath.Glob("/proc/[0-9]*/cwd")
	for _, link := range links {
		cwd, err := os.Readlink(link)
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(link)))
		if err == nil && pid != os.Getpid() && (cwd == dir || strings.HasPrefix(cwd, dir+"/")) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// buildTarget is "build NAME [gcc flags…]": compiles testdata/targets/NAME.c, or NAME.c of the transcript.
func buildTarget(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 {
		ts.Fatalf("usage: build NAME [flags…]")
	}
	source := ts.MkAbs(args[0] + ".c")
	if _, err := os.Stat(source); err != nil {
		source = filepath.Join(ts.Getenv("TARGETS"), args[0]+".c")
	}
	argv := append([]string{"-g", "-O2", "-o", ts.MkAbs(args[0]), source, "-pthread", "-ldl"}, args[1:]...)
	out, err := fixture.Command("gcc", argv...).CombinedOutput()
	if err != nil {
		ts.Fatalf("cannot build %s: %v\n%s", args[0], err, out)
	}
}

// awaitText is "await FILE TEXT": waits until a file holds a text.
func awaitText(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: await FILE TEXT")
	}
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if data, err := os.ReadFile(ts.MkAbs(args[0])); err == nil && strings.Contains(string(data), args[1]) {
			return
		}
	}
	ts.Fatalf("%s never held %q", args[0], args[1])
}

// awaitAnswer is "until REGEXP COMMAND…": runs a command again and again until its standard output matches.
func awaitAnswer(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: until REGEXP COMMAND…")
	}
	wanted, err := regexp.Compile("(?m)" + args[0])
	ts.Check(err)
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		ts.Exec(args[1], args[2:]...) // may fail until it answers so
		if wanted.MatchString(ts.ReadFile("stdout")) {
			return
		}
	}
	ts.Fatalf("%s never answered %q", strings.Join(args[1:], " "), args[0])
}

func pidFrom(ts *testscript.TestScript, file string) int {
	pid, err := strconv.Atoi(strings.TrimSpace(ts.ReadFile(file)))
	ts.Check(err)
	return pid
}

// killLater is "later FILE SIGNAL": sends a signal to the process whose number a file holds.
func killLater(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: later PIDFILE SIGNAL")
	}
	ts.Check(ts.Exec("kill", "-"+args[1], strconv.Itoa(pidFrom(ts, args[0]))))
}

// checkAlive is "[!] alive FILE": the process whose number a file holds still runs. One that is to end may take its
// time.
func checkAlive(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 1 {
		ts.Fatalf("usage: alive PIDFILE")
	}
	pid := pidFrom(ts, args[0])
	for end := time.Now().Add(patience); neg && runs(pid) && time.Now().Before(end); {
		time.Sleep(20 * time.Millisecond)
	}
	if alive := runs(pid); alive == neg {
		ts.Fatalf("alive: %v", alive)
	}
}

// runs reports whether there is a process that has not ended.
func runs(pid int) bool {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return err == nil && !strings.Contains(string(stat), ") Z ")
}
