package xz

import (
	"encoding/binary"
	"fmt"
)

// decodeChunks appends the contents of the LZMA2 chunks of one block to out.
func decodeChunks(in *input, out []byte, limit int) ([]byte, error) {
	d := &decoder{out: out, floor: len(out)}
	first := true
	for {
		control := in.byte()
		switch {
		case in.short:
			return nil, fmt.Errorf("%w: it ends early", ErrFormat)
		case control == 0:
			return d.out, nil
		case first && control != 1 && control < 0xe0:
			return nil, fmt.Errorf("%w: its first chunk needs an earlier one", ErrFormat)
		}
		first = false
		if err := d.chunk(in, control, limit); err != nil {
			return nil, err
		}
	}
}

// blockSize adds up how large the chunks of one block say that they become, so that the result need not be copied as it
// grows, and one over the limit is refused at once. Of damaged data it returns the sum up to the damage.
func blockSize(in input, limit int) (int, error) {
	total := 0
	for {
		control := in.byte()
		if in.short || control == 0 || control > 2 && control < 0x80 {
			return total, nil
		}
		size := in.chunkSize(control)
		if size > limit-total {
			return 0, ErrSize
		}
		total += size
		switch {
		case control >= 0xc0: // with properties
			size = in.word() + 1
		case control >= 0x80:
			size = in.word()
		}
		in.take(size)
	}
}

// word reads the size of something, which is never empty.
func (in *input) word() int {
	return int(binary.BigEndian.Uint16(append(in.take(2), 0, 0)[:2])) + 1
}

// chunkSize reads how large a chunk becomes.
func (in *input) chunkSize(control byte) int {
	size := in.word()
	if control >= 0x80 {
		size += int(control&0x1f) << 16
	}
	return size
}

// chunk decodes one chunk: control 1 and 2 are plain bytes, 0x80 and above LZMA.
func (d *decoder) chunk(in *input, control byte, limit int) error {
	if control == 1 || control >= 0xe0 {
		d.floor = len(d.out) // the dictionary is empty
	}
	size := in.chunkSize(control)
	if size > limit-len(d.out) {
		return ErrSize
	}
	if control < 0x80 {
		if control > 2 {
			return fmt.Errorf("%w: it has a chunk of unknown kind %#x", ErrFormat, control)
		}
		d.out = append(d.out, in.take(size)...)
		return nil
	}
	packed := in.word()
	if control >= 0xc0 {
		if err := d.setProperties(in.byte()); err != nil {
			return err
		}
	}
	if control >= 0xa0 {
		d.reset()
	}
	if d.literals == nil {
		return fmt.Errorf("%w: a chunk has no properties", ErrFormat)
	}
	d.coder = rangeCoder{in: input{data: in.take(packed)}}
	d.coder.start()
	if in.short || !d.decode(len(d.out)+size) || d.coder.in.short {
		return fmt.Errorf("%w: a chunk cannot be decoded", ErrFormat)
	}
	return nil
}
