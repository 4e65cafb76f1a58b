package bench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Other tracers beside gotap, for the same work in the same run. The time is what the program takes above a plain call:
// its processor time, which other work on the machine hardly changes, but by the clock for tracers that stop it,
// because they work while it waits. It includes nothing that they do before the second call or after the last one.

// job is work that tracers do at each call of the function work; "" where one cannot do it without a program in another
// language.
type job struct {
	name      string
	script    string // gotap's
	bpftrace  string
	gdb       string // commands of a breakpoint
	condition string // gdb's, of the breakpoint
	uftrace   bool   // what it records at each call comes next to this
	burst     bool   // of so few calls that their records fit into the ring
}

var jobs = []job{
	{name: "count", script: kindsOfProbe[0].script, bpftrace: "uprobe:PROGRAM:work { @ = count(); }", gdb: "set $n = $n + 1"},
	{name: "hist", script: inlineRows[1].script, bpftrace: "uprobe:PROGRAM:work { @ = hist(arg0); }"},
	{name: "rejected by its predicate", script: inlineRows[2].script, bpftrace: "uprobe:PROGRAM:work / (int64)arg0 < 0 / { @ = count(); }",
		gdb: "set $n = $n + 1", condition: " if (long)$rdi < 0"},
	{name: "count by key, 1,000 keys", script: inlineRows[3].script, bpftrace: "uprobe:PROGRAM:work { @[arg0 % 1000] = count(); }"},
	{name: "enter and leave, elapsed", script: inlineRows[4].script, uftrace: true,
		bpftrace: "uprobe:PROGRAM:work { @at[tid] = nsecs; } uretprobe:PROGRAM:work { @ = hist(nsecs - @at[tid]); delete(@at[tid]); }"},
	{name: "record, time and 4 values", script: inlineRows[5].script, burst: true, gdb: `printf "%ld %ld %ld %ld\n", $rdi, $rsi, $rdx, $rcx`,
		bpftrace: `uprobe:PROGRAM:work { printf("%lld %lld %lld %lld %lld\n", nsecs, arg0, arg1, arg2, arg3); }`},
}

// rival is another way to do jobs.
type rival struct {
	name   string
	calls  int                                            // that a round makes
	stops  bool                                           // the program waits for it
	absent string                                         // why it cannot be measured here; "": it can
	argv   func(j job, target []string) ([]string, error) // nil, nil: it cannot do the job
}

// rivals prints the table. What is missing, or fails, has a line with the reason.
func (b bench) rivals() error {
	dir, err := os.MkdirTemp("", "gotap-rivals-")
	if err != nil {
		return fmt.Errorf("cannot make a directory: %w", err)
	}
	defer os.RemoveAll(dir)
	all := []rival{
		{name: "gotap, with a stop", calls: b.o.Hits, stops: true, argv: func(j job, target []string) ([]string, error) {
			return b.own("emulate", j.script, target...), nil
		}},
		b.bpftrace(), b.uftrace(dir), b.gdb(dir),
	}
	fmt.Fprintf(b.out, "\n%-46s %12s %12s %8s\n", "a hit above a plain call", "tracer", "gotap inline", "ratio")
	for _, r := range all {
		if r.absent != "" {
			fmt.Fprintf(b.out, "%s: %s\n", r.name, r.absent)
			continue
		}
		for _, j := range jobs {
			if err := b.beside(r, j); err != nil {
				fmt.Fprintf(b.out, "%s: %v\n", r.name, err)
				break
			}
		}
	}
	return nil
}

// beside measures a job: a plain call, gotap and the rival, in turn. The minimum counts.
func (b bench) beside(r rival, j job) error {
	target := []string{b.program, "calls", "1", strconv.Itoa(r.calls)}
	if r.stops {
		target = []string{b.program, "waits", strconv.Itoa(r.calls)}
	}
	theirs, err := r.argv(j, target)
	if err != nil || theirs == nil {
		return err
	}
	calls := b.o.Hits * nativeCalls
	if j.burst {
		calls = min(calls, burst)
	}
	plain := []string{b.program, "calls", "1", strconv.Itoa(calls)}
	runs := [][]string{plain, b.own("inline", j.script, plain...), theirs}
	least := make([]float64, len(runs))
	for round := range b.o.Rounds {
		for i, argv := range runs {
			ns, err := measure(argv)
			if err != nil {
				return err
			}
			if round == 0 || ns < least[i] {
				least[i] = ns
			}
		}
	}
	own, other := least[1]-least[0], least[2]-least[0]
	fmt.Fprintf(b.out, "%-46s %9.0f ns %9.1f ns %8.1f\n", j.name+": "+r.name, other, own, other/own)
	return nil
}

// bpftrace is measured with its default settings.
func (b bench) bpftrace() rival {
	r := rival{name: "bpftrace", calls: b.o.Hits}
	path, err := exec.LookPath("bpftrace")
	switch {
	case err != nil:
		r.absent = "not installed"
	case os.Geteuid() != 0:
		r.absent = "it needs root"
	}
	r.argv = func(j job, target []string) ([]string, error) {
		script := strings.ReplaceAll(j.bpftrace, "PROGRAM", b.program)
		if strings.Contains(script, "@ =") {
			script += " END { clear(@); }" // as gotap's scripts do
		}
		return []string{path, "-e", script, "-c", strings.Join(target, " ")}, nil
	}
	if r.absent == "" {
		r.absent = fails(path, "-e", "uprobe:"+b.program+":work { } BEGIN { exit(); }")
	}
	return r
}

// uftrace records the begin and the end of each call with the time, in a program that has been compiled for it.
func (b bench) uftrace(dir string) rival {
	r := rival{name: "uftrace", calls: b.o.Hits * 10}
	path, err := exec.LookPath("uftrace")
	if err != nil {
		r.absent = "not installed"
		return r
	}
	program := filepath.Join(dir, "instrumented")
	source := filepath.Join(dir, "reference.c")
	if err := os.WriteFile(source, []byte(referenceSource), 0o600); err != nil {
		r.absent = err.Error()
		return r
	}
	r.absent = fails("gcc", "-O2", "-pg", "-DINSTRUMENTED", "-pthread", "-o", program, source)
	r.argv = func(j job, target []string) ([]string, error) {
		if !j.uftrace {
			return nil, nil
		}
		return append([]string{path, "record", "--no-event", "-F", "work", "-d", filepath.Join(dir, "data"), program}, target[1:]...), nil
	}
	return r
}

// gdb stops the program at each hit. It takes so long that it gets a tenth of the hits.
func (b bench) gdb(dir string) rival {
	r := rival{name: "gdb", calls: max(b.o.Hits/10, 1), stops: true}
	path, err := exec.LookPath("gdb")
	if err != nil {
		r.absent = "not installed"
	}
	r.argv = func(j job, target []string) ([]string, error) {
		if j.gdb == "" {
			return nil, nil
		}
		commands := filepath.Join(dir, "commands")
		text := "set confirm off\nset $n = 0\nbreak *work" + j.condition + "\ncommands\nsilent\n" + j.gdb + "\ncontinue\nend\nrun\n"
		if err := os.WriteFile(commands, []byte(text), 0o600); err != nil {
			return nil, err
		}
		return append([]string{path, "-nx", "-batch", "-x", commands, "--args"}, target...), nil
	}
	return r
}

// patience is how long a tracer may take to tell that it works.
const patience = 30 * time.Second

// fails runs a command and returns what it says if it fails, in one line; "" if it succeeds.
func fails(argv ...string) string {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	out, err := exec.CommandContext(ctx, argv[0], argv[1:]...).CombinedOutput()
	var exit *exec.ExitError
	switch lines := bytes.Split(bytes.TrimSpace(out), []byte("\n")); {
	case err == nil:
		return ""
	case errors.As(err, &exit) && len(out) > 0:
		return string(lines[len(lines)-1])
	}
	return err.Error()
}
