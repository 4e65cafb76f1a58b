package module

import (
	"sync"

	"gotap/arch"
	"gotap/engine/image/symtab"
)

// flow is what is known of the code of a function as a whole. It is immutable.
type flow struct {
	start   uint64
	insns   []uint64 // where instructions start, as far as the function can be decoded
	unclear string   // why its indirect jumps may lead anywhere in it, or ""
}

// lastFlow keeps the flow of one function, because questions about one function often follow each other: about all of
// its returns. It is safe for concurrent use.
type lastFlow struct {
	mu   sync.Mutex // guards last; nothing else is locked while it is held
	last *flow
}

// of returns the flow of a function of a file.
func (l *lastFlow) of(w Windows, fn *symtab.Func) *flow {
	l.mu.Lock()
	last := l.last
	l.mu.Unlock()
	if last != nil && last.start == fn.Addr {
		return last
	}
	last = w.readFlow(fn)
	l.mu.Lock()
	l.last = last
	l.mu.Unlock()
	return last
}

// readFlow decodes a function.
func (w Windows) readFlow(fn *symtab.Func) *flow {
	all := &flow{start: fn.Addr}
	code, err := w.Code(fn.Addr, int(min(fn.Size, maxIndexed)))
	if err != nil {
		all.unclear = err.Error()
		return all
	}
	tables, unclear, err := w.arch.IndirectJumps(code, fn.Addr, func(addr uint64) { all.insns = append(all.insns, addr) })
	ours, computes := w.addressesOf(code, fn)
	switch {
	case err != nil:
		all.unclear = "not all of the function can be decoded"
	case unclear > 0 || computes:
		all.unclear = "an indirect jump of the function may lead into the bytes that the jump would replace"
	case tables > ours:
		all.unclear = "the function has a jump table that may lead into the bytes that the jump would replace"
	}
	return all
}

// firstEntry is enough bytes for an entry of a jump table.
const firstEntry = 8

// addressesOf examines the addresses that a function loads. tables is how many of them are jump tables that lead into
// the function, judged by their first entry. computes is set if the function has an indirect jump and loads an address
// of its own code, from which it may compute where to jump.
func (w Windows) addressesOf(code []byte, fn *symtab.Func) (tables int, computes bool) {
	t, seen, jumps := w.Targets(), map[uint64]bool{}, false
	w.arch.Branches(code, fn.Addr, func(b arch.Branch) {
		jumps = jumps || b.Kind == arch.BranchIndirect
		if b.Kind < arch.BranchIndirect || seen[b.Target] {
			return
		}
		seen[b.Target] = true
		if inside(fn, b.Target) {
			computes = true
		}
		ours := false
		if t.isTable(b.Target) {
			jumpTable{w.File, b.Target}.each(firstEntry, func(target uint64) { ours = ours || inside(fn, target) })
		}
		if ours {
			tables++
		}
	})
	return tables, computes && jumps
}

// inside reports whether an address is in a function, but not its entry.
func inside(fn *symtab.Func, addr uint64) bool { return addr > fn.Addr && addr < fn.End() }
