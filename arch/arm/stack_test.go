package arm

import (
	"errors"
	"fmt"
	"maps"
	"os"
	command "os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gotap/arch"
	"gotap/engine/testenv"
)

// TestStackPointerOperands compares with the assembler in which operands 32-bit Thumb instructions may name r13, by
// the rules of Armv7. The assembler does not know instructions of Armv8, and accepts shifts of r13 that are written
// as moves. objdump prints some of MRC, hints and literals in a form that the assembler does not accept.
func TestStackPointerOperands(t *testing.T) {
	testenv.Require(t, testenv.GCCARM, testenv.ObjdumpARM)
	g := newGenerator(t)
	var words []uint32
	for _, r := range rowsIn(thumb32()) {
		unknown := slices.ContainsFunc([]string{"CRC32", "STL", "LDA", "MRC", "PLD"}, func(s string) bool { return strings.HasPrefix(r.name, s) })
		for n := 0; r.class <= SystemCall && !unknown && n < 60; n++ {
			w := g.word(r, 32)
			w = r.withStackPointer(w, []int{0, 8, 12, 16}[g.IntN(4)])
			if g.IntN(4) == 0 {
				w = r.withStackPointer(w, 16)
			}
			reason := r.unpredictableReason(w)
			shift := r.name == "MOV (register)" && w&0x70f0 != 0
			literal := strings.HasSuffix(r.name, "(literal)") && field(w, 8, 4) == 14 // LDRT to objdump
			twice := r.unpredictable != nil && strings.Contains(r.unpredictable(w), "two")
			if thumb32().find(w) == r && !shift && !literal && !twice && (reason == "" || strings.Contains(reason, "r13")) {
				words = append(words, w)
			}
		}
	}
	refusals := 0
	for i, refused := range refusedByAssembler(t, words) {
		row := thumb32().find(words[i])
		ours := row.unpredictableReason(words[i])
		if ours != "" {
			refusals++
		}
		if refused != (ours != "") {
			t.Errorf("%08x %s: refused by the assembler: %v, here for %q", words[i], row.name, refused, ours)
		}
	}
	t.Logf("%d words, of which %d are refused", len(words), refusals)
	if refusals < len(words)/2 || refusals > len(words)*9/10 {
		t.Error("too few of one kind")
	}
}

// withStackPointer returns w with r13 in the field whose lowest bit is at a position, if w still matches the row.
func (r *row) withStackPointer(w uint32, at int) uint32 {
	if v := w&^(15<<at) | regSP<<at; v&r.mask == r.value {
		return v
	}
	return w
}

// TestStackPointerForms tests examples, including the forms that the manual names as legal.
func TestStackPointerForms(t *testing.T) {
	refusals := map[string]bool{
		"add.w sp, sp, #24": false, "addw sp, sp, #24": false, "add.w r0, sp, #24": false, "adds.w sp, sp, #24": false, "sub.w sp, sp, r1, lsl #3": false,
		"add.w r0, sp, r1, ror #1": false, "cmp.w sp, r1": false, "cmn.w sp, #1": false, "mov.w sp, r7": false, "mov.w r7, sp": false, "ldr.w sp, [r1, #4]": false,
		"str.w sp, [r1], #4": false, "ldr.w r1, [sp, r2]": false, "strd r0, r1, [sp, #8]": false, "ldm.w sp!, {r1, r2, pc}": false,
		".inst.w 0xf1021d08": true, // add sp, r2, #0x80008
		".inst.w 0xf1a21d08": true, // sub sp, r2, #0x80008
		".inst.w 0xf2001d20": true, // addw sp, r0, #0x120
		".inst.w 0xf2a01d20": true, // subw sp, r0, #0x120
		".inst.w 0xf20f1d20": true, // adr sp, forwards
		".inst.w 0xf2af1d20": true, // adr sp, back
		".inst.w 0xeb020d03": true, // add sp, r2, r3
		".inst.w 0xeb0d1d01": true, // add sp, sp, r1, lsl #4
		".inst.w 0xebad0d71": true, // sub sp, sp, r1, ror #1
		".inst.w 0xeb0d000d": true, // add r0, sp, sp
		".inst.w 0xf3ef8d00": true, // mrs sp, cpsr
		".inst.w 0xf38d8c00": true, // msr cpsr_fs, sp
		".inst.w 0xea4f0d0d": true, // mov.w sp, sp
		".inst.w 0xea5f070d": true, // movs.w r7, sp
		".inst.w 0xf2400d00": true, // movw sp, #0
		".inst.w 0xf36d1e17": true, // bfi lr, sp, #4, #20
		".inst.w 0xf36f0d1e": true, // bfc sp, #0, #31
		".inst.w 0xfa0dfd81": true, // sxtah sp, sp, r1
		".inst.w 0xe8ddf012": true, // tbh [sp, r2]
		".inst.w 0xe9d4d800": true, // ldrd sp, r8, [r4]
		".inst.w 0xf894d000": true, // ldrb sp, [r4]
		".inst.w 0xf817f00d": true, // pld [r7, sp]
		".inst.w 0xee1ddf70": true, // mrc p15, 0, sp, c13, c0, 3
		".inst.w 0xee10da10": true, // vmov sp, s0
		".inst.w 0xeef1da10": true, // vmrs sp, fpscr
		".inst.w 0xec5d0b10": true, // vmov r0, sp, d0
	}
	texts := slices.Sorted(maps.Keys(refusals))
	code, a := assemble(t, ".thumb\n "+strings.Join(texts, "\n ")) // four bytes each
	if len(code) != 4*len(texts) {
		t.Fatalf("%d bytes for %d instructions", len(code), len(texts))
	}
	for i, text := range texts {
		refused := refusals[text]
		_, err := prepare(t, a, code[4*i:][:4])
		if got := errors.Is(err, arch.ErrUnsupported) && strings.Contains(err.Error(), "r13"); got != refused || !refused && err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
	for _, w := range []uint32{0xee10da10, 0xeef1da10, 0xec5d0b10} { // the last three in A32
		if _, err := prepareVector(t, w); err != nil {
			t.Errorf("%08x: %v", w, err)
		}
	}
}

// refusedByAssembler reports of which words the assembler refuses what objdump takes them for, on an Armv7
// processor, because of r13.
func refusedByAssembler(t *testing.T, words []uint32) (refused []bool) {
	t.Helper()
	var source strings.Builder
	source.WriteString(".syntax unified; .arch armv7-a; .arch_extension idiv; .arch_extension mp; .fpu neon-vfpv4; .thumb\n")
	for _, l := range disassembled(t, words, table{thumb: true, bits: 32}) {
		fmt.Fprintf(&source, "%s %s\n", l.mnemonic, l.is)
	}
	path := filepath.Join(t.TempDir(), "code.s")
	if err := os.WriteFile(path, []byte(source.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	out, _ := command.Command("arm-linux-gnueabihf-as", "-o", os.DevNull, path).CombinedOutput() // it fails, with a line for each
	refused = make([]bool, len(words))
	for line := range strings.Lines(string(out)) {
		part := strings.SplitN(line, ":", 4)
		if len(part) < 4 || !strings.Contains(part[2], "Error") {
			continue
		}
		n, err := strconv.Atoi(part[1])
		if err != nil {
			t.Fatal(line)
		}
		refused[n-2] = refused[n-2] || strings.Contains(part[3], "r13 not allowed") || strings.Contains(part[3], "shift")
	}
	return refused
}
