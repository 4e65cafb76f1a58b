package compile

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"

	"gotap/runtime"
	"gotap/runtime/arena"
	"gotap/runtime/opcode"
	"gotap/runtime/outcome"
	"gotap/runtime/record"
	rtvalue "gotap/runtime/value"
)

// A program in a file:
//
//	"gRPN", version 1
//	name, flags (1 circular stack, 2 destructive, 4 trace of each exception, 8 a heap, 16 a limit on data), storage of a call, fuel, log, stack, scratch words,
//	mask of exceptions, trace, with flag 8 the heap, with flag 16 the bytes of data in the log
//	texts; formats; objects; registers; commands: each a count and that many
//	CRC-32 (IEEE) of all before, little-endian
//
// Numbers are unsigned varints in their shortest form, texts a length and bytes, words of push
// d 8 bytes little-endian. A command is the code of its row and its operands. Positions in the
// source are not kept. Every program has exactly one encoding, and every accepted encoding one
// program.
const (
	fileMagic   = "gRPN"
	fileVersion = 1

	flagWrap   = 1
	flagUnsafe = 2
	flagAuto   = 4
	flagHeap   = 8
	flagData   = 16
)

// ErrFile matches every error of UnmarshalBinary. Callers need to distinguish a bad file, which was damaged or made by
// another version, from a program that Verify refuses.
var ErrFile = errors.New("not a valid program file")

// MarshalBinary encodes a program. It fails for a program whose sizes or operations Verify would refuse.
func (p *Program) MarshalBinary() ([]byte, error) {
	e := encoder{b: append([]byte(fileMagic), fileVersion)}
	e.text(p.Name)
	flags := 0
	if p.Wrap {
		flags |= flagWrap
	}
	if p.Unsafe {
		flags |= flagUnsafe
	}
	if p.AutoTrace {
		flags |= flagAuto
	}
	if p.Heap != 0 {
		flags |= flagHeap
	}
	if p.LogData != 0 {
		flags |= flagData
	}
	for _, n := range []int{flags, p.This, int(p.Fuel), p.LogMax, p.Stack, p.Temps} {
		e.number(n)
	}
	e.b = binary.AppendUvarint(e.b, uint64(p.Mask)) // 32 bits, which do not fit in an int everywhere
	e.number(p.TraceMax)
	if p.Heap != 0 {
		e.number(p.Heap)
	}
	if p.LogData != 0 {
		e.number(p.LogData)
	}
	e.texts(p.Texts)
	e.number(len(p.Formats))
	for _, f := range p.Formats {
		e.format(f)
	}
	e.number(len(p.Objects))
	for _, id := range p.Objects {
		e.number(id)
	}
	e.texts(p.Regs)
	e.number(len(p.Code))
	for i, c := range p.Code {
		e.command(i, c)
	}
	if e.err != nil {
		return nil, fmt.Errorf("cannot encode program %q: %w", p.Name, e.err)
	}
	return binary.LittleEndian.AppendUint32(e.b, crc32.ChecksumIEEE(e.b)), nil
}

// encoder appends to b until a value does not fit. It keeps the first error and discards everything written after it,
// so that the code reads like the format.
type encoder struct {
	b   []byte
	err error
}

// number appends a varint. Most lengths and limits are small and take one byte.
func (e *encoder) number(n int) {
	if n < 0 && e.err == nil {
		e.err = fmt.Errorf("%d is negative", n)
	}
	e.b = binary.AppendUvarint(e.b, uint64(n))
}

func (e *encoder) text(s string) {
	e.number(len(s))
	e.b = append(e.b, s...)
}

func (e *encoder) texts(list []string) {
	e.number(len(list))
	for _, s := range list {
		e.text(s)
	}
}

// format writes a format. Formats are part of a program file, because the tracer that loads the file has no source to
// make them from.
func (e *encoder) format(f record.Format) {
	e.b = append(e.b, byte(f.Kind))
	e.text(f.Text)
	e.number(len(f.Fields))
	for _, field := range f.Fields {
		e.text(field.Name)
		e.b = append(e.b, byte(field.Kind))
		e.number(field.Part)
		if !field.IsLiteral {
			e.b = append(e.b, 0)
			continue
		}
		e.b = append(e.b, 1)
		e.text(field.Literal)
	}
}

// command writes the code of a row and its operands. The row determines which operands there are, so nothing marks
// them.
func (e *encoder) command(i int, c Command) {
	row := opcode.RowOf(c.Op)
	if row == nil {
		e.err = fmt.Errorf("command %d: %d is not an operation", i, c.Op)
		return
	}
	e.b = append(e.b, row.Code)
	switch row.Operand {
	case opcode.NoOperand:
	case opcode.WordOperand:
		e.b = binary.LittleEndian.AppendUint64(e.b, c.V)
	default:
		e.b = binary.AppendUvarint(e.b, uint64(c.A))
		if usesBoth(row, c.A) {
			e.b = binary.AppendUvarint(e.b, c.V)
		}
	}
}

// usesBoth reports whether a command with operand a has a second operand, in V. Missing operands are not written: only
// the shortest form is valid.
func usesBoth(row *opcode.Row, a uint32) bool {
	return row.Operand == opcode.WordsOperand || row.Operand == opcode.ExitOperand && outcome.ExitKind(a) == outcome.ExitFacility
}

// UnmarshalBinary decodes the output of MarshalBinary into an empty program, which is not verified yet. Errors match
// ErrFile; their text says whether the file is damaged, truncated or newer. The input is not kept.
func (p *Program) UnmarshalBinary(data []byte) error {
	d := decoder{b: data}
	d.header()
	var q Program
	q.Name = d.text()
	flags := d.number(flagWrap | flagUnsafe | flagAuto | flagHeap | flagData)
	q.Wrap, q.Unsafe, q.AutoTrace = flags&flagWrap != 0, flags&flagUnsafe != 0, flags&flagAuto != 0
	q.This = d.number(arena.MaxThisBytes)
	q.Fuel = uint32(d.number(runtime.MaxFuel))
	q.LogMax = d.number(record.MaxLog)
	q.Stack = d.number(runtime.MaxStack)
	q.Temps = d.number(runtime.MaxTemps)
	q.Mask = d.operand()
	q.TraceMax = d.number(runtime.MaxTrace)
	if flags&flagHeap != 0 {
		if q.Heap = d.number(runtime.MaxHeap); q.Heap == 0 {
			d.fail("it has a heap of no bytes")
		}
	}
	if flags&flagData != 0 {
		if q.LogData = d.number(record.MaxLog); q.LogData == 0 {
			d.fail("it logs no bytes of data")
		}
	}
	q.Texts = d.texts()
	q.Formats = list(&d, d.format)
	q.Objects = list(&d, func() int { return d.number(math.MaxInt32) })
	q.Regs = d.texts()
	q.Code = list(&d, d.command)
	if len(d.b) != 0 {
		d.fail("data follows its end")
	}
	if d.err != nil {
		return d.err
	}
	*p = q
	return nil
}

// decoder reads from b until an error occurs.
type decoder struct {
	b   []byte
	err error
}

// fail keeps the first error, and makes all further reads return nothing.
func (d *decoder) fail(format string, args ...any) {
	if d.err == nil {
		d.err = fmt.Errorf("%w: %s", ErrFile, fmt.Sprintf(format, args...))
	}
	d.b = nil
}

// header checks and removes the data around the program. It checks the version before the checksum, because a newer
// format may have another checksum.
func (d *decoder) header() {
	n := len(fileMagic)
	switch {
	case len(d.b) < n+1 || string(d.b[:n]) != fileMagic:
		d.fail("it does not begin with %s", fileMagic)
	case d.b[n] > fileVersion:
		d.fail("its version is %d, and this gotap knows %d", d.b[n], fileVersion)
	case d.b[n] != fileVersion || len(d.b) < n+5:
		d.fail("it is truncated")
	case crc32.ChecksumIEEE(d.b[:len(d.b)-4]) != binary.LittleEndian.Uint32(d.b[len(d.b)-4:]):
		d.fail("its checksum is wrong: it is truncated or damaged")
	default:
		d.b = d.b[n+1 : len(d.b)-4]
	}
}

// uvarint reads a number in its shortest form. A number with trailing zero bytes would be a second encoding of the same
// program, and two files of one program could have different checksums.
func (d *decoder) uvarint() uint64 {
	v, n := binary.Uvarint(d.b)
	if n <= 0 || n > 1 && d.b[n-1] == 0 {
		d.fail("a number is malformed")
		return 0
	}
	d.b = d.b[n:]
	return v
}

// number reads a number of at most most.
func (d *decoder) number(most int) int {
	v := d.uvarint()
	if v > uint64(most) {
		d.fail("a number is %d, and at most %d is allowed", v, most)
		return 0
	}
	return int(v)
}

// operand reads a number of 32 bits, which does not fit in an int everywhere.
func (d *decoder) operand() uint32 {
	v := d.uvarint()
	if v > math.MaxUint32 {
		d.fail("an operand is %d, which does not fit in 32 bits", v)
		return 0
	}
	return uint32(v)
}

// byte reads one byte.
func (d *decoder) byte() byte {
	if len(d.b) == 0 {
		d.fail("it ends too early")
		return 0
	}
	v := d.b[0]
	d.b = d.b[1:]
	return v
}

func (d *decoder) text() string {
	n := d.number(len(d.b))
	if n > len(d.b) {
		d.fail("it ends too early")
		return ""
	}
	s := string(d.b[:n])
	d.b = d.b[n:]
	return s
}

func (d *decoder) texts() []string { return list(d, d.text) }

// list reads a count and that many elements, each of at least one byte. The count is bounded by the number of remaining
// bytes, and memory grows with the data actually read, so a file of ten bytes cannot request a gigabyte.
func list[T any](d *decoder, one func() T) []T {
	n := d.number(len(d.b))
	if n == 0 || d.err != nil {
		return nil
	}
	all := make([]T, 0, min(n, 1024))
	for range n {
		if all = append(all, one()); d.err != nil {
			return nil
		}
	}
	return all
}

// format reads a format. It does not check kinds: Verify refuses unknown ones.
func (d *decoder) format() record.Format {
	f := record.Format{Kind: record.ItemKind(d.byte()), Text: d.text()}
	f.Fields = list(d, d.field)
	return f
}

func (d *decoder) field() record.Field {
	f := record.Field{Name: d.text(), Kind: rtvalue.Kind(d.byte()), Part: d.number(math.MaxInt32)}
	switch d.byte() {
	case 0:
	case 1:
		f.IsLiteral, f.Literal = true, d.text()
	default:
		d.fail("a field is malformed")
	}
	return f
}

// command reads a command. A code without a row comes from a newer version or from damage; both are errors here.
func (d *decoder) command() Command {
	code := d.byte()
	row := opcode.ByCode(code)
	if row == nil {
		d.fail("%#02x is not the code of a command", code)
		return Command{}
	}
	c := Command{Op: row.Op()}
	switch row.Operand {
	case opcode.NoOperand:
	case opcode.WordOperand:
		if len(d.b) < 8 {
			d.fail("it ends too early")
			return c
		}
		c.V = binary.LittleEndian.Uint64(d.b)
		d.b = d.b[8:]
	default:
		c.A = d.operand()
		if usesBoth(row, c.A) {
			c.V = d.uvarint()
		}
	}
	return c
}
