//go:build !amd64

package hostcpu

// HasTransactions and HasShadowStacks are about x86 alone.
func HasTransactions() bool { return false }
func HasShadowStacks() bool { return false }
