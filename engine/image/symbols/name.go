package symbols

import (
	"gotap/engine/image/module"
	"gotap/engine/image/symname"
)

// Symbol is an address with its names; unknown parts are empty.
type Symbol struct {
	Addr   uint64
	Func   string
	Offset uint64 // of Addr in Func; without one the address in the file of Module, as nm prints it
	Module string // path of the file
	File   string // source
	Line   int

	Inlined bool // a call without code of its own, so without an Offset
}

// Name names an address; m is the module that is mapped there, nil when there is none.
func (l *Files) Name(m *module.Loaded, addr uint64) Symbol {
	sym := Symbol{Addr: addr}
	if !known(m) {
		return sym
	}
	sym.Module = m.Path
	vaddr := m.Vaddr(addr)
	sym.Offset = vaddr
	if fn, ok := m.File.FuncAt(vaddr); ok && fn.Name != "" {
		sym.Func, sym.Offset = fn.Demangled(), vaddr-fn.Addr
	} else if v, ok := m.File.VarAt(vaddr); ok {
		sym.Func, sym.Offset = symname.Demangle(v.Name, false), vaddr-v.Addr
		return sym // lines are of code
	}
	if in, ok := l.Info(m.File); ok {
		if file, line, _, err := in.LineAt(vaddr); err == nil {
			sym.File, sym.Line = file, line
		}
	}
	return sym
}

// known reports whether the module has a file that could be read.
func known(m *module.Loaded) bool { return m != nil && m.File != nil && m.Err == nil }

// Stack names the addresses of a stack, innermost first. The first one is an instruction; so are the one that a signal
// handler returns to and the one that the signal interrupted. All others are return addresses and belong to the call
// before them. find returns the module that is mapped at an address.
func (l *Files) Stack(pcs []uint64, find func(addr uint64) *module.Loaded) []Symbol {
	return l.StackWith(pcs, find, func(addr, _ uint64) Symbol { return Symbol{Addr: addr} })
}

// StackWith is Stack with names for addresses of no module: outside returns the one of an address, where at belongs to
// the instruction itself or the call that returns to it.
func (l *Files) StackWith(pcs []uint64, find func(addr uint64) *module.Loaded, outside func(addr, at uint64) Symbol) []Symbol {
	var all []Symbol
	interrupted := true
	for _, pc := range pcs {
		toSignal := l.returnsToSignal(find(pc), pc)
		at := pc
		if !interrupted && !toSignal {
			at--
		}
		m := find(at)
		if m == nil {
			all, interrupted = append(all, outside(pc, at)), false
			continue
		}
		sym := l.Name(m, at)
		sym.Addr, sym.Offset = pc, sym.Offset+pc-at
		all = append(all, l.inlined(sym, m, at)...)
		interrupted = toSignal
	}
	return all
}

// returnsToSignal reports whether signal handlers return to an address.
func (l *Files) returnsToSignal(m *module.Loaded, pc uint64) bool {
	if !known(m) {
		return false
	}
	t := l.Table(m.File)
	return t != nil && t.ReturnsToSignal(m.Vaddr(pc))
}

// inlined returns the entries of one address, innermost first: one for each function that it belongs to. sym names the
// outermost.
func (l *Files) inlined(sym Symbol, m *module.Loaded, at uint64) []Symbol {
	if !known(m) {
		return []Symbol{sym}
	}
	in, ok := l.Info(m.File)
	if !ok {
		return []Symbol{sym}
	}
	frames, err := in.FramesAt(m.Vaddr(at))
	if err != nil || len(frames) < 2 {
		return []Symbol{sym}
	}
	var all []Symbol
	for i, f := range frames {
		e := Symbol{Addr: sym.Addr, Func: f.Func, Module: m.Path, File: f.File, Line: f.Line, Inlined: true}
		if i == len(frames)-1 {
			e.Func, e.Offset, e.Inlined = sym.Func, sym.Offset, false
		}
		all = append(all, e)
	}
	return all
}
