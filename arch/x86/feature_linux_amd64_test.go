package x86

import (
	"bytes"
	"encoding/binary"
	"strings"
	"sync"
	"syscall"
	"testing"

	"gotap/arch"
)

// feature is something that not all processors have. Tests detect it by executing it, and then expect what the
// processor implements.
type feature string

const (
	// transactions is RTM: xbegin, xend, xtest and xabort.
	transactions feature = "transactions"
	// keepsFloatAddress means that the state of the x87 unit always contains the address of its last instruction,
	// as on Intel's processors. On others it does so while an unmasked exception is pending.
	keepsFloatAddress feature = "the address of the last x87 instruction"
)

// has reports whether the processor has a feature.
func (c *child) has(f feature) bool {
	if known, ok := c.features[f]; ok {
		return known
	}
	found := false
	switch f {
	case transactions:
		regs := c.base
		regs[RIP] = nativeCode
		found = c.run([]byte{0xc7, 0xf8, 0, 0, 0, 0}, regs).sig != syscall.SIGILL // xbegin, whose transaction a breakpoint aborts
	case keepsFloatAddress:
		fld1 := c.native([]byte{0xd9, 0xe8}, c.base, true)
		found = binary.LittleEndian.Uint32(fld1.vectors[imageFIP:]) == nativeCode
	}
	c.features[f] = found
	c.t.Logf("%s: %v", f, found)
	return found
}

// flagOf returns the kernel's name for the extension of an instruction that Exec executes, or "". Older processors
// execute another instruction or raise an exception.
func (in *inst) flagOf() string {
	op, reg := in.opcode, in.regField()
	switch {
	case in.enc == vex2 || in.enc == vex3:
		if in.opmap == map0F38 && (op == 0xf2 || op == 0xf3 || op == 0xf7 && in.rep == 0 && !in.opsize) {
			return "bmi1"
		}
		return "bmi2"
	case in.enc != legacy:
		return ""
	case in.opmap == map0F:
		return in.flagOf0F(op, reg)
	case in.opmap == map0F38 && op == 0xf6:
		return "adx"
	case in.opmap == map0F38 && in.rep == 0xf2:
		return "sse4_2"
	case in.opmap == map0F38:
		return "movbe"
	}
	return ""
}

func (in *inst) flagOf0F(op, reg uint8) string {
	switch {
	case op == 0xb8:
		return "popcnt"
	case op == 0xbc && in.rep == 0xf3:
		return "bmi1"
	case op == 0xbd && in.rep == 0xf3:
		return "abm"
	case op == 0xc7 && in.rex&rexW != 0:
		return "cx16"
	case op == 0xae && in.opsize && reg == 7:
		return "clflushopt"
	case op == 0xae && in.opsize && reg == 6:
		return "clwb"
	}
	return ""
}

// processorFlags are the extensions that the processor has.
var processorFlags = sync.OnceValue(func() map[string]bool {
	has := map[string]bool{}
	_, flags, _ := strings.Cut(string(cpuInfo()), "\nflags")
	flags, _, _ = strings.Cut(flags, "\n")
	for _, f := range strings.Fields(flags) {
		has[f] = true
	}
	return has
})

// lacks reports whether the processor lacks the extension of an instruction.
func lacks(in *inst) bool {
	f := in.flagOf()
	return f != "" && !processorFlags()[f]
}

// ignoreUndefinedOperand makes the address of the last x87 operand equal in two outcomes if the instruction has no
// operand in memory and the processor always records the address: it is undefined then (Intel SDM vol. 1, 8.1.8).
func (c *child) ignoreUndefinedOperand(in *inst, want, got *outcome) {
	const imageFDP = 16
	if (&site{in: in}).LeavesAddress() && !in.memory() && len(got.vectors) > imageFDP+8 && c.has(keepsFloatAddress) {
		copy(got.vectors[imageFDP:imageFDP+8], want.vectors[imageFDP:])
	}
}

// floatTrials returns all x87 instructions, with operands in registers, at rbx, and relative to the program
// counter.
func floatTrials(m *isa, try func(code []byte)) {
	for opcode := byte(0xd8); opcode >= 0xd8 && opcode <= 0xdf; opcode++ {
		for reg := range byte(8) {
			try([]byte{opcode, reg<<3 | 3})
			try([]byte{0x66, opcode, reg<<3 | 3})
			for rm := range byte(8) {
				try([]byte{opcode, 0xc0 | reg<<3 | rm})
			}
			if m.long {
				disp := uint32(window + 0x400 - (nativeCode + 6))
				try(binary.LittleEndian.AppendUint32([]byte{opcode, reg<<3 | 5}, disp))
			}
		}
	}
}

// TestFloatAddress steps all x87 instructions with all exceptions unmasked, and with too few or too many numbers on
// their stack. Nearly all raise an exception, so the state has the address of the last instruction on any
// processor.
func TestFloatAddress(t *testing.T) {
	for _, m := range []*isa{mode64, mode32} {
		t.Run(m.Name(), func(t *testing.T) {
			c := newChild(t, m)
			c.has(keepsFloatAddress)
			for i := range c.pattern {
				c.pattern[i] = byte(i * 37)
			}
			tried, left := 0, 0
			for _, inUse := range []byte{0, 0xff} {
				binary.LittleEndian.PutUint16(c.xstate, 0x340) // the control word: nothing is masked
				c.xstate[4] = inUse
				floatTrials(m, func(code []byte) {
					tried++
					if floatTrial(t, c, code) {
						left++
					}
				})
			}
			t.Logf("%d of %d leave their address", left, tried)
			if left < tried/3 {
				t.Errorf("only %d of %d leave their address", left, tried)
			}
		})
	}
}

// floatTrial compares native and displaced steps of one instruction. It reports whether the native step recorded
// its address.
func floatTrial(t *testing.T, c *child, code []byte) (left bool) {
	t.Helper()
	insn, err := c.isa.Decode(code, nativeCode)
	if err != nil {
		return false
	}
	s, err := c.isa.Prepare(insn)
	if err != nil {
		t.Fatal(err)
	}
	st := s.(*site)
	regs := c.base
	regs[RBX], regs[RSP], regs[EFLAGS] = window+0x400, stackTop, 0x202
	want := c.native(code, regs, true)
	left = binary.LittleEndian.Uint32(want.vectors[imageFIP:]) == nativeCode
	if left && !st.LeavesAddress() {
		t.Errorf("% x leaves its address", code)
	}
	for _, slot := range []uint64{nearSlot, c.farSlot()} {
		got, err := c.displaced(s, slot, regs, true)
		if err != nil {
			t.Errorf("% x at %#x: %v", code, slot, err)
		}
		c.ignoreUndefinedOperand(st.in, &want, &got)
		if d := differ(&want, &got, 0); d != "" {
			t.Errorf("% x at %#x:%s", code, slot, d)
		}
	}
	return left
}

// TestTransactions runs the instructions of transactions outside a transaction. On processors with transactions,
// xbegin is not stepped but run: the breakpoint behind it aborts the transaction, and the thread continues at the
// abort handler. Only the status, which names the breakpoint, differs from an emulation, and from a step, as it is made
// where the processor does not report that it has transactions.
func TestTransactions(t *testing.T) {
	for _, m := range []*isa{mode64, mode32} {
		t.Run(m.Name(), func(t *testing.T) {
			c := newChild(t, m)
			for _, code := range []string{"0f 01 d5", "0f 01 d6", "c6 f8 12"} { // xend, xtest, xabort
				special(t, c, code, nil)
			}
			for _, code := range []string{"\xc7\xf8\x00\x00\x00\x00", "\xc7\xf8\x08\x00\x00\x00", "\x66\xc7\xf8\x08\x00"} {
				regs := c.base
				regs[RIP], regs[RSP], regs[RAX], regs[EFLAGS] = nativeCode, stackTop, m.wrap(^uint64(0)), 0x202
				want := c.run(append([]byte(code), bytes.Repeat([]byte{0xcc}, 16)...), regs)
				c.beginStepped(m, code, regs, want)
				if !c.has(transactions) {
					continue
				}
				insn, err := m.Decode([]byte(code), nativeCode)
				c.must(err)
				s, err := WithTransactions(m).Prepare(insn)
				c.must(err)
				got, err := c.emulated(s, regs)
				if err != nil || want.regs[RAX]>>32 != 0 {
					t.Errorf("% x: %v, natively with status %#x", code, err, want.regs[RAX])
				}
				want.regs[RAX] = 0
				if d := differ(&want, &got, 0); d != "" {
					t.Errorf("% x:%s", code, d)
				}
			}
		})
	}
}

// beginStepped steps xbegin in a slot. want is the outcome of the original instruction, except for the status, where
// the processor executes it.
func (c *child) beginStepped(m *isa, code string, regs arch.Regs, want outcome) {
	insn, err := m.Decode([]byte(code), nativeCode)
	c.must(err)
	s, err := m.Prepare(insn)
	c.must(err)
	if !c.has(transactions) {
		want = c.native([]byte(code), regs, false)
	}
	got, err := c.displaced(s, nearSlot, regs, false)
	if c.has(transactions) {
		want.regs[RAX], got.regs[RAX] = 0, got.regs[RAX]>>32
	}
	if d := differ(&want, &got, 0); d != "" || err != nil {
		c.t.Errorf("% x stepped: %v%s", code, err, d)
	}
}
