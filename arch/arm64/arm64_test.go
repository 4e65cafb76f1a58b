package arm64

import (
	"math/rand/v2"
	"testing"
)

func TestADR(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	states := append(statesFor(r, 0x9f000000, 0x90000000, 100), statesFor(r, 0x9f000000, 0x10000000, 100)...)
	if n := differential(t, states); n != 0 {
		t.Errorf("%d states were refused", n)
	}
}
