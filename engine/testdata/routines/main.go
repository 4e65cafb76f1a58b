// Command routines runs a deep recursion in several goroutines at once. Their stacks grow, and so move, several times
// on the way.
package main

import (
	"fmt"
	"sync"
)

//go:noinline
func work(s string, n int) int {
	if n == 0 {
		return len(s)
	}
	var pad [512]byte
	pad[n&511] = 1
	return work(s, n-1) + int(pad[n&511])
}

func main() {
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() { fmt.Println(work("hello", 200)) })
	}
	group.Wait()
}
