package symtab

import "sort"

// Funcs returns all functions by address. The list must not be changed.
func (t *Table) Funcs() []Func { return t.symbols().funcs }

// Vars returns all variables. The list must not be changed.
func (t *Table) Vars() []Var { return t.symbols().vars }

// FuncAt returns the function that contains an address, the innermost when functions overlap. Labels inside a function
// do not count. When no symbol covers the address but call-frame information does, as in stripped files, the Func has
// bounds and no name. ok is false when the address belongs to no known function.
func (t *Table) FuncAt(vaddr uint64) (fn *Func, ok bool) {
	if fn, ok := t.nearest(vaddr); ok {
		return fn, true
	}
	s := t.symbols()
	i := sort.Search(len(s.funcs), func(i int) bool { return s.funcs[i].Addr > vaddr }) - 1
	// From the last start below the address downwards, the first function that covers it is the innermost. maxEnd ends
	// the search, in most files after one step.
	var found *Func
	for ; i >= 0 && s.maxEnd[i] > vaddr; i-- {
		if found != nil && !found.Estimated && s.funcs[i].Addr != found.Addr {
			break
		}
		if found != nil && s.funcs[i].Estimated {
			continue // of two estimates the nearer one counts
		}
		if s.funcs[i].End() > vaddr {
			found = &s.funcs[i]
		}
	}
	if found != nil {
		return found, true
	}
	if start, end, ok := t.origin.FrameAt(vaddr); ok && !t.origin.InPLT(vaddr) {
		return &Func{Addr: start, Size: end - start}, true
	}
	return nil, false
}

// VarAt returns the variable that contains an address.
func (t *Table) VarAt(vaddr uint64) (v *Var, ok bool) {
	vars := t.symbols().vars
	i := sort.Search(len(vars), func(i int) bool { return vars[i].Addr > vaddr }) - 1
	// Variables rarely nest; the bound limits the search in a large gap.
	for ; i >= 0 && vaddr-vars[i].Addr < 1<<20; i-- {
		if !vars[i].TLS && vaddr-vars[i].Addr < max(vars[i].Size, 1) {
			return &vars[i], true
		}
	}
	return nil, false
}
