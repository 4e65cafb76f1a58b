package arm

import (
	"encoding/binary"
	"errors"
	"testing"

	"gotap/arch"
)

// prepareVector prepares an A32 instruction.
func prepareVector(t *testing.T, w uint32) (arch.VectorSite, error) {
	t.Helper()
	in, err := A32.Decode(binary.LittleEndian.AppendUint32(nil, w), codeA32)
	if err != nil {
		t.Fatalf("%#08x: %v", w, err)
	}
	site, err := A32.Prepare(in)
	if err != nil {
		return nil, err
	}
	return site.(arch.VectorSite), nil
}

// TestShortVectors checks that exactly the instructions that FPSCR.LEN would apply to several registers are
// refused.
func TestShortVectors(t *testing.T) {
	for _, c := range []struct {
		w       uint32
		refused bool
	}{
		{0xee300a20, true},  // vadd.f32 s0, s0, s1
		{0xeeb00a60, true},  // vmov.f32 s0, s1
		{0xeeb70a00, true},  // vmov.f32 s0, #1
		{0xeeb40a60, false}, // vcmp.f32 s0, s1
		{0xeeb80ae0, false}, // vcvt.f32.s32 s0, s1
		{0xf2000d40, false}, // vadd.f32 q0, q0, q0
	} {
		site, err := prepareVector(t, c.w)
		if err != nil {
			t.Fatal(err)
		}
		regs := arch.Regs{regPC: codeA32}
		v := arch.Vectors{Control: 1 << 16}
		before, vBefore := regs, v
		err = site.EmulateVectors(&regs, &v, &flatMemory{})
		if errors.Is(err, arch.ErrUnsupported) != c.refused {
			t.Errorf("%#08x: %v", c.w, err)
		}
		if c.refused && (regs != before || v != vBefore) {
			t.Errorf("%#08x: refused, and yet something changed", c.w)
		}
	}
}

// TestVectorUnpredictable checks that unpredictable encodings are refused. Each is marked UNPREDICTABLE, or its
// result UNKNOWN, on the instruction's page in the Arm ARM.
func TestVectorUnpredictable(t *testing.T) {
	for name, w := range map[string]uint32{
		"vswp d0, d0":               0xf3b20000,
		"vtrn.8 q1, q1":             0xf3b220c2,
		"vtbl.8 d0, {d31-d32}, d0":  0xf3bf0980,
		"vld1.8 {d31-d32}, [r0]":    0xf460fa0f,
		"vld1.8 {d0}, [pc]":         0xf42f070f,
		"vld2.8 {d31[0], d32[0]}":   0xf4e0f10f,
		"vld4.8 {d29[]-d32[]}":      0xf4e0df0f,
		"vldmia r0, {}":             0xec900b00,
		"vldmia r0, {d31-d32}":      0xecd0fb04,
		"vldmia r0, {s31-s32}":      0xecd0fa02,
		"vldmia pc!, {d0}":          0xecbf0b02,
		"fldmiax r0, {d15-d16}":     0xec90fb05,
		"vmov s31, s32, r0, r1":     0xec410a3f,
		"vmov r0, r0, d0":           0xec500b10,
		"vmov pc, s0":               0xee10fa10,
		"vmsr fpscr, pc":            0xeee1fa10,
		"vmov.8 d0[0], pc":          0xee40fb10,
		"vdup.8 d0, pc":             0xeec0fb10,
		"vcvt.f32.s16 s0, s0, #-1":  0xeeba0a68,
		"vaddne.f16 s0, s0, s0":     0x1e300900,
		"vjcvtne.s32.f64 s0, d0":    0x1eb90bc0,
		"vldrne.16 s0, [r0]":        0x1d900900,
		"vcmp.f32 s0, #0 with Vm=1": 0xeeb50a41,
	} {
		_, err := prepareVector(t, w)
		if !errors.Is(err, arch.ErrUnsupported) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestVectorStoreAligned checks an alignment of 32 bytes, which QEMU does not enforce.
func TestVectorStoreAligned(t *testing.T) {
	site, err := prepareVector(t, 0xf400023f) // vst1.8 {d0-d3}, [r0 :256]
	if err != nil {
		t.Fatal(err)
	}
	for addr, ok := range map[uint64]bool{arena: true, arena + 32: true, arena + 16: false, arena + 8: false} {
		regs := arch.Regs{0: addr, regPC: codeA32}
		var fault *arch.FaultError
		err := site.EmulateVectors(&regs, &arch.Vectors{}, &flatMemory{})
		if errors.As(err, &fault) == ok || !ok && (fault.Addr != addr || !fault.Write) {
			t.Errorf("at %#x: %v", addr, err)
		}
	}
}

// TestVectorStatus checks which bits FPSCR keeps, and that VMRS moves flags to CPSR.
func TestVectorStatus(t *testing.T) {
	write, err := prepareVector(t, 0xeee10a10) // vmsr fpscr, r0
	if err != nil {
		t.Fatal(err)
	}
	regs, v := arch.Regs{0: 0xffffffff, regPC: codeA32}, arch.Vectors{}
	if err := write.EmulateVectors(&regs, &v, &flatMemory{}); err != nil || v.Control != fpscrWritten {
		t.Errorf("vmsr: %#x, %v", v.Control, err)
	}
	read, err := prepareVector(t, 0xeef1fa10) // vmrs APSR_nzcv, fpscr
	if err != nil {
		t.Fatal(err)
	}
	if err := read.EmulateVectors(&regs, &v, &flatMemory{}); err != nil || regs[regCPSR] != 0xf0000000 {
		t.Errorf("vmrs: cpsr %#x, %v", regs[regCPSR], err)
	}
}

// TestVectorPrivileged checks that registers of the vector unit that user mode cannot access are refused.
func TestVectorPrivileged(t *testing.T) {
	for _, reg := range []uint32{0, 5, 6, 7, 8, 9, 10} {
		for _, w := range []uint32{0xeef00a10 | reg<<16, 0xeee00a10 | reg<<16} {
			if _, err := A32.Decode(binary.LittleEndian.AppendUint32(nil, w), 0); !errors.Is(err, arch.ErrUnsupported) {
				t.Errorf("%#08x: %v", w, err)
			}
		}
	}
}

func FuzzVectorDecode(f *testing.F) {
	for _, r := range vectorTables() {
		f.Add(r.value)
	}
	f.Fuzz(func(t *testing.T, w uint32) {
		in, err := A32.Decode(binary.LittleEndian.AppendUint32(nil, w), codeA32)
		if err != nil {
			return
		}
		site, err := A32.Prepare(in)
		if err != nil {
			return
		}
		regs := arch.Regs{regPC: codeA32, regCPSR: 0x10}
		if vs := site.(arch.VectorSite); vs.Vectors() {
			if err := vs.EmulateVectors(&regs, &arch.Vectors{}, &flatMemory{}); err != nil {
				t.Errorf("%#08x: %v", w, err)
			}
		}
	})
}

// BenchmarkVector measures one emulated instruction of each kind.
func BenchmarkVector(b *testing.B) {
	for _, c := range []struct {
		name string
		w    uint32
	}{
		{"vadd.i32 q", 0xf2200840}, {"vadd.f32 q", 0xf2000d40}, {"vadd.f64", 0xee300b00}, {"vdiv.f64", 0xee800b01},
		{"vfma.f64", 0xeea00b01}, {"vcvt.s32.f64", 0xeebd0bc1}, {"vldr d", 0xed900b00}, {"vld4.8", 0xf420000f}, {"vpush 16", 0xed2d0b20},
	} {
		b.Run(c.name, func(b *testing.B) {
			in, err := A32.Decode(binary.LittleEndian.AppendUint32(nil, c.w), codeA32)
			if err != nil {
				b.Fatal(err)
			}
			site, err := A32.Prepare(in)
			if err != nil {
				b.Fatal(err)
			}
			vs := site.(arch.VectorSite)
			v := arch.Vectors{V: [32][2]uint64{{0x3ff8000000000000, 0x3fc000004048f5c3}, {0x4008000000000000, 0x404000003f800000}}}
			var regs arch.Regs
			m := &flatMemory{}
			b.ReportAllocs()
			for b.Loop() {
				regs[0], regs[13], regs[15] = arena, arena, codeA32
				if err := vs.EmulateVectors(&regs, &v, m); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
