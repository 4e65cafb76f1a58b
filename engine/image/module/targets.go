package module

import (
	"fmt"
	"slices"
	"sort"

	"gotap/arch"
	"gotap/engine/image/sectioncache"
)

// Targets is where control arrives in the code of a file otherwise than from the instruction before: where branches
// lead, what jump tables and pointers in data contain, which addresses of code the code loads, and where exceptions are
// handled. What is not certain is included: a number in data that happens to be an address of code counts as a pointer
// to it. Functions are not included; File.Funcs and File.Frames have them. It is immutable and safe for concurrent use.
type Targets struct {
	branched  []bitmap // by direct branches
	pointed   []bitmap // by pointers: jump tables, other data, addresses that code loads
	pads      []uint64 // where exceptions are handled, ascending
	sequences []Range  // restartable sequences, by start
	tables    []uint64 // addresses of jump tables, ascending
	err       error
}

// Arrival is an address where control arrives.
type Arrival struct {
	Addr uint64
	Kind ArrivalKind
}

// ArrivalKind says how control arrives at an address.
type ArrivalKind uint8

// The ways in which control arrives.
const (
	ByBranch    ArrivalKind = iota // a direct branch or call
	ByPointer                      // a jump table, another pointer in data, or an address that code loads
	ByException                    // an exception that was thrown in a call
)

// maxIndexed is the largest code in bytes that is searched for branches. The search takes about 4 s for as much, and
// the result a quarter of its size.
const maxIndexed = 128 << 20

// Targets returns where control arrives in the file's code. The first call decodes all of it, at
// about 30 MB/s.
func (w Windows) Targets() *Targets {
	t := w.windows.targets.get(w.readTargets)
	w.windows.known.Store(true)
	return t
}

// searchedPerWish is how many bytes of code are searched in a part of the time that one stop of a thread takes.
const searchedPerWish = 8 << 10

// WorthSearching counts a stop that Targets might have saved, and reports whether to call it: small code is searched at
// once, large code when there have been as many stops as take a part of the time of the search. A short run with few
// stops does not pay for it then.
func (f *File) WorthSearching() bool {
	if f.windows.known.Load() {
		return true
	}
	var size uint64
	for _, r := range f.text {
		size += r.End - r.Start
	}
	return size < keptCode || uint64(f.windows.wishes.Add(1)) > size/searchedPerWish
}

// Err returns why the code was not searched, or nil. Then Into finds nothing.
func (t *Targets) Err() error { return t.err }

// Into returns the first address where control arrives between two addresses, start < Addr < end.
func (t *Targets) Into(start, end uint64) (first Arrival, ok bool) {
	first.Addr = end
	nearer := func(addr uint64, found bool, kind ArrivalKind) {
		if found && addr < first.Addr {
			first, ok = Arrival{addr, kind}, true
		}
	}
	for i := range t.branched {
		addr, found := t.branched[i].first(start+1, end)
		nearer(addr, found, ByBranch)
		addr, found = t.pointed[i].first(start+1, end)
		nearer(addr, found, ByPointer)
	}
	if i, _ := slices.BinarySearch(t.pads, start+1); i < len(t.pads) {
		nearer(t.pads[i], t.pads[i] < end, ByException)
	}
	return first, ok
}

// Sequence returns the restartable sequence (rseq(2)) that has an address in common with a range.
func (t *Targets) Sequence(start, end uint64) (Range, bool) {
	for _, s := range t.sequences {
		if start < s.End && s.Start < end {
			return s, true
		}
	}
	return Range{}, false
}

// isTable reports whether a jump table was found at an address.
func (t *Targets) isTable(addr uint64) bool {
	_, found := slices.BinarySearch(t.tables, addr)
	return found
}

// bitmap has one bit for each address of a range.
type bitmap struct {
	Range
	words []uint64
}

func newBitmap(r Range) bitmap { return bitmap{r, make([]uint64, (r.End-r.Start+63)/64)} }

// first returns the first address in [start, end) whose bit is set. It is meant for ranges of a few bytes.
func (b *bitmap) first(start, end uint64) (uint64, bool) {
	for addr := max(start, b.Start); addr < min(end, b.End); addr++ {
		if n := addr - b.Start; b.words[n/64]>>(n%64)&1 != 0 {
			return addr, true
		}
	}
	return 0, false
}

// set sets the bit of an address, if one of the ranges has it.
func set(maps []bitmap, addr uint64) {
	for i := range maps {
		if b := &maps[i]; b.Contains(addr) {
			n := addr - b.Start
			b.words[n/64] |= 1 << (n % 64)
			return
		}
	}
}

// targetReader collects the targets of a file.
type targetReader struct {
	*File
	*Targets
	arch  arch.BranchArch
	bases []uint64 // what may be addresses of jump tables
}

// readTargets searches the file.
func (w Windows) readTargets() *Targets {
	t := &Targets{}
	left := uint64(maxIndexed)
	for _, r := range w.text {
		if r.End-r.Start > left { // a damaged range may end before it starts
			t.err = fmt.Errorf("the code of %s, which is larger than %d MiB, is not searched for branches", w.Path, maxIndexed>>20)
			return t
		}
		left -= r.End - r.Start
	}
	for _, r := range w.text {
		t.branched, t.pointed = append(t.branched, newBitmap(r)), append(t.pointed, newBitmap(r))
	}
	r := targetReader{File: w.File, Targets: t, arch: w.arch}
	if maxIndexed-left < keptCode {
		r.search()
	} else {
		r.searchOnce(sectioncache.Default())
	}
	r.readPads()
	r.readSequences()
	return t
}

// search finds what branches, jump tables and pointers lead to.
func (r *targetReader) search() {
	r.readBranches()
	r.readTables()
	r.readPointers()
}

// readSize is how many bytes of a file are read at once, unless a function is larger.
const readSize = 1 << 20

// readBranches decodes all code, from the start of each function to that of the next one.
func (r *targetReader) readBranches() {
	starts := r.starts()
	for _, text := range r.text {
		in := starts[sort.Search(len(starts), func(i int) bool { return starts[i] > text.Start }):]
		for from := text.Start; from < text.End; {
			to := text.End
			// Code is read up to the last start that is near, at least to the next one.
			n := sort.Search(len(in), func(i int) bool { return in[i] > from+readSize })
			if n = max(n, 1); n <= len(in) {
				to = min(to, in[n-1])
			}
			n = min(n, len(in))
			code, err := r.Code(from, int(to-from))
			if err != nil {
				r.err = err
				return
			}
			r.readPieces(code, from, in[:n])
			if uint64(len(code)) < to-from { // the rest of the section is not in the file
				break
			}
			from, in = to, in[n:]
		}
	}
}

// starts returns where functions start by symbols and call-frame information, in ascending order.
func (r *targetReader) starts() []uint64 {
	funcs, frames := r.Funcs(), r.Frames()
	starts := make([]uint64, 0, len(funcs)+len(frames))
	for i := range funcs {
		starts = append(starts, funcs[i].Addr)
	}
	for i := range frames {
		starts = append(starts, frames[i].Start)
	}
	slices.Sort(starts)
	return slices.Compact(starts)
}

// readPieces decodes code, which is at an address, in pieces that start at the given addresses.
func (r *targetReader) readPieces(code []byte, at uint64, starts []uint64) {
	for _, next := range append(starts[:len(starts):len(starts)], at+uint64(len(code))) {
		n := min(next-at, uint64(len(code)))
		r.readPiece(code[:n], at)
		code, at = code[n:], at+n
	}
}

// readPiece decodes one function. If some of it cannot be decoded, it contains data, behind which instructions may
// start anywhere.
func (r *targetReader) readPiece(code []byte, at uint64) {
	first, jumps := len(r.bases), false
	skipped := r.arch.Branches(code, at, func(b arch.Branch) {
		switch b.Kind {
		case arch.BranchDirect, arch.BranchCall:
			set(r.branched, b.Target)
			return
		case arch.BranchAddress:
			set(r.pointed, b.Target) // does nothing for an address of data
		case arch.BranchIndirect:
			jumps = true
		}
		if b.Target != 0 {
			r.bases = append(r.bases, b.Target)
		}
	})
	if !jumps {
		r.bases = r.bases[:first]
	}
	if skipped > 0 {
		r.arch.Stray(code, at, func(target uint64) { set(r.branched, target) })
	}
}
