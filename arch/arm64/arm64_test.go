package arm64

import (
	"strings"
	"testing"
)

// statesPerRow gives about 20,000 states of the core's rows, in a short run 5,000, or more than 1,000,000 in the long suite.
func statesPerRow() int {
	switch {
	case longRun():
		return 3600
	case testing.Short():
		return 18
	}
	return 70
}

// coreTables are the tables of this package except those of the vector unit.
var coreTables = [][]row{controlRows, systemRows, immediateRows, registerRows, loadRows(), atomicRows(), otherRows}

// missing reports rows that the processor of the tests does not have, or, like hlt, handles itself.
func missing(r *row) bool {
	for _, name := range []string{
		"bc.cond", "hlt", "wfet", "wfit", "dsb (nxs)", "dc cvap", "dc cvadp", "swpp", "ldclrp", "ldsetp",
		"smax", "smin", "umax", "umin", "ctz", "cnt", "abs",
	} {
		if strings.HasPrefix(r.name, name) {
			return true
		}
	}
	return r.class == SystemCall || r.class == PointerAuth || r.class == PointerStrip && r.name == "xpaclri"
}

// TestRows compares every row of the tables with the processor, in random states.
func TestRows(t *testing.T) {
	r := newRand(t, 2)
	for _, table := range coreTables {
		var states []state
		for i := range table {
			if !missing(&table[i]) {
				states = append(states, withoutQuirks(statesFor(r, table[i].mask, table[i].value, statesPerRow()))...)
			}
		}
		refused := differential(t, states)
		t.Logf("%d states, %d of them refused", len(states), refused)
	}
}

// TestWords compares random words with the processor. Most are not instructions and must be undefined for both.
func TestWords(t *testing.T) {
	r := newRand(t, 4)
	states := make([]state, 0, 100*statesPerRow())
	for len(states) < cap(states) {
		w := r.Uint32()
		if r.IntN(4) == 0 {
			w = w&0x03ffffff | 0xd4000000 // exceptions and system instructions
		}
		found, err := find(w)
		if isVector(w) || err == nil && (missing(&found) || !harmless(w) || found.class == Scalable) || unknownHere(w) {
			continue
		}
		states = append(states, randomState(r, w))
	}
	t.Logf("%d states, %d of them refused", len(states), differential(t, withoutQuirks(states)))
}

// unknownHere reports the halts that QEMU takes for requests to itself.
func unknownHere(w uint32) bool { return w&0xffe0001f == 0xd4400000 }

// withoutQuirks omits states for which QEMU differs: it uses -1 as the address of a clear monitor, and lacks some
// instructions.
func withoutQuirks(states []state) []state {
	out := states[:0]
	for _, s := range states {
		if r, err := find(s.word); err == nil && (missing(&r) || r.class == Exclusive && s.regs[rn(s.word)] == 1<<64-1) {
			continue
		}
		out = append(out, s)
	}
	return out
}

// TestIdentity reads what the processor says of itself, which the tests' memory then answers with.
func TestIdentity(t *testing.T) {
	states := []state{{word: 0xd53b00e0}, {word: 0xd53b0020}}
	for i, o := range native(t, states) {
		if got, _ := (&arena{}).ReadSystem(registerOf(states[i].word)); got != o.regs[0] {
			t.Errorf("%v is %#x, the tests answer %#x", registerOf(states[i].word), o.regs[0], got)
		}
	}
}
