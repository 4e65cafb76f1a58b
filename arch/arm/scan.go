package arm

import (
	"maps"
	"slices"

	"gotap/arch"
)

// Boundaries returns the addresses, in order, of the instructions of the function code at start (without the Thumb
// bit) that the flow of control reaches. It does not return literals and jump tables, nor code that only exceptions
// or unclassified jumps reach. Such a jump, or bytes that do not decode, are an error; the addresses found are
// returned too. They may then include data that follows a call which does not return, because the code that loads
// the data was not reached.
func Boundaries(code []byte, start uint64, a arch.Arch) ([]uint64, error) {
	if err := known(a); err != nil {
		return nil, err
	}
	f := follow(code, start, a, func(uint64) bool { return false })
	return slices.Sorted(maps.Keys(f.nodes)), f.err
}

// Exits returns the instructions that leave the function code at start (without the Thumb bit): returns, and jumps
// to other functions. An indirect jump that may be a computed goto or a call of another function is an
// *arch.ScanError, and so are bytes that do not decode. longjmp, exceptions and exit are not found, because no
// instruction of the function leaves it; nor are exits that only exceptions reach.
//
// A function may be in several pieces, and each needs a call of its own. own reports whether an address outside code
// belongs to the function, for example to its cold part.
func Exits(code []byte, start uint64, a arch.Arch, own func(addr uint64) bool) ([]arch.Exit, error) {
	if err := known(a); err != nil {
		return nil, err
	}
	f := follow(code, start, a, own)
	if f.err != nil {
		return nil, f.err
	}
	return f.exits, nil
}

// known refuses other architectures.
func known(a arch.Arch) error {
	if a != A32 && a != Thumb {
		return errNotARM
	}
	return nil
}

// ExclusiveRuns returns, in ascending order, the addresses of all instructions of the function code at start that
// are exclusives, or are on a path from a load-exclusive to its store-exclusive without another exclusive. A
// breakpoint there clears the monitor every time, so the loop around the pair would never end.
func ExclusiveRuns(code []byte, start uint64, a arch.Arch) []uint64 {
	if known(a) != nil {
		return nil
	}
	f := follow(code, start, a, func(uint64) bool { return false })
	f.strayExclusives()
	before := f.predecessors()
	loaded := f.from((*node).monitors, func(addr uint64) []uint64 { return f.nodes[addr].next })
	stored := f.from((*node).stores, func(addr uint64) []uint64 { return before[addr] })
	var out []uint64
	for _, addr := range slices.Sorted(maps.Keys(f.nodes)) {
		if f.nodes[addr].op.row.class == Exclusive || loaded[addr] && stored[addr] {
			out = append(out, addr)
		}
	}
	return out
}

// strayExclusives follows the function from load-exclusives that its flow does not reach, because some jumps cannot
// be followed.
func (f *flow) strayExclusives() {
	for off := 0; off < len(f.code); off += 2 {
		addr := f.start + uint64(off)
		if f.nodes[addr] != nil || f.data[addr] {
			continue
		}
		in, err := f.a.Decode(f.code[off:], addr)
		if err == nil && ClassOf(in) == Exclusive {
			f.push(addr, 0, nil)
			f.run()
		}
	}
}

// predecessors returns the reverse of the nodes' next edges.
func (f *flow) predecessors() map[uint64][]uint64 {
	out := map[uint64][]uint64{}
	for addr, n := range f.nodes {
		for _, next := range n.next {
			out[next] = append(out[next], addr)
		}
	}
	return out
}

// from returns the instructions reachable along edges from those of one kind. Paths end at other exclusives and at
// CLREX. Each instruction is visited once.
func (f *flow) from(kind func(*node) bool, edges func(uint64) []uint64) map[uint64]bool {
	reached := map[uint64]bool{}
	var work []uint64
	for addr, n := range f.nodes {
		if kind(n) {
			work = append(work, addr)
		}
	}
	for len(work) > 0 {
		addr := work[len(work)-1]
		work = work[:len(work)-1]
		for _, to := range edges(addr) {
			n := f.nodes[to]
			if n == nil || reached[to] {
				continue
			}
			reached[to] = true
			if !n.clears() {
				work = append(work, to)
			}
		}
	}
	return reached
}

// monitors reports a load-exclusive, stores a store-exclusive, and clears all that end a path: both of them and
// CLREX.
func (n *node) monitors() bool { return n.op.row.class == Exclusive && n.op.row.name[:2] == "LD" }
func (n *node) stores() bool   { return n.op.row.class == Exclusive && n.op.row.name[:2] == "ST" }
func (n *node) clears() bool   { return n.op.row.class == Exclusive || n.op.row.name == "CLREX" }
