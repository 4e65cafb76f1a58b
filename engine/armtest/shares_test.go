package armtest

import (
	"bufio"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gotap/arch"
	"gotap/arch/arm"
	"gotap/arch/arm64"
	"gotap/engine/testenv"
)

// share counts the instructions of a program or a library, and those of them that cannot be probed, by their class.
type share struct {
	total   int
	refused map[string]int
	between bool // a load-exclusive precedes, and its store-exclusive follows
}

// add counts one instruction.
func (s *share) add(a arch.Arch, code []byte, at uint64) (arch.Insn, error) {
	s.total++
	in, err := a.Decode(code, at)
	if err == nil {
		_, err = a.Prepare(in)
	}
	class := className(a, in)
	switch {
	case err != nil && in.Len == 0:
		s.refused["undefined: "+err.Error()]++
	case err != nil:
		s.refused[class]++
	case s.between:
		s.refused["between exclusives"]++
	}
	if class == "exclusive" {
		text := a.Text(in.Bytes[:in.Len], in.Addr)
		s.between = strings.HasPrefix(text, "ld")
	}
	return in, err
}

// className returns the class of an instruction.
func className(a arch.Arch, in arch.Insn) string {
	switch {
	case in.Len == 0:
		return ""
	case a == arm64.A64:
		return arm64.ClassOf(in).String()
	}
	return arm.ClassOf(in).String()
}

// log prints a row of the table.
func (s *share) log(t *testing.T, name string) {
	t.Helper()
	var reasons []string
	bad := 0
	for _, r := range slices.SortedFunc(maps.Keys(s.refused), func(a, b string) int { return s.refused[b] - s.refused[a] }) {
		bad += s.refused[r]
		reasons = append(reasons, fmt.Sprintf("%d %s", s.refused[r], r))
	}
	t.Logf("| %s | %d | %.2f %% | %s |", name, s.total, 100*float64(s.total-bad)/float64(s.total), strings.Join(reasons, ", "))
	if s.total < 10000 || bad*50 > s.total {
		t.Errorf("%s: %d of %d instructions are refused", name, bad, s.total)
	}
}

// listedShare counts the instructions in a disassembler's listing of a file whose symbols distinguish code from data.
func listedShare(t *testing.T, objdump, file string) *share {
	t.Helper()
	s := &share{refused: map[string]int{}}
	cmd := exec.Command(objdump, "-d", file)
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		part := strings.Split(lines.Text(), "\t") // address, code, mnemonic, operands
		if len(part) < 3 || strings.HasPrefix(part[2], ".") || strings.Contains(lines.Text(), "undefined") || part[2] == "udf" {
			s.between = s.between && len(part) >= 3 // not into the next function
			continue
		}
		at, _ := strconv.ParseUint(strings.TrimSuffix(strings.TrimSpace(part[0]), ":"), 16, 64)
		a, code := listedCode(objdump, part[1])
		s.add(a, code, at)
	}
	if err := errors.Join(lines.Err(), cmd.Wait()); err != nil {
		t.Fatal(err)
	}
	return s
}

// listedCode returns the bytes in a line of the listing: a word of A64 or A32, or one or two halfwords of Thumb.
func listedCode(objdump, hex string) (arch.Arch, []byte) {
	digits := strings.Fields(hex)
	var code []byte
	for _, d := range digits {
		v, _ := strconv.ParseUint(d, 16, 32)
		if len(d) == 4 {
			code = binary.LittleEndian.AppendUint16(code, uint16(v))
		} else {
			code = binary.LittleEndian.AppendUint32(code, uint32(v))
		}
	}
	switch {
	case strings.HasPrefix(objdump, "aarch64"):
		return arm64.A64, code
	case len(digits[0]) == 8:
		return arm.A32, code
	}
	return arm.Thumb, code
}

// place is an address of code and its instruction set.
type codePlace struct {
	addr uint64
	set  arch.Arch
}

// followedShare counts the instructions of a stripped file that direct branches and calls reach from its entry and
// from the functions in its exception tables. Nothing else distinguishes its instructions from the data between
// them.
func followedShare(t *testing.T, file string, set arch.Arch) *share {
	t.Helper()
	f, err := elf.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	text := f.Section(".text")
	code, err := text.Data()
	if err != nil {
		t.Fatal(err)
	}
	s := &share{refused: map[string]int{}}
	seen := map[uint64]bool{}
	work := append(tableStarts(f, set), codePlace{f.Entry &^ 1, set})
	for len(work) > 0 {
		p := work[len(work)-1]
		work = work[:len(work)-1]
		s.between = false
		for _, in := range straight(p, text.Addr, code, seen) {
			s.add(p.set, in.Bytes[:in.Len], in.Addr)
			if in.Target != 0 {
				work = append(work, targetOf(p.set, in))
			}
		}
	}
	return s
}

// straight returns the instructions from a place up to the next that does not continue, or is already known. The bytes
// behind a call that never returns may be data; then they end in an invalid instruction and are omitted.
func straight(p codePlace, base uint64, code []byte, seen map[uint64]bool) (run []arch.Insn) {
	for sure := 0; p.addr-base < uint64(len(code)) && !seen[p.addr]; {
		in, err := p.set.Decode(code[p.addr-base:], p.addr)
		if err == nil {
			_, err = p.set.Prepare(in)
		}
		if in.Len == 0 || err != nil && className(p.set, in) == "ordinary" {
			return run[:sure]
		}
		seen[p.addr] = true
		run = append(run, in)
		switch in.Control {
		case arch.Jump, arch.Return, arch.IndirJump, arch.Trap:
			return run
		case arch.Call, arch.IndirCall:
			sure = len(run)
		}
		p.addr += uint64(in.Len)
	}
	return run
}

// targetOf returns the target of a direct branch or call. BLX with an address changes the instruction set.
func targetOf(set arch.Arch, in arch.Insn) codePlace {
	if set != arm64.A64 && in.Control == arch.Call && strings.HasPrefix(strings.ToLower(set.Text(in.Bytes[:in.Len], in.Addr)), "blx") {
		if set == arm.A32 {
			return codePlace{in.Target &^ 1, arm.Thumb}
		}
		return codePlace{in.Target &^ 3, arm.A32}
	}
	return codePlace{in.Target &^ 1, set}
}

// tableStarts returns the starts of functions in .ARM.exidx (EHABI32, 5).
func tableStarts(f *elf.File, set arch.Arch) (all []codePlace) {
	index := f.Section(".ARM.exidx")
	if index == nil {
		return nil
	}
	data, _ := index.Data()
	for i := 0; i+8 <= len(data); i += 8 {
		offset := int32(binary.LittleEndian.Uint32(data[i:])<<1) >> 1
		all = append(all, codePlace{uint64(uint32(index.Addr) + uint32(i) + uint32(offset)), set})
	}
	return all
}

// TestShares prints the share of the instructions of C libraries that can be probed, as rows of a table. In long
// runs, it also counts busybox, and Debian's library for processors without Thumb.
func TestShares(t *testing.T) {
	testenv.Require(t, testenv.GCCARM, testenv.GCCARM64, testenv.ObjdumpARM, testenv.ObjdumpARM64)
	const armObjdump, a64Objdump = "arm-linux-gnueabihf-objdump", "aarch64-linux-gnu-objdump"
	listedShare(t, armObjdump, "/usr/arm-linux-gnueabihf/lib/libc.a").log(t, "libc.a, Thumb")
	listedShare(t, a64Objdump, "/usr/aarch64-linux-gnu/lib/libc.a").log(t, "libc.a, A64")
	if os.Getenv("GOTAP_LONG") == "" {
		return
	}
	testenv.Require(t, testenv.DpkgDeb)
	listedShare(t, armObjdump, debianFile(t, "armel", "libc6-dev", "usr/lib/arm-linux-gnueabi/libc.a")).log(t, "libc.a, A32")
	for _, c := range []struct {
		name, debian string
		set          arch.Arch
	}{{"Thumb", "armhf", arm.Thumb}, {"A32", "armel", arm.A32}, {"A64", "arm64", arm64.A64}} {
		followedShare(t, debianFile(t, c.debian, "busybox-static", "bin/busybox"), c.set).log(t, "busybox, "+c.name)
	}
}

// debianFile returns a file of a Debian package. The package is kept for later runs.
func debianFile(t *testing.T, debian, name, path string) string {
	t.Helper()
	dir, err := cacheDir()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, filepath.Base(path)+"-"+debian)
	if _, err := os.Stat(file); err == nil {
		return file
	}
	deb, err := apt{dir: dir, debian: debian}.download(name)
	if err != nil {
		t.Fatal(err)
	}
	defer os.Remove(deb)
	out, err := exec.Command("sh", "-c", `dpkg-deb --fsys-tarfile "$1" | tar -xO "./$2"`, "sh", deb, path).Output()
	if err == nil {
		err = os.WriteFile(file, out, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	return file
}
