package module

import "slices"

// Landing pads: where the unwinder continues a function in which an exception arrived. The tables are those of the
// Itanium C++ ABI, which C++, Rust and others use (".gcc_except_table").

// readPads reads the exception tables of all functions.
func (r *targetReader) readPads() {
	data, addr, err := r.Section(".gcc_except_table")
	if err != nil || len(data) == 0 {
		return
	}
	for _, f := range r.frameEntries() {
		if f.table-addr >= uint64(len(data)) {
			continue
		}
		table := frameReader{data: data, at: int(f.table - addr), addr: addr, word: r.WordSize(), order: r.Order}
		r.pads = table.pads(r.pads, f.Start)
	}
	slices.Sort(r.pads)
	r.pads = slices.Compact(r.pads)
}

// pads appends the landing pads of one table, for a function, or a piece of one, that starts at an address. They count
// from there unless the table says otherwise. A damaged table ends early.
func (r *frameReader) pads(pads []uint64, start uint64) []uint64 {
	if enc := byte(r.uint(1)); enc != encOmit {
		start = r.pointer(enc)
	}
	if enc := byte(r.uint(1)); enc != encOmit {
		r.leb(false) // where the types are
	}
	enc := byte(r.uint(1))
	size := r.leb(false)
	if r.bad || size > uint64(len(r.data)-r.at) {
		return pads
	}
	for end := r.at + int(size); r.at < end && !r.bad; {
		r.value(enc) // the calls: their start
		r.value(enc) // and length
		pad := r.value(enc)
		r.leb(false) // the action
		if pad != 0 && !r.bad {
			pads = append(pads, start+pad)
		}
	}
	return pads
}
