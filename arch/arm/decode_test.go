package arm

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	command "os/exec"
	"slices"
	"strings"
	"testing"

	"gotap/arch"
	"gotap/engine/testenv"
)

// TestEveryRowIsReached makes an encoding of every row that decodes to it: no row is hidden by those before it.
func TestEveryRowIsReached(t *testing.T) {
	g := generator{rand.New(rand.NewPCG(1, 2))}
	for i, x := range []*index{a32(), a32Always(), thumb16(), thumb32()} {
		tab := coreTables()[i]
		for _, r := range tab.rows {
			reached := false
			for range 2000 {
				if reached = x.find(g.word(r, tab.bits)) == r; reached {
					break
				}
			}
			if !reached {
				t.Errorf("%s: no encoding is %s (%#x of %#x)", tab.name, r.name, r.value, r.mask)
			}
		}
	}
}

// TestUndefined has a processor execute words that do not decode: they must be undefined for it too.
func TestUndefined(t *testing.T) {
	g := newGenerator(t)
	for _, thumb := range []bool{false, true} {
		var states []state
		for len(states) < 2000 {
			w := g.Uint32()
			if thumb {
				w |= 0xe8000000
			}
			code := encode(w, thumb, 32)
			s := g.state(code, thumb)
			s.regs[regCPSR] &^= maskIT
			// QEMU executes some words of the unallocated space 1111 1111 as coprocessor instructions without
			// effect.
			if _, err := s.isa().Decode(code, s.regs[regPC]); err != nil && (thumb || w>>24 != 0xff) {
				states = append(states, s)
			}
		}
		for i, a := range runStates(t, states) {
			s := &states[i]
			if a.completed(s) && holds(uint32(s.code[3])>>4, uint32(s.regs[regCPSR])) {
				t.Errorf("%s % x does not decode, and the processor executes it", s.isa().Name(), s.code)
			}
		}
	}
}

// TestDecodeThumb16 decodes every halfword that is an instruction.
func TestDecodeThumb16(t *testing.T) {
	var undefined []string
	for w := range uint32(0xe800) {
		if _, err := Thumb.Decode(encode(w, true, 16), 0x1000); err != nil {
			if !errors.Is(err, arch.ErrUnsupported) {
				t.Fatal(err)
			}
			undefined = append(undefined, fmt.Sprintf("%04x", w))
		}
	}
	for _, w := range undefined { // 1011 0110, 1000, 1010 …: holes in the miscellaneous instructions
		if w[0] != 'b' {
			t.Errorf("%s does not decode", w)
		}
	}
	t.Logf("%d halfwords do not decode", len(undefined))
}

// FuzzDecode passes any word to both decoders, and decoded instructions to Prepare and Exec.
func FuzzDecode(f *testing.F) {
	f.Add(uint32(0xe0810002), uint32(0x10))
	f.Fuzz(func(t *testing.T, w, cpsr uint32) {
		m := &arenaOnly{make([]byte, arenaSize)}
		for _, a := range []arch.Arch{A32, Thumb} {
			in, err := a.Decode(encode(w, a == Thumb, 32), 0x1000)
			if err != nil {
				continue
			}
			var regs arch.Regs
			regs[regPC], regs[regCPSR] = 0x1000, uint64(cpsr&^flagT)
			before := regs
			if err := Exec(in, &regs, &arch.Vectors{}, m); err != nil && regs != before {
				t.Errorf("%s %#x: registers changed although %v", a.Name(), w, err)
			}
			a.Text(encode(w, a == Thumb, 32), 0x1000)
		}
	})
}

// TestLibraries prepares every instruction of the C library, in Thumb, and of a program in A32. It reports how many
// can be probed, and why the others cannot.
func TestLibraries(t *testing.T) {
	testenv.Require(t, testenv.GCCARM, testenv.ObjdumpARM)
	for _, c := range []struct {
		name    string
		a       arch.Arch
		listing func() ([]byte, error)
		atLeast int
	}{
		{"thumb", Thumb, libcListing, 100000},
		{"arm", A32, func() ([]byte, error) {
			exe := compile(t, programA32(), "-marm", "-O2", "-march=armv7-a+neon-vfpv4")
			return command.Command(string(testenv.ObjdumpARM), "-d", "-w", exe).Output()
		}, 1500},
	} {
		t.Run(c.name, func(t *testing.T) {
			listing, err := c.listing()
			if err != nil {
				t.Fatal(err)
			}
			total, refused := prepareProgram(t, listing, c.a)
			bad := 0
			for _, reason := range slices.Sorted(maps.Keys(refused)) {
				t.Logf("%6d %s", refused[reason], reason)
				if bad += refused[reason]; strings.Contains(reason, "unpredictable") || strings.Contains(reason, "decode") {
					t.Errorf("%s", reason)
				}
			}
			t.Logf("%d instructions, %.3f %% can be probed", total, 100*float64(total-bad)/float64(total))
			if total < c.atLeast || bad*100 > total {
				t.Errorf("%d of %d instructions refused", bad, total)
			}
		})
	}
}

// programA32 consists of many small functions for which a compiler uses many instructions.
func programA32() string {
	var b strings.Builder
	types := []string{"signed char", "unsigned short", "int", "long long", "double"}
	for i, a := range types {
		for j, r := range types {
			for k, op := range []string{"+", "*", "/", "<"} {
				fmt.Fprintf(&b, "%s f%d_%d_%d(%s a, %s *p, int n) { for (int i = 0; i < n; i++) a = (a %s p[i]) + p[n - i]; p[n] = a; return a; }\n", r, i, j, k, a, r, op)
			}
		}
	}
	b.WriteString("int g(int n, int *p) { switch (n) { case 0: return *p; case 1: return p[7]; case 2: return g(p[1], p); case 3: return p[2]*5; case 4: return p[9]+1; case 5: p[3]=1; } return __sync_fetch_and_add(p, n); }\n")
	b.WriteString("int main(void) { return 0; }\n")
	return b.String()
}

// prepareProgram prepares the instructions that the disassembler finds in functions of one instruction set. Mapping
// symbols exclude data.
func prepareProgram(t *testing.T, listing []byte, a arch.Arch) (total int, refused map[string]int) {
	t.Helper()
	refused = map[string]int{}
	lines := bufio.NewScanner(bytes.NewReader(listing))
	for lines.Scan() {
		part := strings.Split(lines.Text(), "\t") // address, code, mnemonic, operands
		if len(part) < 3 || strings.HasPrefix(part[2], ".") || strings.Contains(lines.Text(), "UNDEFINED") {
			continue
		}
		code, is := listedCode(t, part[1])
		if is != a {
			continue
		}
		total++
		if reason := whyRefused(a, code); reason != "" {
			refused[reason]++
			if strings.Contains(reason, "unpredictable") || strings.Contains(reason, "decode") {
				t.Log(lines.Text())
			}
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return total, refused
}

// listedCode returns the bytes of a disassembled instruction: one word of A32, or one or two halfwords of Thumb.
func listedCode(t *testing.T, hex string) ([]byte, arch.Arch) {
	t.Helper()
	digits := strings.Fields(hex)
	var w, half uint32
	if _, err := fmt.Sscanf(digits[0], "%x", &w); err != nil {
		t.Fatal(err)
	}
	switch {
	case len(digits[0]) == 8:
		return encode(w, false, 32), A32
	case len(digits) == 1:
		return encode(w, true, 16), Thumb
	}
	if _, err := fmt.Sscanf(digits[1], "%x", &half); err != nil {
		t.Fatal(err)
	}
	return encode(w<<16|half, true, 32), Thumb
}

// whyRefused returns why an instruction cannot be probed, or "".
func whyRefused(a arch.Arch, code []byte) string {
	in, err := a.Decode(code, 0)
	if err == nil {
		_, err = a.Prepare(in)
	}
	var refusal *arch.RefusedError
	switch {
	case err == nil:
		return ""
	case errors.As(err, &refusal):
		return refusal.Reason
	}
	return err.Error()
}
