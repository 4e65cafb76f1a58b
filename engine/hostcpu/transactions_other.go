//go:build !amd64

package hostcpu

// HasTransactions is about x86 alone.
func HasTransactions() bool { return false }
