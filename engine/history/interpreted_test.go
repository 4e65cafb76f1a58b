package history

import (
	"testing"

	"gotap/engine/image/symbols"
)

// TestInterpreted: equal frames share a number, numbers are named among addresses, and too many frames are told from
// others.
func TestInterpreted(t *testing.T) {
	h := New()
	f := symbols.Symbol{Func: "f", File: "a.py", Line: 3, Module: "python"}
	g := f
	g.Line = 4
	one, two := h.Interpreted(f), h.Interpreted(g)
	if one == two || h.Interpreted(f) != one {
		t.Errorf("numbers %x %x, then %x", one, two, h.Interpreted(f))
	}
	named := h.Stack(7, []uint64{0x1000, two, one, 0x2000, frameTag<<48 | 77})
	if len(named) != 5 || named[0].Addr != 0x1000 || named[1] != g || named[2] != f || named[3].Addr != 0x2000 || named[4].Func != "" {
		t.Errorf("the stack is %+v", named)
	}
	for i := range maxFrames {
		f.Line = 100 + i
		h.Interpreted(f)
	}
	last := h.Interpreted(symbols.Symbol{Func: "last"})
	if s := h.Stack(7, []uint64{last})[0]; s != overflow {
		t.Errorf("a frame too many is %+v", s)
	}
	if s := h.Stack(7, []uint64{two})[0]; s != g {
		t.Errorf("an early frame is %+v", s)
	}
}
