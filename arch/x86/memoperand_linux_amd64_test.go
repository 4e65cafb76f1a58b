package x86

import (
	"bufio"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
)

// readOnly returns the address of a page that the child may read and not write.
func (c *child) readOnly() (addr uint64) {
	f, err := os.Open(fmt.Sprintf("/proc/%d/maps", c.pid))
	if err != nil {
		c.t.Fatal(err)
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if line := lines.Text(); strings.Contains(line, " r--p ") && !strings.Contains(line, "[") {
			fmt.Sscanf(line, "%x-", &addr)
			return addr
		}
	}
	c.t.Fatal("the child has no page that it may only read")
	return 0
}

// TestMemOperand has the processor say where the operands of random instructions are and whether they are written: by
// the faults at the end of what is mapped, and at a page that may only be read. Instructions that complete for certain
// do not fault.
func TestMemOperand(t *testing.T) {
	g := generator{seed(t), newChild(t, mode64)}
	text := textOf("/lib/x86_64-linux-gnu/libc.so.6")
	readOnly := g.c.readOnly()
	complete, operands, writes := 0, 0, 0
	for tries := 0; tries < 1000*1000 && operands < max(emulationTrials()/8, 1000); tries++ {
		code := g.random()
		if tries%2 == 0 && text != nil {
			code = text[g.IntN(len(text)-16):][:16]
		}
		if tr, ok := g.steer(code); ok {
			switch c, o, w := g.tryOperand(tr, readOnly); {
			case c:
				complete++
			case o && w:
				operands, writes = operands+1, writes+1
			case o:
				operands++
			}
		}
	}
	t.Logf("%d complete, %d have operands, of which %d are written", complete, operands, writes)
	if complete < 100 || writes < 100 || operands-writes < 100 {
		t.Error("too few")
	}
}

// tryOperand compares what is said of an instruction with what it does.
func (g *generator) tryOperand(tr trial, readOnly uint64) (complete, operand, writes bool) {
	insn, err := g.c.isa.Decode(tr.code, nativeCode)
	if err != nil {
		return false, false, false
	}
	fails := func(what string, must bool) {
		g.c.t.Helper()
		if got := g.c.native(tr.code, tr.regs, false); got.sig != 0 != must || got.sig != 0 && got.sig != syscall.SIGSEGV {
			g.c.t.Errorf("% x %s, %s: signal %d", tr.code, g.text(tr), what, got.sig)
		}
	}
	if completes(insn) {
		if strays := tr.in.memory() && tr.strays(); !strays {
			fails("which completes", false)
		}
		return true, false, false
	}
	o := memOperand(insn)
	if o == nil || o.Base < 0 || o.Base == RSP || o.Base == o.Index {
		return false, false, false
	}
	const end = window + windowLen
	move := func(to uint64) { tr.regs[o.Base] += to - o.Address(&tr.regs) }
	move(uint64(end - o.Size))
	fails("with an operand at the end", false)
	move(uint64(end - o.Size + 1))
	fails("with an operand beyond the end", true)
	move(readOnly)
	fails("with an operand that may only be read", o.Writes)
	return false, true, o.Writes
}
