package unwind

import "sort"

// span is a function in an index: its bounds and the offset of its entry in the section.
type span struct {
	lo, hi uint64
	off    int
}

// hdrTable is the binary search table of .eh_frame_hdr. It consists of pairs of 32-bit offsets from the section's
// address, sorted by the first: the start of a function and the address of its entry.
type hdrTable struct {
	data  []byte
	addr  uint64
	count int
}

// parseHdr reads the header of .eh_frame_hdr. ok is false if there is no table of the usual form.
func parseHdr(data []byte, addr uint64, word int) (hdrTable, bool) {
	r := reader{data: data}
	if r.u8() != 1 {
		return hdrTable{}, false
	}
	ptrEnc, countEnc, tableEnc := r.u8(), r.u8(), r.u8()
	if tableEnc != encDataRel|encSData4 || countEnc == encOmit || ptrEnc == encOmit {
		return hdrTable{}, false
	}
	r.pointer(ptrEnc, word, addr, addr)
	count, ok := r.pointer(countEnc, word, addr, addr)
	if !ok || r.err != nil || count == 0 || count > uint64(len(data)-r.off)/8 {
		return hdrTable{}, false
	}
	return hdrTable{data: data[r.off:], addr: addr, count: int(count)}, true
}

func (h *hdrTable) at(i, field int) uint64 {
	r := reader{data: h.data, off: 8*i + 4*field}
	return h.addr + uint64(r.signed(4))
}

// lookup returns the address of the entry that may cover pc.
func (h *hdrTable) lookup(pc uint64) (entry uint64, ok bool) {
	i := sort.Search(h.count, func(i int) bool { return h.at(i, 0) > pc }) - 1
	if i < 0 {
		return 0, false
	}
	return h.at(i, 1), true
}

// scan lists the functions of a section without a search table. It skips entries that do not parse, because one odd
// entry must not hide all others.
func (s *section) scan() []span {
	var spans []span
	cies := map[int]*cie{}
	for off := 0; off < len(s.data); {
		h, err := s.header(off)
		if err != nil {
			break
		}
		if !h.end && !h.cie {
			if f, err := s.fdeIn(&h, cies); err == nil && f.lo < f.hi {
				spans = append(spans, span{f.lo, f.hi, off})
			}
		}
		off = h.next
	}
	sort.Slice(spans, func(i, j int) bool { return spans[i].lo < spans[j].lo })
	return spans
}

// fdeIn parses an entry. It takes common parts from cies and adds new ones there.
func (s *section) fdeIn(h *header, cies map[int]*cie) (fde, error) {
	off, err := s.cieOffset(h)
	if err != nil {
		return fde{}, err
	}
	c, known := cies[off]
	if !known {
		// A common part that cannot be read is stored too: a million entries may refer to it.
		var err error
		if c, err = s.cieAt(off); err != nil {
			c = &cie{err: err}
		}
		cies[off] = c
	}
	if c.err != nil {
		return fde{}, c.err
	}
	return s.fdeWith(h, c)
}

// search finds pc among sorted spans. Functions removed by the linker may leave spans at low addresses that
// overlap, so a few before the nearest are tried too.
func search(spans []span, pc uint64) (off int, ok bool) {
	i := sort.Search(len(spans), func(i int) bool { return spans[i].lo > pc }) - 1
	for last := i - 4; i >= 0 && i > last; i-- {
		if pc < spans[i].hi {
			return spans[i].off, true
		}
	}
	return 0, false
}
