package mapped

import (
	"bytes"
	"compress/zlib"
	"debug/elf"
	"encoding/binary"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"gotap/engine/testenv"
	"gotap/engine/testenv/fixture"
)

func build(t *testing.T, flags ...string) string {
	t.Helper()
	testenv.Require(t, testenv.GCC)
	dir := t.TempDir()
	source, out := filepath.Join(dir, "a.c"), filepath.Join(dir, "a")
	if err := os.WriteFile(source, []byte("int main(void) { return 0; }\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if text, err := fixture.Command("gcc", append([]string{"-g", "-o", out, source}, flags...)...).CombinedOutput(); err != nil {
		t.Fatalf("cannot build: %v\n%s", err, text)
	}
	return out
}

// TestSections compares every section's contents with debug/elf's, for each kind of compression.
func TestSections(t *testing.T) {
	for _, flags := range []string{"-gz=none", "-gz=zlib", "-gz=zlib-gnu"} {
		path := build(t, flags)
		m, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		plain, err := elf.Open(build(t, "-gz=none"))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{".debug_abbrev", ".eh_frame", ".text"} {
			data, addr, err := m.Section(name)
			want, _ := plain.Section(name).Data()
			if err != nil || !bytes.Equal(data, want) || addr != plain.Section(name).Addr {
				t.Errorf("%s: %s has %d bytes at %#x, %v; want %d", flags, name, len(data), addr, err, len(want))
			}
		}
		if data, _, err := m.Section(".nothing"); data != nil || err != nil {
			t.Errorf("a section that is not there: %v, %v", data, err)
		}
		if data, _, err := m.Section(".bss"); data != nil || err != nil {
			t.Errorf("a section without contents: %v, %v", data, err)
		}
		plain.Close()
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestInflateBoundsSizes(t *testing.T) {
	var packed bytes.Buffer
	z := zlib.NewWriter(&packed)
	z.Write([]byte("contents"))
	z.Close()
	if data, err := inflate(packed.Bytes(), 8); err != nil || string(data) != "contents" {
		t.Errorf("inflated to %q, %v", data, err)
	}
	if _, err := inflate(packed.Bytes(), 1<<40); err == nil {
		t.Error("a damaged size is believed")
	}
	if _, err := inflate(packed.Bytes(), 9); err == nil {
		t.Error("a stream that ends early is whole")
	}
}

// A file may have sections that become larger, but none, nor all of them together, that become far larger than the
// file.
func TestInflatesWithinReason(t *testing.T) {
	plain := withZeros(t)
	for _, kind := range []string{"zlib", "zlib-gnu"} {
		file := filepath.Join(t.TempDir(), kind)
		if out, err := exec.Command("objcopy", "--compress-debug-sections="+kind, plain, file).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		m, err := Open(file)
		if err != nil {
			t.Fatal(err)
		}
		defer m.Close()
		for _, name := range []string{".debug_info", ".debug_str"} {
			data, _, err := m.Section(name)
			if err == nil || !strings.Contains(err.Error(), "cannot decompress "+name) || !strings.Contains(err.Error(), "too much for a file of") {
				t.Errorf("%s: %s of a file of %d KB has %d bytes, %v", kind, name, len(m.data)>>10, len(data), err)
			}
		}
		if data, _, err := m.Section(".debug_abbrev"); err != nil || len(data) == 0 {
			t.Errorf("%s: the other sections are gone: %v", kind, err)
		}
	}
}

// withZeros returns a program two of whose debug sections are zeros, and more than the limit for a small file. Compressed
// as binutils do it, each becomes a hundred times as large as the file.
func withZeros(t *testing.T) string {
	t.Helper()
	file := build(t, "-gz=none")
	zeros := filepath.Join(t.TempDir(), "zeros")
	if err := errors.Join(os.WriteFile(zeros, nil, 0o600), os.Truncate(zeros, inflatedBase+16<<20)); err != nil {
		t.Fatal(err)
	}
	argv := []string{file}
	for _, name := range []string{".debug_info", ".debug_str"} {
		argv = append([]string{"--remove-section", name, "--add-section", name + "=" + zeros}, argv...)
	}
	if out, err := exec.Command("objcopy", argv...).CombinedOutput(); err != nil {
		t.Fatalf("%q: %v\n%s", argv, err, out)
	}
	return file
}

// TestInflatesWithinReasonTogether has sections that are small enough, but not all of them.
func TestInflatesWithinReasonTogether(t *testing.T) {
	m, err := Open(build(t))
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	m.inflated = inflatedBase + inflatedFactor*uint64(len(m.data)) - 8
	ok := func() ([]byte, error) { return make([]byte, 8), nil }
	if _, err := m.unpack("a", nil, 8, ok); err != nil {
		t.Error(err)
	}
	if _, err := m.unpack("b", nil, 1, ok); err == nil {
		t.Error("there is always room for one more")
	}
	if _, err := m.unpack("c", nil, 1<<64-1, ok); err == nil {
		t.Error("a size overflows")
	}
}

func TestOpenRefuses(t *testing.T) {
	dir := t.TempDir()
	empty, text := filepath.Join(dir, "empty"), filepath.Join(dir, "text")
	os.WriteFile(empty, nil, 0o600)
	os.WriteFile(text, []byte(strings.Repeat("text ", 100)), 0o600)
	for _, path := range []string{empty, text, dir, filepath.Join(dir, "missing"), os.DevNull} {
		if m, err := Open(path); err == nil {
			m.Close()
			t.Errorf("%s opens", path)
		}
	}
}

// TestSectionOutsideTheFile cuts a file so that its last sections lie beyond the end.
func TestSectionOutsideTheFile(t *testing.T) {
	data, err := os.ReadFile(build(t))
	if err != nil {
		t.Fatal(err)
	}
	m, err := New("whole", data)
	if err != nil {
		t.Fatal(err)
	}
	m.data = m.data[:binary.LittleEndian.Uint64(data[40:])/2] // half of what is before the section headers
	if _, _, err := m.Section(".debug_str"); err == nil {
		t.Error("a section beyond the end has contents")
	}
}

// TestSectionsAtOnce decompresses all sections of a file from several goroutines at once.
func TestSectionsAtOnce(t *testing.T) {
	plain, err := Open(build(t, "-gz=none"))
	if err != nil {
		t.Fatal(err)
	}
	defer plain.Close()
	packed, err := Open(build(t, "-gz=zlib"))
	if err != nil {
		t.Fatal(err)
	}
	defer packed.Close()
	var done sync.WaitGroup
	for range 4 {
		for _, name := range []string{".debug_info", ".debug_abbrev", ".debug_str", ".debug_line"} {
			want, _, err := plain.Section(name)
			if err != nil || len(want) == 0 {
				t.Fatalf("%s has %d bytes, %v", name, len(want), err)
			}
			done.Go(func() {
				if got, _, err := packed.Section(name); err != nil || len(got) != len(want) {
					t.Errorf("%s has %d bytes, %v; want %d", name, len(got), err, len(want))
				}
			})
		}
	}
	done.Wait()
}

// TestInterruptedStaysAnError panics while a section is decompressed, as a truncated file makes it.
func TestInterruptedStaysAnError(t *testing.T) {
	m := &Image{name: "f", unpacked: map[string]*unpacked{}}
	func() {
		defer func() {
			if recover() == nil {
				t.Error("the panic is lost")
			}
		}()
		m.unpack("a", nil, 8, func() ([]byte, error) { panic("fault") })
	}()
	if data, err := m.unpack("a", nil, 8, func() ([]byte, error) { return make([]byte, 8), nil }); !errors.Is(err, errInterrupted) {
		t.Errorf("the section has %d bytes, %v", len(data), err)
	}
}
