package module

import "strings"

// goSymbols returns symbols for the functions in Go's own table when the symbol tables lack them: in stripped programs
// and those linked with -s. C functions that are exported remain.
func (f *File) goSymbols(known []symbol) []symbol {
	list, err := f.GoFuncs()
	if err != nil || len(list) == 0 {
		return nil
	}
	have := make(map[uint64]bool, len(known))
	for i := range known {
		have[known[i].addr] = true
	}
	// Symbol tables are stripped completely or not at all, so one of the runtime's functions decides.
	if have[goMain(list)] {
		return nil
	}
	syms := make([]symbol, len(list))
	for i, fn := range list {
		syms[i] = symbol{name: fn.Name, addr: fn.Addr, size: fn.Size, kind: KindFunc, bind: BindLocal}
	}
	return syms
}

// goMain returns the address of a function that every Go program has, or else that of the first one.
func goMain(list []GoFunc) uint64 {
	for _, fn := range list {
		if fn.Name == "runtime.main" {
			return fn.Addr
		}
	}
	return list[0].Addr
}

// withoutTypeArgs drops the type arguments of Go's generic functions: "main.Map[go.shape.int]" of symbol tables and
// "main.Map[...]" of Go's own table become "main.Map"; a method of a generic type becomes "main.(*List).Len".
func withoutTypeArgs(name string) string {
	if strings.IndexByte(name, '[') <= 0 {
		return name
	}
	var b strings.Builder
	depth := 0
	for i := 0; i < len(name); i++ {
		switch {
		case name[i] == '[':
			depth++
		case name[i] == ']' && depth > 0:
			depth--
		case depth == 0:
			b.WriteByte(name[i])
		}
	}
	return b.String()
}
