package x86

import (
	"encoding/binary"
	"encoding/hex"
	"strings"
	"syscall"
	"testing"

	"gotap/arch"
)

// special runs one instruction natively and at both slots, from registers that set prepares.
func special(t *testing.T, c *child, code string, set func(r *arch.Regs)) {
	t.Helper()
	b, err := hex.DecodeString(strings.ReplaceAll(code, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	insn, err := c.isa.Decode(b, nativeCode)
	if err != nil {
		t.Fatal(err)
	}
	s, err := c.isa.Prepare(insn)
	if err != nil {
		t.Fatalf("%s: %v", code, err)
	}
	regs := c.base
	regs[RSP], regs[RBX], regs[RDI], regs[EFLAGS] = stackTop, window+0x400, window+0x600, 0x202
	if set != nil {
		set(&regs)
	}
	want := c.native(b, regs, false)
	want = oneStep(want, s)
	c.clearFlags()
	for _, slot := range []uint64{nearSlot, c.farSlot()} {
		got, err := c.displaced(s, slot, regs, false)
		c.clearFlags()
		if err != nil {
			t.Errorf("%s at %#x: %v", code, slot, err)
		} else if d := differ(&want, &got, 0); d != "" {
			t.Errorf("%s at %#x:%s", code, slot, d)
		}
	}
	inPlace(t, c, s, regs, want)
}

// inPlace steps the instruction in place, with its repair.
func inPlace(t *testing.T, c *child, s arch.Site, regs arch.Regs, want outcome) {
	t.Helper()
	in := s.Insn()
	regs[RIP] = nativeCode
	st := s.BeforeStep(&regs, nativeCode)
	got := c.step(in.Bytes[:in.Len], nativeCode, regs, false)
	_, err := s.AfterStep(&got.regs, c, nativeCode, st)
	c.finish(&got, false)
	got = oneStep(got, s)
	c.clearFlags()
	if err != nil {
		t.Errorf("% x in place: %v", in.Bytes[:in.Len], err)
	} else if d := differ(&want, &got, 0); d != "" {
		t.Errorf("% x in place:%s", in.Bytes[:in.Len], d)
	}
}

// oneStep undoes the nop behind the instruction if a native step included it, because the trap came late. It also
// removes the step's own trap flag from r11 after syscall.
func oneStep(o outcome, s arch.Site) outcome {
	in := s.Insn()
	if o.sig == 0 && o.regs[RIP] == nativeCode+uint64(in.Len)+1 {
		o.regs[RIP]--
	}
	if s.(*site).repair == repairSyscall {
		o.regs[R11] &^= flagTF
	}
	return o
}

// push writes words to the child's stack pattern, at stackTop.
func (c *child) push(words ...uint64) {
	for i, w := range words {
		if c.isa.long {
			binary.LittleEndian.PutUint64(c.pattern[stackTop-window+8*i:], w)
		} else {
			binary.LittleEndian.PutUint32(c.pattern[stackTop-window+4*i:], uint32(w))
		}
	}
}

// toWindow returns the displacement of a RIP-relative operand in the window, for an instruction of six bytes.
func toWindow(off uint32) string {
	disp := window + off - (nativeCode + 6)
	return hex.EncodeToString(binary.LittleEndian.AppendUint32(nil, disp))
}

// TestSpecial64 tests the instructions that can observe a step, in 64-bit mode.
func TestSpecial64(t *testing.T) {
	c := newChild(t, mode64)
	cs, ss := c.base[CS], c.base[SS]
	number := func(n uint64) func(*arch.Regs) { return func(r *arch.Regs) { r[RAX] = n } }
	selector := func(r *arch.Regs) { r[RAX] = ss }

	special(t, c, "0f 05", number(syscall.SYS_GETPPID))
	special(t, c, "0f 05", number(1<<20)) // ENOSYS
	special(t, c, "48 0f 05", number(syscall.SYS_GETPPID))
	special(t, c, "cd 80", number(64)) // the 32-bit getppid
	special(t, c, "8e d0", selector)   // mov %eax, %ss
	special(t, c, "8e d8", selector)   // mov %eax, %ds
	special(t, c, "0f 00 0b", nil)     // str: the kernel emulates it
	special(t, c, "0f 01 03", nil)     // sgdt
	special(t, c, "9c", nil)
	special(t, c, "66 9c", nil)
	special(t, c, "f3 a4", func(r *arch.Regs) { r[RSI], r[RCX] = window, 9 })
	special(t, c, "f3 a4", func(r *arch.Regs) { r[RSI], r[RCX] = window, 0 })
	special(t, c, "f3 aa", func(r *arch.Regs) { r[RDI], r[RCX] = window+windowLen-4, 9 }) // faults half way
	special(t, c, "0f 0b", nil)
	special(t, c, "f4", nil)
	special(t, c, "fa", nil)
	special(t, c, "f7 f1", func(r *arch.Regs) { r[RCX] = 0 })
	special(t, c, "ff 1b", nil) // far call through garbage
	special(t, c, "c8 20 00 00", nil)
	for _, tf := range []uint64{0, flagTF} {
		c.push(0x246 | tf)
		special(t, c, "9d", nil)
		c.push(nativeCode+0x100, cs, 0x246|tf, stackTop+0x100, ss)
		special(t, c, "48 cf", nil)
	}
	c.push(nativeCode+0x100, cs)
	special(t, c, "48 cb", nil) // far return
	binary.LittleEndian.PutUint64(c.pattern[0x400:], nativeCode+0x100)
	binary.LittleEndian.PutUint16(c.pattern[0x408:], uint16(cs))
	special(t, c, "48 ff 1b", nil) // far call: pushes the return address
	special(t, c, "48 ff 2b", nil) // far jump
	special(t, c, "ff 13", nil)    // near call
	special(t, c, "ff 15"+toWindow(0x400), nil)
	special(t, c, "8e 15"+toWindow(0), func(*arch.Regs) { binary.LittleEndian.PutUint16(c.pattern, uint16(ss)) }) // mov window, %ss
	special(t, c, "e8 fb ff ff ff", nil)                                                                          // a call to itself
	special(t, c, "e8 00 00 00 00", nil)                                                                          // and to behind itself
}

// TestSpecial32 tests them in 32-bit mode.
func TestSpecial32(t *testing.T) {
	c := newChild(t, mode32)
	cs, ss := c.base[CS], c.base[SS]
	special(t, c, "cd 80", func(r *arch.Regs) { r[RAX] = 64 })
	special(t, c, "8e d0", func(r *arch.Regs) { r[RAX] = ss })
	special(t, c, "9c", nil)
	special(t, c, "60", nil)
	special(t, c, "61", nil)
	special(t, c, "ce", func(r *arch.Regs) { r[EFLAGS] |= flagOF }) // into
	special(t, c, "f3 a5", func(r *arch.Regs) { r[RSI], r[RCX] = window, 9 })
	c.push(ss)
	special(t, c, "17", nil) // pop %ss
	c.push(0x246 | flagTF)
	special(t, c, "9d", nil)
	c.push(nativeCode+0x100, cs, 0x246)
	special(t, c, "cf", nil)
	special(t, c, "cb", nil)
	special(t, c, "9a 00 09 37 13 23 00", nil) // far call
	special(t, c, "ea 00 09 37 13 23 00", nil)
	special(t, c, "e8 fb ff ff ff", nil)
	special(t, c, "0f 01 e3", nil) // smsw %ebx: the kernel emulates it
}

// TestJumpBack checks that a thread in a slot returns to its code when its tracer ends.
func TestJumpBack(t *testing.T) {
	for _, m := range []*isa{mode64, mode32} {
		t.Run(m.Name(), func(t *testing.T) {
			c := newChild(t, m)
			insn, err := m.Decode([]byte{0x83, 0xc0, 0x05}, nativeCode) // add $5, %eax
			if err != nil {
				t.Fatal(err)
			}
			s, err := m.Prepare(insn)
			if err != nil {
				t.Fatal(err)
			}
			for _, slot := range []uint64{nearSlot, c.farSlot()} {
				code, err := s.OutOfLine(slot)
				c.must(err)
				c.must(c.WriteMemory(slot, code))
				c.must(c.WriteMemory(nativeCode, []byte{0xcc, 0xc0, 0x05, 0xcc}))
				regs := c.base
				regs[RIP], regs[RAX] = slot, 1
				c.setRegs(&regs)
				c.resume(syscall.PTRACE_CONT)
				sig := c.wait()
				if got := c.regs(); sig != syscall.SIGTRAP || got[RIP] != nativeCode+4 || got[RAX] != 6 {
					t.Errorf("from %#x: %v at %#x with %d", slot, sig, got[RIP], got[RAX])
				}
			}
		})
	}
}
