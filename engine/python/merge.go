package python

// Native is a C stack, innermost first: program counters, and the canonical frame addresses, 0 where one is not known.
type Native struct {
	PCs, CFAs []uint64
	SP        uint64 // of the innermost frame
	Cut       bool   // there may be more frames
}

// redZone is how far below the stack pointer a function may keep data (System V ABI).
const redZone = 128

// Merge puts Python frames where their C frames are. show returns what stands for the frames of a call that are shown;
// a C frame whose call shows none stays. emit gets the whole stack, innermost first, until it returns false.
func Merge(in *Interpreter, c Native, calls []Call, show func(Call) []uint64, emit func(n uint64) bool) {
	for i, pc := range c.PCs {
		taken := take(in, c, i, calls)
		var shown []uint64
		for _, call := range calls[:taken] {
			shown = append(shown, show(call)...)
		}
		calls = calls[taken:]
		if shown == nil {
			shown = []uint64{pc}
		}
		for _, n := range shown {
			if !emit(n) {
				return
			}
		}
	}
	if c.Cut {
		return
	}
	for _, call := range calls { // the C stack ended early
		for _, n := range show(call) {
			if !emit(n) {
				return
			}
		}
	}
}

// take returns how many of the calls that are left belong to a C frame, or to frames inside it that the unwinder has
// not seen.
func take(in *Interpreter, c Native, i int, calls []Call) int {
	if len(calls) == 0 {
		return 0
	}
	if calls[0].At == 0 {
		at := c.PCs[i]
		if i > 0 {
			at--
		}
		if at-in.Eval < in.Size && c.PCs[i] != in.Eval {
			return 1
		}
		return 0
	}
	low, high := c.SP-redZone, c.CFAs[i]
	if i > 0 {
		low = c.CFAs[i-1]
	}
	n := 0
	for j, call := range calls {
		if call.At >= low && call.At < high {
			n = j + 1
		}
	}
	return n
}
