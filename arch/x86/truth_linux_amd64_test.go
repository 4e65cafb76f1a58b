package x86

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"

	"gotap/arch"
)

// seed returns the seed of the random tests: fixed, or GOTAP_SEED.
func seed(t testing.TB) *rand.Rand {
	n := uint64(20260101)
	if s := os.Getenv("GOTAP_SEED"); s != "" {
		n, _ = strconv.ParseUint(s, 10, 64)
	}
	t.Logf("seed %d", n)
	return rand.New(rand.NewPCG(n, 1))
}

// trial is one instruction with its initial state.
type trial struct {
	code []byte
	in   *inst
	regs arch.Regs
}

// generator makes trials: instructions from a source, steered so that most memory operands lie in the window.
type generator struct {
	*rand.Rand
	c *child
}

// steer changes displacements and chooses registers. It uses the package's own computation of addresses only to
// choose interesting cases; the processor decides what is right.
func (g *generator) steer(code []byte) (trial, bool) {
	in, err := decodeInst(code, g.c.isa.long)
	if err != nil || unfit(&in) {
		return trial{}, false
	}
	code = bytes.Clone(code[:in.length])
	if in.long && in.hasRM && in.mod() == 2 && !in.hasSIB && g.IntN(2) == 0 {
		code[in.rmOff] = in.modrm&^0xc7 | 5 // [rip + disp32] has the same length
		in, _ = decodeInst(code, true)
	}
	g.patch(code, &in)
	in, err = decodeInst(code, g.c.isa.long)
	if err != nil {
		return trial{}, false
	}
	tr := trial{code, &in, g.registers(&in)}
	return tr, !tr.splitsLock()
}

// splitsLock reports whether the instruction may lock the bus, because what it changes lies in two cache lines. Kernels
// and hypervisors delay such instructions, and one that was stepped under load has been seen to take 19 minutes.
func (tr *trial) splitsLock() bool {
	const line, most = 64, 16 // bytes
	in := tr.in
	exchanges := in.is(mapLegacy, 0x86) || in.is(mapLegacy, 0x87)
	if !in.memory() || !in.lock && !exchanges {
		return false
	}
	a := in.address(nativeCode)
	addr := a.effective(&tr.regs)
	byBit := in.opmap == map0F && in.opcode&0xe7 == 0xa3 // a register says how far from there
	return addr%line > line-most || byBit && addr%8 != 0
}

// unfit reports instructions that cannot be run at random, or twice with the same result: system calls, changes of
// segments and mode, clocks, random numbers, protection keys. Transactions have tests of their own.
func unfit(in *inst) bool {
	if in.refusal() != "" || in.control() == arch.Syscall || in.begins() || in.is(mapLegacy, 0xc6) && in.modrm == 0xf8 {
		return true
	}
	if in.enc != legacy {
		return in.dispLen == 4 && in.hasSIB && in.opmap == map0F38 && in.opcode>>4 == 9 // gathers are slow to fault
	}
	switch in.opmap {
	case mapLegacy:
		switch in.opcode {
		case 0x07, 0x17, 0x1f, 0x8e, 0x9a, 0xca, 0xcb, 0xcf, 0xea, 0xc4, 0xc5, 0xcd, 0xcc, 0xf1:
			return true
		case 0xff:
			return in.regField() == 3 || in.regField() == 5
		}
	case map0F:
		switch in.opcode {
		case 0x00, 0x01, 0x31, 0xa2, 0xa1, 0xa9, 0xb2, 0xb4, 0xb5, 0x37, 0x33, 0x02, 0x03:
			return true
		case 0xc7:
			return in.regField() >= 6
		case 0xae:
			return in.regField() != 7 && (in.memory() || in.regField() < 5 || in.rep != 0 || in.opsize)
		}
	}
	return false
}

// patch makes absolute and RIP-relative displacements point into the window, and shortens long ones.
func (g *generator) patch(code []byte, in *inst) {
	if in.dispLen < 4 {
		return
	}
	spot := int64(window + 0x200 + g.IntN(0x1000))
	disp := int64(g.IntN(0x400) - 0x200)
	a := in.address(nativeCode)
	switch {
	case in.ripRel:
		disp = spot - nativeCode - int64(len(code))
	case a.base == none && a.index == none:
		disp = spot
	case a.base == none:
		disp = spot - 0x200
	}
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], uint64(disp))
	copy(code[in.dispOff:in.dispOff+in.dispLen], b[:])
}

// registers chooses values: pointers where the instruction needs them, small numbers for indices and counts,
// extremes.
func (g *generator) registers(in *inst) arch.Regs {
	r := g.c.base
	for _, i := range gpr {
		r[i] = g.value()
	}
	r[RSP] = stackTop - uint64(g.IntN(32))*8
	r[RBP] = stackTop + uint64(g.IntN(64))*4
	r[RSI], r[RDI] = g.pointer(), g.pointer()
	if in.memory() {
		a := in.address(nativeCode)
		if a.index != none {
			r[a.index] = uint64(g.IntN(64)) - 16
		}
		if a.base != none && a.base != RSP && g.IntN(20) != 0 {
			r[a.base] = g.pointer()
		}
	}
	if in.rep != 0 || in.control() == arch.CondJump {
		r[RCX] = uint64(g.IntN(6))
	}
	if in.control() != arch.Plain && in.hasRM && !in.memory() && g.IntN(4) != 0 {
		r[gpr[in.rm()]] = g.pointer()
	}
	r[EFLAGS] = 0x202 | g.Uint64()&(flagsStatus|flagDF)
	r[FSBase], r[GSBase] = 0x40, 0x80
	if !g.c.isa.long {
		r[FSBase], r[GSBase] = g.c.base[FSBase], g.c.base[GSBase]
		for _, i := range gpr {
			r[i] &= 0xffffffff
		}
	}
	return r
}

func (g *generator) pointer() uint64 { return window + 0x800 + uint64(g.IntN(0x100))*4 }

func (g *generator) value() uint64 {
	switch g.IntN(6) {
	case 0:
		return g.pointer()
	case 1:
		return uint64(g.IntN(256))
	case 2:
		return 1<<g.IntN(64) - uint64(g.IntN(3))
	case 3:
		return -uint64(g.IntN(256))
	}
	return g.Uint64()
}

// refill makes a new pattern. It contains pointers, because pushed words and loaded pointers come from it.
func (g *generator) refill() {
	for i := 0; i < windowLen; i += 8 {
		binary.LittleEndian.PutUint64(g.c.pattern[i:], g.value())
	}
}

// tally counts the results of a run.
type tally struct{ trials, faults, emulated, executed, copies, borrowed, strays, skipped int }

// report logs the counts. Many strays mean that the package computes addresses wrongly.
func (n *tally) report(t *testing.T) {
	t.Logf("%+v", *n)
	if n.strays > n.trials/200 || n.emulated < n.trials/4 {
		t.Errorf("too many strays, or too few emulations")
	}
}

// strays reports an operand outside the window: the child may have memory there, which is not restored.
func (tr *trial) strays() bool {
	if !tr.in.memory() || tr.in.is(mapLegacy, 0x8d) || tr.in.is(map0F, 0x1f) { // lea and nop touch nothing
		return false
	}
	a := tr.in.address(nativeCode)
	return a.effective(&tr.regs)-(window-windowLen) > 3*windowLen
}

// check runs a trial natively, emulated, and at a near and a far slot.
func (g *generator) check(tr trial, n *tally) {
	t := g.c.t
	insn, err := g.c.isa.Decode(tr.code, nativeCode)
	if err != nil {
		t.Errorf("% x: %v", tr.code, err)
		return
	}
	s, err := g.c.isa.Prepare(insn)
	if err != nil {
		n.skipped++
		return
	}
	st := s.(*site)
	vectors := st.vector()
	if tr.in.is(mapLegacy, 0x9d) {
		defer g.c.clearFlags()
	}
	want := g.c.native(tr.code, tr.regs, vectors)
	n.trials++
	if want.sig != 0 {
		n.faults++
	} else if tr.strays() {
		n.strays++
		return
	}
	if s.Allowed(arch.Emulated) {
		g.checkEmulated(tr, s, &want, n)
	}
	g.checkExecuted(tr, &want, n)
	for _, slot := range []uint64{nearSlot, g.c.farSlot()} {
		if slot == nearSlot && (!tr.in.ripRel || n.trials%4 != 0) && n.trials%16 != 0 {
			continue
		}
		n.copies++
		if st.at(slot).borrows() {
			n.borrowed++
		}
		got, err := g.c.displaced(s, slot, tr.regs, vectors)
		if err != nil {
			t.Errorf("% x %s at %#x: %v", tr.code, g.text(tr), slot, err)
			continue
		}
		g.c.ignoreUndefinedOperand(tr.in, &want, &got)
		if d := differ(&want, &got, 0); d != "" {
			t.Errorf("% x %s stepped at %#x:%s", tr.code, g.text(tr), slot, d)
		}
	}
}

// vector reports instructions that may touch x87 or vector state.
func (s *site) vector() bool {
	in := s.in
	return in.enc != legacy || in.opmap >= map0F38 || in.opmap == mapLegacy && in.opcode>>3 == 0xd8>>3 ||
		in.opmap == map0F && s.form.do == notEmulated && s.insn.Control == arch.Plain
}

func (g *generator) text(tr trial) string { return g.c.isa.Text(tr.code, nativeCode) }

// checkEmulated compares an emulation with the native step. If the native step faults, the emulation has to fail.
func (g *generator) checkEmulated(tr trial, s arch.Site, want *outcome, n *tally) {
	got, err := g.c.emulated(s, tr.regs)
	n.emulated++
	switch fault := (*arch.FaultError)(nil); {
	case errors.Is(err, arch.ErrUnsupported):
		n.skipped++
	case errors.As(err, &fault):
		if want.sig == 0 {
			g.c.t.Errorf("% x %s: %v, natively it runs", tr.code, g.text(tr), err)
		}
	case err != nil:
		g.c.t.Errorf("% x %s: %v", tr.code, g.text(tr), err)
	default:
		if d := differ(want, &got, looseFlags(s.(*site))); d != "" {
			g.c.t.Errorf("% x %s emulated, flags %#x:%s", tr.code, g.text(tr), tr.regs[EFLAGS], d)
		}
	}
}

// checkExecuted compares Exec with the native step.
func (g *generator) checkExecuted(tr trial, want *outcome, n *tally) {
	if lacks(tr.in) {
		return
	}
	got, err := g.c.executed(tr)
	if err == nil {
		n.executed++
	} else if fault := (*arch.FaultError)(nil); want.sig == 0 && errors.As(err, &fault) && fault.Addr-(window-windowLen) > 3*windowLen {
		return // memory of the child that strays does not recognize
	}
	loose := uint64(0)
	if !amdProcessor() && routineOf(tr.in) != nil {
		loose = flagsStatus // TestExec tests which flags are undefined
	}
	if d := execDiffers(tr.in, want, &got, err, loose); d != "" {
		g.c.t.Errorf("% x %s executed, flags %#x:%s", tr.code, g.text(tr), tr.regs[EFLAGS], d)
	}
}

// looseFlags returns the flags that an instruction leaves undefined.
func looseFlags(s *site) uint64 {
	switch {
	case s.form.do != doShift || s.form.imm == 0:
		return 0
	case s.form.imm == 1:
		return flagAF
	}
	return flagAF | flagOF
}

// random returns bytes that are likely to be an emulated instruction.
func (g *generator) random() []byte {
	var code []byte
	if g.IntN(6) == 0 {
		code = append(code, []byte{0x66, 0x67, 0x64, 0x65, 0xf2, 0xf3, 0x2e, 0x3e}[g.IntN(8)])
	}
	if g.c.isa.long && g.IntN(2) == 0 {
		code = append(code, 0x40|byte(g.IntN(16)))
	}
	if g.IntN(5) == 0 {
		code = append(code, 0x0f)
	}
	for len(code) < 16 {
		code = append(code, byte(g.Uint32()))
	}
	return code
}

// emulationTrials returns the number of random instructions in a run, for each mode.
func emulationTrials() int {
	switch {
	case os.Getenv("GOTAP_LONG") != "":
		return 200000
	case testing.Short():
		return 2400
	}
	return 12000
}

// TestRandomInstructions runs random instructions natively, emulated and out of line.
func TestRandomInstructions(t *testing.T) {
	for _, m := range []*isa{mode64, mode32} {
		t.Run(m.Name(), func(t *testing.T) {
			g := generator{seed(t), newChild(t, m)}
			var n tally
			for n.trials < emulationTrials() && !t.Failed() || n.trials < 300 {
				if n.trials%64 == 0 {
					g.refill()
				}
				if tr, ok := g.steer(g.random()); ok {
					g.check(tr, &n)
				}
			}
			n.report(t)
		})
	}
}

// TestRealInstructions does the same with instructions from real libraries.
func TestRealInstructions(t *testing.T) {
	for _, b := range []struct {
		m    *isa
		file string
	}{
		{mode64, "/lib/x86_64-linux-gnu/libc.so.6"},
		{mode64, "/lib/x86_64-linux-gnu/libm.so.6"},
		{mode64, "/usr/lib/x86_64-linux-gnu/libcrypto.so.3"},
		{mode32, "/lib32/libc.so.6"},
	} {
		text := textOf(b.file)
		if text == nil {
			continue
		}
		t.Run(b.file, func(t *testing.T) {
			g := generator{seed(t), newChild(t, b.m)}
			var n tally
			g.sample(text, emulationTrials()/4, &n)
			n.report(t)
		})
	}
}

// sample tries instructions spread over a text section, every other one a RIP-relative or vector instruction if
// there is one nearby.
func (g *generator) sample(text []byte, trials int, n *tally) {
	skip := 0
	for off := 0; off < len(text)-16 && n.trials < trials && n.trials+n.skipped < 4*trials; {
		in, err := decodeInst(text[off:], g.c.isa.long)
		if err != nil {
			off++
			continue
		}
		interesting := in.ripRel || in.enc != legacy || in.opmap >= map0F38
		if skip--; skip < 0 || interesting && g.IntN(8) == 0 {
			skip = g.IntN(2 * len(text) / trials / 8)
			if tr, ok := g.steer(text[off : off+int(in.length)]); ok {
				if n.trials%16 == 0 {
					g.refill()
				}
				g.check(tr, n)
			}
		}
		off += int(in.length)
	}
}

// textOf reads the code of a file, or nil.
func textOf(file string) []byte {
	f, err := elf.Open(file)
	if err != nil {
		return nil
	}
	defer f.Close()
	b, _ := f.Section(".text").Data()
	return b
}
