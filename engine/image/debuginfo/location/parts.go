package location

import (
	"fmt"
	"slices"
	"strconv"

	"gotap/compile"
)

// AboveSP converts a place in the caller's frame for processors whose calls push nothing: there BaseFrame is a word
// above the stack pointer at the entry.
func (p Place) AboveSP(word int64) Place {
	if p.Base == compile.BaseFrame {
		p.Value -= word
	}
	p.Pieces = slices.Clone(p.Pieces)
	for i := range p.Pieces {
		p.Pieces[i].Place = p.Pieces[i].Place.AboveSP(word)
	}
	return p
}

// Join returns the place of a value that consists of pieces. Without pieces it is an empty struct.
func Join(pieces []Piece) Place {
	switch len(pieces) {
	case 0:
		return Constant(0)
	case 1:
		return pieces[0].Place
	}
	return Place{Pieces: pieces}
}

// InRegisters returns count pieces of the given size in registers numbered from first.
func InRegisters(prefix string, first, count int, size int64) (pieces []Piece) {
	for i := range count {
		pieces = append(pieces, Piece{Size: size, Place: InRegister(prefix + strconv.Itoa(first+i))})
	}
	return pieces
}

// InFloatStack returns the place of numbers of 80 bits on the stack of x86's floating-point unit, from its top on. Each
// has 16 bytes, of which the last 6 are not used.
func InFloatStack(count int) Place {
	var pieces []Piece
	for i := range count {
		name := "fr" + strconv.Itoa(i)
		pieces = append(pieces, Piece{Size: 8, Place: InRegister(name)}, Piece{Size: 8, Place: InRegister(name + "h")})
	}
	return Join(pieces)
}

// Pointed returns the place that the pointer in p points to, as for an argument passed by reference. word is the size
// of a pointer.
func (p Place) Pointed(word int) Place {
	if p.Memory {
		p = p.Load(word, false, false)
	}
	p.Memory = true
	return p
}

// HalfOf returns the place of register sN, which is half of a double-word register of 32-bit ARM.
func HalfOf(n int) Place {
	return Place{Base: compile.BaseReg, Reg: "d" + strconv.Itoa(n/2), shift: int64(n & 1 * 32)}
}

// Piece is one part of a value that is in several places.
type Piece struct {
	Size   int64 // bytes
	Place  Place
	Absent bool // this part is optimised out
}

// piece returns the place of size bytes at off, which must be in one piece.
func (p Place) piece(off, size int64) (Place, error) {
	off += p.skip
	for _, piece := range p.Pieces {
		if off >= piece.Size {
			off -= piece.Size
			continue
		}
		if off+size > piece.Size {
			return Place{}, fmt.Errorf("it is in two places")
		}
		if piece.Absent {
			return Place{}, ErrAbsent
		}
		return piece.Place.Part(off, size)
	}
	return Place{}, ErrAbsent
}

// join returns a value of 8 bytes that consists of two registers of 4, or of the two halves of one register on 32-bit
// ARM.
func (p Place) join(size int64) (Place, bool) {
	off := p.skip
	for i, low := range p.Pieces {
		if off > 0 {
			off -= low.Size
			continue
		}
		if off < 0 || size != 8 || i+1 == len(p.Pieces) || !low.isRegister(4) || !p.Pieces[i+1].isRegister(4) {
			break
		}
		if high := p.Pieces[i+1].Place; high.shift != 0 {
			return low.Place, low.Place.Reg == high.Reg && low.Place.shift == 0
		}
		if low.Place.shift != 0 {
			break
		}
		joined := low.Place.clone()
		joined.steps = append(joined.steps, compile.AccessStep{Op: compile.OpTruncate, Size: 4},
			compile.AccessStep{Op: compile.OpJoin, Reg: p.Pieces[i+1].Place.Reg, Offset: 32})
		return joined, true
	}
	return Place{}, false
}

// isRegister reports whether a piece is a whole register of the given size.
func (p *Piece) isRegister(size int64) bool {
	return p.Size == size && !p.Absent && p.Place.Base == compile.BaseReg && !p.Place.Memory &&
		len(p.Place.steps) == 0 && len(p.Place.Pieces) == 0
}

// ErrAbsent reports that the compiler kept a part of a value nowhere.
var ErrAbsent = fmt.Errorf("this part of it is optimised out")
