//go:build !amd64

package hostcpu

import "runtime"

// HasTransactions and HasShadowStacks are features of x86.
func HasTransactions() bool { return false }
func HasShadowStacks() bool { return false }

// ReadsThreadPointer reports whether programs may read the address of their thread's own data with an instruction that
// native code has: those of 64-bit ARM may (tpidr_el0).
func ReadsThreadPointer() bool { return runtime.GOARCH == "arm64" }

// SwapsPairs reports whether the processor has cmpxchg16b.
func SwapsPairs() bool { return false }

// KeyRights reports that there is no register of protection keys.
func KeyRights() (offset uint32, ok bool) { return 0, false }
