package armtest

import (
	"fmt"
	"strings"
)

// Failures is the part of what a machine wrote to its console that tells why it failed: each command that did, of its tests those that did
// not pass, and what came after the last command that ended. All that passed is left out, since logs are cut.
func Failures(console string) string {
	var out, command strings.Builder
	for line := range strings.Lines(console) {
		command.WriteString(line)
		if !strings.Contains(line, tookWord) {
			continue
		}
		if !strings.HasSuffix(strings.TrimSpace(line), ": <nil>") {
			out.WriteString(withoutPassed(command.String()))
		}
		command.Reset()
	}
	if rest := command.String(); !strings.Contains(rest, Done) {
		fmt.Fprintf(&out, "after the last command that ended:\n%s", withoutPassed(rest))
	}
	return out.String()
}

const (
	tookWord = "guest: took "   // is in the line by which the guest ends a command
	runWord  = "=== RUN   Test" // begins what a test says
)

// lastLines is how many lines are told of each test that failed, and of a command that is no test.
const lastLines = 60

// withoutPassed is what a command said without the parts of the tests that passed.
func withoutPassed(said string) string {
	var out, part []string
	failed := true // what comes before the first test
	end := func() {
		if failed {
			out = append(out, part[max(0, len(part)-lastLines):]...)
		}
		part, failed = nil, true
	}
	for line := range strings.Lines(said) {
		if strings.HasPrefix(line, runWord) && !strings.Contains(line, "/") {
			end()
		}
		if strings.HasPrefix(line, "--- PASS: ") {
			failed = false
			continue
		}
		if strings.HasPrefix(line, "PASS") || strings.HasPrefix(line, "FAIL") || strings.HasPrefix(line, "guest: ") {
			end()
		}
		part = append(part, line)
	}
	end()
	return strings.Join(out, "")
}
