package history

import "gotap/engine/image/symbols"

// interpreted is the frames of interpreted functions that were seen. Their names are read while the thread is stopped,
// because the program reuses the memory of these objects. A stack has a number in place of each name; no program has
// code at such an address.
type interpreted struct {
	numbers map[symbols.Symbol]uint64
	all     []symbols.Symbol
}

const (
	// frameTag is in the upper 16 bits of such a number. No processor has user addresses above 57 bits.
	frameTag = 0x7079
	// maxFrames bounds the names. All further ones share a name that says so.
	maxFrames = 1 << 18
)

// overflow stands for all frames beyond maxFrames.
var overflow = symbols.Symbol{Func: "? (too many different frames)", Module: "python"}

// Interpreted returns the number that stands for a frame in stacks: a function, the line that it is at and its file,
// and whose module it is. Equal frames have the same number.
func (h *History) Interpreted(frame symbols.Symbol) uint64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.frames.number(frame)
}

// number returns the number of a frame.
func (f *interpreted) number(frame symbols.Symbol) uint64 {
	n, ok := f.numbers[frame]
	if ok {
		return n
	}
	if f.numbers == nil {
		f.numbers, f.all = map[symbols.Symbol]uint64{}, []symbols.Symbol{overflow}
	}
	if len(f.all) > maxFrames {
		return frameTag << 48
	}
	n = frameTag<<48 | uint64(len(f.all))
	f.all = append(f.all, frame)
	f.numbers[frame] = n
	return n
}

// at returns the frame that a number stands for.
func (f *interpreted) at(n uint64) (frame symbols.Symbol, ok bool) {
	i := n &^ (frameTag << 48)
	if n>>48 != frameTag || i >= uint64(len(f.all)) {
		return frame, false
	}
	return f.all[i], true
}
