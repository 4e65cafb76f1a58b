package x86

import (
	"bytes"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"gotap/arch"
	"gotap/engine/image/module"
	"gotap/engine/testenv"
)

// windowFiles are the binaries whose windows run. Patterns without a match are skipped.
var windowFiles = []string{
	"/lib/x86_64-linux-gnu/libc.so.6",
	"/usr/lib/x86_64-linux-gnu/libcrypto.so.3",
	"/usr/lib/x86_64-linux-gnu/libstdc++.so.6",
	"/usr/bin/python3.*[0-9]",
	"/usr/local/go/bin/go",
}

// windowTrials returns how many windows of a file run: GOTAP_LONG=1 is all of them.
func windowTrials() int {
	switch {
	case os.Getenv("GOTAP_LONG") != "":
		return 1 << 30
	case testing.Short():
		return 100
	}
	return 500
}

// windowTally counts the results of a file.
type windowTally struct{ ran, faults, unfit, refused, calls, leaves, long int }

// TestWindowsRun runs the copies of windows of real programs, in random states, and compares the results with those of
// the original instructions: windows at the entries of functions, around their returns and at other instructions.
func TestWindowsRun(t *testing.T) {
	testenv.Require(t, testenv.AMD64, testenv.GCC, testenv.Ptrace)
	for _, pattern := range windowFiles {
		files, _ := filepath.Glob(pattern)
		if len(files) == 0 {
			continue
		}
		t.Run(filepath.Base(pattern), func(t *testing.T) {
			f, err := module.Open(files[0])
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			g := generator{seed(t), newChild(t, mode64)}
			g.runWindows(f)
		})
	}
}

// runWindows runs windows spread over a file.
func (g *generator) runWindows(f *module.File) {
	t, a, n := g.c.t, New64().(arch.BranchArch), windowTally{}
	places := g.places(f)
	every := max(len(places)/windowTrials(), 1)
	for i, addr := range places {
		if i%every != 0 || t.Failed() {
			continue
		}
		w, _, err := f.Windows(a).Around(addr)
		if err != nil {
			n.refused++
			continue
		}
		code, err := f.Code(w.Addr, w.Len+maxLen) // with all of the padding
		if err != nil {
			t.Fatal(err)
		}
		if i%16 == 0 {
			g.refill()
		}
		g.runWindow(code, &w, &n)
	}
	t.Logf("%d places: %+v", len(places), n)
	if n.ran == 0 || n.faults > n.ran/2 || n.long > n.ran/50 {
		t.Error("too few windows ran")
	}
}

// places returns where to look for windows: at the entry of each function, its returns, and one other instruction.
func (g *generator) places(f *module.File) []uint64 {
	var places []uint64
	for _, r := range functionsOf(f) {
		code, err := f.Code(r.Start, int(r.End-r.Start))
		if err != nil {
			continue
		}
		places = append(places, r.Start)
		var insns []uint64
		arch.Sweep(New64(), code, r.Start, func(in arch.Insn) error {
			insns = append(insns, in.Addr)
			if in.Control == arch.Return {
				places = append(places, in.Addr)
			}
			return nil
		})
		if len(insns) > 0 {
			places = append(places, insns[g.IntN(len(insns))])
		}
	}
	return places
}

// functionsOf returns the functions of a file by symbols, or by call-frame information where there are few.
func functionsOf(f *module.File) []module.Range {
	var all []module.Range
	for _, fn := range f.Funcs() {
		if fn.Size > 0 {
			all = append(all, module.Range{Start: fn.Addr, End: fn.End()})
		}
	}
	if frames := f.Frames(); len(frames) > len(all) {
		return frames
	}
	return all
}

// runWindow runs a window of a file in one random state. code is its bytes, and some behind it.
func (g *generator) runWindow(code []byte, of *arch.Window, tally *windowTally) {
	t := g.c.t
	code, regs, ok := g.steerWindow(code, len(of.Insns))
	if !ok {
		tally.unfit++
		return
	}
	last := of.Insns[len(of.Insns)-1].Addr - of.Addr
	w, err := windows{mode64}.WindowOver(code, nativeCode, nativeCode+last)
	if err != nil || w.Len != of.Len {
		t.Errorf("% x: at another address, the window is %+v, %v", code, w, err)
		return
	}
	copied, offsets, err := w.Copy(nearSlot)
	if err != nil || len(copied) > arch.WindowCopySize {
		t.Errorf("% x: a copy of %d bytes, %v", code, len(copied), err)
		return
	}
	want, short := g.c.walk(code[:w.Len], nativeCode, regs)
	got, short2 := g.c.walk(copied, nearSlot, regs)
	if !short || !short2 {
		tally.long++
		return
	}
	tally.ran++
	final := w.Insns[len(w.Insns)-1]
	if w.Pushes {
		tally.calls++
	}
	if !continues(final) {
		tally.leaves++
	}
	if want.sig != 0 {
		tally.faults++
		if w.Pushes && want.regs[RIP] == final.Addr {
			return // the push has run
		}
		for i, off := range offsets {
			if got.regs[RIP] == nearSlot+uint64(off) {
				got.regs[RIP] = w.Insns[i].Addr
			}
		}
	}
	if d := differ(&want, &got, 0); d != "" {
		t.Errorf("% x, copied % x:%s", code, copied, d)
	}
}

// steerWindow makes the operands of n instructions lie in the window of memory, as steer does for one instruction. ok
// is false if one of them cannot run at random.
func (g *generator) steerWindow(code []byte, n int) (steered []byte, regs arch.Regs, ok bool) {
	code = bytes.Clone(code)
	insts := make([]inst, n)
	for i, off := 0, 0; i < n; i++ {
		in, err := decodeInst(code[off:], true)
		if err != nil || unfit(&in) {
			return nil, regs, false
		}
		g.patch(code[off:off+int(in.length)], &in)
		insts[i], _ = decodeInst(code[off:], true)
		off += int(in.length)
	}
	regs = g.registers(&insts[0])
	for i := range insts {
		in := &insts[i]
		if in.memory() {
			a := in.address(nativeCode)
			if a.index != none {
				regs[a.index] = uint64(g.IntN(64)) - 16
			}
			if a.base != none && a.base != RSP {
				regs[a.base] = g.pointer()
			}
		}
		if in.rep != 0 {
			regs[RCX] = uint64(g.IntN(6))
		}
	}
	return code, regs, true
}

// walk steps through code at an address until control leaves it, returns to its start, or a signal arrives. ok is false
// after too many steps.
func (c *child) walk(code []byte, at uint64, regs arch.Regs) (out outcome, ok bool) {
	c.must(c.WriteMemory(at, append(bytes.Clone(code), bytes.Repeat([]byte{0x90}, 16)...)))
	c.must(c.WriteMemory(window, c.pattern))
	c.setVectors(c.xstate)
	regs[RIP] = at
	c.setRegs(&regs)
	for range 200 {
		c.resume(syscall.PTRACE_SINGLESTEP)
		out.sig = c.wait()
		out.regs = c.regs()
		pc := out.regs[RIP]
		if out.sig != syscall.SIGTRAP || pc-at >= uint64(len(code)) || pc == at && !c.repeats(code) {
			ok = true
			break
		}
	}
	if out.sig == syscall.SIGTRAP {
		out.sig = 0
	}
	c.finish(&out, true)
	return out, ok
}

// TestStatusFlags checks, with instructions of a real library, which flags they use: with flags changed that an
// instruction does not read, everything else is the same afterwards, the flags that it writes included.
func TestStatusFlags(t *testing.T) {
	text := textOf(windowFiles[0])
	if text == nil {
		testenv.Lack(t, testenv.Libraries)
	}
	g := generator{seed(t), newChild(t, mode64)}
	known, writes := 0, 0
	for off, n := 0, 0; off < len(text)-16 && n < 3000; off += len(text) / 30000 {
		tr, ok := g.steer(text[off:])
		if !ok {
			continue
		}
		reads, writ := tr.in.statusFlags()
		if reads == flagsStatus {
			continue
		}
		known++
		if writ != 0 {
			writes++
		}
		n++
		other := tr.regs
		other[EFLAGS] ^= flagsStatus &^ reads
		first, second := g.c.native(tr.code, tr.regs, true), g.c.native(tr.code, other, true)
		if first.sig != 0 {
			continue
		}
		second.regs[EFLAGS] ^= flagsStatus &^ reads &^ writ
		if d := differ(&first, &second, 0); d != "" {
			t.Errorf("% x %s:%s", tr.code, g.text(tr), d)
		}
	}
	t.Logf("%d instructions that are known, %d of which write flags", known, writes)
	if writes < 100 {
		t.Error("too few instructions")
	}
}
