// Command victim works in several goroutines, and makes garbage, until it is told to end; it checks all it does.
package main

import (
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

var (
	bad  atomic.Int64
	stop atomic.Bool
	sink []byte
)

//go:noinline
func work(n int) int {
	if n == 0 {
		return 0
	}
	var pad [64]byte
	pad[n&63] = 1
	return work(n-1) + int(pad[n&63])
}

//go:noinline
func mixed(i int) int {
	m := map[int]string{i: "a", i + 1: fmt.Sprint(i)}
	b := make([]byte, 100+i%100)
	copy(b, m[i+1])
	s := string(b[:len(m[i+1])])
	if i%16 == 0 {
		sink = b
	}
	if s != fmt.Sprint(i) {
		return 1
	}
	return work(20) - 20
}

func main() {
	fmt.Println("ready")
	var group sync.WaitGroup
	for g := range 4 {
		group.Go(func() {
			for i := 0; !stop.Load(); i++ {
				if mixed(i) != 0 {
					bad.Add(1)
				}
				if g > 0 && i%256 == 0 { // one works all the time; the others leave the processor to the session that is tested
					time.Sleep(time.Millisecond)
				}
			}
		})
	}
	var one [1]byte
	os.Stdin.Read(one[:])
	stop.Store(true)
	group.Wait()
	fmt.Printf("victim bad=%d\n", bad.Load())
}
