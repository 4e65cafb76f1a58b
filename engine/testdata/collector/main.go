// Collector allocates in several goroutines while the garbage collector runs all the time, computes without calling anything, which takes
// preemption by a signal, and prints a sum. Its argument is how often each goroutine does so.
package main

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"sync"
)

type node struct {
	next  *node
	value int
}

//go:noinline
func chain(n int) *node {
	var first *node
	for i := range n {
		first = &node{first, i}
	}
	return first
}

//go:noinline
func add(n *node) (sum int) {
	for ; n != nil; n = n.next {
		sum += n.value
	}
	return sum
}

//go:noinline
func grow(n int) int {
	var room [256]byte
	room[n%256] = 1
	if n == 0 {
		return int(room[0])
	}
	return grow(n-1) + int(room[n%256])
}

//go:noinline
func recovered(n int) (got int) {
	defer func() { got = recover().(int) }()
	panic(n)
}

func main() {
	debug.SetGCPercent(5)
	rounds, _ := strconv.Atoi(os.Args[1])
	var wait sync.WaitGroup
	var lock sync.Mutex
	total := 0
	for g := range 4 {
		wait.Go(func() {
			for i := range rounds {
				n := add(chain(60)) + grow(20+g) + recovered(i)
				lock.Lock()
				total += n
				lock.Unlock()
				if i%4 == 0 {
					runtime.GC()
				}
			}
		})
	}
	wait.Wait()
	fmt.Println("collector", total)
}
