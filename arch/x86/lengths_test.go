package x86

import (
	"bufio"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"gotap/engine/testenv"
)

// bodies lists binaries whose every instruction is compared with objdump. Quick runs use the first few,
// GOTAP_LONG=1 all; short runs compare the first instructions of each.
var bodies = []struct {
	glob  string
	long  bool // 64-bit code
	quick bool
}{
	{"/lib/x86_64-linux-gnu/libm.so.6", true, true},
	{"/lib/x86_64-linux-gnu/libc.so.6", true, true},
	{"/lib32/libc.so.6", false, true},
	{"/usr/lib/x86_64-linux-gnu/libcrypto.so.3", true, true},
	{"/usr/lib/x86_64-linux-gnu/libstdc++.so.6", true, false},
	{"/usr/local/go/bin/go", true, false},
	{"/usr/bin/gdb", true, false},
	{"/usr/bin/python3.*[0-9]", true, false},
	{"/lib32/libm.so.6", false, false},
	{"/usr/lib32/libstdc++.so.6", false, false},
}

// line is one instruction of an objdump listing.
type line struct {
	addr uint64
	code []byte
	text string
}

// listing reads objdump's output line by line.
type listing struct{ *bufio.Scanner }

// next parses lines until one is an instruction.
func (l listing) next() (line, bool) {
	for l.Scan() {
		part := strings.SplitN(l.Text(), "\t", 3)
		if len(part) < 2 || !strings.HasSuffix(part[0], ":") {
			continue
		}
		addr, err := strconv.ParseUint(strings.TrimSpace(strings.TrimSuffix(part[0], ":")), 16, 64)
		code, err2 := hex.DecodeString(strings.ReplaceAll(part[1], " ", ""))
		if err != nil || err2 != nil {
			continue
		}
		text := ""
		if len(part) == 3 {
			text = strings.TrimSpace(part[2])
		}
		return line{addr, code, text}, true
	}
	return line{}, false
}

// disassemble runs objdump on a file and calls f for every instruction, until f returns false.
func disassemble(t *testing.T, f func(line) bool, args ...string) {
	t.Helper()
	cmd := exec.Command("objdump", append([]string{"-d", "-w", "--insn-width=16"}, args...)...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		cmd.Process.Kill()
		io.Copy(io.Discard, out)
		cmd.Wait()
	}()
	l := listing{bufio.NewScanner(out)}
	for {
		in, ok := l.next()
		if !ok || !f(in) {
			return
		}
	}
}

// shortListing is how many instructions of a file short runs compare.
const shortListing = 30_000

// quirk reports listing lines that are not an instruction as the processor executes it: data among code, a prefix
// that objdump prints on a line of its own, and fwait, which objdump prints as part of the following x87
// instruction.
func quirk(in line) bool {
	switch {
	case strings.Contains(in.text, "(bad)"), strings.HasPrefix(in.text, ".byte"), in.text == "":
		return true
	case strings.Contains(in.text, "%?"), strings.Contains(in.text, ",%cs"), strings.HasPrefix(in.text, "jmpw"),
		strings.HasPrefix(in.text, "rex.") && strings.Contains(in.text, " v"):
		return true // libcrypto's tables, read as code
	case in.code[0] == 0x9b && len(in.code) > 1:
		return true
	}
	last := in.text[strings.LastIndexByte(in.text, ' ')+1:]
	_, alone := loneprefix[last]
	return alone || strings.HasPrefix(last, "rex")
}

var loneprefix = map[string]struct{}{"data16": {}, "addr32": {}, "addr16": {}, "lock": {}, "repz": {}, "repnz": {},
	"rep": {}, "cs": {}, "ds": {}, "es": {}, "fs": {}, "gs": {}, "ss": {}, "bnd": {}, "notrack": {}}

// TestLengths checks lengths, branch targets and RIP-relative operands of real programs' instructions against
// objdump.
func TestLengths(t *testing.T) {
	testenv.Require(t, testenv.Objdump)
	for _, b := range bodies {
		files, _ := filepath.Glob(b.glob)
		if len(files) == 0 || !b.quick && os.Getenv("GOTAP_LONG") == "" {
			continue
		}
		t.Run(filepath.Base(files[0])+map[bool]string{true: "-64", false: "-32"}[b.long], func(t *testing.T) {
			t.Parallel()
			compareLengths(t, files[0], b.long)
		})
	}
}

func compareLengths(t *testing.T, file string, long bool) {
	n, quirks, wrong := 0, 0, 0
	disassemble(t, func(l line) bool {
		if quirk(l) {
			quirks++
			return true
		}
		n++
		if msg := compareLine(l, long); msg != "" {
			wrong++
			t.Errorf("%#x: % x %s: %s", l.addr, l.code, l.text, msg)
		}
		return wrong < 30 && (n < shortListing || !testing.Short())
	}, file)
	t.Logf("%d instructions, %d wrong, %d lines skipped", n, wrong, quirks)
	if n < 10000 || quirks > n/50 {
		t.Errorf("only %d instructions read, %d lines skipped", n, quirks)
	}
}

// compareLine returns the differences, or "".
func compareLine(l line, long bool) string {
	code := append(append([]byte{}, l.code...), 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90)
	in, err := decodeInst(code, long)
	switch {
	case err != nil:
		return err.Error()
	case int(in.length) != len(l.code):
		return fmt.Sprintf("length %d", in.length)
	}
	end := l.addr + uint64(in.length)
	if want := strings.Contains(l.text, "(%rip)"); in.ripRel != want && !in.addrsize {
		return fmt.Sprintf("RIP-relative: %v", in.ripRel)
	}
	_, operand, _ := strings.Cut(l.text, " # ")
	if in.ripRel && !in.addrsize && !sameHex(operand, end+uint64(in.disp)) {
		return fmt.Sprintf("operand at %#x", end+uint64(in.disp))
	}
	if in.relLen == 0 {
		return ""
	}
	target := end + uint64(in.imm)
	if !long {
		target &= 0xffffffff
	}
	if f := strings.Fields(strings.SplitN(l.text, "<", 2)[0]); !sameHex(f[len(f)-1], target) {
		return fmt.Sprintf("target %#x", target)
	}
	return ""
}

func sameHex(s string, v uint64) bool {
	s, _, _ = strings.Cut(strings.TrimPrefix(strings.TrimSpace(s), "0x"), " ")
	return s == strconv.FormatUint(v, 16)
}
