// Command routine runs a deep recursion in one goroutine after the other. Their stacks grow, and so move, several times on the way.
package main

import "fmt"

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
	for range 2 {
		c := make(chan int)
		go func() { c <- work("hello", 200) }()
		fmt.Println(<-c)
	}
}
