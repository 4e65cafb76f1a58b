package arm64

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// newer are rows that the processor of the tests does not have.
func newer(r *row) bool {
	for _, name := range []string{"bc.cond", "swpp", "ldclrp", "ldsetp", "smax", "smin", "umax", "umin", "ctz", "cnt", "abs"} {
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
				n := differential(t, statesFor(r, table[i].mask, table[i].value, 2000))
				if n == 2000 {
					t.Log("all refused")
				}
			})
		}
	}
}
