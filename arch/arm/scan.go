package arm

import (
	"maps"
	"slices"

	"gotap/arch"
)

// Boundaries is the starts of the instructions of the function code, which lies at start (without the Thumb bit), in order: what the
// flow of control reaches. Literals and jump tables are not among them, nor is code that only exceptions or jumps that cannot be followed
// reach. The error tells of such a jump or of bytes that do not decode. What was found is returned all the same, but may then hold data
// that follows a call which does not return, as a load in code that was not reached
// would have told.
func Boundaries(code []byte, start uint64, a arch.Arch) ([]uint64, error) {
	if err := known(a); err != nil {
		return nil, err
	}
	f := follow(code, start, a, func(uint64) bool { return false })
	return slices.Sorted(maps.Keys(f.nodes)), f.err
}

// Exits is the instructions that leave the function code, which lies at start (without the Thumb bit): returns, and jumps to other
// functions. An indirect jump that might be a computed goto of the function as well as a call of another is an *arch.ScanError, as
// are bytes that do not decode. What leaves a function without an instruction of its own, longjmp, exceptions, exit, is not found,
// nor are exits that only exceptions lead to.
func Exits(code []byte, start uint64, a arch.Arch) ([]arch.Exit, error) {
	return ExitsWith(code, start, a, func(uint64) bool { return false })
}

// ExitsWith is Exits for a function in several pieces: own tells that an address outside of code belongs to the
// function all the same, as its cold part does. Each piece is scanned by a call of its own.
func ExitsWith(code []byte, start uint64, a arch.Arch, own func(addr uint64) bool) ([]arch.Exit, error) {
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

// ExclusiveRuns is the addresses of all instructions of the function code, which lies at start, that are exclusives or between a
// load-exclusive and its store-exclusive, in ascending order: those on a way from one to the other that passes no other exclusive. A
// breakpoint there clears the monitor each time, so that the loop that such a pair is in would never end.
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

// strayExclusives follows the function from load-exclusives that its flow does not reach, for the sake of jumps that cannot be followed.
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

// predecessors is the reverse of the nodes' next.
func (f *flow) predecessors() map[uint64][]uint64 {
	out := map[uint64][]uint64{}
	for addr, n := range f.nodes {
		for _, next := range n.next {
			out[next] = append(out[next], addr)
		}
	}
	return out
}

// from is the instructions that are reached from those of one kind along edges, other exclusives and what clears the monitor ending the
// way. Each instruction is looked at once.
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

// monitors reports a load-exclusive, stores a store-exclusive, and clears all that ends a watch: both of them and CLREX.
func (n *node) monitors() bool { return n.op.row.class == Exclusive && n.op.row.name[:2] == "LD" }
func (n *node) stores() bool   { return n.op.row.class == Exclusive && n.op.row.name[:2] == "ST" }
func (n *node) clears() bool   { return n.op.row.class == Exclusive || n.op.row.name == "CLREX" }
