package executor

import (
	"iter"
	"slices"

	"gotap/arch"
	"gotap/engine/image/module"
	"gotap/engine/image/symname"
	"gotap/engine/isa"
	"gotap/engine/place"
	"gotap/engine/registry"
	"gotap/engine/registry/retprobe"
)

// Spot is what the places of all back ends have in common: an address with its instruction, its owners, and the
// breakpoint that is written there or would be. Back ends embed it in their own places. It implements Place.
type Spot struct {
	retprobe.Point
	Addr    uint64
	Site    arch.Site
	How     arch.Strategy // how the instruction is completed
	Trap    []byte        // the breakpoint's bytes
	Orig    []byte        // the bytes that it displaces, of the same length
	By      Executor      // which runs its programs, or ran them last; nil: it has never been planted
	Planted bool          // by has installed it
}

var _ Place = (*Spot)(nil)

// Address implements retprobe.Breakpoint and Place.
func (s *Spot) Address() uint64 { return s.Addr }

// Insn implements Place.
func (s *Spot) Insn() arch.Site { return s.Site }

// Owners implements Place.
func (s *Spot) Owners() *retprobe.Point { return &s.Point }

// Overlay replaces those bytes of what was read at addr that lie at the address of orig.
func Overlay(addr uint64, read []byte, at uint64, orig []byte) {
	if behind := at - addr; behind < uint64(len(read)) {
		copy(read[behind:], orig)
	} else if before := addr - at; before < uint64(len(orig)) {
		copy(read, orig[before:])
	}
}

// OwnersOf yields the owners of places by their address.
func OwnersOf[P Place](places map[uint64]P) iter.Seq[*retprobe.Point] {
	return func(yield func(*retprobe.Point) bool) {
		for _, p := range places {
			if !yield(p.Owners()) {
				return
			}
		}
	}
}

// Body is the code of a function that is entered at a place. It implements retprobe.Body.
type Body struct {
	ISA    *isa.ISA
	Entry  uint64 // the address of the place
	Target place.Target
	Module *module.Loaded // of the function; may be nil
	// Code reads up to n bytes of code, as they are without breakpoints of the session.
	Code func(addr uint64, n int) []byte
	// At returns the owners of the place at an address of the function, and creates the place if necessary.
	At func(addr uint64) (*retprobe.Point, error)
	// Most is how many bytes of a function are read at most; 0: any number.
	Most uint64
}

var _ retprobe.Body = (*Body)(nil)

// Goroutine implements retprobe.Body.
func (b *Body) Goroutine() bool { return registry.GoCompiled(b.Target) != nil }

// Exits implements retprobe.Body.
func (b *Body) Exits() ([]arch.Exit, error) {
	fn, start := b.Target.Func, b.Entry
	if fn == nil || fn.Size == 0 || b.Most > 0 && fn.Size > b.Most {
		return nil, &arch.RefusedError{Addr: start, Reason: "the size of the function is not known"}
	}
	if b.Module != nil {
		start = b.Module.Addr(fn.Addr) // the entry's breakpoint may be behind the function's start
	}
	if c := registry.GoCompiled(b.Target); c != nil {
		return c.Exits(b.Code(start, int(fn.Size)), start)
	}
	return b.exitsOf(piece{start, fn.Size})
}

// piece is some code of a function: a compiler may move what seldom runs away from the rest.
type piece struct{ start, size uint64 }

// exitsOf returns the exits of a function that starts with a piece, and of its other pieces: those to which it jumps.
func (b *Body) exitsOf(first piece) (exits []arch.Exit, err error) {
	pieces := []piece{first}
	own := func(addr uint64) bool {
		if slices.ContainsFunc(pieces, func(p piece) bool { return addr-p.start < p.size }) {
			return true
		}
		p, ok := b.coldAt(addr)
		if ok {
			pieces = append(pieces, p)
		}
		return ok
	}
	for i := 0; i < len(pieces); i++ {
		p := pieces[i]
		found, err := b.ISA.Exits(b.Code(p.start, int(p.size)), p.start, b.ISA.SetAt(b.Module, p.start), own)
		if err != nil {
			return nil, err
		}
		exits = append(exits, found...)
	}
	return exits, nil
}

// coldAt returns the cold piece of a function that contains an address. Only its function jumps there.
func (b *Body) coldAt(addr uint64) (p piece, ok bool) {
	if b.Module == nil || b.Module.File == nil {
		return p, false
	}
	fn, ok := b.Module.File.FuncAt(b.Module.Vaddr(addr))
	if !ok || !symname.IsCold(fn.Name) || b.Most > 0 && fn.Size > b.Most {
		return p, false
	}
	return piece{b.Module.Addr(fn.Addr), fn.Size}, true
}

// PointAt implements retprobe.Body.
func (b *Body) PointAt(addr uint64) (*retprobe.Point, error) { return b.At(addr) }
