package arm

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	command "os/exec"
	"strconv"
	"strings"
	"testing"

	"gotap/arch"
	"gotap/engine/testenv"
)

// TestVectorLibraries prepares every instruction of the vector unit in the C and mathematical libraries. They have
// symbols, so the disassembler does not take data for instructions.
func TestVectorLibraries(t *testing.T) {
	testenv.Require(t, testenv.Need("arm-linux-gnueabihf-gcc"), testenv.Need("arm-linux-gnueabihf-objdump"))
	total := 0
	for _, lib := range []string{"libm.a", "libc.a", "libgcc.a"} {
		path, err := command.Command("arm-linux-gnueabihf-gcc", "-print-file-name="+lib).Output()
		if err != nil {
			t.Fatal(err)
		}
		cmd := command.Command("arm-linux-gnueabihf-objdump", "-d", strings.TrimSpace(string(path)))
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		total += prepareListing(t, out)
		if err := cmd.Wait(); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d instructions of the vector unit", total)
	if total < 10000 {
		t.Errorf("only %d instructions: is that what objdump writes?", total)
	}
}

// prepareListing prepares the vector instructions of a disassembly and returns their number.
func prepareListing(t *testing.T, listing io.Reader) (n int) {
	lines := bufio.NewScanner(listing)
	for lines.Scan() {
		part := strings.Split(lines.Text(), "\t") // address, code, mnemonic, operands
		if len(part) < 3 || !strings.HasPrefix(part[2], "v") {
			continue
		}
		if err := prepareListed(part[1]); err != nil {
			t.Errorf("%s: %v", lines.Text(), err)
		}
		n++
	}
	if err := lines.Err(); err != nil {
		t.Error(err)
	}
	return n
}

// prepareListed prepares the instruction of a line: one word of A32, or two halfwords of Thumb.
func prepareListed(hex string) error {
	var isa arch.Arch = Thumb
	digits := strings.Fields(hex)
	if len(digits) == 1 {
		isa = A32
		digits = []string{digits[0][4:], digits[0][:4]}
	}
	var code []byte
	for _, d := range digits {
		v, err := strconv.ParseUint(d, 16, 16)
		if err != nil {
			return fmt.Errorf("cannot read the listing: %w", err)
		}
		code = binary.LittleEndian.AppendUint16(code, uint16(v))
	}
	in, err := isa.Decode(code, 0)
	if err == nil {
		_, err = isa.Prepare(in)
	}
	return err
}
