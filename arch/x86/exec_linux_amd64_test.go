package x86

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"sync"
	"syscall"
	"testing"
	"unsafe"

	"gotap/arch"
)

// execRow is an opcode for which Exec has a routine, with its possible prefixes and operands.
type execRow struct {
	code     string // mandatory prefix and opcode
	group    int    // the reg field, or -1 for any
	modRM    bool
	modes    string // "64", "32" or both
	prefixes string // one of which may precede it
	loose    uint64 // flags that the architecture leaves undefined
}

const (
	anyMode   = "64 32"
	sized     = "\x66\x67"
	repeating = "\x66\x67\xf2\xf3\xf2\xf3\x64"
	undefined = flagSF | flagZF | flagAF | flagPF
)

// execRows are the instructions that Exec executes but that probes do not emulate.
var execRows = []execRow{
	{"f6", 4, true, anyMode, sized, undefined}, {"f7", 4, true, anyMode, sized, undefined},
	{"f6", 5, true, anyMode, sized, undefined}, {"f7", 5, true, anyMode, sized, undefined},
	{"f6", 6, true, anyMode, sized, flagsStatus}, {"f7", 6, true, anyMode, sized, flagsStatus},
	{"f6", 7, true, anyMode, sized, flagsStatus}, {"f7", 7, true, anyMode, sized, flagsStatus},
	{"0faf", -1, true, anyMode, sized, undefined}, {"69", -1, true, anyMode, sized, undefined}, {"6b", -1, true, anyMode, sized, undefined},
	{"c0", -1, true, anyMode, sized, flagAF | flagOF}, {"c1", -1, true, anyMode, sized, flagAF | flagOF},
	{"d0", -1, true, anyMode, sized, flagAF}, {"d1", -1, true, anyMode, sized, flagAF},
	{"d2", -1, true, anyMode, sized, flagAF | flagOF}, {"d3", -1, true, anyMode, sized, flagAF | flagOF},
	{"0fa4", -1, true, anyMode, sized, flagAF | flagOF}, {"0fa5", -1, true, anyMode, sized, flagAF | flagOF},
	{"0fac", -1, true, anyMode, sized, flagAF | flagOF}, {"0fad", -1, true, anyMode, sized, flagAF | flagOF},
	{"0fa3", -1, true, anyMode, sized, undefined&^flagZF | flagOF}, {"0fab", -1, true, anyMode, sized + "\xf0", undefined&^flagZF | flagOF},
	{"0fb3", -1, true, anyMode, sized + "\xf0", undefined&^flagZF | flagOF}, {"0fbb", -1, true, anyMode, sized + "\xf0", undefined&^flagZF | flagOF},
	{"0fba", 4, true, anyMode, sized, undefined&^flagZF | flagOF}, {"0fba", 5, true, anyMode, sized + "\xf0", undefined&^flagZF | flagOF},
	{"0fba", 6, true, anyMode, sized, undefined&^flagZF | flagOF}, {"0fba", 7, true, anyMode, sized, undefined&^flagZF | flagOF},
	{"0fbc", -1, true, anyMode, sized, flagsStatus &^ flagZF}, {"0fbd", -1, true, anyMode, sized, flagsStatus &^ flagZF},
	{"f30fbc", -1, true, anyMode, sized, flagsStatus &^ (flagZF | flagCF)}, {"f30fbd", -1, true, anyMode, sized, flagsStatus &^ (flagZF | flagCF)},
	{"f30fb8", -1, true, anyMode, sized, 0},
	{"0fb0", -1, true, anyMode, sized + "\xf0", 0}, {"0fb1", -1, true, anyMode, sized + "\xf0\xf0", 0},
	{"0fc0", -1, true, anyMode, sized + "\xf0", 0}, {"0fc1", -1, true, anyMode, sized + "\xf0\xf0", 0},
	{"0fc7", 1, true, anyMode, sized + "\xf0", 0}, {"86", -1, true, anyMode, sized + "\xf0", 0}, {"87", -1, true, anyMode, sized + "\xf0", 0},
	{"0fc3", -1, true, anyMode, "\x67", 0}, {"0f38f0", -1, true, anyMode, sized, 0}, {"0f38f1", -1, true, anyMode, sized, 0},
	{"f20f38f0", -1, true, anyMode, sized, 0}, {"f20f38f1", -1, true, anyMode, sized, 0},
	{"660f38f6", -1, true, anyMode, "\x67", 0}, {"f30f38f6", -1, true, anyMode, "\x67", 0},
	{"a4", -1, false, anyMode, repeating, 0}, {"a5", -1, false, anyMode, repeating, 0}, {"a6", -1, false, anyMode, repeating, 0},
	{"a7", -1, false, anyMode, repeating, 0}, {"aa", -1, false, anyMode, repeating, 0}, {"ab", -1, false, anyMode, repeating, 0},
	{"ac", -1, false, anyMode, repeating, 0}, {"ad", -1, false, anyMode, repeating, 0}, {"ae", -1, false, anyMode, repeating, 0},
	{"af", -1, false, anyMode, repeating, 0},
	{"8f", 0, true, anyMode, sized, 0}, {"c8", -1, false, anyMode, "\x66", 0}, {"d7", -1, false, anyMode, "\x67\x64", 0},
	{"0fae", 7, true, anyMode, "\x67\x66", 0}, {"0faee8", -1, false, anyMode, "", 0}, {"0faef0", -1, false, anyMode, "", 0},
	{"0f18", -1, true, anyMode, "", 0}, {"0f19", -1, true, anyMode, "", 0}, {"f30f1e", 1, true, anyMode, "", 0},
	// add, dec, not and others with a lock prefix, and instructions that have forms
	{"01", -1, true, anyMode, "\xf0", 0}, {"83", -1, true, anyMode, "\xf0", 0}, {"ff", 1, true, anyMode, "\xf0", 0}, {"f7", 2, true, anyMode, "\xf0", 0},
	{"f6", 3, true, anyMode, "\xf0", 0}, {"10", -1, true, anyMode, "\xf0", 0}, {"8b", -1, true, anyMode, sized, 0}, {"0f4a", -1, true, anyMode, sized, 0},
	{"27", -1, false, "32", "", flagOF}, {"2f", -1, false, "32", "", flagOF}, {"37", -1, false, "32", "", flagsStatus &^ (flagCF | flagAF)},
	{"3f", -1, false, "32", "", flagsStatus &^ (flagCF | flagAF)}, {"d4", -1, false, "32", "", flagOF | flagAF | flagCF},
	{"d5", -1, false, "32", "", flagOF | flagAF | flagCF}, {"d6", -1, false, "32", "", 0}, {"60", -1, false, "32", "\x66", 0},
	{"61", -1, false, "32", "\x66", 0}, {"62", -1, true, "32", sized, 0}, {"63", -1, true, "32", sized, 0}, {"ce", -1, false, "32", "", 0},
}

// vexRows are those with a VEX prefix: map, pp, opcode and reg field.
var vexRows = []struct {
	opmap, pp, opcode byte
	group             int
	loose             uint64
}{
	{2, 0, 0xf2, -1, flagAF | flagPF}, {2, 0, 0xf3, 1, flagAF | flagPF}, {2, 0, 0xf3, 2, flagAF | flagPF}, {2, 0, 0xf3, 3, flagAF | flagPF},
	{2, 0, 0xf5, -1, flagAF | flagPF}, {2, 2, 0xf5, -1, 0}, {2, 3, 0xf5, -1, 0}, {2, 3, 0xf6, -1, 0},
	{2, 0, 0xf7, -1, flagAF | flagPF | flagSF}, {2, 1, 0xf7, -1, 0}, {2, 2, 0xf7, -1, 0}, {2, 3, 0xf7, -1, 0}, {3, 3, 0xf0, -1, 0},
}

// execGenerator makes trials of rows.
type execGenerator struct{ generator }

// TestExec compares Exec with the processor, row by row, in random states.
func TestExec(t *testing.T) {
	for _, m := range []*isa{mode64, mode32} {
		t.Run(m.Name(), func(t *testing.T) {
			g := execGenerator{generator{seed(t), newChild(t, m)}}
			rounds := emulationTrials() / 100
			for _, row := range execRows {
				if row.modes == anyMode || !m.long {
					g.execRow(row.code, rounds, row.loose, func() []byte { return g.encodeRow(&row) })
				}
			}
			for _, row := range vexRows {
				name := hex.EncodeToString([]byte{'v', row.opmap, row.pp, row.opcode})
				g.execRow(name, rounds, row.loose, func() []byte { return g.encodeVEX(row.opmap, row.pp, row.opcode, row.group) })
			}
		})
	}
}

// execRow runs one row. Exec has to execute nearly everything that the processor executes.
func (g *execGenerator) execRow(name string, rounds int, loose uint64, encode func() []byte) {
	ran, refused, shown, lacking := 0, 0, 0, 0
	if amdProcessor() {
		loose = 0
	}
	for i := 0; i < rounds && shown < 5; i++ {
		if i%64 == 0 {
			g.refill()
		}
		tr, ok := g.steer(encode())
		if !ok {
			continue
		}
		if lacks(tr.in) {
			lacking++
			continue
		}
		g.steerExec(&tr)
		want := g.c.native(tr.code, tr.regs, false)
		if want.sig == 0 && tr.strays() {
			continue
		}
		got, err := g.c.executed(tr)
		if want.sig == 0 {
			ran++
			if errors.Is(err, arch.ErrUnsupported) {
				refused++
			}
		}
		if d := execDiffers(tr.in, &want, &got, err, loose); d != "" {
			shown++
			g.c.t.Errorf("% x %s, rax %#x rcx %#x rdx %#x flags %#x:%s", tr.code, g.text(tr), tr.regs[RAX], tr.regs[RCX], tr.regs[RDX], tr.regs[EFLAGS], d)
		}
	}
	if lacking > 0 {
		g.c.t.Logf("%s: the processor lacks %d of %d", name, lacking, rounds)
	}
	if ran < (rounds-lacking)/8 || refused > ran/4 {
		g.c.t.Errorf("%s: %d of %d ran, of which %d were refused", name, ran, rounds, refused)
	}
}

// execDiffers describes a difference, or returns "". A fault must be that of the first access that the processor
// could not make. No manual says which operand of cmps is the first, and processors differ, also by the size of
// operand and address.
func execDiffers(in *inst, want, got *outcome, err error, loose uint64) string {
	anyOrder := in.is(mapLegacy, 0xa6) || in.is(mapLegacy, 0xa7)
	fault := (*arch.FaultError)(nil)
	switch {
	case errors.As(err, &fault):
		if want.sig == 0 {
			return " " + err.Error()
		}
		if want.code == segvMapped && want.addr != fault.Addr && !anyOrder {
			return " " + err.Error() + ", natively at " + hex.EncodeToString(binary.BigEndian.AppendUint64(nil, want.addr))
		}
		return ""
	case errors.Is(err, arch.ErrUnsupported):
		return ""
	case err != nil:
		return err.Error()
	}
	return differ(want, got, loose|scanFlags(in))
}

// scanFlags returns the flags of bsf and bsr that a comparison ignores: they are undefined, and models of one vendor
// differ.
func scanFlags(in *inst) uint64 {
	if in.rep == 0 && (in.is(map0F, 0xbc) || in.is(map0F, 0xbd)) {
		return flagsStatus &^ flagZF
	}
	return 0
}

// amdProcessor reports a processor of AMD, whose undefined flags Exec imitates.
var amdProcessor = sync.OnceValue(func() bool { return bytes.Contains(cpuInfo(), []byte("AuthenticAMD")) })

// steerExec chooses divisions that fit, bit numbers close to the operand, and operands at the edge of memory.
func (g *execGenerator) steerExec(tr *trial) {
	in, r := tr.in, &tr.regs
	if g.IntN(16) == 0 {
		r[EFLAGS] |= flagAC
	}
	switch {
	case in.opmap == mapLegacy && in.opcode>>1 == 0xf6>>1 && in.regField() >= 6:
		switch g.IntN(3) {
		case 0:
			r[RDX] = uint64(g.IntN(4)) - 2
		case 1:
			r[RDX] = uint64(int64(signExtend(r[RAX], in.operandSize())) >> 63)
		}
		if in.opcode == 0xf6 && g.IntN(2) == 0 {
			r[RAX] = uint64(g.IntN(0x800)) - 0x400
		}
	case in.opmap == map0F && (in.opcode&0xe7 == 0xa3) && in.memory():
		r[gpr[in.reg()]] = uint64(g.IntN(0x800)) - 0x400
	case in.opmap == mapLegacy && in.opcode == 0xc8:
		r[RBP] = stackTop - uint64(g.IntN(64))*8
		if g.IntN(4) != 0 {
			tr.code[in.immOff+1] &= 7
			tr.in.code[in.immOff+1] &= 7
		}
	case in.is(mapLegacy, 0x62):
		g.wideBounds(tr)
	case in.opmap == mapLegacy && in.opcode == 0xd7:
		r[RBX] = g.pointer()
	case in.is(map0F, 0xc7) && g.IntN(2) == 0, in.opmap == map0F && in.opcode>>1 == 0xb0>>1 && g.IntN(2) == 0:
		g.equalOperand(tr)
	}
	if g.IntN(12) == 0 && in.memory() && !in.ripRel {
		if a := in.address(nativeCode); a.base != none && a.base != RSP {
			r[a.base] += window + windowLen - uint64(g.IntN(10)) - a.effective(r)
		}
	}
	if g.IntN(12) == 0 {
		i := []uint8{RSI, RDI, RSP}[g.IntN(3)]
		r[i] = window + uint64(g.IntN(2))*windowLen + uint64(g.IntN(24)) - 12
	}
	if !g.c.isa.long {
		for _, i := range gpr {
			r[i] &= 0xffffffff
		}
	}
}

// wideBounds makes most numbers lie within the bounds that bound reads.
func (g *execGenerator) wideBounds(tr *trial) {
	a := tr.in.address(nativeCode)
	off := a.effective(&tr.regs) - window
	if off > windowLen-8 {
		return
	}
	low := int64(-1) << (8*tr.in.operandSize() - 2)
	copy(g.c.pattern[off:], binary.LittleEndian.AppendUint32(nil, uint32(low))[:tr.in.operandSize()])
	copy(g.c.pattern[off+uint64(tr.in.operandSize()):], binary.LittleEndian.AppendUint32(nil, uint32(-low))[:tr.in.operandSize()])
}

// equalOperand makes the comparison of a cmpxchg succeed.
func (g *execGenerator) equalOperand(tr *trial) {
	r, v := &tr.regs, uint64(0)
	if !tr.in.memory() {
		r[RAX] = r[gpr[tr.in.rm()]]
		return
	}
	a := tr.in.address(nativeCode)
	off := a.effective(r) - window
	if off > windowLen-16 {
		return
	}
	v = binary.LittleEndian.Uint64(g.c.pattern[off:])
	r[RAX], r[RDX] = v, v>>32
	if tr.in.rex&rexW != 0 {
		r[RDX] = binary.LittleEndian.Uint64(g.c.pattern[off+8:])
	}
}

// encodeRow returns one encoding of a row.
func (g *execGenerator) encodeRow(row *execRow) []byte {
	opcode, _ := hex.DecodeString(row.code)
	var code []byte
	if n := len(row.prefixes); n > 0 && g.IntN(3) == 0 {
		code = append(code, row.prefixes[g.IntN(n)])
	}
	if c := opcode[0]; c == 0x66 || c >= 0xf2 && c < 0xf4 {
		code, opcode = append(code, c), opcode[1:]
	}
	if g.c.isa.long && g.IntN(2) == 0 {
		code = append(code, 0x40|byte(g.IntN(16)))
	}
	code = append(code, opcode...)
	if row.modRM {
		code = append(code, g.modRM(row.group))
	}
	return g.padded(code)
}

func (g *execGenerator) modRM(group int) byte {
	b := byte(g.Uint32())
	if group >= 0 {
		b = b&0xc7 | byte(group)<<3
	}
	return b
}

// padded appends enough bytes for any operands.
func (g *execGenerator) padded(code []byte) []byte {
	for len(code) < 20 {
		code = append(code, byte(g.Uint32()))
	}
	return code
}

func (g *execGenerator) encodeVEX(opmap, pp, opcode byte, group int) []byte {
	b0, b1 := byte(0xe0)|opmap, byte(g.IntN(2))<<7|byte(g.IntN(16))<<3|pp
	if g.c.isa.long {
		b0 = byte(g.IntN(8))<<5 | opmap
	}
	if opmap == 3 {
		b1 |= 0x78
	}
	return g.padded([]byte{0xc4, b0, b1, opcode, g.modRM(group)})
}

// bytewise is an image that reports which byte is missing.
type bytewise struct{ image }

func (m *bytewise) missing(addr uint64, n int) (uint64, bool) {
	for i := range uint64(n) {
		if m.at(addr+i, 1) == nil {
			return addr + i, true
		}
	}
	return 0, false
}

func (m *bytewise) ReadMemory(addr uint64, p []byte) error {
	if at, missing := m.missing(addr, len(p)); missing {
		return &arch.FaultError{Addr: at}
	}
	return m.image.ReadMemory(addr, p)
}

func (m *bytewise) WriteMemory(addr uint64, p []byte) error {
	if at, missing := m.missing(addr, len(p)); missing {
		return &arch.FaultError{Addr: at, Write: true}
	}
	return m.image.WriteMemory(addr, p)
}

// executed runs a trial through Exec.
func (c *child) executed(tr trial) (outcome, error) {
	insn, err := c.isa.Decode(tr.code, nativeCode)
	if err != nil {
		return outcome{}, err
	}
	m := &bytewise{image{window: bytes.Clone(c.pattern), code: append(bytes.Clone(tr.code), bytes.Repeat([]byte{0x90}, 20)...)}}
	regs := tr.regs
	regs[RIP], regs[OrigRAX] = nativeCode, 0
	err = Exec(insn, &regs, m)
	return outcome{regs: regs, window: m.window}, err
}

// segvMapped is the code of a signal for an unmapped address.
const segvMapped = 1

// fault returns the address of a fault.
func (c *child) fault() (code int32, addr uint64) {
	var info [128]byte
	c.ptrace(0x4202, 0, unsafe.Pointer(&info)) // PTRACE_GETSIGINFO
	if syscall.Signal(binary.LittleEndian.Uint32(info[:])) != syscall.SIGSEGV {
		return 0, 0
	}
	return int32(binary.LittleEndian.Uint32(info[8:])), binary.LittleEndian.Uint64(info[16:])
}
