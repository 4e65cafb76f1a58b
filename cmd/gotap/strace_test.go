package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"gotap/engine/testenv"
)

// stracedPrograms are run by strace and by gotap, in folders with the files of stracedFiles. They make the same calls each time.
var stracedPrograms = [][]string{
	{"ls", "-l", "."},
	{"cp", "-p", "one", "two"},
	{"tar", "cf", "all.tar", "one", "sub"},
	{"gzip", "-k", "one"},
	{"find", ".", "-name", "t*"},
	{"perl", "-e", "socket S, 2, 1, 6; bind S, pack('SnC4x8', 2, 0, 127, 0, 0, 1); listen S, 5; pipe R, W; $SIG{USR1} = sub {}; kill USR1, $$; chdir 'none'"},
}

// stracedFiles fills a folder.
func stracedFiles(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"one": strings.Repeat("a few words, and then some more\n", 40), "sub/four": "4\n"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// An allowedDifference is a form of line that only one of the two writes, for a reason.
type allowedDifference struct {
	form *regexp.Regexp
	why  string
}

var allowedDifferences = []allowedDifference{
	{regexp.MustCompile(`^rt_sigaction\(SIGTRAP,`), "gotap takes care of this signal's action, and makes such calls for the program"},
	{regexp.MustCompile(`^read\(\d, .*, 4\) = 4$`), "perl reads random numbers"},
}

var (
	straceUnfinished = regexp.MustCompile(`^(\d+) +(.*) <unfinished \.\.\.>$`)
	straceResumed    = regexp.MustCompile(`^(\d+) +<\.\.\. \w+ resumed>(.*)$`)
	straceLine       = regexp.MustCompile(`^(\d+) +(\w+\(.*)$`)
	programStart     = regexp.MustCompile(`^execve\(.*\) += 0$`)
	shellStart       = regexp.MustCompile(`^execve\("[^"]*", \["sh", "-c", "exec `) // of the sh that starts the program
	longNumber       = regexp.MustCompile(`\b\d{2,}\b`)
	sampleLine       = regexp.MustCompile(`^.{1,15}/(\d+) (\w+\(.*?)(?: <[\d.]+ (?:ns|us|ms|s)>)?$`)
)

// straceCalls reads what strace -f -o has written.
func straceCalls(text string) (calls []string, threads map[string]bool) {
	threads, begun := map[string]bool{}, map[string]string{}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if m := straceUnfinished.FindStringSubmatch(line); m != nil {
			begun[m[1]] = m[2]
			continue
		}
		if m := straceResumed.FindStringSubmatch(line); m != nil {
			line = m[1] + " " + begun[m[1]] + m[2]
		}
		if m := straceLine.FindStringSubmatch(line); m != nil {
			threads[m[1]] = true
			calls = append(calls, m[2])
		}
	}
	return calls, threads
}

// sampleCalls reads what the sample has written.
func sampleCalls(text string) (calls []string, threads map[string]bool) {
	threads = map[string]bool{}
	for line := range strings.Lines(text) {
		if m := sampleLine.FindStringSubmatch(strings.TrimSuffix(line, "\n")); m != nil {
			threads[m[1]] = true
			calls = append(calls, m[2])
		}
	}
	return calls, threads
}

var changing = []struct {
	form *regexp.Regexp
	by   string
}{
	{regexp.MustCompile(`\) += (-1 E\w+|\? E\w+) \(.*\)$`), ") = $1"}, // strace explains errors
	{regexp.MustCompile(`\) {2,}= `), ") = "},
	{regexp.MustCompile(`0x[0-9a-f]{6,16}\b`), "ADDRESS"},
	{regexp.MustCompile(`/\* \d+ vars? \*/`), "/* N vars */"},
	{regexp.MustCompile(`(tv_n?u?sec|tv_sec|si_[us]time|uptime|mtime|f_bfree|f_bavail|f_ffree|f_blocks|f_files)=-?\d+`), "$1=N"},
	{regexp.MustCompile(`/\* \d{4}-\d\d-\d\dT[^*]*\*/`), "/* DATE */"},
	{regexp.MustCompile(`getrandom\("[^"]*"`), `getrandom("R"`},
}

// normal replaces what differs from run to run.
func normal(call string, threads map[string]bool, dir string) string {
	call = strings.ReplaceAll(call, dir, "DIR")
	for _, c := range changing {
		call = c.form.ReplaceAllString(call, c.by)
	}
	return longNumber.ReplaceAllStringFunc(call, func(n string) string {
		if threads[n] {
			return "THREAD"
		}
		return n
	})
}

// normals are the calls from the program's start on, each with how often it was made.
func normals(calls []string, threads map[string]bool, dir string) map[string]int {
	if at := slices.IndexFunc(calls, func(call string) bool { return programStart.MatchString(call) && !shellStart.MatchString(call) }); at >= 0 {
		calls = calls[at:]
	}
	all := map[string]int{}
	for _, call := range calls {
		all[normal(call, threads, dir)]++
	}
	return all
}

// differences are the lines that only one side has, apart from those allowed.
func differences(want, got map[string]int) []string {
	var list []string
	note := func(side, line string, n int) {
		for _, a := range allowedDifferences {
			if a.form.MatchString(line) {
				return
			}
		}
		list = append(list, fmt.Sprintf("only %s, %d times: %s", side, n, line))
	}
	for line, n := range want {
		if n > got[line] {
			note("strace", line, n-got[line])
		}
	}
	for line, n := range got {
		if n > want[line] {
			note("gotap ", line, n-want[line])
		}
	}
	slices.SortFunc(list, func(a, b string) int { return strings.Compare(a[strings.Index(a, ": "):], b[strings.Index(b, ": "):]) })
	return list
}

// TestSyscallsAsStrace compares what the sample syscalls writes about programs with what strace writes.
func TestSyscallsAsStrace(t *testing.T) {
	testenv.Require(t, testenv.Ptrace, testenv.Strace, testenv.AMD64)
	for _, argv := range stracedPrograms {
		t.Run(argv[0], func(t *testing.T) {
			testenv.Require(t, testenv.Need(argv[0]))
			t.Parallel()
			here, there := stracedFiles(t), stracedFiles(t)
			one, ones := straceCalls(traced(t, here, argv, "strace", "-f", "-o", "FILE"))
			two, twos := sampleCalls(traced(t, there, argv, "gotap", "run", "-q", "-o", "FILE", "--arg", "trace=1", "syscalls", "--"))
			if len(one) < 20 || len(two) < 20 {
				t.Fatalf("strace has %d calls, gotap %d", len(one), len(two))
			}
			list := differences(normals(one, ones, here), normals(two, twos, there))
			if len(list) > 0 {
				t.Errorf("strace has %d calls, gotap %d; %d differences:\n%s", len(one), len(two), len(list), strings.Join(list, "\n"))
			}
		})
	}
}

// traced runs a program under a tracer, whose argument FILE is where it writes, and returns what it wrote. A shell starts the program: gotap
// does not see the call that starts COMMAND.
func traced(t *testing.T, dir string, argv []string, tracer ...string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "calls")
	for k := range tracer {
		tracer[k] = strings.ReplaceAll(tracer[k], "FILE", file)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, tracer[0], slices.Concat(tracer[1:], []string{"sh", "-c", `exec "$@"`, "sh"}, argv)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "LC_ALL=C", "PWD="+dir, "TZ=UTC")
	if out, err := cmd.CombinedOutput(); err != nil && argv[0] != "cat" {
		t.Logf("%s: %v\n%s", tracer[0], err, out)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
