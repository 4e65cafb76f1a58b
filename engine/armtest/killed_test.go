package armtest

import (
	"fmt"
	"strings"
	"testing"
)

// killedCases are victims of package engine's test that kills sessions without a supervisor: few probes, every
// instruction, a timer of half a millisecond, a static program.
var killedCases = []string{"entries", "every", "timer", "static"}

// killedRounds is the number of times that each is killed: when all probes are placed, at its start, and at a
// random moment.
const killedRounds = 3

// idle is a script whose probe is never hit, so the victim does not remove it itself; that of busy is hit all the time.
const (
	idle = `probe("libc:getpwnam", (c) => {});` + "\n"
	busy = `let n = 0; probe("leaf+*", () => { n++ }); probe("tick", () => { n++ });` + "\n"
)

// killedCommands returns commands that kill sessions on the victims of a set: without a supervisor, with a
// supervisor that survives, and together with the supervisor.
func killedCommands(set string) []string {
	victim := "/programs/" + set + "/victim"
	return []string{
		"killed /idle.js " + victim + " 1",
		"killed /busy.js " + victim + " 1 timer",
		fmt.Sprintf("GOTAP_ROUNDS=%d GOTAP_PROGRAMS=/programs/%s /engine.test -test.v -test.run ^TestKilledSessions$/^(%s)$",
			killedRounds, set, strings.Join(killedCases, "|")),
		fmt.Sprintf("GOTAP_PROGRAMS=/programs/%s /engine.test -test.v -test.run ^TestKilledInCall$/^static$", set),
		fmt.Sprintf("GOTAP_PROGRAMS=/programs/%s /engine.test -test.v -test.run ^TestKilledInEntry$/^static$", set),
		fmt.Sprintf("GOTAP_PROGRAMS=/programs/%s /engine.test -test.v -test.short -test.run ^TestKilledInMaskCall$/^timer$", set),
	}
}

// checkKilled checks that no victim was harmed, nor one of so many whose session was killed alone.
func checkKilled(t *testing.T, out string, sessions int) {
	t.Helper()
	for _, c := range killedCases {
		if !strings.Contains(out, "--- PASS: TestKilledSessions/"+c+" ") {
			t.Errorf("victims of kind %q were harmed, or not tried", c)
		}
	}
	if !strings.Contains(out, "--- PASS: TestKilledInCall/static ") {
		t.Error("victims whose session was killed in a call that they were lent were harmed, or not tried")
	}
	if !strings.Contains(out, "--- PASS: TestKilledInEntry/static ") {
		t.Error("victims whose session was killed at the entry of a system call were harmed, or not tried")
	}
	if !strings.Contains(out, "--- PASS: TestKilledInMaskCall/timer ") {
		t.Error("victims whose session was killed while it changed their mask were harmed, or not tried")
	}
	if n := strings.Count(out, "\nkilled: victim bad=0\n"); n != sessions {
		t.Errorf("victims of a session that was killed alone were unharmed %d times, not %d", n, sessions)
	}
}

// inlineCounts is a script whose program runs inside the victim all the time, and rings at every 64th hit.
const inlineCounts = `let n = 0; probe("leaf", c => { n++; if (n % 64 == 0) print(c.comm) });` + "\n"

// inlineKilled returns commands that kill such sessions: one whose supervisor survives, and some without a supervisor,
// at random moments.
func inlineKilled(set string) []string {
	return []string{
		"ENGINE=inline killed /inline.js /programs/" + set + "/victim 1",
		fmt.Sprintf("GOTAP_ROUNDS=%d GOTAP_PROGRAMS=/programs/%s /engine.test -test.v -test.run ^TestKilledSessions$/^(inline|mixed|inline,_timer)$", killedRounds, set),
	}
}

// checkInlineKilled checks that no victim of the second command was harmed.
func checkInlineKilled(t *testing.T, out string) {
	t.Helper()
	for _, c := range []string{"inline", "mixed", "inline,_timer"} {
		if !strings.Contains(out, "--- PASS: TestKilledSessions/"+c+" ") {
			t.Errorf("victims of kind %q were harmed, or not tried", c)
		}
	}
}
