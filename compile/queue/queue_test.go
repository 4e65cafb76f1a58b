package queue

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestOrder compares the order with that of a sorted list, while nodes come and go.
func TestOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		var q Queue
		var want []int // block*1000 + node
		for range r.IntN(100) {
			if len(want) > 0 && r.IntN(3) == 0 {
				slices.Sort(want)
				if got := q.Pop(); got != want[0]%1000 {
					t.Fatalf("node %d, not %d", got, want[0]%1000)
				}
				want = want[1:]
				continue
			}
			block, node := r.IntN(20), r.IntN(1000)
			q.Push(block, node)
			want = append(want, block*1000+node)
		}
		if len(q) != len(want) {
			t.Fatalf("%d nodes are left, not %d", len(q), len(want))
		}
	}
}
