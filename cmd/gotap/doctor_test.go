package main

import (
	"os"
	"strconv"
	"testing"

	"golang.org/x/sys/unix"

	"gotap/engine/procfs"
)

// TestCapabilities: what the kernel says when it is asked is what /proc shows.
func TestCapabilities(t *testing.T) {
	set, err := strconv.ParseUint(procfs.Status(os.Getpid(), "CapEff"), 16, 64)
	if err != nil {
		t.Fatal(err)
	}
	for n := range unix.CAP_LAST_CAP + 1 {
		if got, want := hasCapability(n), set>>n&1 != 0; got != want {
			t.Errorf("capability %d: %v, /proc says %v", n, got, want)
		}
	}
}
