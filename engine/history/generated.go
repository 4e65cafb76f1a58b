package history

import (
	"gotap/engine/image/jit"
	"gotap/engine/image/symbols"
)

// maxGenerated is how many processes that have ended keep the names of the code that they generated.
const maxGenerated = 64

// Generated notes that a process, which still exists, runs code of no module: what it says of that code is looked for.
// It may be called at each stack.
func (h *History) Generated(pid int) {
	h.mu.Lock()
	p := h.code[pid]
	if p == nil {
		p = jit.New(pid)
		h.code[pid] = p
	}
	h.mu.Unlock()
	p.Look()
}

// endGenerated forgets the generated code of the process that ended longest ago when there are too many. The lock is
// held.
func (h *History) endGenerated(pid int) {
	p := h.code[pid]
	if p == nil {
		return
	}
	h.endedCode = append(h.endedCode, pid)
	if len(h.endedCode) <= maxGenerated {
		return
	}
	oldest := h.endedCode[0]
	h.endedCode = h.endedCode[1:]
	if p := h.code[oldest]; p != nil && !h.living[oldest] {
		delete(h.code, oldest)
		p.Close()
	}
}

// generated names an address outside of all modules of a process. Address at belongs to what addr returns to.
func (h *History) generated(pid int, addr, at uint64) symbols.Symbol {
	h.mu.Lock()
	p := h.code[pid]
	frame, ok := h.frames.at(addr)
	h.mu.Unlock()
	if ok {
		return frame
	}
	sym := symbols.Symbol{Addr: addr}
	if p == nil {
		return sym
	}
	if n, ok := p.Name(at); ok {
		sym.Func, sym.Offset, sym.Module, sym.File, sym.Line = n.Func, n.Offset+addr-at, n.From, n.File, n.Line
	}
	return sym
}
