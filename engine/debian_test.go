package engine

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"gotap/engine/place"
	"gotap/engine/testenv"
)

// packaged is a program of the distribution, stripped, with something short to do.
type packaged struct {
	name  string
	args  []string
	input string
	long  []string // arguments of a long run, nil: the same
	most  int      // places in a short run
}

var packagedPrograms = []packaged{
	{"gzip", []string{"-nc"}, "the quick brown fox jumps over the lazy dog; the quick brown fox", nil, 1500},
	{"bc", []string{"-q"}, "2^70/3\nscale=5\nsqrt(2)\nquit\n", nil, 1500},
	{"sqlite3", []string{":memory:", "select 6*7"}, "", []string{":memory:", "create table t(a); insert into t values(3),(1),(2); select a, sum(a) over (order by a) from t; select count(*) from sqlite_schema"}, 800},
	{"/usr/bin/python3", []string{"-S", "-E", "-c", "print(sum(range(10)))"}, "", nil, 800},
}

// longRun reports whether the tests have hours.
func longRun() bool { return os.Getenv("GOTAP_LONG") != "" }

// TestDebianPrograms puts a probe on every instruction of programs as they are packaged, and has them print what they
// print without. The instructions are those that objdump finds. Libraries are not probed; of large programs a part is,
// unless there is time.
func TestDebianPrograms(t *testing.T) {
	t.Parallel()
	testenv.Require(t, testenv.AMD64, testenv.Ptrace, "objdump")
	for _, c := range packagedPrograms {
		t.Run(filepath.Base(c.name), func(t *testing.T) {
			testenv.Require(t, testenv.Need(c.name))
			path, err := exec.LookPath(c.name)
			if err != nil {
				t.Fatal(err)
			}
			if path, err = filepath.EvalSymlinks(path); err != nil {
				t.Fatal(err)
			}
			places := everyAddress(t, path)
			most := c.most
			if longRun() {
				most = 50000
				if c.long != nil {
					c.args = c.long
				}
			}
			eachEngine(t, func(t *testing.T, e Engine) { c.probed(t, e, path, thin(places, most)) })
		})
	}
}

// thin leaves runs of consecutive instructions from all over a long list.
func thin(all []uint64, most int) (some []uint64) {
	const run = 100
	stride := max(1, (len(all)+most-1)/most)
	for i := 0; i < len(all); i += run * stride {
		some = append(some, all[i:min(i+run, len(all))]...)
	}
	return some
}

// everyAddress lists the instructions of a file's text, as objdump sees them.
func everyAddress(t testing.TB, path string) (all []uint64) {
	t.Helper()
	out, err := exec.Command("objdump", "-d", "-j", ".text", "--no-show-raw-insn", path).Output()
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(out)) {
		head, rest, ok := strings.Cut(line, ":\t")
		if !ok || strings.Contains(rest, "(bad)") {
			continue
		}
		if addr, err := strconv.ParseUint(strings.TrimSpace(head), 16, 64); err == nil {
			all = append(all, addr)
		}
	}
	return all
}

// probed runs the program with and without.
func (c packaged) probed(t *testing.T, e Engine, path string, places []uint64) {
	plain := exec.Command(path, c.args...)
	plain.Args[0], plain.Stdin = c.name, strings.NewReader(c.input)
	var errs bytes.Buffer
	plain.Stderr = &errs
	expected, err := plain.Output()
	if err != nil {
		t.Fatalf("without probes: %v\n%s", err, errs.String())
	}
	w := newWorld(t, Config{Engine: e, Follow: FollowChildren, MaxProbes: 1 << 20})
	dir := t.TempDir()
	in, out := filepath.Join(dir, "in"), filepath.Join(dir, "out")
	os.WriteFile(in, []byte(c.input), 0o600)
	stdin, err := os.Open(in)
	if err != nil {
		t.Fatal(err)
	}
	defer stdin.Close()
	stdout, err := os.Create(out)
	if err != nil {
		t.Fatal(err)
	}
	defer stdout.Close()
	if _, err := w.Launch(Command{Path: path, Args: append([]string{c.name}, c.args...), Stdin: stdin, Stdout: stdout, Stderr: stdout}); err != nil {
		t.Fatal(err)
	}
	n := w.counter()
	id := w.probe("main", Handlers{Enter: w.counts(n)}, func(p *ProbeSpec) {
		p.Specs, p.Optional = nil, true
		for _, addr := range places {
			p.Specs = append(p.Specs, mustParse(t, fmt.Sprintf("%s:%#x", path, addr)))
		}
	})
	began := time.Now()
	w.run()
	st := w.stateOf(id)
	t.Logf("%d places, %d hits in %v, %v", st.Places, st.Hits, time.Since(began).Round(time.Millisecond), st.Strategy)
	if got, _ := os.ReadFile(out); string(got) != string(expected)+errs.String() || n.get() == 0 || uint64(n.get()) != st.Hits {
		t.Errorf("%d hits, %d counted; it prints %q, not %q", st.Hits, n.get(), got, expected)
	}
}

func mustParse(t testing.TB, text string) place.Spec {
	t.Helper()
	spec, err := place.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return spec
}
