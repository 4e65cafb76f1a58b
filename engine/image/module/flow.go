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
	switch {
	case err != nil:
		w.unclear = "not all of the function can be decoded"
	case unclear > 0:
		w.unclear = "an indirect jump of the function may lead into the bytes that the jump would replace"
	case tables > 0 && tables > f.tablesOf(a, code, fn):
		w.unclear = "the function has a jump table that may lead into the bytes that the jump would replace"
	}
	return w
}

// firstEntry is enough bytes for an entry of a jump table.
const firstEntry = 8

// tablesOf counts the jump tables of a function that were found: those whose first entry leads into it.
func (f *File) tablesOf(a arch.WindowArch, code []byte, fn *Func) int {
	t, found := f.Targets(a), map[uint64]bool{}
	a.Branches(code, fn.Addr, func(b arch.Branch) {
		if (b.Kind == arch.BranchAddress || b.Kind == arch.BranchIndirect) && t.isTable(b.Target) && !found[b.Target] {
			f.eachEntry(b.Target, firstEntry, func(target uint64) {
				found[b.Target] = found[b.Target] || target >= fn.Addr && target < fn.End()
			})
		}
	})
	n := 0
	for _, ours := range found {
		if ours {
			n++
		}
	}
	return n
}
