//go:build !amd64

package main

// demoWork stands in for the assembly of amd64; the probe finds it as "main.demoWork".
//
//go:noinline
func demoWork(n int64) int64 { return 2*n + 1 }
