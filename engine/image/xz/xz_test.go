package xz

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"os"
	"os/exec"
	"testing"

	"gotap/engine/testenv"
)

// compress runs xz.
func compress(t testing.TB, plain []byte, options ...string) []byte {
	t.Helper()
	cmd := exec.Command("xz", append([]string{"--stdout"}, options...)...)
	cmd.Stdin = bytes.NewReader(plain)
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// samples are data of different kinds: empty, tiny, repetitive, incompressible, and this program.
func samples(t testing.TB) map[string][]byte {
	t.Helper()
	self, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	random := make([]byte, 70_000)
	rng := rand.NewChaCha8([32]byte{1})
	rng.Read(random)
	return map[string][]byte{"empty": {}, "one": {7}, "zeros": make([]byte, 500_000), "random": random,
		"two": append(append([]byte{}, random...), random...), "program": self[:min(len(self), 1<<20)]}
}

// TestDecode decodes what xz has compressed with its presets, checksums, properties and several blocks.
func TestDecode(t *testing.T) {
	testenv.Require(t, testenv.XZ)
	const fast = "--lzma2=preset=1" // the checksums and blocks are the same after any preset
	options := [][]string{{"-0"}, {"-6"}, {fast, "--check=none"}, {fast, "--check=crc32"}, {fast, "--check=sha256"}, {fast, "--block-size=100000"},
		{"--lzma2=preset=6,dict=1MiB,lc=0,lp=2,pb=0"}, {"--lzma2=preset=6,dict=1MiB,lc=1,lp=3,pb=4"}, {"--lzma2=preset=1,dict=4KiB"}}
	for name, plain := range samples(t) {
		for _, o := range options {
			got, err := Decode(compress(t, plain, o...), len(plain))
			if err != nil || !bytes.Equal(got, plain) {
				t.Fatalf("%s with %v: %d bytes of %d, %v", name, o, len(got), len(plain), err)
			}
		}
	}
}

// TestDecodeIsBounded: 20 MB of zeros have 3 KB compressed.
func TestDecodeIsBounded(t *testing.T) {
	testenv.Require(t, testenv.XZ)
	packed := compress(t, make([]byte, 20<<20), "-1")
	for _, limit := range []int{20<<20 - 1, 20 << 20} {
		if got, err := Decode(packed, limit); (len(got) == 20<<20) != (limit == 20<<20) || err != nil && !errors.Is(err, ErrSize) {
			t.Errorf("with a bound of %d: %d bytes, %v", limit, len(got), err)
		} else if cap(got)-len(got) > 64<<10 {
			t.Errorf("%d bytes have room for %d: they were moved as they grew", len(got), cap(got))
		}
	}
	if _, err := Decode(packed, 1<<20); !errors.Is(err, ErrSize) {
		t.Errorf("a result over the bound: %v", err)
	}
	if most := testing.AllocsPerRun(1, func() { Decode(packed, 1<<20) }); most > 200 {
		t.Errorf("%v allocations for a result that is refused", most)
	}
}

// TestDamage changes each byte of a small stream, and cuts it at each length. What is decoded is right or an error.
func TestDamage(t *testing.T) {
	testenv.Require(t, testenv.XZ)
	plain := bytes.Repeat([]byte("damaged data is refused. "), 20)
	packed := compress(t, plain)
	index := len(packed) - 12 - 8 // not read: the index and the footer
	for i := range index - 4 {
		bad := bytes.Clone(packed)
		bad[i] ^= 0x55
		if got, err := Decode(bad, 1<<20); err == nil && !bytes.Equal(got, plain) {
			t.Errorf("byte %d changed: %q", i, got)
		}
		if got, err := Decode(packed[:i], 1<<20); err == nil {
			t.Errorf("%d bytes: %q", i, got)
		} else if !errors.Is(err, ErrFormat) && !errors.Is(err, ErrSize) {
			t.Errorf("%d bytes: %v", i, err)
		}
	}
	if _, err := Decode(compress(t, plain, "--x86", "--lzma2"), 1<<20); !errors.Is(err, ErrFormat) {
		t.Errorf("a filter that is not supported: %v", err)
	}
}

// FuzzDecode: no data ends the program, and none makes more than the bound.
func FuzzDecode(f *testing.F) {
	if _, err := exec.LookPath("xz"); err == nil {
		f.Add(compress(f, []byte("seed seed seed seed seed")))
		f.Add(compress(f, []byte("seed"), "--check=none"))
	}
	f.Fuzz(func(t *testing.T, packed []byte) {
		if out, err := Decode(packed, 1<<16); err == nil && len(out) > 1<<16 {
			t.Errorf("%d bytes", len(out))
		}
	})
}

func BenchmarkDecode(b *testing.B) {
	plain := samples(b)["program"]
	packed := compress(b, plain)
	b.SetBytes(int64(len(plain)))
	for b.Loop() {
		if _, err := Decode(packed, len(plain)); err != nil {
			b.Fatal(err)
		}
	}
}
