package compiler

import (
	"sync"
	"testing"
)

// TestConcurrent: units that share functions are compiled on several goroutines at once.
func TestConcurrent(t *testing.T) {
	r := newRig(t)
	u := parse(t, "function f(x, g) { let y = g(x); y++; return y; } c => { const k = f(c.arg0, x => x * 2); n.at(k).inc(); log(`${k} ${c.args.p}`); }", testScope(r))
	u.Arena = r.arena
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for range 50 {
				if _, diags := Compile(u); diags.HasErrors() {
					t.Error(diags)
				}
			}
		})
	}
	all.Wait()
}
