package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"gotap/engine/testenv"
	"gotap/engine/testenv/fixture"
)

// A stracedProgram is run by strace and by gotap, in folders with the files of stracedFiles. It makes the same calls
// each time.
type stracedProgram struct {
	name string
	argv []string // if empty, the program of testdata/strace with this name
}

var stracedPrograms = []stracedProgram{
	{"ls", []string{"ls", "-l", "."}},
	{"cp", []string{"cp", "-p", "one", "two"}},
	{"tar", []string{"tar", "cf", "all.tar", "one", "sub"}},
	{"gzip", []string{"gzip", "-k", "one"}},
	{"find", []string{"find", ".", "-name", "t*"}},
	{"perl", []string{"perl", "-e", "socket S, 2, 1, 6; bind S, pack('SnC4x8', 2, 0, 127, 0, 0, 1); listen S, 5; pipe R, W; $SIG{USR1} = sub {}; kill USR1, $$; chdir 'none'"}},
	{"sh", []string{"sh", "-c", "cat one >out; sort out >sorted; (exit 3); test -s out && read a <out; kill -TERM $$"}},
	{"python3", []string{"/usr/bin/python3", "-I", "-S", "-B", "-c", `
import os, socket, subprocess
a, b = socket.socketpair()
a.sendall(b"x" * 40), b.recv(100), os.stat("one"), os.listdir("sub")
s, c = socket.socket(socket.AF_UNIX), socket.socket(socket.AF_UNIX)
s.bind("socket"), s.listen(), c.connect("socket"), s.accept()[0].send(b"hello")
c.recv(3)
subprocess.run(["cat", "sub/four"])`}},
	{"sqlite3", []string{"sqlite3", "data.db", "pragma journal_mode=off; create table t(a); insert into t values(1); select * from t"}},
	{"openssl", []string{"openssl", "dgst", "-sha256", "one"}},
	{"git", []string{"git", "hash-object", "one"}},
	{"jq", []string{"jq", "-n", "[1, 2]"}},
	{"bc", []string{"bc", "-q", "sum"}},
	{"xz", []string{"xz", "-k", "-0", "-T1", "one"}},
	{"sed", []string{"sed", "s/few/many/; w two", "one"}},
	{"dd", []string{"dd", "if=one", "of=two", "bs=100", "count=2", "skip=1", "conv=fsync", "status=none"}},
	{"stat", []string{"stat", "one", "/dev/null", "none"}},
	{"install", []string{"install", "-D", "-m", "4750", "one", "a/b/c"}},
	{"rm", []string{"rm", "-r", "sub", "one"}},
	{"touch", []string{"touch", "-h", "-d", "2001-02-03 04:05:06.789 UTC", "one", "two"}},
	{"signals", nil},
	{"waits", nil},
	{"files", nil},
	{"sockets", nil},
	{"process", nil},
	{"rare", nil},
	{"structs", nil},
}

// stracedFiles empties a folder and fills it. Both tracers use the same one, so that all names are the same.
func stracedFiles(t *testing.T, dir string) {
	t.Helper()
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	modified := time.Date(2020, 1, 2, 3, 4, 5, 678, time.UTC)
	for name, text := range map[string]string{"one": strings.Repeat("a few words, and then some more\n", 40), "sub/four": "4\n", "sum": "2+2\nquit\n"} {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(file, modified, modified); err != nil {
			t.Fatal(err)
		}
	}
	if out, err := exec.Command("git", "init", "-q", dir).CombinedOutput(); err != nil {
		t.Fatalf("git: %v\n%s", err, out)
	}
}

// A threadTrace has the lines about one thread in their order, without the thread's number.
type threadTrace struct {
	tid   string
	lines []string
}

// traceOf are the threads of a trace, that of the program first.
type traceOf []*threadTrace

func (all *traceOf) add(tid, line string) {
	at := slices.IndexFunc(*all, func(t *threadTrace) bool { return t.tid == tid })
	if at < 0 {
		at = len(*all)
		*all = append(*all, &threadTrace{tid: tid})
	}
	(*all)[at].lines = append((*all)[at].lines, line)
}

var (
	straceUnfinished = regexp.MustCompile(`^(.*?) ?<unfinished \.\.\.>$`)
	straceResumed    = regexp.MustCompile(`^<\.\.\. \w+ resumed>(.*)$`)
	straceLine       = regexp.MustCompile(`^(\d+) +(.*)$`)
	sampleLine       = regexp.MustCompile(`^(?:.{1,15}/)?(\d+) (\w+\(.*?|(?:---|\+\+\+) .*?)(?: <[\d.]+ (?:ns|us|ms|s)>)?$`)
	programStart     = regexp.MustCompile(`^execve\(.*\) += 0$`)
	shellStart       = regexp.MustCompile(`^execve\("[^"]*", \["sh", "-c", "exec `) // of the sh that starts the program
)

// straceTrace reads what strace -f -o has written.
func straceTrace(text string) (all traceOf) {
	begun := map[string]string{}
	for line := range strings.Lines(text) {
		m := straceLine.FindStringSubmatch(strings.TrimSuffix(line, "\n"))
		if m == nil {
			continue
		}
		tid, rest := m[1], m[2]
		if m := straceResumed.FindStringSubmatch(rest); m != nil {
			rest = begun[tid] + m[1]
			delete(begun, tid)
		}
		if m := straceUnfinished.FindStringSubmatch(rest); m != nil {
			begun[tid] = strings.TrimSuffix(rest, " <unfinished ...>")
			continue
		}
		all.add(tid, rest)
	}
	return all
}

// sampleTrace reads what the sample has written.
func sampleTrace(text string) (all traceOf) {
	for line := range strings.Lines(text) {
		if m := sampleLine.FindStringSubmatch(strings.TrimSuffix(line, "\n")); m != nil {
			all.add(m[1], m[2])
		}
	}
	return all
}

var startedThread = regexp.MustCompile(`^(?:clone3?|v?fork)\(.* = (\d+)$`)

// inOrder sorts the threads: one comes behind those that its creator made before it, and they behind their creator.
func (all traceOf) inOrder() (sorted traceOf) {
	var walk func(tid string)
	walk = func(tid string) {
		at := slices.IndexFunc(all, func(t *threadTrace) bool { return t.tid == tid })
		if at < 0 || slices.Contains(sorted, all[at]) {
			return
		}
		sorted = append(sorted, all[at])
		for _, line := range all[at].lines {
			if m := startedThread.FindStringSubmatch(line); m != nil {
				walk(m[1])
			}
		}
	}
	for _, t := range all {
		walk(t.tid)
	}
	return sorted
}

// A change replaces what differs from run to run in lines about certain calls. It must not hide a wrong decoding.
type change struct {
	lines *regexp.Regexp
	form  *regexp.Regexp
	by    string
}

func changed(lines, form, by string) change {
	return change{regexp.MustCompile(lines), regexp.MustCompile(form), by}
}

var changes = []change{
	changed(``, `\) {2,}= `, ") = "),
	// Addresses of the stack and of libraries: setarch makes them the same, but gotap adds memory of its own. Their
	// last digits are left.
	changed(``, `0x7[0-9a-f]{8}([0-9a-f]{3})\b`, "0x7..$1"),
	changed(`^getrandom`, `\\x[0-9a-f]{2}`, `\xRR`),
	changed(``, `\b(si_[us]time)=\d+(?: /\* [\d.]+ s \*/)?`, "$1=N"),
	changed(`^(clock_get|gettimeofday|getrusage|wait4|waitid|timer_gettime|timerfd_gettime|timer_settime|timerfd_settime.*=> )`, `(tv_u?n?sec)=\d+`, "$1=N"),
	changed(`^timerfd_settime`, `(, \{.*it_value=.*)(it_value=\{tv_sec=\d+, tv_nsec=)\d+`, "${1}${2}N"), // how much was left
	changed(`left \{`, `left \{tv_sec=\d+, tv_u?n?sec=\d+\}`, "left {N}"),
	changed(`^f?statfs`, `(f_blocks|f_bfree|f_bavail|f_files|f_ffree)=\d+`, "$1=N"),
	changed(`^sysinfo`, `(uptime|freeram|sharedram|bufferram|freeswap|procs)=\d+`, "$1=N"),
	changed(`^sysinfo`, `loads=\[[^\]]*\]`, "loads=[]"),
	changed(`^times`, `(=|= )\d+(?: /\* [\d.]+ s \*/)?`, "${1}N"),
	changed(`^time\(`, `\d{10}|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d`, "NOW"),
	changed(`^read\(3, ".*", 4\) = 4$`, `".*"`, `"RANDOM"`),     // perl's
	changed(`^rt_sigprocmask\(.*, ~`, `~\[TRAP KILL`, "~[KILL"), // gotap keeps this signal from being blocked
	changed(`^getcpu`, `\[\d\]`, "[CPU]"),
	changed(`^shmget|^semget`, `= \d+$`, "= ID"),
	changed(`^shm(at|ctl)|^sem`, `\(\d+, `, "(ID, "),
	changed(`^getppid`, `= \d+$`, "= PARENT"),
}

// Where numbers of processes and threads may be.
var (
	threadCalls  = regexp.MustCompile(`^(clone3?|v?fork|getp?pid|gettid|getpgrp|getpgid|getsid|setsid|setpgid|wait4|waitid|kill|tkill|tgkill|rt_sigqueueinfo|pidfd_open|set_tid_address|fcntl)\(`)
	threadField  = regexp.MustCompile(`\b(?:si_pid|pid)=\d+`)
	threadNumber = regexp.MustCompile(`\b\d{2,}\b`)
)

// normal returns the lines of a thread with what differs from run to run replaced, and apart from them those about
// ended children and of the end of the handler of their signal, which come between any two of the others.
func (all traceOf) normal(of *threadTrace) (lines, children []string) {
	number := func(text string) string {
		return threadNumber.ReplaceAllStringFunc(text, func(n string) string {
			if at := slices.IndexFunc(all, func(t *threadTrace) bool { return t.tid == n }); at >= 0 {
				return "T" + strconv.Itoa(at)
			}
			return n
		})
	}
	child := false // the line before was about a child's end
	for _, line := range of.lines {
		for _, c := range changes {
			if c.lines.MatchString(line) {
				line = c.form.ReplaceAllString(line, c.by)
			}
		}
		if line = threadField.ReplaceAllStringFunc(line, number); threadCalls.MatchString(line) {
			line = number(line)
		}
		switch wasChild := child; {
		case strings.HasPrefix(line, "--- SIGCHLD"):
			children, child = append(children, line), true
		case wasChild && strings.HasPrefix(line, "rt_sigreturn("): // of the handler; it has the result of the call before the signal
			line, _, _ = strings.Cut(line, " = ")
			children, child = append(children, line), false
		default:
			lines, child = append(lines, line), false
		}
	}
	slices.Sort(children)
	return lines, children
}

// allowedLines are written by only one of the two, for a reason.
var allowedLines = []struct {
	form *regexp.Regexp
	why  string
}{
	{regexp.MustCompile(`^rt_sigaction\(SIGTRAP,`), "gotap takes care of this signal's action, and makes such calls for the program"},
	{regexp.MustCompile(`^--- stopped by `), "gotap has no event of stopped threads"},
}

func isAllowed(line string) bool {
	for _, a := range allowedLines {
		if a.form.MatchString(line) {
			return true
		}
	}
	return false
}

// program drops what comes before the program's start.
func program(lines []string) []string {
	at := slices.IndexFunc(lines, func(line string) bool { return programStart.MatchString(line) && !shellStart.MatchString(line) })
	return lines[max(at, 0):]
}

// differences compares two traces line by line.
func differences(t *testing.T, want, got traceOf) string {
	t.Helper()
	want, got = want.inOrder(), got.inOrder()
	var text strings.Builder
	if len(want) != len(got) {
		fmt.Fprintf(&text, "strace has %d threads, gotap %d\n", len(want), len(got))
	}
	for k := range min(len(want), len(got)) {
		a, childrenA := want.normal(want[k])
		b, childrenB := got.normal(got[k])
		if k == 0 {
			a, b = program(a), program(b)
		}
		a, b = slices.DeleteFunc(a, isAllowed), slices.DeleteFunc(b, isAllowed)
		if len(a) < 2 {
			fmt.Fprintf(&text, "thread %d has %d lines\n", k, len(a))
		}
		text.WriteString(diff(t, fmt.Sprint("thread ", k), append(a, childrenA...), append(b, childrenB...)))
	}
	return text.String()
}

// diff is what the command of this name says about lines.
func diff(t *testing.T, name string, want, got []string) string {
	t.Helper()
	if slices.Equal(want, got) {
		return ""
	}
	dir := t.TempDir()
	for file, lines := range map[string][]string{"strace": want, "gotap": got} {
		if err := os.WriteFile(filepath.Join(dir, file), []byte(strings.Join(lines, "\n")+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("diff", "-U1", "strace", "gotap")
	cmd.Dir = dir
	out, err := cmd.Output()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return name + "\n" + string(out)
}

// TestSyscallsAsStrace compares what the sample syscalls writes about programs with what strace writes: calls, signals
// and ends of threads, line by line.
func TestSyscallsAsStrace(t *testing.T) {
	testenv.Require(t, testenv.Ptrace, testenv.Strace, testenv.AMD64, "setarch", "git")
	for _, p := range stracedPrograms {
		t.Run(p.name, func(t *testing.T) {
			argv := p.argv
			if argv == nil {
				argv = []string{stracedC(t, p.name)}
			}
			testenv.Require(t, testenv.Need(argv[0]))
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "work")
			want, _ := traced(t, dir, argv, "strace", "-f", "-o", "FILE")
			got, said := sampled(t, dir, argv)
			if list := differences(t, straceTrace(want), sampleTrace(got)); list != "" {
				t.Errorf("%s\n-strace +gotap\n%s", said, list)
			}
		})
	}
}

// sampled runs a program under the sample. It does so again when gotap says that it has lost records, as on a machine
// that is too busy.
func sampled(t *testing.T, dir string, argv []string) (trace, said string) {
	t.Helper()
	for range 10 {
		trace, said = traced(t, dir, argv, "gotap", "run", "-q", "-o", "FILE", "--arg", "trace=1", "syscalls", "--")
		if !strings.Contains(said, "gotap: lost ") {
			break
		}
	}
	return trace, said
}

// stracedC compiles a program of testdata/strace.
func stracedC(t *testing.T, name string) string {
	t.Helper()
	testenv.Require(t, testenv.GCC)
	binary := filepath.Join(t.TempDir(), name)
	if out, err := fixture.Command("gcc", "-w", "-o", binary, filepath.Join("testdata", "strace", name+".c")).CombinedOutput(); err != nil {
		t.Fatalf("gcc: %v\n%s", err, out)
	}
	return binary
}

// traced runs a program under a tracer, whose argument FILE is where it writes, and returns what it wrote there and
// what both said. A shell starts the program: gotap does not see the call that starts COMMAND. Addresses are not
// random.
func traced(t *testing.T, dir string, argv []string, tracer ...string) (trace, said string) {
	t.Helper()
	stracedFiles(t, dir)
	file := filepath.Join(t.TempDir(), "calls")
	for k := range tracer {
		tracer[k] = strings.ReplaceAll(tracer[k], "FILE", file)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "setarch", slices.Concat([]string{"-R"}, tracer, []string{"sh", "-c", `exec "$@"`, "sh"}, argv)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "LC_ALL=C", "PWD="+dir, "TZ=UTC", "PERL_HASH_SEED=0")
	out, err := cmd.CombinedOutput()
	said = string(out)
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) { // strace ends as the program does
		t.Fatal(err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text), said
}
