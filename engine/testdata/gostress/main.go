// Command gostress keeps the runtime of Go busy while it counts: goroutines whose stacks grow and shrink, garbage, collections one after
// another, loops that can only be preempted by signals, and a profile. It prints what depends on none of that.
package main

import (
	"bytes"
	"fmt"
	"os"
	"runtime"
	"runtime/pprof"
	"strconv"
	"sync"
	"sync/atomic"
)

type node struct {
	next  *node
	value int
}

//go:noinline
func build(n int) (list *node) {
	for i := range n {
		list = &node{list, i}
	}
	return list
}

//go:noinline
func deep(n int, list *node) int {
	var pad [300]byte
	pad[n%300] = 1
	if n == 0 {
		return total(list)
	}
	return deep(n-1, list) + int(pad[n%300])
}

//go:noinline
func total(list *node) (sum int) {
	for ; list != nil; list = list.next {
		sum += list.value
	}
	return spin(sum, 2000000)
}

// spin has a loop without calls.
//
//go:noinline
func spin(x, n int) int {
	var twice [2]int
	for i := range n {
		twice[i&1] += x
	}
	if twice[0] != twice[1] {
		fmt.Println("wrong")
	}
	return x
}

//go:noinline
func large(x int) int {
	var pad [2000]byte
	pad[x%2000] = 1
	return spin(x, 2) + int(pad[x%2000])
}

func main() {
	rounds, _ := strconv.Atoi(os.Args[1])
	var profile bytes.Buffer
	if err := pprof.StartCPUProfile(&profile); err != nil {
		fmt.Println(err)
	}
	var done atomic.Bool
	go func() {
		for !done.Load() {
			runtime.GC()
		}
	}()
	var sum atomic.Int64
	for range rounds {
		var group sync.WaitGroup
		for range 4 {
			group.Go(func() { sum.Add(int64(deep(100, build(50)) + large(7))) })
		}
		group.Wait()
	}
	done.Store(true)
	pprof.StopCPUProfile()
	fmt.Println("sum", sum.Load(), profile.Len() > 0)
}
