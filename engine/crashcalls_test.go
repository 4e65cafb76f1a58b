package engine

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gotap/engine/testenv"
)

// changing are the system calls by which a session changes its targets.
var changing = []string{"ptrace", "pwrite64"}

// TestKilledAtCalls kills sessions as they enter a system call that changes their targets, at any moment from the
// attach to the end of the detach, and then kills the one that cleans up behind them in the same way. strace kills
// them, so no call is left out.
func TestKilledAtCalls(t *testing.T) {
	testenv.Require(t, testenv.AMD64, testenv.Ptrace, "strace")
	adoptOrphans(t)
	for _, c := range crashCases() {
		if !slices.Contains([]string{"entries", "every, in place", "timer, step", "sections", "sections, timer, step", "go", "inline", "inline, timer", "inline, sections"}, c.name) {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			path := c.program(t)
			made := c.killedAtCall(t, path, nil)
			for _, call := range changing {
				if made[call] == 0 {
					t.Fatalf("a session that ends by itself makes no call of %s", call)
				}
			}
			for i := range rounds(1, 300) {
				if c.killedAtCall(t, path, made); t.Failed() {
					t.Fatalf("in round %d", i)
				}
			}
		})
	}
}

// killedAtCall attaches a session that is killed at one of the calls that sessions make, and counts those that it made;
// without any, it ends by itself. Two times of three what it leaves is cleaned up by a process that is killed as well.
func (c crashCase) killedAtCall(t *testing.T, path string, calls map[string]int) (made map[string]int) {
	t.Helper()
	p := start(t, path, append(c.args, "")[:max(1, len(c.args))]...)
	if line, err := p.out.ReadString('\n'); err != nil {
		t.Fatalf("the target does not begin: %q, %v", line, err)
	}
	before := text(t, p.pid())
	plan := c.plan()
	plan.Pid, plan.Ends = p.pid(), true
	made, last := runKilled(t, plan, calls)
	var cleaner string
	if rand.IntN(3) > 0 {
		_, cleaner = runKilled(t, crashPlan{Pid: p.pid(), Cleans: true}, map[string]int{"ptrace": 120, "pwrite64": 60})
	}
	defer func() {
		if t.Failed() {
			t.Logf("calls of the session: %v, the last:\n%s\nof the one that cleaned up:\n%s", made, last, cleaner)
		}
	}()
	endsUnharmed(t, p, before)
	return made
}

// runKilled runs a plan to its end, or to one of so many system calls, counts those made, and shows the last of them.
func runKilled(t *testing.T, plan crashPlan, calls map[string]int) (made map[string]int, last string) {
	t.Helper()
	log := filepath.Join(t.TempDir(), "strace")
	plan.Within = []string{"strace", "-D", "-f", "-qq", "-o", log, "-e", "trace=ptrace,pwrite64"}
	if calls != nil {
		call := changing[rand.IntN(len(changing))]
		at := 1 + rand.IntN(calls[call])
		if rand.IntN(2) == 0 { // most of what is set up and undone is in the first calls
			at = 1 + rand.IntN(min(40, calls[call]))
		}
		plan.Within = append(plan.Within, "-e", "inject="+call+":signal=KILL:when="+strconv.Itoa(at))
	}
	session := startCrashed(t, plan, nil, nil)
	session.Wait()
	made = map[string]int{}
	text, _ := os.ReadFile(log)
	for _, call := range changing {
		made[call] = bytes.Count(text, []byte(" "+call+"("))
	}
	lines := strings.SplitAfter(string(text), "\n")
	return made, strings.Join(lines[max(0, len(lines)-40):], "")
}
