package bench

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
)

// nativeCalls is how many calls a round makes for each hit of the other parts: native code takes nanoseconds.
const nativeCalls = 200

// burst is how many calls a round of records makes at most: they fit into the ring, because otherwise their reader is
// measured.
const burst = 25_000

// inlineRow is a program that runs in the target.
type inlineRow struct {
	name, script string
	calls        int // in a round; 0: as many as the hits of the other parts, times nativeCalls
}

var inlineRows = []inlineRow{
	{"count", kindsOfProbe[0].script, 0},
	{"hist", `const h = hist("h"); probe("work", c => h.add(c.arg0)); end(() => h.clear());`, 0},
	{"rejected by its predicate", `probe("work", { when: c => c.arg0 < 0, enter(c) { n.inc(); } });`, 0},
	{"count by key, 1,000 keys", `const k = count("k"); probe("work", c => k.at(c.arg0 % 1000).inc()); end(() => k.clear());`, 0},
	{"enter and leave, this, elapsed", `const h = hist("h"); probe("work", { enter(c) { this.n = c.arg0; }, leave(c) { if (this.n >= 0) h.add(c.elapsed); } }); end(() => h.clear());`, 0},
	{"record, time and 4 values", `let seen = 0; probe("work", { enter(c) { exit({ t: c.time, a: c.arg0, b: c.arg1, c: c.arg2, d: c.arg3 }); }, exit(e) { seen++; } });`, burst},
}

// inline prints what a hit of --engine inline costs above a plain call. Beside native code stands a counter that is
// compiled into the program. It is measured by the processor time of the target, which other work on the machine hardly
// changes.
func (b bench) inline() error {
	fmt.Fprintf(b.out, "\n%-42s %12s %12s %12s %8s\n", "a hit above a plain call, --engine inline", "C", "minimum", "median", "ratio")
	for _, t := range []int{1, 4} {
		for _, row := range inlineRows {
			if err := b.inlineRow(row, t); err != nil {
				return err
			}
		}
	}
	return nil
}

// inlineRow measures a row with t threads: a plain call, the reference and gotap, in turn.
func (b bench) inlineRow(row inlineRow, t int) error {
	n := strconv.Itoa(min(cmp.Or(row.calls, math.MaxInt), b.o.Hits*nativeCalls))
	target, reference := []string{b.program, "calls", strconv.Itoa(t), n}, []string{b.program, "counted", strconv.Itoa(t), n}
	var plain, c, own []float64
	for range b.o.Rounds {
		for _, m := range []struct {
			argv []string
			to   *[]float64
		}{{target, &plain}, {reference, &c}, {b.own("inline", row.script, target...), &own}} {
			ns, err := measure(m.argv)
			if err != nil {
				return err
			}
			*m.to = append(*m.to, ns)
		}
	}
	best := slices.Min(own) - slices.Min(plain)
	above := slices.Min(c) - slices.Min(plain)
	fmt.Fprintf(b.out, "%-42s %9.1f ns %9.1f ns %9.1f ns %8.2f\n", row.name+", "+threads(t), above, best, median(own)-median(plain), best/cmp.Or(above, 1))
	return nil
}
