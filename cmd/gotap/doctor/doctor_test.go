package doctor

import (
	"os"
	"regexp"
	"runtime"
	"strconv"
	"testing"

	"golang.org/x/sys/unix"
)

// TestCapabilities: what the kernel says when it is asked is what /proc shows.
func TestCapabilities(t *testing.T) {
	runtime.LockOSThread() // capabilities are a thread's
	defer runtime.UnlockOSThread()
	status, err := os.ReadFile("/proc/thread-self/status")
	if err != nil {
		t.Fatal(err)
	}
	set, err := strconv.ParseUint(string(regexp.MustCompile(`(?m)^CapEff:\t(.*)$`).FindSubmatch(status)[1]), 16, 64)
	if err != nil {
		t.Fatal(err)
	}
	for n := range unix.CAP_LAST_CAP + 1 {
		if got, want := hasCapability(n), set>>n&1 != 0; got != want {
			t.Errorf("capability %d: %v, /proc says %v", n, got, want)
		}
	}
}
