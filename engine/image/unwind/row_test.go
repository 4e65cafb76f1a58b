package unwind

import (
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand"
	"testing"

	"gotap/arch"
	"gotap/engine/image/mapped"
	"gotap/engine/testenv"
)

// frames is an .eh_frame section in the making, as an assembler would write it.
type frames struct {
	data    []byte
	machine elf.Machine
}

func (f *frames) Machine() elf.Machine { return f.machine }

func (f *frames) Section(name string) ([]byte, uint64, error) {
	if name == ".eh_frame" {
		return f.data, 0x10000, nil
	}
	return nil, 0, nil
}

// entry appends an entry with its length before it, padded with nops.
func (f *frames) entry(body ...byte) (at int) {
	for len(body)%4 != 0 {
		body = append(body, cfaNop)
	}
	at = len(f.data)
	f.data = binary.LittleEndian.AppendUint32(f.data, uint32(len(body)))
	f.data = append(f.data, body...)
	return at
}

// cie appends a common entry: version 1, augmentation "zR" or "zRS", factors 1 and -8, absolute 4-byte addresses.
func (f *frames) cie(augmentation string, ra byte, program ...byte) (at int) {
	body := append([]byte{0, 0, 0, 0, 1}, augmentation...)
	body = append(body, 0, 1, 0x78, ra, 1, encUData4)
	return f.entry(append(body, program...)...)
}

// fde appends the entry of a function.
func (f *frames) fde(cie int, lo, size uint32, program ...byte) {
	body := binary.LittleEndian.AppendUint32(nil, uint32(len(f.data)+4-cie))
	body = binary.LittleEndian.AppendUint32(body, lo)
	body = binary.LittleEndian.AppendUint32(body, size)
	f.entry(append(append(body, 0), program...)...)
}

// words is memory that holds words at addresses.
type words map[uint64]uint64

func (w words) ReadMemory(addr uint64, p []byte) error {
	clear(p)
	found := false
	for at, v := range w {
		if at >= addr && at-addr+8 <= uint64(len(p)) {
			binary.LittleEndian.PutUint64(p[at-addr:], v)
			found = true
		}
	}
	if !found {
		return errors.New("nothing there")
	}
	return nil
}

// stepper makes a walker whose registers are in the order of their DWARF numbers.
func stepper(t *testing.T, f *frames) (*Walker, Find) {
	t.Helper()
	names := namesOf(f.machine)
	l, err := NewLayout(f.machine, func(name string) (int, bool) {
		for i, n := range names.list {
			if n == name {
				return i, true
			}
		}
		return 0, false
	})
	if err != nil {
		t.Fatal(err)
	}
	table, err := New(f)
	if err != nil {
		t.Fatal(err)
	}
	return NewWalker(l), func(uint64) (*Table, uint64, bool) { return table, 0, true }
}

// TestSignedReturnAddress unwinds arm64 code that signs its return address: the state changes in the middle of the
// function, and the address is stripped only where it is signed (DWARF for the Arm 64-bit Architecture, 4.4).
func TestSignedReturnAddress(t *testing.T) {
	f := &frames{machine: elf.EM_AARCH64}
	cie := f.cie("zR", 30, cfaDefCFA, 31, 0)
	f.fde(cie, 0x1000, 0x40, cfaAdvanceLoc|4, cfaNegateRAState, cfaAdvanceLoc|4, cfaDefCFAOffset, 16, cfaOffset|29, 2, cfaOffset|30, 1,
		cfaAdvanceLoc|16, cfaNegateRAState, cfaRestore|30, cfaRestore|29, cfaDefCFAOffset, 0)
	w, find := stepper(t, f)
	const signed, plain = 0x00ab_ffff_1234_5678, 0xffff_1234_5678
	for _, c := range []struct{ pc, lr, saved, want uint64 }{
		{0x1000, plain, 0, plain}, {0x1004, signed, 0, plain}, {0x1008, 1, signed, plain}, {0x1018, plain, 0, plain},
	} {
		var regs arch.Regs
		regs[30], regs[31], regs[arm64Names.pcReg] = c.lr, 0x7000_0ff0, c.pc
		cfa, err := w.Step(&regs, words{0x7000_0ff8: c.saved, 0x7000_0ff0: 0x2929}, find)
		if err != nil || regs[arm64Names.pcReg] != c.want {
			t.Errorf("at %#x: caller %#x, %v; want %#x", c.pc, regs[arm64Names.pcReg], err, c.want)
		}
		if c.pc == 0x1008 && (cfa != 0x7000_1000 || regs[29] != 0x2929 || regs[31] != 0x7000_1000) {
			t.Errorf("frame %#x, x29 %#x, sp %#x", cfa, regs[29], regs[31])
		}
	}
}

// TestRules tries rules that compilers use rarely.
func TestRules(t *testing.T) {
	f := &frames{machine: elf.EM_X86_64}
	cie := f.cie("zR", 16, cfaDefCFA, 7, 8, cfaOffset|16, 1)
	f.fde(cie, 0x1000, 0x10, cfaRegister, 3, 12, cfaValOffset, 6, 2)                     // rbx is r12; rbp is CFA-16
	f.fde(cie, 0x2000, 0x10, cfaUndefined, 16)                                           // no caller
	f.fde(cie, 0x3000, 0x10, cfaDefCFAExpression, 3, 0x77, 0x10, 0x06)                   // CFA = [rsp+16]
	f.fde(cie, 0x4000, 0x10, cfaExpression, 3, 2, 0x23, 8, cfaValExpression, 6, 1, 0x31) // rbx at CFA+8; rbp = 1
	f.fde(cie, 0x5000, 0x10, cfaRememberState, cfaDefCFAOffset, 32, cfaAdvanceLoc|4, cfaRestoreState, cfaGNUArgsSize, 16)
	f.fde(cie, 0x6000, 0x10, cfaRestoreState) // wrong
	w, find := stepper(t, f)
	const sp = 0x7000_0100
	mem := words{sp: 0x1111, sp + 16: 0x7000_0200, 0x7000_01f8: 0x2222, sp + 24: 0x3333}
	step := func(pc uint64) (arch.Regs, uint64, error) {
		var regs arch.Regs
		regs[3], regs[6], regs[7], regs[12], regs[16] = 33, 66, sp, 1212, pc
		cfa, err := w.Step(&regs, mem, find)
		return regs, cfa, err
	}
	if r, cfa, err := step(0x1000); err != nil || r[16] != 0x1111 || r[3] != 1212 || r[6] != cfa-16 || r[7] != sp+8 {
		t.Errorf("registers %v, %v", r[:17], err)
	}
	if _, _, err := step(0x2000); !errors.Is(err, ErrNoCaller) {
		t.Errorf("an undefined return address gives %v", err)
	}
	if r, cfa, err := step(0x3000); err != nil || cfa != 0x7000_0200 || r[16] != 0x2222 {
		t.Errorf("frame %#x, caller %#x, %v", cfa, r[16], err)
	}
	if r, _, err := step(0x4000); err != nil || r[3] != 0x7000_0200 || r[6] != 1 {
		t.Errorf("rbx %#x, rbp %#x, %v", r[3], r[6], err)
	}
	if _, cfa, err := step(0x5002); err == nil || cfa != 0 { // nothing is saved at CFA 32
		t.Logf("frame %#x", cfa)
	}
	if _, cfa, err := step(0x5004); err != nil || cfa != sp+8 {
		t.Errorf("after restoring the frame is %#x, %v", cfa, err)
	}
	if _, _, err := step(0x6000); err == nil {
		t.Error("a state that was never remembered is restored")
	}
	if _, _, err := step(0x9000); err == nil {
		t.Error("an address without an entry has a caller")
	}
}

// TestExpressions computes what DWARF expressions say, on both widths of address.
func TestExpressions(t *testing.T) {
	for _, c := range []struct {
		machine elf.Machine
		expr    []byte
		want    uint64
	}{
		{elf.EM_X86_64, []byte{0x08, 200, 0x09, 0xff, 0x22}, 199},                             // 200 + -1
		{elf.EM_386, []byte{0x09, 0xff}, 0xffffffff},                                          // -1 in 32 bits
		{elf.EM_X86_64, []byte{0x35, 0x33, 0x1c, 0x1f}, ^uint64(1)},                           // -(5-3)
		{elf.EM_X86_64, []byte{0x3f, 0x12, 0x1e, 0x34, 0x25}, 14},                             // 15*15 >> 4
		{elf.EM_386, []byte{0x09, 0xf0, 0x32, 0x26, 0x19}, 4},                                 // |-16 >> 2| arithmetic
		{elf.EM_X86_64, []byte{0x31, 0x32, 0x33, 0x17, 0x13, 0x16, 0x13}, 1},                  // rot, drop, swap, drop
		{elf.EM_X86_64, []byte{0x30, 0x28, 4, 0, 0x31, 0x2f, 1, 0, 0x37, 0x96}, 1},            // bra not taken, skip taken
		{elf.EM_X86_64, []byte{0x77, 0x08, 0x94, 2}, 0x5678},                                  // two bytes at rsp+8
		{elf.EM_X86_64, []byte{0x0c, 0xff, 0xff, 0xff, 0xff, 0x0a, 0xff, 0xf0, 0x1a}, 0xf0ff}, // and
		{elf.EM_X86_64, []byte{0x09, 0xfe, 0x31, 0x2d}, 1},                                    // -2 < 1
		{elf.EM_X86_64, []byte{0x3a, 0x33, 0x1d, 0x33, 0x20, 0x21}, ^uint64(3) | 1},           // 10%3 | ^3
	} {
		w, _ := stepper(t, &frames{machine: c.machine})
		w.pages.start(words{0x1008: 0x12345678})
		var f frame
		f.set(7, 0x1000)
		if got, err := w.eval(c.expr, &f); err != nil || got != c.want {
			t.Errorf("% x is %#x, %v; want %#x", c.expr, got, err, c.want)
		}
	}
}

func TestExpressionsRefused(t *testing.T) {
	w, _ := stepper(t, &frames{machine: elf.EM_X86_64})
	w.pages.start(words{})
	for _, expr := range [][]byte{{}, {0x22}, {0x2f, 0xfd, 0xff}, {0xe0}, {0x31, 0x30, 0x1b}, {0x73, 0}, {0x08}, {0x31, 0x94, 9}, {0x15, 3}} {
		if v, err := w.eval(expr, &frame{}); err == nil {
			t.Errorf("% x is %#x", expr, v)
		}
	}
}

// TestDamagedTables changes random bytes of a library's tables: rows may be wrong, but asking must end, without a
// panic.
func TestDamagedTables(t *testing.T) {
	testenv.Require(t, testenv.GCC)
	img, err := mapped.Open(libraries(t)[0])
	if err != nil {
		t.Fatal(err)
	}
	defer img.Close()
	data, _, _ := img.Section(".eh_frame")
	hdr, _, _ := img.Section(".eh_frame_hdr")
	rnd := rand.New(rand.NewSource(2))
	for i := range 40 {
		d := &damagedFile{img, append([]byte(nil), data...), append([]byte(nil), hdr...)}
		for range 200 {
			d.eh[rnd.Intn(len(d.eh))] = byte(rnd.Intn(256))
			d.hdr[rnd.Intn(len(d.hdr))] = byte(rnd.Intn(256))
		}
		if i%2 == 0 {
			d.hdr = nil
		}
		table, err := New(d)
		if err != nil {
			t.Fatal(err)
		}
		for range 300 {
			table.row(0x26000 + uint64(rnd.Intn(0x150000)))
		}
	}
}

type damagedFile struct {
	*mapped.Image
	eh, hdr []byte
}

func (d *damagedFile) Section(name string) ([]byte, uint64, error) {
	data, addr, err := d.Image.Section(name)
	switch name {
	case ".eh_frame":
		data = d.eh
	case ".eh_frame_hdr":
		data = d.hdr
	}
	return data, addr, err
}

// FuzzRow runs CFA programs of random bytes.
func FuzzRow(f *testing.F) {
	f.Add([]byte{cfaDefCFA, 7, 8, cfaOffset | 16, 1, cfaAdvanceLoc | 4, cfaRememberState, cfaRestoreState})
	f.Fuzz(func(t *testing.T, program []byte) {
		d := fde{cie: &cie{codeAlign: 1, dataAlign: -8, ra: 16, program: program}, lo: 0, hi: 100, program: program}
		if r, err := d.row(50, amd64Names); err == nil && len(r.rules) > maxRegs {
			t.Fatal(fmt.Sprint("too many rules: ", len(r.rules)))
		}
	})
}
