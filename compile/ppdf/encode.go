package ppdf

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"
)

// Kinds of files.
const (
	kindDefinition = 1
	kindScript     = 2
)

// Where the parts of the frame are.
// The length stands in front, so that what follows the file is noticed, and a download that broke off.
const (
	lengthAt  = len(Magic) + 2
	bodyAt    = lengthAt + 4
	frameSize = bodyAt + crc32.Size
)

// MaxSize is the largest file, in bytes.
const MaxSize = 16 << 20

const flagLogOnFault = 1

// Encode encodes a file.
func Encode(f *File) ([]byte, error) {
	e := encoder{b: append([]byte(Magic), Version, kindScript, 0, 0, 0, 0)}
	e.text(f.Name)
	if f.Definition != nil {
		e.b[len(Magic)+1] = kindDefinition
		if err := e.definition(f); err != nil {
			return nil, fmt.Errorf("cannot encode %s: %w", f.Name, err)
		}
	} else {
		e.text(f.Script)
	}
	size := len(e.b) + crc32.Size
	if size > MaxSize {
		return nil, fmt.Errorf("cannot encode %s: %d bytes are more than %d", f.Name, size, MaxSize)
	}
	binary.LittleEndian.PutUint32(e.b[lengthAt:], uint32(size))
	return binary.LittleEndian.AppendUint32(e.b, crc32.ChecksumIEEE(e.b)), nil
}

type encoder struct{ b []byte }

func (e *encoder) number(n uint64) { e.b = binary.AppendUvarint(e.b, n) }

func (e *encoder) text(s string) {
	e.number(uint64(len(s)))
	e.b = append(e.b, s...)
}

// small appends numbers that fit 32 bits.
// Negative ones would be written as huge: they are refused, and are a mistake of the caller.
func (e *encoder) small(list ...int) error {
	for _, n := range list {
		if n < 0 || uint64(n) > math.MaxUint32 {
			return fmt.Errorf("%d is out of range", n)
		}
		e.number(uint64(n))
	}
	return nil
}

func (e *encoder) definition(f *File) error {
	d := f.Definition
	e.text(d.Name)
	if err := e.small(d.Major, d.ID, d.DefaultExit, d.Vars, d.Globals, len(d.Probes)); err != nil {
		return err
	}
	for i := range d.Probes {
		p := &d.Probes[i]
		e.text(p.Place)
		if err := e.small(p.Opcode+1, p.Major, p.Minor, p.Group, p.Type); err != nil {
			return err
		}
		e.number(p.PassCount)
		e.number(p.MaxHits)
		flags := uint64(0)
		if p.LogOnFault {
			flags |= flagLogOnFault
		}
		e.number(flags)
		program, err := p.Program.MarshalBinary()
		if err != nil {
			return err
		}
		e.text(string(program))
	}
	return nil
}
