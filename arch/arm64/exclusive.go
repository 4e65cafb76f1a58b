package arm64

import "encoding/binary"

// Places where a breakpoint would break an atomic sequence: the exception clears the monitor that a load-exclusive
// has set, so the store-exclusive fails, the program tries again and never gets past the probe.

// monitor is the effect of an instruction on the monitor.
type monitor uint8

const (
	leaves monitor = iota
	opens          // load-exclusive
	closes         // store-exclusive
	clears         // clrex, and branches that leave the function
)

func monitorOf(w uint32) monitor {
	switch {
	case w&0x3f800000 == 0x08000000 && !isPairSwap(w): // o2 clear
		if field(w, 22, 1) == 1 {
			return opens
		}
		return closes
	case w&0xfffff0ff == 0xd503305f, // clrex
		w&0xfe000000 == 0xd6000000: // branches to registers
		return clears
	}
	return leaves
}

// isPairSwap reports casp, which is encoded among the exclusives.
func isPairSwap(w uint32) bool { return w&0xbfa07c00 == 0x08207c00 }

// ExclusiveRuns returns, in ascending order, the addresses of all instructions of the function code at addr that
// are exclusives, or are on a path of direct branches from a load-exclusive to its store-exclusive without another
// exclusive.
func ExclusiveRuns(code []byte, addr uint64) []uint64 {
	g := flow{code: code[:len(code)&^3]}
	after, before := g.reach(opens, g.successors), []bool(nil)
	if after != nil {
		before = g.reach(closes, g.predecessors())
	}
	var out []uint64
	for n := range before {
		m := monitorOf(g.word(n))
		if m == opens || m == closes || after[n] && before[n] {
			out = append(out, addr+uint64(n)*4)
		}
	}
	return out
}

// flow holds the instructions of a function by number, and their successors.
type flow struct{ code []byte }

func (g flow) word(n int) uint32 { return binary.LittleEndian.Uint32(g.code[4*n:]) }

// successors returns the successors of an instruction, as far as the code of the function determines them.
func (g flow) successors(n int) []int {
	w := g.word(n)
	out := make([]int, 0, 2)
	add := func(to int) {
		if to >= 0 && to < len(g.code)/4 {
			out = append(out, to)
		}
	}
	switch {
	case monitorOf(w) == clears:
		return out
	case w>>26 == 5: // b
		add(n + int(signedField(w, 0, 26)))
		return out
	case w>>24 == 0x54, w>>25&63 == 0x1a: // b.cond, cbz, cbnz
		add(n + int(signedField(w, 5, 19)))
	case w>>25&63 == 0x1b: // tbz, tbnz
		add(n + int(signedField(w, 5, 14)))
	}
	add(n + 1)
	return out
}

// predecessors returns the reverse of successors.
func (g flow) predecessors() func(n int) []int {
	from := make([][]int, len(g.code)/4)
	for n := range from {
		for _, to := range g.successors(n) {
			from[to] = append(from[to], n)
		}
	}
	return func(n int) []int { return from[n] }
}

// reach marks the instructions that can be reached from those of one kind, up to the next exclusives. It returns
// nil if there are no such instructions.
func (g flow) reach(kind monitor, edges func(int) []int) []bool {
	var seen []bool
	var open []int
	for n := range len(g.code) / 4 {
		if monitorOf(g.word(n)) == kind {
			open = append(open, n)
		}
	}
	if len(open) != 0 {
		seen = make([]bool, len(g.code)/4)
	}
	for len(open) != 0 {
		n := open[len(open)-1]
		open = open[:len(open)-1]
		for _, to := range edges(n) {
			if !seen[to] && monitorOf(g.word(to)) == leaves {
				seen[to] = true
				open = append(open, to)
			}
		}
	}
	return seen
}
