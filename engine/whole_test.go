package engine

import (
	"maps"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"gotap/engine/testenv"
)

// wholePrograms are deterministic programs, and what is counted in them: most machines have some. They have one thread,
// except that of Go: of that the calls are compared which do not depend on the scheduler.
var wholePrograms = []struct {
	argv     []string
	places   []string
	compared []string // prefixes of names; nil: all
}{
	{[]string{"perl", "-e", `my %h; $h{$_ % 7} .= sprintf("%d,", $_) for 1..60; print join("\n", map { "$_ $h{$_}" } sort keys %h), "\n"; print scalar reverse("abc" x 5), "\n"`}, []string{"perl:*", "libc:*"}, nil},
	{[]string{"sqlite3", ":memory:", "create table t(a, b); insert into t values (1, 'x'), (2, 'y'), (3, 'z'); create index i on t(b); select sum(a), group_concat(b) from t where b > 'x' order by a;"}, []string{"libsqlite3*:*", "libc:*"}, nil},
	{[]string{"/usr/bin/python3", "-S", "-c", `print(sorted({str(i): i * i for i in range(200)}.items())[:5], "%d %s" % (7, "x" * 3), sum(range(1000)))`}, []string{"python3*:*"}, nil},
	{[]string{"gofmt", "testdata/gostress/main.go"}, []string{"gofmt:*"}, []string{"go/scanner.(", "go/parser.(", "go/ast.(", "go/printer.(", "text/tabwriter.("}},
}

// TestInlineCountsWholePrograms counts the calls of all functions of programs, under breakpoints and by native code:
// the output is that of a plain run, and each function is called as often.
func TestInlineCountsWholePrograms(t *testing.T) {
	testenv.Require(t, testenv.AMD64, testenv.Ptrace)
	ran := 0
	for _, p := range wholePrograms[:min(rounds(1, 4), len(wholePrograms))] {
		path, err := exec.LookPath(p.argv[0])
		if err != nil {
			continue
		}
		ran++
		t.Run(p.argv[0], func(t *testing.T) {
			t.Setenv("PERL_HASH_SEED", "0")
			t.Setenv("PYTHONHASHSEED", "0")
			plain, err := exec.Command(path, p.argv[1:]...).CombinedOutput()
			if err != nil {
				t.Fatal(err)
			}
			count := func(e Engine) map[string]int64 {
				output, calls := countAll(t, e, path, p.argv[1:], p.places)
				want(t, "output", output, string(plain))
				return calls
			}
			stepped, native, again := count(Emulate), count(Inline), count(Emulate)
			compared := 0
			for _, f := range slices.Sorted(maps.Keys(native)) {
				counts := p.compared == nil || slices.ContainsFunc(p.compared, func(prefix string) bool { return strings.Contains(f, ":"+prefix) })
				if !counts || stepped[f] != again[f] { // it depends on addresses, or on the time
					continue
				}
				if compared++; native[f] != stepped[f] {
					t.Errorf("%s: %d calls natively, %d under breakpoints", f, native[f], stepped[f])
				}
			}
			if compared < 50 {
				t.Errorf("%d functions were compared, of %d", compared, len(stepped))
			}
			t.Logf("%d functions compared, %d under breakpoints", compared, len(stepped))
		})
	}
	if ran == 0 {
		testenv.Lack(t, testenv.SQLite)
	}
}

// countAll counts the calls of functions, by name, and returns those of functions that were called.
func countAll(t *testing.T, e Engine, path string, args, places []string) (output string, calls map[string]int64) {
	t.Helper()
	w := newWorld(t, Config{Engine: e, Follow: FollowThreads})
	tg := w.launch(path, args...)
	counters := map[string]*counter{}
	for _, spec := range places {
		w.probe(spec, Handlers{}, func(p *ProbeSpec) {
			p.Optional = true
			p.Compile = func(at PlaceInfo) (Handlers, error) {
				if counters[at.Name()] == nil {
					counters[at.Name()] = w.counter()
				}
				return Handlers{Enter: w.counts(counters[at.Name()])}, nil
			}
		})
	}
	w.run()
	calls = map[string]int64{}
	for name, c := range counters {
		if n := c.get(); n != 0 {
			calls[name] = n
		}
	}
	return tg.output(), calls
}
