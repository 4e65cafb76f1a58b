package demo

// Function is the demonstration's own function, as debug information and symbols name it.
const Function = "work"

// callWork calls work (see work_amd64.s).
//
//go:noescape
func callWork(n int64) int64

// callCheck calls check.
//
//go:noescape
func callCheck(n int64) int64
