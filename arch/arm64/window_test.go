package arm64

import (
	"encoding/binary"
	"errors"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"gotap/arch"
)

// TestWindows goes through the C library. Each entry of a function, and every fifth instruction, is refused for a
// reason, or a copy of it somewhere within reach takes a thread to the same place, with the same registers and memory.
func TestWindows(t *testing.T) {
	r := newRand(t, 21)
	entries, refused, trials, compared := 0, map[string]int{}, 0, 0
	functions(t, func(name string, code []byte, addr uint64) {
		for off := 0; off+insnLen <= len(code); off += 5 * insnLen {
			at := 1<<32 + addr + uint64(off) // a library is mapped far from address 0
			w, err := Windows.WindowAt(code[off:], at)
			if off == 0 {
				entries++
			}
			if err != nil {
				if why := (*arch.WindowError)(nil); !errors.As(err, &why) || why.Addr != at || !errors.Is(err, arch.ErrUnsupported) {
					t.Fatalf("%s+%#x: %v", name, off, err)
				} else if off == 0 {
					refused[why.Reason]++
				}
				continue
			}
			to := (at + r.Uint64N(1<<27) - 1<<26) &^ 3
			copied, offsets, err := w.Copy(to)
			if err != nil || len(offsets) != 1 || offsets[0] != 0 || len(copied) > arch.WindowCopySize {
				t.Fatalf("%s+%#x: %x, %v, %v", name, off, copied, offsets, err)
			}
			trials++
			if sameElsewhere(t, r, &w, copied, to) {
				compared++
			}
		}
	})
	for _, why := range slices.Sorted(maps.Keys(refused)) {
		t.Logf("%6d entries: %s", refused[why], why)
	}
	t.Logf("%d entries; %d copies, of which %d were executed", entries, trials, compared)
	if entries < 1000 || compared*10 < trials*9 {
		t.Error("too few were compared")
	}
}

// sameElsewhere executes an instruction and its copy from the same state, and reports whether that was possible.
func sameElsewhere(t *testing.T, r *rand.Rand, w *arch.Window, copied []byte, to uint64) bool {
	var start arch.Regs
	for i := range start[:31] {
		start[i] = r.Uint64() >> r.IntN(64)
	}
	start[regSP], start[regPState] = r.Uint64()&^15, uint64(r.IntN(16))<<28
	regs, moved, memory, movedMemory := start, start, flat{}, flat{}
	for i := range memory {
		memory[i] = byte(r.Uint32())
	}
	movedMemory = memory
	var v, movedV arch.Vectors
	regs[regPC] = w.Addr
	if Exec(w.Insns[0], &regs, &v, &memory) != nil {
		return false
	}
	moved[regPC] = to
	for steps := 0; moved[regPC]-to < uint64(len(copied)); steps++ {
		in, err := A64.Decode(copied[moved[regPC]-to:], moved[regPC])
		if err == nil {
			err = Exec(in, &moved, &movedV, &movedMemory)
		}
		if err != nil || steps > 3 {
			t.Fatalf("%x at %#x: %v", copied, moved[regPC], err)
		}
	}
	if regs != moved || memory != movedMemory || v != movedV {
		t.Errorf("%s at %#x, copied to %#x as %x: %x\nand not %x", A64.Text(w.Insns[0].Bytes[:4], w.Addr), w.Addr, to, copied, moved, regs)
	}
	return true
}

// TestWindowRefusals: instructions that do something else elsewhere are refused, each for its reason.
func TestWindowRefusals(t *testing.T) {
	for word, want := range map[uint32]string{
		0x10000000: "it computes an address relative to its own",   // adr x0, .
		0x58000040: "it loads from an address relative to its own", // ldr x0, .+8
		0x1c000040: "it loads from an address relative to its own", // ldr s0, .+8
		0x94000001: "it is a call, which would return to the copy", // bl
		0xd63f0000: "it is a call, which would return to the copy", // blr x0
		0xd4000001: "it calls the kernel, which would see another address",
		0xd4200000: "it is a trap of the program's own",
		0xc85f7c00: "it is a load-exclusive or a store-exclusive, which a jump would separate from its pair", // ldxr x0, [x0]
		0xc8017c00: "it is a load-exclusive or a store-exclusive, which a jump would separate from its pair", // stxr w1, x0, [x0]
		0x04000000: "it is one of SVE or SME",
	} {
		_, err := Windows.WindowAt([]byte{byte(word), byte(word >> 8), byte(word >> 16), byte(word >> 24)}, 0x1000)
		if why := (*arch.WindowError)(nil); !errors.As(err, &why) || why.Reason != want {
			t.Errorf("%#x: %v, not %q", word, err, want)
		}
	}
	for word, want := range map[uint32]bool{0xd503241f: true, 0xd503245f: true, 0xd50324df: true, 0xd503233f: true, 0xd503237f: true, 0xd503201f: false, 0xd50323bf: false} {
		w, err := Windows.WindowAt(binary.LittleEndian.AppendUint32(nil, word), 0x1000) // bti, bti c, bti jc, paciasp, pacibsp; nop, autiasp
		if err != nil || w.LandingPad != want || w.Completes != (word != 0xd50323bf) {
			t.Errorf("%#x: %+v, %v", word, w, err)
		}
	}
	// b, b.eq and adrp reach only so far.
	w, err := Windows.WindowAt([]byte{0x00, 0x00, 0x00, 0x90}, 0x1000)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := w.Copy(1 << 40); err == nil {
		t.Error("an address out of reach")
	}
	if _, err := Windows.Jump(0, 1<<27); err == nil {
		t.Error("a jump out of reach")
	}
	if _, err := Windows.Jump(1<<27, 0); err != nil {
		t.Error(err)
	}
}

// TestCompletes: which instructions raise no exception for certain. The texts are what the assembler makes the words
// of.
func TestCompletes(t *testing.T) {
	for text, c := range map[string]struct {
		word uint32
		want bool
	}{
		"stp x29, x30, [sp, #-32]!": {0xa9be7bfd, true}, "ldp x19, x20, [sp, #16]": {0xa94153f3, true}, "str x30, [sp, #-16]!": {0xf81f0ffe, true},
		"ldr x0, [sp, #8]": {0xf94007e0, true}, "stur x0, [sp, #-8]": {0xf81f83e0, true}, "str q0, [sp, #16]": {0x3d8007e0, true},
		"sub sp, sp, #64": {0xd10103ff, true}, "mov x0, x1": {0xaa0103e0, true}, "mov w0, #5": {0x528000a0, true}, "add x0, x1, x2": {0x8b020020, true},
		"adrp x0, 0": {0x90000000, true}, "cbz x0, .+8": {0xb4000040, true}, "b .+8": {0x14000002, true}, "b.eq .+8": {0x54000040, true}, "nop": {0xd503201f, true},
		"sdiv x0, x1, x2": {0x9ac20c20, true},
		"ldr x0, [x1]":    {0xf9400020, false}, "ldp x0, x1, [x2]": {0xa9400440, false}, "ldr x0, [sp, x1]": {0xf8616be0, false}, "ldadd x0, x1, [sp]": {0xf82003e1, false},
		"ret": {0xd65f03c0, false}, "br x16": {0xd61f0200, false}, "fadd d0, d1, d2": {0x1e622820, false}, "add v0.16b, v31.16b, v1.16b": {0x4e2187e0, false},
		"sub v0.16b, v31.16b, v1.16b": {0x6e2187e0, false}, "mrs x0, tpidr_el0": {0xd53bd040, false}, "autiasp": {0xd50323bf, false}, "st1 {v0.16b}, [sp]": {0x4c0073e0, false},
	} {
		insn, err := A64.Decode(binary.LittleEndian.AppendUint32(nil, c.word), 0x1000)
		if err != nil || completes(insn) != c.want {
			t.Errorf("%s (%#x): %v, %v", text, c.word, err, !c.want)
		}
	}
}
