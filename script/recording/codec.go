package recording

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"gotap/runtime/outcome"
	"gotap/runtime/record"
	"gotap/runtime/value"
)

// The payload of a record is
//
//	number of the probe | pid | tid | time | flags | kind | exit | name of the thread, 16 bytes | number of items | items
//
// An item is the number of its format, the number of its values, and the values: kind, then by kind a varint (integers,
// zigzag; floats by their bits), or for texts length<<1 | cut and the bytes, or for stacks length<<1 | cut, the
// process, and the addresses.

// errDamaged reports a payload that no Writer writes.
var errDamaged = errors.New("damaged")

// appendRecord encodes a record; format gives numbers to formats.
func appendRecord(b []byte, probe int, rec *record.Record, format func(*record.Format) int) []byte {
	for _, n := range []uint64{uint64(probe), uint64(rec.Pid), uint64(rec.Tid), rec.Time, uint64(rec.Flags &^ record.FlagHold), uint64(rec.Kind), uint64(rec.Exit)} {
		b = binary.AppendUvarint(b, n)
	}
	b = append(b, rec.Comm[:]...)
	b = binary.AppendUvarint(b, uint64(len(rec.Items)))
	for i := range rec.Items {
		item := &rec.Items[i]
		b = binary.AppendUvarint(b, uint64(format(item.Format)))
		b = binary.AppendUvarint(b, uint64(len(item.Values)))
		for _, v := range item.Values {
			b = appendValue(b, v)
		}
	}
	return b
}

// appendValue encodes a value with its kind, because keys of aggregations have no format that gives it.
func appendValue(b []byte, v value.Value) []byte {
	b = append(b, byte(v.Kind))
	switch v.Kind {
	case value.KindFloat:
		return binary.AppendUvarint(b, math.Float64bits(v.Float))
	case value.KindText, value.KindBytes:
		b = binary.AppendUvarint(b, marked(len(v.Text), v.Cut))
		return append(b, v.Text...)
	case value.KindStack:
		b = binary.AppendUvarint(b, marked(len(v.Stack), v.Cut))
		b = binary.AppendVarint(b, v.Int)
		for _, pc := range v.Stack {
			b = binary.AppendUvarint(b, pc)
		}
		return b
	}
	return binary.AppendVarint(b, v.Int)
}

// marked returns a length with the mark of a cut.
func marked(n int, cut bool) uint64 {
	if cut {
		return uint64(n)<<1 | 1
	}
	return uint64(n) << 1
}

// decoder reads a payload. The first error stays; what is read after it is zero.
type decoder struct {
	p   []byte
	err error
}

// fail stores the first error and drops the rest of the input, so that further reads return zero values.
func (d *decoder) fail(format string, args ...any) {
	if d.err == nil {
		d.err = fmt.Errorf("%w: %s", errDamaged, fmt.Sprintf(format, args...))
	}
	d.p = nil
}

// uvarint returns the next number without a sign.
func (d *decoder) uvarint() uint64 {
	n, size := binary.Uvarint(d.p)
	if size <= 0 {
		d.fail("a number is missing")
		return 0
	}
	d.p = d.p[size:]
	return n
}

// varint returns the next number with a sign.
func (d *decoder) varint() int64 {
	n, size := binary.Varint(d.p)
	if size <= 0 {
		d.fail("a number is missing")
		return 0
	}
	d.p = d.p[size:]
	return n
}

// upTo returns a number that must not be above most.
func (d *decoder) upTo(most uint64, what string) uint64 {
	n := d.uvarint()
	if n > most {
		d.fail("%d %s", n, what)
		return 0
	}
	return n
}

// bytes returns the next n; the rest of the payload bounds n.
func (d *decoder) bytes(n uint64) []byte {
	if n > uint64(len(d.p)) {
		d.fail("%d bytes are missing", n-uint64(len(d.p)))
		return nil
	}
	p := d.p[:n]
	d.p = d.p[n:]
	return p
}

// record decodes what appendRecord has written; the values of each item have to be those of its format.
func (d *decoder) record(formats []*record.Format) (probe int, rec record.Record) {
	probe = int(d.upTo(math.MaxInt32, "as the number of a probe"))
	rec.Pid, rec.Tid = uint32(d.upTo(math.MaxUint32, "as a process")), uint32(d.upTo(math.MaxUint32, "as a thread"))
	rec.Time = d.uvarint()
	rec.Flags = uint16(d.upTo(math.MaxUint16, "as flags")) &^ record.FlagHold
	rec.Kind = outcome.ExitKind(d.upTo(uint64(outcome.ExitFacility), "as an exit"))
	rec.Exit = uint32(d.upTo(math.MaxUint32, "as a facility"))
	copy(rec.Comm[:], d.bytes(uint64(len(rec.Comm))))
	for range d.upTo(uint64(len(d.p)), "items") {
		if d.err != nil {
			break
		}
		rec.Items = append(rec.Items, d.item(formats))
	}
	if d.err == nil && len(d.p) > 0 {
		d.fail("%d bytes after the last item", len(d.p))
	}
	return probe, rec
}

// item decodes an item. It has to match its format exactly, because printing relies on that.
func (d *decoder) item(formats []*record.Format) (item record.Item) {
	number := d.uvarint()
	if number >= uint64(len(formats)) {
		d.fail("an item of format %d, and there are %d", number, len(formats))
		item.Format = &record.Format{}
		return item
	}
	item.Format = formats[number]
	var kinds []value.Kind
	for _, f := range item.Format.Fields {
		if !f.IsLiteral {
			kinds = append(kinds, f.Kind.Shown())
		}
	}
	if n := d.uvarint(); n != uint64(len(kinds)) {
		d.fail("an item of %d values, and its format has %d", n, len(kinds))
		return item
	}
	for _, k := range kinds {
		item.Values = append(item.Values, d.value(k))
	}
	return item
}

// value decodes a value of a kind that is known.
func (d *decoder) value(want value.Kind) (v value.Value) {
	kind := d.bytes(1)
	if len(kind) == 1 && value.Kind(kind[0]) != want {
		d.fail("a value of kind %d where the format has %d", kind[0], want)
	}
	switch v.Kind = want; want {
	case value.KindFloat:
		v.Float = math.Float64frombits(d.uvarint())
	case value.KindText, value.KindBytes:
		n := d.uvarint()
		v.Text, v.Cut = string(d.bytes(n>>1)), n&1 != 0
	case value.KindStack:
		n := d.upTo(2*value.MaxStackDepth+1, "as the depth of a stack")
		v.Cut, v.Int = n&1 != 0, d.varint()
		for range n >> 1 {
			v.Stack = append(v.Stack, d.uvarint())
		}
	default:
		v.Int = d.varint()
	}
	return v
}
