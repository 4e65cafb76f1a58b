package main

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gotap/engine/testenv"
)

// A straced is a program whose system calls are seen by strace and by the sample syscalls.
type straced struct {
	name  string
	argv  []string
	loose bool // its calls depend on time: numbers and texts are not compared, only which forms of calls there are
}

// stracedPrograms are run in a folder with the files of stracedFiles. Each has the same arguments both times.
var stracedPrograms = []straced{
	{"ls", []string{"ls", "-l", "."}, false},
	{"cat", []string{"cat", "one", "none"}, false},
	{"cp", []string{"cp", "-p", "one", "two"}, false},
	{"mv", []string{"mv", "one", "sub/three"}, false},
	{"tar", []string{"tar", "cf", "all.tar", "one", "sub"}, false},
	{"gzip", []string{"gzip", "-k", "one"}, false},
	{"sh", []string{"sh", "script"}, true},
	{"bash", []string{"bash", "-c", "for f in *; do echo $f; done; x=$(echo a | cat); kill -0 $$; trap : USR1; kill -USR1 $$"}, true},
	{"python3", []string{"/usr/bin/python3", "-S", "-c", "import os; print(len(os.listdir('.'))); os.mkdir('d'); os.rename('d', 'e'); os.pipe(); os.stat('/dev/null')"}, false},
	{"perl", []string{"perl", "-e", "open F, '<', 'one'; print <F>; unlink 'nothing'; select undef, undef, undef, 0.01; socket S, 2, 1, 6; bind S, pack('SnC4x8', 2, 0, 127, 0, 0, 1); listen S, 5"}, false},
	{"sqlite3", []string{"sqlite3", "db", "create table t(a); insert into t values(1); select * from t;"}, true},
	{"openssl", []string{"openssl", "dgst", "-sha256", "one"}, false},
	{"git", []string{"git", "init", "-q", "repository"}, true},
	{"make", []string{"make", "-s", "-f", "rules"}, true},
	{"gcc", []string{"gcc", "-c", "-o", "empty.o", "empty.c"}, true},
	{"find", []string{"find", ".", "-name", "t*"}, false},
	{"sort", []string{"sort", "--parallel=1", "one"}, false},
	{"awk", []string{"awk", "{ n += NF } END { print n }", "one"}, false},
	{"sed", []string{"sed", "-i", "s/a/b/", "one"}, true},
	{"redis-server", []string{"sh", "-c", "redis-server --port 0 --save '' --unixsocket socket >/dev/null & p=$!; until redis-cli -s socket ping >/dev/null 2>&1; do sleep 0.1; done; redis-cli -s socket shutdown; wait $p"}, true},
	{"curl", []string{"curl", "-s", "-o", "got", "URL"}, true},
}

// stracedFiles fills a folder.
func stracedFiles(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"one": strings.Repeat("a few words, and then some more\n", 40), "sub/four": "4\n", "empty.c": "int f(void) { return 1; }\n",
		"rules": "all:\n\t@echo made\n", "script": "echo begin\n(exit 3)\ncat one | head -2\nmkdir -p a/b\nrm -r a\n"} {
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
	form, why string
}

var allowedDifferences = []allowedDifference{
	{`^(rt_sigreturn|restart_syscall)\(`, "strace shows the result register, which is the interrupted call's"},
	{`= \? ERESTART`, "a signal interrupted the call at another moment"},
	{`^(futex|sched_yield|clock_nanosleep|madvise|epoll_wait|epoll_pwait)\(`, "threads meet at other moments"},
	{`^(sysinfo|getrusage|times|gettimeofday|time|clock_gettime)\(`, "the values are of the moment"},
	{`^ioctl\(\d+, TC[SG]ETS`, "strace has the settings of a terminal, gotap their address"},
	{`^wait4\(.*WNOHANG`, "whether a child has ended by then"},
	{`^rt_sigaction\(SIGTRAP,`, "gotap takes care of this signal's action, and makes such calls for the program"},
	{`^read\(\d, .*, 4\) = 4$`, "perl reads random numbers"},
	{`^exit_group\(|^exit\(`, "strace says ? of a thread that ends, and so does gotap unless another thread ended the process"},
}

var (
	straceUnfinished = regexp.MustCompile(`^(\d+) +(.*) <unfinished \.\.\.>$`)
	straceResumed    = regexp.MustCompile(`^(\d+) +<\.\.\. \w+ resumed>(.*)$`)
	straceLine       = regexp.MustCompile(`^(\d+) +(\w+\(.*)$`)
	programStart     = regexp.MustCompile(`^execve\(.*\) += 0$`)
	shellStart       = regexp.MustCompile(`^execve\("[^"]*", \["sh", "-c", "exec `) // of the sh that starts the program
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
	{regexp.MustCompile(`, left \{[^}]*\}`), ""},
}

// normal replaces what differs from run to run.
func normal(call string, threads map[string]bool, loose bool, dir string) string {
	call = strings.ReplaceAll(call, dir, "DIR")
	for _, c := range changing {
		call = c.form.ReplaceAllString(call, c.by)
	}
	call = regexp.MustCompile(`\b\d{2,}\b`).ReplaceAllStringFunc(call, func(n string) string {
		if threads[n] {
			return "THREAD"
		}
		return n
	})
	if loose {
		call = regexp.MustCompile(`"(\\.|[^"\\])*"(\.\.\.)?`).ReplaceAllString(call, "TEXT")
		call = regexp.MustCompile(`-?\b(0x[0-9a-f]+|\d+)\b`).ReplaceAllString(call, "N")
		call = strings.ReplaceAll(call, "THREAD", "N")
		call = regexp.MustCompile(`\[[^\[\]]*\]`).ReplaceAllString(call, "[]") // lists of any length
	}
	return call
}

// normals are the calls from the program's start on, each with how often it was made; how often does not count where it depends on time.
func normals(calls []string, threads map[string]bool, p straced, dir string) map[string]int {
	if at := slices.IndexFunc(calls, func(call string) bool { return programStart.MatchString(call) && !shellStart.MatchString(call) }); at >= 0 {
		calls = calls[at:]
	}
	all := map[string]int{}
	for _, call := range calls {
		text := normal(call, threads, p.loose, dir)
		if all[text]++; p.loose {
			all[text] = 1
		}
	}
	return all
}

// differences are the lines that only one side has, apart from those allowed.
func differences(want, got map[string]int) []string {
	var list []string
	note := func(side, line string, n int) {
		for _, a := range allowedDifferences {
			if regexp.MustCompile(a.form).MatchString(line) {
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
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprintln(w, "text") })}
	go server.Serve(listener)
	t.Cleanup(func() { server.Close() })
	for _, p := range stracedPrograms {
		t.Run(p.name, func(t *testing.T) {
			testenv.Require(t, testenv.Need(p.argv[0]))
			argv := slices.Clone(p.argv)
			if last := len(argv) - 1; argv[last] == "URL" {
				argv[last] = "http://" + listener.Addr().String() + "/"
			}
			started := append([]string{"sh", "-c", `exec "$@"`, "sh"}, argv...)
			run := func(dir string, tracer ...string) string {
				file := filepath.Join(t.TempDir(), "calls")
				for k := range tracer {
					tracer[k] = strings.ReplaceAll(tracer[k], "FILE", file)
				}
				cmd := exec.Command(tracer[0], append(tracer[1:], started...)...)
				cmd.Dir = dir
				cmd.Env = append(os.Environ(), "LC_ALL=C", "PWD="+dir, "TZ=UTC")
				if out, err := cmd.CombinedOutput(); err != nil && p.name != "cat" {
					t.Logf("%v: %v\n%s", tracer[0], err, out)
				}
				text, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				return string(text)
			}
			here, there := stracedFiles(t), stracedFiles(t)
			one, ones := straceCalls(run(here, "strace", "-f", "-o", "FILE"))
			two, twos := sampleCalls(run(there, "gotap", "run", "-q", "-o", "FILE", "--arg", "trace=1", "syscalls", "--"))
			if len(one) < 20 || len(two) < 20 {
				t.Fatalf("strace has %d calls, gotap %d", len(one), len(two))
			}
			list := differences(normals(one, ones, p, here), normals(two, twos, p, there))
			t.Logf("strace has %d calls, gotap %d", len(one), len(two))
			if len(list) > 0 {
				t.Errorf("%d differences:\n%s", len(list), strings.Join(list, "\n"))
			}
		})
	}
}
