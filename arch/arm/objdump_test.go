package arm

import (
	"bytes"
	"os"
	command "os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"gotap/arch"
	"gotap/engine/testenv"
)

// listed is one line of a disassembler.
type listed struct {
	addr               uint64
	code, mnemonic, is string // is: the operands
}

// list runs objdump and reads its lines.
func list(t *testing.T, args ...string) (all []listed) {
	t.Helper()
	out, err := command.Command(string(testenv.ObjdumpARM), args...).Output()
	if err != nil {
		t.Fatal(err)
	}
	return listedIn(out)
}

// libcListing is what objdump says of libcProgram.
var libcListing = sync.OnceValues(func() ([]byte, error) {
	exe, err := libcBuilt()
	if err != nil {
		return nil, err
	}
	return command.Command(string(testenv.ObjdumpARM), "-d", "-w", exe).Output()
})

// listedIn reads objdump's lines.
func listedIn(out []byte) (all []listed) {
	for line := range bytes.Lines(out) {
		part := strings.Split(strings.TrimSpace(string(line)), "\t") // address, code, mnemonic, operands
		if len(part) < 3 {
			continue
		}
		addr, err := strconv.ParseUint(strings.TrimSuffix(strings.TrimSpace(part[0]), ":"), 16, 64)
		if err != nil {
			continue
		}
		operands, _, _ := strings.Cut(strings.Join(part[3:], " "), "@")
		all = append(all, listed{addr, strings.TrimSpace(part[1]), part[2], strings.TrimSpace(operands)})
	}
	return all
}

// disassembled returns objdump's reading of words, as code of an instruction set at address 0.
func disassembled(t *testing.T, words []uint32, of table) []listed {
	t.Helper()
	var code []byte
	for _, w := range words {
		code = append(code, encode(w, of.thumb, of.bits)...)
	}
	path := filepath.Join(t.TempDir(), "code")
	if err := os.WriteFile(path, code, 0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{"-D", "-z", "-w", "-b", "binary", "-m", "arm", path}
	if of.thumb {
		args = append(args, "-Mforce-thumb")
	}
	lines := list(t, args...)
	if len(lines) != len(words) {
		t.Fatalf("%d lines for %d words: their lengths differ", len(lines), len(words))
	}
	return lines
}

// TestObjdump compares words of every row with objdump: the instruction, its effect on the flow of control, and its
// branch target.
func TestObjdump(t *testing.T) {
	testenv.Require(t, testenv.ObjdumpARM)
	g := newGenerator(t)
	for _, of := range coreTables() {
		set := A32
		if of.thumb {
			set = Thumb
		}
		var words []uint32
		for _, r := range of.rows {
			for n := 0; r.class <= SystemCall && r.name != "IT" && n < 100; n++ { // objdump gives what follows IT its conditions
				w := g.word(r, of.bits)
				if in, err := set.Decode(encode(w, of.thumb, of.bits), 0); err == nil && in.Op.(*inst).row == r && r.unpredictableReason(w) == "" {
					words = append(words, w)
				}
			}
		}
		for i, l := range disassembled(t, words, of) {
			in, err := set.Decode(encode(words[i], of.thumb, of.bits), l.addr)
			l.agrees(t, in, err)
		}
		t.Logf("%s: %d words", of.name, len(words))
	}
}

// TestObjdumpOfLibrary compares the instructions of the C library, including their lengths.
func TestObjdumpOfLibrary(t *testing.T) {
	testenv.Require(t, testenv.GCCARM, testenv.ObjdumpARM)
	n := 0
	listing, err := libcListing()
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range listedIn(listing) {
		code, set := listedCode(t, l.code)
		in, err := set.Decode(append(slices.Clone(code), 0xff, 0xff, 0xff, 0xff), l.addr)
		if strings.HasPrefix(l.mnemonic, ".") || in.Op != nil && (in.Op.(*inst).row.class > SystemCall || in.Op.(*inst).row.vectors) {
			continue
		}
		if int(in.Len) != len(code) {
			t.Errorf("%x: %s has %d bytes, not %d", l.addr, l.mnemonic, len(code), in.Len)
		}
		l.agrees(t, in, err)
		n++
	}
	if n < 100_000 {
		t.Errorf("only %d instructions", n)
	}
}

// agrees compares a decoded instruction with its line.
func (l listed) agrees(t *testing.T, in arch.Insn, err error) {
	t.Helper()
	if err != nil {
		t.Errorf("%s %s %s: %v", l.code, l.mnemonic, l.is, err)
		return
	}
	op := in.Op.(*inst)
	row := op.row
	if l.isHint(row) {
		return
	}
	base, conditional := l.base(row.name)
	if base == "" {
		t.Errorf("%s is %s %s to objdump, here %s", l.code, l.mnemonic, l.is, row.name)
		return
	}
	if op.thumb && row.name == "B" { // the condition is that of an IT block
		conditional = false
	}
	control, target := l.control(base, conditional)
	if in.Control != control || in.Target != target {
		t.Errorf("%s %s %s: control %v to %#x, not %v to %#x", l.code, l.mnemonic, l.is, in.Control, in.Target, control, target)
	}
}

// isHint reports memory hints that objdump shows as loads of r15, or as undefined: they are reserved and have no
// effect (Arm ARM DDI 0487, F3.1.17 and F4.1.24).
func (l listed) isHint(r *row) bool {
	switch name, _, _ := strings.Cut(r.name, " ("); name {
	case "PLD, PLI":
		return strings.HasPrefix(l.mnemonic, "ldrs") && strings.HasPrefix(l.is, "pc, ")
	case "memory hint":
		return l.mnemonic == ""
	}
	return false
}

// alsoCalled lists other names of instructions, for special cases of their operands.
var alsoCalled = map[string]string{
	"adr": "add addw sub subw", "bfi": "bfc", "dsb": "dfb pssbb ssbb", "hint": "nop yield wfe wfi sev sevl esb csdb dbg pacbti pac aut bti tsb clrbhb",
	"ldr": "ldrb pop", "ldrt": "ldrbt", "str": "strb push", "strt": "strbt", "lsl": "mov", "mov": "lsl lsr asr ror rrx nop", "rsb": "neg",
	"pkh": "pkhbt pkhtb", "swp": "swpb", "ldm": "ldmia ldmib ldmda ldmdb pop", "stm": "stmia stmib stmda stmdb push",
	"sxtab": "sxtb", "sxtab16": "sxtb16", "sxtah": "sxth", "uxtab": "uxtb", "uxtab16": "uxtb16", "uxtah": "uxth", "pld": "pldw pli",
	"add": "addw", "sub": "subw", "movw": "mov", "memory hint": "pldw", "it": "itt ite ittt itte itet itee itttt ittte ittet ittee itett itete iteet iteee",
}

// conditions are the suffixes of conditional instructions.
var conditions = strings.Fields("eq ne cs cc mi pl vs vc hi ls ge lt gt le")

// base returns the mnemonic without its suffixes, if the name of a row matches it.
func (l listed) base(name string) (base string, conditional bool) {
	m := strings.TrimSuffix(strings.TrimSuffix(l.mnemonic, ".n"), ".w")
	literal := strings.HasSuffix(name, "(literal)")
	name, _, _ = strings.Cut(strings.ToLower(name), " (")
	for n := range strings.SplitSeq(name, ", ") {
		for _, known := range append(strings.Fields(alsoCalled[n]), n) {
			rest, ok := strings.CutPrefix(m, known)
			if !ok {
				continue
			}
			if literal && rest == "t" { // with r15 as base that means nothing
				rest = ""
			}
			rest = strings.TrimPrefix(rest, "s")
			if rest == "" || slices.Contains(conditions, rest) {
				return known, rest != ""
			}
		}
	}
	return "", false
}

// control returns a line's effect on the flow of control, and the target of a direct branch.
func (l listed) control(base string, conditional bool) (arch.Control, uint64) {
	operand := strings.Split(l.is, ", ")
	last := strings.Fields(operand[len(operand)-1] + " ")
	target := uint64(0)
	if len(last) > 0 {
		target, _ = strconv.ParseUint(strings.TrimPrefix(last[0], "0x"), 16, 64)
	}
	switch base {
	case "b":
		if conditional {
			return arch.CondJump, target
		}
		return arch.Jump, target
	case "cbz", "cbnz":
		return arch.CondJump, target
	case "bl":
		return arch.Call, target
	case "blx":
		if slices.Contains(registers, l.is) {
			return arch.IndirCall, 0
		}
		return arch.Call, target
	case "bx", "bxj":
		return returnTo(uint32(slices.Index(registers, l.is))), 0
	case "tbb", "tbh":
		return arch.IndirJump, 0
	case "svc":
		return arch.Syscall, 0
	case "pop", "ldm", "ldmia", "ldmib", "ldmda", "ldmdb":
		if strings.Contains(l.is, "pc}") {
			return arch.Return, 0
		}
	case "ldr":
		switch {
		case operand[0] == "pc" && (strings.HasPrefix(l.is, "pc, [sp], ") || strings.HasPrefix(l.is, "pc, [sp, #") && strings.HasSuffix(l.is, "]!")):
			return arch.Return, 0
		case operand[0] == "pc":
			return arch.IndirJump, 0
		}
	case "str", "strb", "strt", "strbt", "cmp", "cmn", "tst", "teq", "pld", "pli", "pldw", "stm", "push":
	default:
		switch {
		case operand[0] != "pc":
		case base == "mov" && l.is == "pc, lr":
			return arch.Return, 0
		default:
			return arch.IndirJump, 0
		}
	}
	return arch.Plain, 0
}

// registers are objdump's names of the registers.
var registers = strings.Fields("r0 r1 r2 r3 r4 r5 r6 r7 r8 r9 sl fp ip sp lr pc")
