//go:build !amd64

package demo

// Function is the demonstration's own function, as symbols name it.
const Function = "gotap/cmd/gotap/demo.callWork"

// callWork stands in for the assembly of amd64.
//
//go:noinline
func callWork(n int64) int64 { return 2*n + 1 }

// callCheck stands in for that of amd64.
//
//go:noinline
func callCheck(n int64) int64 {
	if got := callWork(n); n <= 10000 {
		return got
	}
	return -1
}
