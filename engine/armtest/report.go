package armtest

import (
	"fmt"
	"strings"
)

// Failures returns the part of a machine's console output that shows why a run failed: for each failed command, the
// tests that did not pass, and the output after the last command that ended. It omits what passed, because logs are
// truncated.
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
	tookWord = "guest: took "   // part of the line that the guest prints after a command
	runWord  = "=== RUN   Test" // begins the output of a test
)

// lastLines is the number of lines to keep of each failed test, and of a command that is not a test.
const lastLines = 60

// withoutPassed returns the output of a command without that of the tests that passed.
func withoutPassed(output string) string {
	var out, part []string
	failed := true // also the output before the first test
	end := func() {
		if failed {
			out = append(out, part[max(0, len(part)-lastLines):]...)
		}
		part, failed = nil, true
	}
	for line := range strings.Lines(output) {
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
