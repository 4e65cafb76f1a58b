package unwind_test

import (
	"debug/elf"
	"slices"
	"strings"
	"testing"

	"gotap/engine/image/unwind"
	"gotap/engine/testenv"
)

// TestFramesWithoutTables walks stacks of a program whose own functions have no call-frame information: by frame
// pointers, and at the first instructions of functions by the return address on top of the stack.
func TestFramesWithoutTables(t *testing.T) {
	testenv.Require(t, testenv.GDB, testenv.GCC, testenv.AMD64, testenv.Ptrace)
	for _, c := range []struct {
		flags   string
		machine elf.Machine
	}{
		{"-O0 -fno-asynchronous-unwind-tables -fno-exceptions -g0", elf.EM_X86_64},
		{"-O2 -fno-omit-frame-pointer -fno-optimize-sibling-calls -fno-asynchronous-unwind-tables -g0", elf.EM_X86_64},
		{"-O0 -m32 -fno-asynchronous-unwind-tables -g0", elf.EM_386},
	} {
		t.Run(strings.ReplaceAll(c.flags, " ", ""), func(t *testing.T) {
			flags := strings.Fields(c.flags)
			if c.machine == elf.EM_386 {
				testenv.Require(t, testenv.M32, testenv.IA32)
				flags = append(flags, "-idirafter", "/usr/include/x86_64-linux-gnu")
			}
			p, stops := record(t, build(t, "frames.c", flags...), c.machine, 1, "mark bare variable recurse")
			walkAll(t, p, stops, c.machine)
		})
	}
}

// walkAll wants gdb's chain at the entry of every function.
func walkAll(t *testing.T, p *process, stops []stop, m elf.Machine) {
	w := unwind.NewWalker(layout(t, m))
	out := make([]uint64, 60)
	wrong := 0
	for i := range stops {
		p.stack = stops[i]
		n := w.Walk(stops[i].regs(m), p, p.find, out)
		want := p.own(stops[i].Chain)
		if n < len(want) || !slices.Equal(out[:len(want)], want) {
			wrong++
			t.Errorf("at %#x: chain\n%x, gdb has\n%x", stops[i].Chain[0], out[:n], stops[i].Chain)
		}
	}
	t.Logf("%d stops, %d wrong", len(stops), wrong)
	if len(stops) < 10 {
		t.Errorf("only %d stops", len(stops))
	}
}

// own is a chain up to the outermost function of the program. Beyond main, which has realigned its stack, all that is
// known without tables is a guess, of gdb's too.
func (p *process) own(chain []uint64) []uint64 {
	chain = p.sane(chain)
	for i := len(chain) - 1; i >= 0; i-- {
		if m := p.at(chain[i]); m.Path == p.maps[0].Path && i < len(chain)-1 {
			return chain[:i+1]
		}
	}
	return chain
}
