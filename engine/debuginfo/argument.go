package debuginfo

import "strconv"

// What the calling conventions have in common: values in several registers, and arguments one behind the other on the stack.

// joined is a value that lies in pieces; one of none is that of an empty struct.
func joined(pieces []piece) place {
	switch len(pieces) {
	case 0:
		return constant(0)
	case 1:
		return pieces[0].place
	}
	return place{pieces: pieces}
}

// inRegisters are count pieces of so many bytes in registers that are numbered from first on.
func inRegisters(prefix string, first, count int, size int64) (pieces []piece) {
	for i := range count {
		pieces = append(pieces, piece{size: size, place: inRegister(prefix + strconv.Itoa(first+i))})
	}
	return pieces
}

// pointed is what the pointer in a place, of so many bytes, leads to: an argument that is passed by reference.
func (p place) pointed(word int) place {
	if p.memory {
		p = p.load(word, false, false)
	}
	p.memory = true
	return p
}

// argStack is how far the arguments on the stack reach, from the canonical frame address.
type argStack int64

// next places an argument on the stack, aligned to a word or its own alignment, of which no more than most is kept; 0: all of it.
func (s *argStack) next(size, align, word, most int64) place {
	if most > 0 {
		align = min(align, most)
	}
	align = max(align, word)
	at := (int64(*s) + align - 1) / align * align
	*s = argStack(at + (max(size, 0)+word-1)/word*word)
	return atFrame(at)
}
