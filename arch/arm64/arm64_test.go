package arm64

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// newer are rows that the processor of the tests does not have.
func newer(r *row) bool {
	for _, name := range []string{"bc.cond", "hlt", "wfet", "wfit", "dsb (nxs)", "dc cvap", "dc cvadp", "swpp", "ldclrp", "ldsetp", "smax", "smin", "umax", "umin", "ctz", "cnt", "abs"} {
		if strings.HasPrefix(r.name, name) {
			return true
		}
	}
	return false
}

func TestRows(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, table := range [][]row{controlRows, systemRows, immediateRows, registerRows, loadRows, atomicRows, otherRows} {
		for i := range table {
			if newer(&table[i]) || table[i].class == SystemCall || table[i].class == PointerAuth {
				continue
			}
			t.Run(table[i].name, func(t *testing.T) {
				n := differential(t, withoutQuirks(statesFor(r, table[i].mask, table[i].value, 300)))
				if n == 300 {
					t.Log("all refused")
				}
			})
		}
	}
}

// withoutQuirks leaves out what QEMU does on its own account: it takes -1 for the address of a clear monitor.
func withoutQuirks(states []state) []state {
	out := states[:0]
	for _, s := range states {
		if r, err := find(s.word); err == nil && r.class == Exclusive && s.regs[rn(s.word)] == 1<<64-1 {
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
