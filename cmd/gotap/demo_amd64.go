package main

// demoWork calls work (see demo_amd64.s).
//
//go:noescape
func demoWork(n int64) int64

// demoCheck calls check.
//
//go:noescape
func demoCheck(n int64) int64
