package module

import (
	"sync"

	"gotap/arch"
)

// flow is what is known of the code of a function as a whole. It is immutable.
type flow struct {
	start   uint64
	insns   []uint64 // where instructions start, as far as the function can be decoded
	unclear string   // why its indirect jumps may lead anywhere in it, or ""
}

// lastFlow keeps the flow of one function, because questions about one function often follow each other: about all of its
// returns. It is safe for concurrent use.
type lastFlow struct {
	mu   sync.Mutex // guards last; nothing else is locked while it is held
	last *flow
}

// of returns the flow of a function of a file.
func (l *lastFlow) of(f *File, a arch.WindowArch, fn *Func) *flow {
	l.mu.Lock()
	last := l.last
	l.mu.Unlock()
	if last != nil && last.start == fn.Addr {
		return last
	}
	last = f.readFlow(a, fn)
	l.mu.Lock()
	l.last = last
	l.mu.Unlock()
	return last
}

// readFlow decodes a function.
func (f *File) readFlow(a arch.WindowArch, fn *Func) *flow {
	w := &flow{start: fn.Addr}
	code, err := f.Code(fn.Addr, int(min(fn.Size, maxIndexed)))
	if err != nil {
		w.unclear = err.Error()
		return w
	}
	tables, unclear, err := a.IndirectJumps(code, fn.Addr, func(addr uint64) { w.insns = append(w.insns, addr) })
	ours, computes := f.addressesOf(a, code, fn)
	switch {
	case err != nil:
		w.unclear = "not all of the function can be decoded"
	case unclear > 0 || computes:
		w.unclear = "an indirect jump of the function may lead into the bytes that the jump would replace"
	case tables > ours:
		w.unclear = "the function has a jump table that may lead into the bytes that the jump would replace"
	}
	return w
}

// firstEntry is enough bytes for an entry of a jump table.
const firstEntry = 8

// addressesOf examines the addresses that a function loads. tables is how many of them are jump tables that lead into the
// function, judged by their first entry. computes is set if the function has an indirect jump and loads an address of its
// own code, from which it may compute where to jump.
func (f *File) addressesOf(a arch.WindowArch, code []byte, fn *Func) (tables int, computes bool) {
	t, seen, jumps := f.Targets(a), map[uint64]bool{}, false
	a.Branches(code, fn.Addr, func(b arch.Branch) {
		jumps = jumps || b.Kind == arch.BranchIndirect
		if b.Kind < arch.BranchIndirect || seen[b.Target] {
			return
		}
		seen[b.Target] = true
		if fn.has(b.Target) {
			computes = true
		}
		ours := false
		if t.isTable(b.Target) {
			f.eachEntry(b.Target, firstEntry, func(target uint64) { ours = ours || fn.has(target) })
		}
		if ours {
			tables++
		}
	})
	return tables, computes && jumps
}

// has reports whether an address is in the function, but not its entry.
func (fn *Func) has(addr uint64) bool { return addr > fn.Addr && addr < fn.End() }
