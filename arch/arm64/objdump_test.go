package arm64

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"os"
	command "os/exec"
	"path/filepath"
	"strings"
	"testing"

	"gotap/engine/testenv"
)

// TestObjdump compares with objdump which random words are instructions. It omits the vector unit, and system
// registers, which objdump names regardless of privilege.
func TestObjdump(t *testing.T) {
	testenv.Require(t, testenv.ObjdumpARM64)
	r := rand.New(rand.NewPCG(7, 8))
	var words []uint32
	for len(words) < 200_000 {
		w := r.Uint32()
		if top := w >> 25 & 15; isVector(w) || top < 4 && w>>16 != 0 {
			continue // op0 of 0 to 3 is reserved, SVE and SME
		}
		words = append(words, w)
	}
	for i, line := range disassembled(t, words) {
		r, err := find(words[i])
		named := !strings.Contains(line, "undefined")
		if named != (err == nil) && !strings.Contains(line, "s0_") && !beyondObjdump(&r, words[i]) {
			t.Errorf("%#08x is %q to objdump, here %q, %v", words[i], line, r.name, err)
		}
	}
}

// beyondObjdump reports instructions that objdump shows as undefined: newer instructions, copies with odd
// registers, unpredictable loads, and encodings with wrong bits that no processor checks.
func beyondObjdump(r *row, w uint32) bool {
	for _, name := range []string{"swpp", "ldclrp", "ldsetp", "mrrs", "msrr", "sysp", "stilp or ldiapp", "stlr or ldapr (writeback)", "ldar", "ldlar", "stlr", "stllr"} {
		if r.name == name {
			return true
		}
	}
	return r.class == MemoryCopy || r.unpredictable != nil && r.unpredictable(w)
}

// disassembled returns objdump's line for each word.
func disassembled(t testing.TB, words []uint32) []string {
	t.Helper()
	var code []byte
	for _, w := range words {
		code = binary.LittleEndian.AppendUint32(code, w)
	}
	path := filepath.Join(t.TempDir(), "code")
	if err := os.WriteFile(path, code, 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := command.Command(string(testenv.ObjdumpARM64), "-D", "-z", "-b", "binary", "-m", "aarch64", "--no-show-raw-insn", path).Output()
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for line := range bytes.Lines(out) {
		if _, text, ok := strings.Cut(string(line), ":\t"); ok {
			lines = append(lines, strings.TrimSpace(text))
		}
	}
	if len(lines) != len(words) {
		t.Fatalf("%d lines for %d words", len(lines), len(words))
	}
	return lines
}
