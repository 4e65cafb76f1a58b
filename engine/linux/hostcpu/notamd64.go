//go:build !amd64

package hostcpu

// HasTransactions and HasShadowStacks are features of x86.
func HasTransactions() bool { return false }
func HasShadowStacks() bool { return false }

// ReadsFSBase reports whether programs may read the base of fs.
func ReadsFSBase() bool { return false }

// SwapsPairs reports whether the processor has cmpxchg16b.
func SwapsPairs() bool { return false }

// KeyRights reports that there is no register of protection keys.
func KeyRights() (offset uint32, ok bool) { return 0, false }
