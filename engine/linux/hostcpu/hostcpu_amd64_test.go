package hostcpu

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// TestShadowStacksAsKernelSays compares with the kernel's own list of features. Where the kernel has been told at its
// start not to use shadow stacks, it still answers for them.
func TestShadowStacksAsKernelSays(t *testing.T) {
	info, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		t.Fatal(err)
	}
	start, err := os.ReadFile("/proc/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	listed := slices.Contains(strings.Fields(string(info)), "user_shstk")
	disabled := slices.Contains(strings.Fields(string(start)), "nousershstk")
	if has := HasShadowStacks(); has != listed && !disabled {
		t.Errorf("HasShadowStacks is %v; user_shstk in /proc/cpuinfo: %v", has, listed)
	}
}
