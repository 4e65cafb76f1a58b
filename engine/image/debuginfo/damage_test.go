package debuginfo_test

import (
	"errors"
	"math/rand"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"gotap/engine/image/debuginfo"
	"gotap/engine/image/mapped"
	"gotap/engine/testenv"
)

// damaged is a file with some bytes of its debug sections changed.
type damaged struct {
	*mapped.Image
	changed map[string][]byte
}

func (d *damaged) Section(name string) ([]byte, uint64, error) {
	if b, ok := d.changed[name]; ok {
		return b, 0, nil
	}
	return d.Image.Section(name)
}

// TestDamagedFilesGiveErrors changes random bytes of debug sections and asks everything there is. Answers may be wrong,
// but there must be one: no panic, no endless loop.
func TestDamagedFilesGiveErrors(t *testing.T) {
	testenv.Require(t, testenv.GCC)
	rnd := rand.New(rand.NewSource(1))
	for _, flags := range []string{"-O2", "-O2 -gdwarf-4", "-O0 -fdebug-types-section -gdwarf-4"} {
		p := build(t, "testdata/values.c", strings.Fields(flags)...)
		img, err := mapped.Open(p.path)
		if err != nil {
			t.Fatal(err)
		}
		defer img.Close()
		entry := p.address(t, "walk")
		for range 150 {
			info, err := debuginfo.Open(damage(t, img, rnd))
			if err != nil {
				t.Fatal(err)
			}
			askAll(info, entry)
		}
	}
}

// damage changes up to four bytes in each of some sections, or cuts one short.
func damage(t *testing.T, img *mapped.Image, rnd *rand.Rand) *damaged {
	d := &damaged{img, map[string][]byte{}}
	for _, name := range []string{"info", "abbrev", "line", "loc", "loclists", "str", "rnglists", "ranges", "types"} {
		data, _, err := img.Section(".debug_" + name)
		if err != nil || len(data) == 0 || rnd.Intn(3) > 0 {
			continue
		}
		data = append([]byte(nil), data...)
		for range 1 + rnd.Intn(4) {
			data[rnd.Intn(len(data))] = byte(rnd.Intn(256))
		}
		if rnd.Intn(8) == 0 {
			data = data[:rnd.Intn(len(data))]
		}
		d.changed[".debug_"+name] = data
	}
	return d
}

func askAll(info *debuginfo.Info, entry uint64) {
	for pc := entry; pc < entry+40; pc += 5 {
		info.Signature(pc)
		info.Params(pc)
		info.ResultAccess(pc, 0)
		info.FramesAt(pc)
		for _, path := range []string{"p.next.in.near.1", "by", "sum", "p.kind", "nothing"} {
			info.Access(pc, strings.Split(path, "."))
		}
	}
	info.AddrsOf("values.c", 41)
	info.Copies(entry)
	copies, _ := info.CopiesOf("scale")
	for _, c := range copies {
		info.CopyParameters(c)
		info.CopySignature(c)
		info.CopyArgument(c, 1)
		info.CopyAccess(c, []string{"value"})
	}
}

// TestWithoutDebugInformation asks a stripped program, and one whose debug information is in another file.
func TestWithoutDebugInformation(t *testing.T) {
	testenv.Require(t, testenv.GCC, "objcopy", "strip")
	p := build(t, "testdata/values.c", "-O2")
	entry := p.address(t, "walk")
	dir := t.TempDir()
	stripped, separate := filepath.Join(dir, "stripped"), filepath.Join(dir, "separate.debug")
	run(t, "objcopy", "--only-keep-debug", p.path, separate)
	run(t, "strip", "-o", stripped, p.path)
	code := open(t, stripped)
	var none error
	if _, none = code.info.Signature(entry); !errors.Is(none, debuginfo.ErrNone) || code.info.Has() {
		t.Errorf("a stripped program gives %v", none)
	}
	a, err := mapped.Open(stripped)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	b, err := mapped.Open(separate)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	both, err := debuginfo.Open(a, b)
	if err != nil {
		t.Fatal(err)
	}
	if sig, err := both.Signature(entry); sig != "walk(struct item *p, int by) long" {
		t.Errorf("with a separate file the signature is %q, %v", sig, err)
	}
	// A local variable in the frame needs the call-frame information, which only the program has.
	if addrs, _, err := both.AddrsOf("values.c", 60); err != nil || len(addrs) == 0 {
		t.Errorf("with a separate file the line is at %#x, %v", addrs, err)
	} else if _, err := both.Access(addrs[0], []string{"v", "0"}); err != nil {
		var out *debuginfo.OptimisedOutError
		if !errors.As(err, &out) {
			t.Error(err)
		}
	}
}

func run(t *testing.T, name string, args ...string) {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir = t.TempDir()
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", name, err, text)
	}
}

// TestTruncatedFileIsAnError truncates a file that is mapped, which makes accesses to it fault.
func TestTruncatedFileIsAnError(t *testing.T) {
	testenv.Require(t, testenv.GCC)
	p := build(t, "testdata/values.c", "-O2")
	entry := p.address(t, "walk")
	if err := os.Truncate(p.path, 0); err != nil {
		t.Fatal(err)
	}
	if _, err := p.info.Signature(entry); err == nil {
		t.Error("a truncated file has debug information")
	}
}

func TestErrors(t *testing.T) {
	testenv.Require(t, testenv.GCC)
	p := build(t, "testdata/values.c", "-O2")
	entry := p.address(t, "walk")
	var unknown *debuginfo.UnknownError
	if _, err := p.info.Access(entry, []string{"q"}); !errors.As(err, &unknown) || strings.Join(unknown.Have, " ") != "p by" {
		t.Errorf("an unknown parameter gives %v", err)
	}
	if _, err := p.info.Access(entry, []string{"p", "wieght"}); !errors.As(err, &unknown) || strings.Join(unknown.Near, " ") != "weight" {
		t.Errorf("an unknown member gives %v", err)
	}
	var access *debuginfo.AccessError
	for _, path := range []string{"by.x", "p.kind.x", "p.in.near.7", "by.0"} {
		if _, err := p.info.Access(entry, strings.Split(path, ".")); !errors.As(err, &access) {
			t.Errorf("%s gives %v", path, err)
		}
	}
	if _, err := p.info.Signature(0x10); !errors.Is(err, debuginfo.ErrNone) {
		t.Errorf("an address without code gives %v", err)
	}
	var out *debuginfo.OptimisedOutError
	if _, err := p.info.Access(p.address(t, "mixed")+8, []string{"small"}); !errors.As(err, &out) {
		t.Errorf("a variable that is nowhere gives %v", err)
	}
}
