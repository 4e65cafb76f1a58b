package remote_test

import (
	"strings"
	"testing"
)

// TestThreadsOfQEMU: QEMU's user emulation does not stop threads together, and answers for two at once: the session
// ends with a reason instead of counting what it cannot know.
func TestThreadsOfQEMU(t *testing.T) {
	k := kinds[0]
	k.name, k.source, k.compiler = "a32-children", "testdata/children.c", append(append([]string{}, k.compiler...), "-pthread")
	g := k.start(t)
	_, errs, status := run(t, `probe("run", () => {}); probe("work", () => {});`, "--remote", g.address, "--exe", k.program(t))
	if !strings.Contains(errs, "one thread at a time runs into probes") || status > 1 {
		t.Errorf("status %d\n%s", status, errs)
	}
}
