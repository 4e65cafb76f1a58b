package arm64

import (
	"bytes"
	"debug/elf"
	command "os/exec"
	"strconv"
	"strings"
	"testing"

	"gotap/arch"
	"gotap/engine/testenv"
)

// libc returns the C library of the cross compiler.
func libc(t testing.TB) string {
	t.Helper()
	testenv.Require(t, testenv.GCCARM64)
	out, err := command.Command(string(testenv.GCCARM64), "-print-file-name=libc.so.6").Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

// TestLibrary decodes the instructions of the C library, as listed by objdump, and counts those that can be probed.
func TestLibrary(t *testing.T) {
	testenv.Require(t, testenv.ObjdumpARM64)
	out, err := command.Command(string(testenv.ObjdumpARM64), "-d", "-z", "--no-show-raw-insn", "-j", ".text", libc(t)).Output()
	if err != nil {
		t.Fatal(err)
	}
	text, addr := section(t, libc(t), ".text")
	total, refused := 0, map[Class]int{}
	for line := range bytes.Lines(out) {
		at, mnemonic, ok := listed(string(line))
		if !ok || mnemonic == ".inst" || mnemonic == "udf" {
			continue // data
		}
		total++
		in, err := A64.Decode(text[at-addr:], at)
		if err != nil {
			t.Errorf("%s: %v", strings.TrimSpace(string(line)), err)
			continue
		}
		if _, err := A64.Prepare(in); err != nil {
			refused[ClassOf(in)]++
			if ClassOf(in) == Ordinary {
				t.Errorf("%s: %v", strings.TrimSpace(string(line)), err)
			}
		}
	}
	for class, n := range refused {
		t.Logf("%6d %v", n, class)
		if class == Beyond {
			t.Errorf("%d instructions are not emulated", n)
		}
	}
	t.Logf("%6d of %d can be probed", total-sum(refused), total)
	if sum(refused)*500 > total {
		t.Errorf("%d of %d instructions are refused", sum(refused), total)
	}
}

func sum(counts map[Class]int) (n int) {
	for _, v := range counts {
		n += v
	}
	return n
}

// listed parses a line of objdump's.
func listed(line string) (addr uint64, mnemonic string, ok bool) {
	before, after, ok := strings.Cut(line, ":\t")
	if !ok {
		return 0, "", false
	}
	addr, err := strconv.ParseUint(strings.TrimSpace(before), 16, 64)
	words := strings.Fields(after)
	return addr, words[0], err == nil
}

// section returns the bytes and the address of a section.
func section(t testing.TB, path, name string) ([]byte, uint64) {
	t.Helper()
	f, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	s := f.Section(name)
	p, err := s.Data()
	if err != nil {
		t.Fatal(err)
	}
	return p, s.Addr
}

// functions calls f for every function of the library.
func functions(t testing.TB, f func(name string, code []byte, addr uint64)) {
	t.Helper()
	file, err := elf.Open(libc(t))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	text, addr := section(t, libc(t), ".text")
	symbols, err := file.DynamicSymbols()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range symbols {
		if elf.ST_TYPE(s.Info) == elf.STT_FUNC && s.Value-addr < uint64(len(text)) && s.Size != 0 {
			f(s.Name, text[s.Value-addr:s.Value-addr+s.Size], s.Value)
		}
	}
}

// TestExits finds the exits of nearly all functions of the library, and reports why it does not for the others.
func TestExits(t *testing.T) {
	total, failed := 0, 0
	functions(t, func(name string, code []byte, addr uint64) {
		total++
		exits, err := Exits(code, addr, arch.OnePiece)
		if err != nil {
			failed++
			t.Logf("%s: %v", name, err)
		}
		for _, e := range exits {
			if how := e.Insn.Control; how == arch.Return == e.Tail {
				t.Errorf("%s: exit at %#x is of kind %v, tail %v", name, e.Insn.Addr, how, e.Tail)
			}
		}
	})
	t.Logf("%d of %d functions were read", total-failed, total)
	if failed*50 > total {
		t.Errorf("%d of %d functions could not be read", failed, total)
	}
}
