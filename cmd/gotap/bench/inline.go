package bench

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
)

// nativeCalls is how many calls a round makes for each hit of the other parts: native code takes nanoseconds.
const nativeCalls = 200

// inlineRow is a program that runs in the target. A record needs a stop.
type inlineRow struct {
	name, script string
	stops        bool
}

var inlineRows = []inlineRow{
	{"count", kindsOfProbe[0].script, false},
	{"hist", `const h = hist("h"); probe("work", c => h.add(c.arg0)); end(() => h.clear());`, false},
	{"rejected by its predicate", `probe("work", { when: c => c.arg0 < 0, enter(c) { n.inc(); } });`, false},
	{"record", `let seen = 0; probe("work", { enter(c) { exit({ i: c.arg0 }); }, exit(e) { seen++; } });`, true},
}

// inline prints what a hit of --engine inline costs above a plain call. Beside native code stands a counter that is compiled into the
// program, beside a record the loop that emulates the instruction, which serves one thread. Native code is measured by the
// processor time of the target, which other work on the machine hardly changes; a stop by the clock.
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
	n := strconv.Itoa(b.o.Hits * nativeCalls)
	target, reference := []string{b.program, "calls", strconv.Itoa(t), n}, []string{b.program, "counted", strconv.Itoa(t), n}
	if row.stops {
		n = strconv.Itoa(b.o.Hits)
		target, reference = []string{b.program, "threads", strconv.Itoa(t), n}, []string{b.program, "emulate", n}
	}
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
	loop, ratio := "-", "-"
	if above := slices.Min(c) - slices.Min(plain); !row.stops || t == 1 {
		loop = fmt.Sprintf("%.1f ns", above)
		ratio = fmt.Sprintf("%.2f", best/cmp.Or(above, 1))
	}
	fmt.Fprintf(b.out, "%-42s %12s %9.1f ns %9.1f ns %8s\n", row.name+", "+threads(t), loop, best, median(own)-median(plain), ratio)
	return nil
}
