package testenv

import (
	"testing"

	"golang.org/x/sys/unix"
)

// NoQueuedSignals lets the kernel queue no signals for this process until the test ends.
func NoQueuedSignals(t *testing.T) {
	t.Helper()
	const sigpending = 11 // RLIMIT_SIGPENDING
	var was, none unix.Rlimit
	if err := unix.Getrlimit(sigpending, &was); err != nil {
		t.Fatal(err)
	}
	none.Max = was.Max
	if err := unix.Setrlimit(sigpending, &none); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Setrlimit(sigpending, &was) })
}
