package record

import (
	"encoding/binary"
	"errors"
	"fmt"

	"gotap/runtime/outcome"
	"gotap/runtime/value"
)

// errDamaged reports that bytes of a record cannot come from a program. Other processes can write to the ring, in
// future also native code in the target, so its contents are checked like a file. Damage costs the rest of one record
// and is counted by the reader.
var errDamaged = errors.New("damaged record")

// decodeHeader reads the header of a record whose first word has been loaded.
func decodeHeader(p []byte, word uint64) Header {
	// The offsets are those of Header and of the comment on Ring. The caller loaded the first word atomically: the
	// rest is valid because that word is not 0.
	h := Header{
		Size:    uint32(word),
		Flags:   uint16(word >> 32),
		Kind:    outcome.ExitKind(word >> 48),
		Program: binary.LittleEndian.Uint32(p[8:]),
		Probe:   binary.LittleEndian.Uint32(p[12:]),
		Pid:     binary.LittleEndian.Uint32(p[16:]),
		Tid:     binary.LittleEndian.Uint32(p[20:]),
		Time:    binary.LittleEndian.Uint64(p[24:]),
		Hold:    binary.LittleEndian.Uint32(p[32:]),
		Exit:    binary.LittleEndian.Uint32(p[36:]),
	}
	copy(h.Comm[:], p[40:HeaderSize])
	return h
}

// decodeItems decodes a log. On damage it returns the items before it and an error.
func decodeItems(p []byte, programs []Program, pid int64) ([]Item, error) {
	items := make([]Item, 0, countItems(p))
	for len(p) > 0 {
		if len(p) < ItemHeader {
			return items, fmt.Errorf("%w: %d bytes after the last item", errDamaged, len(p))
		}
		word := binary.LittleEndian.Uint64(p)
		size, format, program := int(word&0xffff), int(word>>16&0xffff), word>>32
		// A size of 0 would make the loop endless.
		if size < ItemHeader || size%8 != 0 || size > len(p) {
			return items, fmt.Errorf("%w: an item of %d bytes", errDamaged, size)
		}
		if program >= uint64(len(programs)) || format >= len(programs[program].Formats) {
			return items, fmt.Errorf("%w: format %d of program %d is not known", errDamaged, format, program)
		}
		f := &programs[program].Formats[format]
		vals, err := decodeFields(p[ItemHeader:size], f, pid)
		if err != nil {
			return items, err
		}
		items = append(items, Item{Program: uint32(program), Format: f, Values: vals})
		p = p[size:]
	}
	return items, nil
}

// countItems estimates the number of items for one allocation. Damage only makes the estimate wrong.
func countItems(p []byte) (n int) {
	for len(p) >= ItemHeader {
		size := int(binary.LittleEndian.Uint16(p))
		if size < ItemHeader || size > len(p) {
			break
		}
		n, p = n+1, p[size:]
	}
	return n
}

// decodeFields reads the fields of one item. There must be no other data. Fields have no tags: the format defines them,
// and the log holds only the number of the format. That halves small records.
func decodeFields(p []byte, f *Format, pid int64) ([]value.Value, error) {
	vals := make([]value.Value, 0, len(f.Fields))
	for i := range f.Fields {
		field := &f.Fields[i]
		if field.IsLiteral {
			continue
		}
		v, n := decodeField(p, field.Kind, pid)
		if n == 0 {
			return nil, fmt.Errorf("%w: field %d of an item", errDamaged, i)
		}
		vals = append(vals, v)
		p = p[n:]
	}
	if len(p) != 0 {
		return nil, fmt.Errorf("%w: %d bytes after the last field", errDamaged, len(p))
	}
	return vals, nil
}

// decodeField decodes one field and returns its size in bytes; 0 means damage. Texts are copied, because the ring is
// overwritten as soon as the record has been consumed.
func decodeField(p []byte, kind value.Kind, pid int64) (value.Value, int) {
	if len(p) < 8 {
		return value.Value{}, 0
	}
	word := binary.LittleEndian.Uint64(p)
	if kind.Class() == value.ClassWord {
		return value.FromWord(kind, word), 8
	}
	length, cut := int(word&value.HeaderLength), word&value.HeaderCut != 0
	padded := (length + 7) &^ 7
	// Lengths do not include padding, so a text keeps its exact length.
	if padded > len(p)-8 {
		return value.Value{}, 0
	}
	if kind == value.KindStack {
		return value.Value{Kind: kind, Int: pid, Stack: decodeStack(p[8 : 8+padded]), Cut: cut}, 8 + padded
	}
	return value.OfField(kind, string(p[8:8+length]), cut), 8 + padded
}

// decodeStack reads return addresses.
func decodeStack(p []byte) []uint64 {
	pcs := make([]uint64, len(p)/8)
	for i := range pcs {
		pcs[i] = binary.LittleEndian.Uint64(p[8*i:])
	}
	return pcs
}

// Decode decodes a record from its words.
func Decode(words []uint64, programs []Program) (Record, bool) {
	size := words[0] & 0xffff_ffff
	if size < HeaderSize || size/8 > uint64(len(words)) {
		return Record{}, false
	}
	p := make([]byte, size)
	for i := range size / 8 {
		binary.LittleEndian.PutUint64(p[8*i:], words[i])
	}
	rec := Record{Header: decodeHeader(p, words[0])}
	rec.Items, _ = decodeItems(p[HeaderSize:], programs, int64(rec.Pid))
	return rec, true
}
