package emulate

import (
	"encoding/hex"
	"fmt"
	"maps"
	"math/bits"
	"slices"
	"strconv"

	"gotap/arch"
)

// windows are the memory of an emulated instruction: pieces that a line gave, of which later ones lie over earlier
// ones, and the bytes of the instruction itself, which are what the memory at pc holds. They implement arch.Memory.
// What a line gave stays as it is: bytes that are written lie over it, so that neither a window of zeroes nor the list
// of what has changed costs anything for its size.
type windows struct {
	code    []byte
	pc      uint64
	list    []window
	written map[uint64]*piece // by address, divided by pieceSize
}

// window is a piece of memory that an instruction may use.
type window struct {
	addr, size uint64
	bytes      []byte // nil for zeroes
}

// pieceSize is how many bytes a piece has: the bits of its mask.
const pieceSize = 64

// piece is neighbouring bytes, of which those whose bits are set have been written.
type piece struct {
	mask  uint64
	bytes [pieceSize]byte
}

// lay starts over with the windows of a line.
func (w *windows) lay(pc uint64, code []byte, texts []memoryText) error {
	w.code, w.pc, w.list = code, pc, w.list[:0]
	clear(w.written)
	for _, t := range texts {
		next, err := windowOf(uint64(t.addr), t.hex, uint64(t.len))
		if err != nil {
			return err
		}
		w.list = append(w.list, next)
	}
	return nil
}

// maxWindow is the size of the largest window of zeroes, in bytes. A string instruction of x86 may fill it.
const maxWindow = 1 << 24

// windowOf makes a window from its description in a line.
func windowOf(addr uint64, text string, size uint64) (window, error) {
	if size > maxWindow {
		return window{}, fmt.Errorf("a window of %d bytes: at most %d", size, maxWindow)
	}
	b, err := hex.DecodeString(text)
	if err != nil {
		return window{}, fmt.Errorf("memory %q: %w", text, err)
	}
	if text == "" {
		return window{addr: addr, size: size}, nil
	}
	return window{addr, uint64(len(b)), b}, nil
}

// given returns the byte at an address before the instruction. With code only the instruction's own bytes exist, which
// cannot be written.
func (w *windows) given(addr uint64) (v byte, code, ok bool) {
	if i := addr - w.pc; i < uint64(len(w.code)) {
		v, code, ok = w.code[i], true, true
	}
	for k := len(w.list) - 1; k >= 0; k-- {
		top := &w.list[k]
		i := addr - top.addr
		switch {
		case i >= top.size:
			continue
		case !ok && top.bytes != nil:
			v = top.bytes[i]
		}
		return v, false, true
	}
	return v, code, ok
}

// ChecksStack: whether an unaligned stack pointer faults on a 64-bit ARM is a setting of the system, and a state that
// is described does not have it: nothing but memory that is not there faults.
func (w *windows) ChecksStack() bool { return false }

func (w *windows) ReadMemory(addr uint64, p []byte) error {
	for i := range p {
		at := addr + uint64(i)
		if written := w.written[at/pieceSize]; written != nil && written.mask>>(at%pieceSize)&1 == 1 {
			p[i] = written.bytes[at%pieceSize]
			continue
		}
		v, _, ok := w.given(at)
		if !ok {
			return &arch.FaultError{Addr: at}
		}
		p[i] = v
	}
	return nil
}

func (w *windows) WriteMemory(addr uint64, p []byte) error {
	for i := range p {
		at := addr + uint64(i)
		if _, code, ok := w.given(at); !ok || code {
			return &arch.FaultError{Addr: at, Write: true}
		}
	}
	for i, v := range p {
		w.put(addr+uint64(i), v)
	}
	return nil
}

// put writes a byte.
func (w *windows) put(addr uint64, v byte) {
	p := w.written[addr/pieceSize]
	if p == nil {
		if p = new(piece); w.written == nil {
			w.written = map[uint64]*piece{}
		}
		w.written[addr/pieceSize] = p
	}
	p.mask |= 1 << (addr % pieceSize)
	p.bytes[addr%pieceSize] = v
}

// change is one byte that an instruction changed.
type change struct {
	addr  uint64
	value byte
}

// changes lists the bytes that changed, by address.
func (w *windows) changes() (all []change) {
	if len(w.written) == 0 {
		return nil
	}
	for _, at := range slices.Sorted(maps.Keys(w.written)) {
		p := w.written[at]
		for mask := p.mask; mask != 0; mask &= mask - 1 {
			i := bits.TrailingZeros64(mask)
			addr := at*pieceSize + uint64(i)
			if v, _, _ := w.given(addr); v != p.bytes[i] {
				all = append(all, change{addr, p.bytes[i]})
			}
		}
	}
	return all
}

// appendChanges writes the changed bytes as the member "mem" shows them: a run of neighbours is one entry.
func (w *windows) appendChanges(out []byte) []byte {
	all := w.changes()
	out = append(out, '[')
	for i := 0; i < len(all); {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, `{"addr":`...)
		out = strconv.AppendUint(out, all[i].addr, 10)
		out = append(out, `,"hex":"`...)
		n := i
		for ; n < len(all) && all[n].addr == all[i].addr+uint64(n-i); n++ {
			out = hex.AppendEncode(out, []byte{all[n].value})
		}
		out = append(out, `"}`...)
		i = n
	}
	return append(out, ']')
}
