package unwind

import (
	"debug/elf"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"gotap/arch"
)

// mapped puts the tables into a file and that into memory, as an image of a program is.
func mappedFile(t *testing.T, f *frames) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "tables")
	if err := os.WriteFile(path, f.data, 0o600); err != nil {
		t.Fatal(err)
	}
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if f.data, err = syscall.Mmap(int(file.Fd()), 0, len(f.data), syscall.PROT_READ, syscall.MAP_PRIVATE); err != nil {
		t.Fatal(err)
	}
	data := f.data
	t.Cleanup(func() { syscall.Munmap(data) })
	return path
}

// TestTruncatedWhileMapped takes the file away under tables that have been used: rows that are known go on to serve,
// others are errors. A fault would end the tracer.
func TestTruncatedWhileMapped(t *testing.T) {
	f := &frames{machine: elf.EM_X86_64}
	cie := f.cie("zR", 16, cfaOffset|16, 1)
	f.fde(cie, 0x1000, 0x10, cfaDefCFAExpression, 3, 0x77, 0x10, 0x06, // CFA = [rsp+16]
		cfaValExpression, 6, 1, 0x31) // rbp = 1
	path := mappedFile(t, f)
	w, find := stepper(t, f)
	const sp = 0x7000_0100
	mem := words{sp + 16: 0x7000_0200, 0x7000_01f8: 0x2222}
	var regs arch.Regs
	regs[7], regs[16] = sp, 0x1000
	for _, present := range []bool{true, false} {
		if !present {
			if err := os.Truncate(path, 0); err != nil {
				t.Fatal(err)
			}
		}
		after := regs
		if cfa, err := w.Step(&after, mem, find); err != nil || cfa != 0x7000_0200 || after[16] != 0x2222 || after[6] != 1 {
			t.Errorf("present %v: frame %#x, caller %#x, rbp %d, %v", present, cfa, after[16], after[6], err)
		}
		table, _, _ := find(0x1000)
		if lo, hi, err := table.Function(0x1000); present != (err == nil && lo == 0x1000 && hi == 0x1010) {
			t.Errorf("present %v: the function is [%#x, %#x), %v", present, lo, hi, err)
		}
	}
	table, _, _ := find(0x1000)
	if _, _, err := table.CFA(0x1008); err == nil {
		t.Error("a file that is not there any more tells of a frame")
	}
}

// TestOddEntryHidesNoOther has a common entry whose augmentation data are said to be longer than any memory.
func TestOddEntryHidesNoOther(t *testing.T) {
	f := &frames{machine: elf.EM_X86_64}
	odd := f.entry(0, 0, 0, 0, 1, 'z', 'R', 0, 1, 0x78, 16, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f, encUData4)
	f.fde(odd, 0x1000, 0x10)
	good := f.cie("zR", 16, cfaDefCFA, 7, 8)
	f.fde(good, 0x2000, 0x10)
	table, err := New(f)
	if err != nil {
		t.Fatal(err)
	}
	if reg, off, err := table.CFA(0x2004); reg != "rsp" || off != 8 || err != nil {
		t.Errorf("the frame is at %s%+d, %v", reg, off, err)
	}
	if _, _, err := table.CFA(0x3000); !errors.Is(err, ErrNoEntry) {
		t.Errorf("where there is no entry the error is %v", err)
	}
}
