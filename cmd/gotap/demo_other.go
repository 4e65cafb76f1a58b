//go:build !amd64

package main

// demoWork stands in for the assembly of amd64; the probe finds it as "main.demoWork".
//
//go:noinline
func demoWork(n int64) int64 { return 2*n + 1 }

// demoCheck stands in for that of amd64.
//
//go:noinline
func demoCheck(n int64) int64 {
	if got := demoWork(n); n <= 10000 {
		return got
	}
	return -1
}
