package callconv

import (
	"gotap/engine/image/debuginfo/location"
)

// argStack is the end of the arguments on the stack, counted from the canonical frame address.
type argStack int64

// next places an argument on the stack. It is aligned to a word or to its own alignment, of which at most most bytes
// are respected, or all when most is 0.
func (s *argStack) next(size, align, word, most int64) location.Place {
	if most > 0 {
		align = min(align, most)
	}
	align = max(align, word)
	at := (int64(*s) + align - 1) / align * align
	*s = argStack(at + (max(size, 0)+word-1)/word*word)
	return location.AtFrame(at)
}
