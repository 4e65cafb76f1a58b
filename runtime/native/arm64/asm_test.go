package arm64

import (
	"encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"gotap/engine/testenv"
)

// TestEncodings compares the code of each form with that of the GNU assembler.
func TestEncodings(t *testing.T) {
	testenv.Require(t, testenv.GCCARM64)
	a := vectorAsm{orderedAsm{asm{addr: 0x10000}}}
	var text []string
	say := func(lines ...string) { text = append(text, lines...) }
	l := a.newLabel()
	a.place(l)
	say("start:")
	for name, jump := range map[string]func(){"b start": func() { a.b(l) }, "b.ne start": func() { a.bIf(condNE, l) }, "cbz x3, start": func() { a.cbz(3, l) },
		"cbnz x4, start": func() { a.cbnz(4, l) }, "cbnz w5, start": func() { a.cbnz32(5, l) }, "tbnz x6, #63, start": func() { a.bNegative(6, l) }} {
		jump()
		say(name)
	}
	for name, op := range map[string]uint32{"add": opAdd, "sub": opSub, "and": opAnd, "orr": opOr, "eor": opXor, "lsl": opShl, "lsr": opShr, "asr": opSar, "ror": opRor} {
		a.three(op, 1, 2, 3)
		say(name + " x1, x2, x3")
	}
	for _, f := range []struct {
		text string
		emit func()
	}{
		{"neg x1, x30", func() { a.neg(1, 30) }}, {"mvn x2, x15", func() { a.not(2, 15) }}, {"mov x9, x17", func() { a.mov(9, 17) }},
		{"mul x1, x2, x3", func() { a.mul(1, 2, 3) }}, {"udiv x1, x2, x3", func() { a.udiv(1, 2, 3) }}, {"sdiv x1, x2, x3", func() { a.sdiv(1, 2, 3) }},
		{"add x1, x2, x3, lsl #5", func() { a.addShifted(1, 2, 3, 5) }}, {"msub x1, x2, x3, x4", func() { a.msub(1, 2, 3, 4) }},
		{"cmp x1, x2", func() { a.cmp(1, 2) }}, {"cmp x7, #0", func() { a.cmpZero(7) }}, {"cmp x7, #4095", func() { a.cmpImm(7, 4095) }}, {"madd x1, x2, x3, x4", func() { a.madd(1, 2, 3, 4) }},
		{"ubfx x1, x2, #16, #32", func() { a.field(1, 2, 16, 32) }}, {"ldaxp x1, x2, [x3]", func() { a.ldaxp(1, 2, 3) }}, {"stlxp w4, x1, x2, [x3]", func() { a.stlxp(4, 1, 2, 3) }}, {"csel x1, x2, x3, le", func() { a.csel(1, 2, 3, condLE) }},
		{"csneg x1, x2, x3, ge", func() { a.csneg(1, 2, 3, condGE) }}, {"cset x1, ls", func() { a.cset(1, condLS) }}, {"cset x1, lo", func() { a.cset(1, condLO) }},
		{"add x1, sp, #4095", func() { a.addImm(1, sp, 4095) }}, {"sub sp, sp, #16", func() { a.subImm(sp, sp, 16) }}, {"clz x1, x2", func() { a.clz(1, 2) }},
		{"lsr x1, x2, #63", func() { a.shr(1, 2, 63) }}, {"lsl x1, x2, #1", func() { a.shl(1, 2, 1) }}, {"ubfx x1, x2, #0, #30", func() { a.low(1, 2, 30, false) }},
		{"sbfx x1, x2, #0, #1", func() { a.low(1, 2, 1, true) }}, {"mov x1, #0", func() { a.movImm(1, 0) }}, {"mov x1, #-1", func() { a.movImm(1, ^uint64(0)) }},
		{"movz x1, #0x1234, lsl #16\nmovk x1, #0x5678, lsl #48", func() { a.movImm(1, 0x5678_0000_1234_0000) }},
		{"movn x1, #0xfffe\nmovk x1, #0x8000, lsl #32", func() { a.movImm(1, 0xffff_8000_ffff_0001) }},
		{"ldr x1, [x2, #32760]", func() { a.ldr(1, 2, 32760) }}, {"str x1, [sp, #8]", func() { a.str(1, sp, 8) }}, {"ldr w1, [x2, #4]", func() { a.ldr32(1, 2, 4) }},
		{"str w1, [x2, #4]", func() { a.str32(1, 2, 4) }}, {"str xzr, [x2, #8]", func() { a.str(xzr, 2, 8) }}, {"ldar x1, [x2]", func() { a.ldar(1, 2) }}, {"stlr x1, [x2]", func() { a.stlr(1, 2) }}, {"ldaxr x1, [x2]", func() { a.ldaxr(1, 2) }},
		{"stlxr w3, x1, [x2]", func() { a.stlxr(3, 1, 2) }}, {"clrex", a.clrex}, {"ldaddal x1, x3, [x2]", func() { a.ldaddal(1, 3, 2) }},
		{"stp x16, x17, [sp, #-16]!", func() { a.pushPair(16, 17) }}, {"ldp x16, x17, [sp], #16", func() { a.popPair(16, 17) }},
		{"umulh x1, x2, x3", func() { a.umulh(1, 2, 3) }}, {"extr x1, x2, x3, #32", func() { a.extr(1, 2, 3, 32) }}, {"dmb ish", func() { a.word(dmb) }}, {"isb", func() { a.word(isb) }},
		{"mrs x1, tpidr_el0", func() { a.word(mrsThread | 1) }}, {"mrs x2, cntvct_el0", func() { a.word(mrsCounter | 2) }}, {"mrs x1, nzcv", func() { a.mrsFlags(1) }}, {"msr nzcv, x1", func() { a.msrFlags(1) }},
		{"adrp x1, start+0x12345000", func() { a.adrp(1, 0x12355678) }}, {"adrp x1, start-0x3000", func() { a.adrp(1, 0xd123) }},
		{"fadd d1, d2, d3", func() { a.three(opFadd, 1, 2, 3) }}, {"fsub d1, d2, d3", func() { a.three(opFsub, 1, 2, 3) }}, {"fmul d1, d2, d3", func() { a.three(opFmul, 1, 2, 3) }},
		{"fdiv d1, d2, d31", func() { a.three(opFdiv, 1, 2, 31) }}, {"fmov d1, x2", func() { a.toFloat(1, 2) }}, {"fmov d1, xzr", func() { a.toFloat(1, xzr) }}, {"fmov x1, d2", func() { a.fromFloat(1, 2) }},
		{"scvtf d1, x2", func() { a.floatOf(1, 2) }}, {"ucvtf d1, x2", func() { a.floatOfUnsigned(1, 2) }}, {"fcvtzs x1, d2", func() { a.truncate(1, 2) }}, {"fcvtms x1, d2", func() { a.floor(1, 2) }},
		{"fmov s1, w2\nfcvt d1, s1", func() { a.widen(1, 2) }}, {"fcvt s2, d2\nfmov w1, s2", func() { a.narrow(1, 2) }}, {"eor x1, x2, #0x8000000000000000", func() { a.flipSign(1, 2) }},
		{"fcmp d1, d2", func() { a.fcmp(1, 2) }}, {"fcmp d1, #0.0", func() { a.fcmpZero(1) }}, {"b.mi start", func() { a.bIf(condMI, l) }}, {"b.vs start", func() { a.bIf(condVS, l) }}, {"b.vc start", func() { a.bIf(condVC, l) }},
		{"str q1, [sp, #4080]", func() { a.quad(1, sp, 4080, true) }}, {"ldr q1, [x2, #16]", func() { a.quad(1, 2, 16, false) }},
		{"str z1, [x2]", func() { a.scalable(1, 2, 0, true) }}, {"ldr z31, [x16, #1, mul vl]", func() { a.scalable(31, 16, 1, false) }},
		{"adr x1, start", func() { a.adr(1, l) }}, {"rbit x1, x2\nclz x1, x1", func() { a.lowestBit(1, 2) }}, {"bic x1, x2, x3", func() { a.three(opBic, 1, 2, 3) }},
		{"ldrb w1, [x2, #5]", func() { a.ldrb(1, 2, 5) }}, {"strb w1, [x2, #4095]", func() { a.strb(1, 2, 4095) }}, {"dmb ishld", func() { a.word(dmbLoad) }},
		{".word 0x00636261", func() { a.bytes([]byte("abc")) }},
		{"mrs x1, fpcr", func() { a.word(mrsFPCR | 1) }}, {"msr fpcr, xzr", func() { a.word(msrFPCR | uint32(xzr)) }}, {"mrs x1, fpsr", func() { a.word(mrsFPSR | 1) }}, {"msr fpsr, x1", func() { a.word(msrFPSR | 1) }},
	} {
		f.emit()
		say(f.text)
	}
	code, err := a.finish()
	if err != nil {
		t.Fatal(err)
	}
	want := assembled(t, strings.Join(text, "\n")+"\n")
	for i := 0; i+4 <= min(len(code), len(want)); i += 4 {
		if got, want := binary.LittleEndian.Uint32(code[i:]), binary.LittleEndian.Uint32(want[i:]); got != want {
			t.Errorf("word %d is %#x, not %#x", i/4, got, want)
		}
	}
	if len(code) != len(want) {
		t.Errorf("%d bytes, not %d", len(code), len(want))
	}
}

// assembled returns what the GNU assembler makes of text, for address 0x10000.
func assembled(t *testing.T, text string) []byte {
	t.Helper()
	dir := t.TempDir()
	source, file, binary := filepath.Join(dir, "a.s"), filepath.Join(dir, "a"), filepath.Join(dir, "a.bin")
	if err := os.WriteFile(source, []byte(".arch armv8.2-a+sve\n.global _start\n_start:\n"+text), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range [][]string{{string(testenv.GCCARM64), "-nostdlib", "-static", "-Wl,-Ttext=0x10000", "-o", file, source},
		{"aarch64-linux-gnu-objcopy", "-O", "binary", "-j", ".text", file, binary}} {
		if out, err := exec.Command(c[0], c[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", c, err, out)
		}
	}
	code, err := os.ReadFile(binary)
	if err != nil {
		t.Fatal(err)
	}
	return code
}
