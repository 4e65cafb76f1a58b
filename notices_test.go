package gotap

import (
	"os"
	"strings"
	"testing"
)

// TestNoticesWaitForNobody posts more than a pipe that nobody reads takes: the engine goes on, what was told is in
// order, and the rest is counted.
func TestNoticesWaitForNobody(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	n := newNotices()
	const posts = 20_000
	line := strings.Repeat("x", 99) + "\n" // a pipe takes 64 KB
	for range posts {
		n.post(func() { w.WriteString(line) })
	}
	dropped := int(n.dropped.Load())
	if dropped == 0 {
		t.Error("everything was told to nobody")
	}
	got := make(chan int)
	go func() {
		all := 0
		p := make([]byte, 1<<16)
		for {
			k, err := r.Read(p)
			if all += k; err != nil {
				got <- all
				return
			}
		}
	}()
	n.flush()
	w.Close()
	if all := <-got; all != (posts-dropped)*len(line) {
		t.Errorf("%d bytes were told, not %d", all, (posts-dropped)*len(line))
	}
}
