package compile

import (
	"errors"
	"testing"

	"gotap/runtime/opcode"
	"gotap/runtime/outcome"
)

// TestHalfRegisters: the halves of addresses are refused for 64-bit targets, and only there.
func TestHalfRegisters(t *testing.T) {
	b := newBench(t)
	for name, refused := range map[string]bool{"esp": true, "eip": true, "eax": false, "ebp": false, "sp": false, "rsp": false} {
		for _, word := range []int{4, 8} {
			n := NewBuilder("half")
			n.A(opcode.PushR, n.Reg(name))
			n.A(opcode.Drop, 1)
			n.Exit(outcome.ExitPlain)
			p, err := n.Program()
			if err != nil {
				t.Fatal(err)
			}
			if err := Verify(p).Err(); err != nil {
				t.Fatal(err)
			}
			_, err = Lower(p, Env{Arena: b.arena, WordSize: word, Register: func(string) (int, int, int, bool) { return 10, 32, 0, true }})
			half := (*HalfRegisterError)(nil)
			if errors.As(err, &half) != (refused && word == 8) || half == nil && err != nil {
				t.Errorf("%s in words of %d bytes: %v", name, word, err)
			}
		}
	}
}
