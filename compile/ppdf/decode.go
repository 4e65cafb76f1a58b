package ppdf

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"unicode/utf8"

	"gotap/compile"
	"gotap/compile/dpdf"
)

// ErrFile is what every refusal of Decode matches.
var ErrFile = errors.New("not a valid prebuilt probe file")

// Is reports whether data begins as a file does.
func Is(data string) bool { return len(data) >= len(Magic) && data[:len(Magic)] == Magic }

// bad is a refusal with its reason.
func bad(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrFile, fmt.Sprintf(format, args...))
}

// Decode decodes a file. Its programs are not verified yet: Bind does that. The input is not kept.
func Decode(data []byte) (*File, error) {
	kind, err := frame(data)
	if err != nil {
		return nil, err
	}
	d := decoder{b: data[bodyAt : len(data)-crc32.Size]}
	f := &File{Name: d.text()}
	switch kind {
	case kindDefinition:
		f.Definition = d.definition()
	case kindScript:
		f.Script = d.text()
	default:
		return nil, bad("it is of kind %d, and there are 1 and 2", kind)
	}
	if len(d.b) > 0 {
		d.fail("%d bytes follow its end", len(d.b))
	}
	if d.err != nil {
		return nil, d.err
	}
	// One encoding for each file: what differs from it has needless bytes somewhere, and two files
	// with the same meaning could have different checksums.
	if again, err := Encode(f); err != nil || !bytes.Equal(again, data) {
		return nil, bad("it is not encoded as it should be")
	}
	return f, nil
}

// frame checks what is around the body, so that damaged, truncated and newer files are told
// apart. The order matters: version before length and checksum, since another version may keep
// those elsewhere; length before checksum, because a truncated file has a wrong checksum as
// well, and "truncated" tells more.
func frame(data []byte) (kind byte, err error) {
	switch {
	case len(data) < len(Magic)+1 || string(data[:len(Magic)]) != Magic:
		return 0, bad("it does not begin as one")
	case data[len(Magic)] > Version:
		return 0, bad("it has version %d, and this gotap reads up to %d", data[len(Magic)], Version)
	case data[len(Magic)] == 0:
		return 0, bad("it has version 0")
	case len(data) < frameSize:
		return 0, bad("it is truncated after %d bytes", len(data))
	}
	size := int64(binary.LittleEndian.Uint32(data[lengthAt:]))
	switch {
	case size > MaxSize:
		return 0, bad("it says it has %d bytes, more than %d", size, MaxSize)
	case int64(len(data)) < size:
		return 0, bad("it is truncated: %d of %d bytes", len(data), size)
	case int64(len(data)) > size:
		return 0, bad("%d bytes follow after its end", int64(len(data))-size)
	}
	end := len(data) - crc32.Size
	if crc32.ChecksumIEEE(data[:end]) != binary.LittleEndian.Uint32(data[end:]) {
		return 0, bad("it is damaged: the checksum does not match")
	}
	return data[len(Magic)+1], nil
}

// decoder reads from b until something is wrong; from then on everything is empty. After the
// first error it gives zeros, so that reading needs no test at each step; the error is looked
// at in the end.
type decoder struct {
	b   []byte
	err error
}

// fail notes the first error. Emptying b makes all that is still to be read fail as well, at once.
func (d *decoder) fail(format string, args ...any) {
	if d.err == nil {
		d.err = bad(format, args...)
	}
	d.b = nil
}

// number takes a number that is at most most. One in more bytes than it needs is not noticed
// here but by Decode, which encodes the whole file again and compares.
func (d *decoder) number(most uint64) uint64 {
	n, size := binary.Uvarint(d.b)
	switch {
	case size <= 0:
		d.fail("a number is cut off or too large")
		return 0
	case n > most:
		d.fail("the number %d is too large", n)
		return 0
	}
	d.b = d.b[size:]
	return n
}

// bytes takes a length and that many bytes, which are not copied.
func (d *decoder) bytes() []byte {
	n := d.number(uint64(len(d.b)))
	if n > uint64(len(d.b)) {
		d.fail("a text is cut off")
		return nil
	}
	s := d.b[:n]
	d.b = d.b[n:]
	return s
}

// text takes a name. Names go into messages and onto terminals, so bytes that are not UTF-8 are refused.
func (d *decoder) text() string {
	s := string(d.bytes())
	if !utf8.ValidString(s) {
		d.fail("a name is not valid UTF-8")
	}
	return s
}

// Limits of what a file may ask for, those of definition files.
const (
	mostCode      = math.MaxUint16
	mostVariables = 256
)

// code takes a major or minor code, a group, a type: DProbes kept them in 16 bits.
func (d *decoder) code() int { return int(d.number(mostCode)) }

// leastProbe is how many bytes a probe takes at least. A count is believed only as far as the
// bytes that are left could hold that many: memory is asked for in proportion to the file.
const leastProbe = 10

// definition takes the header and the probes. Arrays have no numbers yet: Bind declares them.
func (d *decoder) definition() *dpdf.File {
	f := &dpdf.File{Array: "lv", Name: d.text(), Locals: -1, GlobalVars: -1}
	f.Major, f.ID, f.DefaultExit = d.code(), d.code(), d.code()
	f.Vars, f.Globals = int(d.number(mostVariables)), int(d.number(mostVariables))
	count := d.number(uint64(len(d.b) / leastProbe))
	for range count {
		if d.err != nil {
			break
		}
		f.Probes = append(f.Probes, d.probe())
	}
	if len(f.Probes) == 0 {
		d.fail("it defines no probes")
	}
	return f
}

// probe takes one probe. Its program is a file within the file, with a checksum of its own, and is
// decoded by package compile under the same rules.
func (d *decoder) probe() dpdf.Probe {
	p := dpdf.Probe{Place: d.text(), Opcode: int(d.number(256)) - 1}
	p.Major, p.Minor, p.Group, p.Type = d.code(), d.code(), d.code(), d.code()
	p.PassCount, p.MaxHits = d.number(math.MaxInt64), d.number(math.MaxInt64)
	p.LogOnFault = d.number(flagLogOnFault) == flagLogOnFault
	data := d.bytes()
	if d.err != nil {
		return p
	}
	p.Program = new(compile.Program)
	if err := p.Program.UnmarshalBinary(data); err != nil {
		d.fail("probe %q: %v", p.Place, err)
	}
	return p
}
