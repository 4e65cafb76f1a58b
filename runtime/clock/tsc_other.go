//go:build !amd64 && !arm64

package clock

// counter is not used where steady gives a reason.
func counter() uint64 { return 0 }

// steady returns why the counter of the processor does not tell the time.
func steady() string { return "native code is made for x86-64 and 64-bit ARM only" }
