package callconv

import (
	"debug/dwarf"
	"debug/elf"
	"slices"
	"strconv"
	"strings"

	"gotap/engine/image/debuginfo/ctype"
	"gotap/engine/image/debuginfo/function"
	"gotap/engine/image/debuginfo/location"
)

// The calling convention of Go, ABIInternal (src/cmd/compile/abi-internal.md in the Go distribution). Each argument is
// divided into numbers and pointers: a string into two, a slice into three. Either all of them fit in the remaining
// registers, or the argument is passed on the stack, in the caller's frame; later arguments may still fit. Results
// follow the same rules, and are on the stack behind the arguments. Some architectures pass everything on the stack.

// golang is the calling convention of Go.
type golang struct{ *Rules }

// goConvention is the convention of one architecture: the registers for integers and for floating-point numbers, and
// whether calls store the return address in a link register. Then every function reserves a word for it below the
// arguments on the stack.
type goConvention struct {
	ints, floats []string
	link         bool
}

var goConventions = map[elf.Machine]*goConvention{
	elf.EM_X86_64:  {ints: strings.Fields("rax rbx rcx rdi rsi r8 r9 r10 r11"), floats: numbered("xmm", 15)},
	elf.EM_386:     {},
	elf.EM_ARM:     {link: true},
	elf.EM_AARCH64: {ints: numbered("x", 16), floats: numbered("v", 16), link: true},
}

// numbered returns the names of n registers, numbered from 0.
func numbered(prefix string, n int) (names []string) {
	for i := range n {
		names = append(names, prefix+strconv.Itoa(i))
	}
	return names
}

// goSlots assigns registers and stack to arguments in their order.
type goSlots struct {
	ints, floats       int
	maxInts, maxFloats int
	convention         *goConvention
	word               int64
	stack              int64 // from the canonical frame address
}

// slots returns all registers of the architecture, and the start of the arguments on the stack.
func (g golang) slots() goSlots {
	s := goSlots{word: g.entries.Word(), convention: goConventions[g.entries.Machine()]}
	if s.convention == nil {
		s.convention = &goConvention{}
	}
	s.maxInts, s.maxFloats = len(s.convention.ints), len(s.convention.floats)
	if s.convention.link {
		s.stack = s.word
	}
	return s
}

// goValue is an argument or result and its place.
type goValue struct {
	entry *dwarf.Entry
	typ   *ctype.Type
	place location.Place
}

// values returns the arguments of a Go function, or its results. The debug information lists both as parameters.
//
// It lacks two facts: whether a function is a wrapper that assembly calls with everything on the stack (ABI0), and
// whether an instance of a generic function takes a dictionary of its types, behind the receiver if there is one. Both
// can be inferred from the locations that the compiler wrote for arguments that are used. The assignment that agrees
// with most of them is right.
func (g golang) values(fn *function.Function, results bool) ([]goValue, error) {
	entries, _, err := g.functions.Params(fn)
	if results {
		entries, err = g.resultEntries(fn)
	}
	if err != nil {
		return nil, err
	}
	var list []goValue
	for _, e := range g.distinct(entries) {
		t, err := g.types.OfEntry(e)
		if err != nil {
			return nil, err
		}
		list = append(list, goValue{entry: e, typ: t})
	}
	if !results {
		g.choose(fn, list)
		return list, nil
	}
	params, err := g.values(fn, false)
	if err != nil {
		return nil, err
	}
	way := g.choose(fn, params)
	s := g.slots()
	s.stack = g.assign(params, way)
	g.place(&s, list, resultWay(way))
	return list, nil
}

// resultEntries returns the entries of the results of fn, which are among its variables.
func (g golang) resultEntries(fn *function.Function) ([]*dwarf.Entry, error) {
	top, err := g.functions.Scope(fn)
	if err != nil {
		return nil, err
	}
	var list []*dwarf.Entry
	for _, e := range top.Vars {
		if f, _, err := g.entries.Attr(e, dwarf.AttrVarParam); err == nil && f != nil && f.Val == true {
			list = append(list, e)
		}
	}
	return g.distinct(list), nil
}

// distinct leaves out entries that repeat the one before them: Go's compiler writes some results twice.
func (g golang) distinct(entries []*dwarf.Entry) []*dwarf.Entry {
	return slices.CompactFunc(slices.Clone(entries), func(a, b *dwarf.Entry) bool {
		name := g.entries.Name(a)
		return name != "" && name != "_" && name == g.entries.Name(b)
	})
}

// param returns the place of a parameter at the entry of a Go function.
func (g golang) param(fn *function.Function, params []*dwarf.Entry, index int) (location.Place, error) {
	values, err := g.values(fn, false)
	if err != nil {
		return location.Place{}, err
	}
	for _, v := range values {
		if v.entry.Offset == params[index].Offset {
			return v.place, nil
		}
	}
	return location.Place{}, location.ErrNowhere // a result, which has no value yet
}

// next places one argument.
func (g golang) next(s *goSlots, t *ctype.Type) location.Place {
	before := *s
	var pieces []location.Piece
	if g.registers(s, t, 0, &pieces, 0) {
		switch len(pieces) {
		case 0:
			return location.Constant(0) // an empty value is not passed
		case 1:
			if !pieces[0].Absent {
				return pieces[0].Place
			}
		}
		return location.Place{Pieces: pieces}
	}
	*s = before
	align := g.align(t, 0)
	s.stack = (s.stack + align - 1) / align * align
	p := location.AtFrame(s.stack)
	s.stack += max(g.types.Size(t), 0)
	return p
}

// registers assigns registers to t, which is at off in the argument, and adds a piece for each. ok is false when too
// few are left.
func (g golang) registers(s *goSlots, t *ctype.Type, off int64, pieces *[]location.Piece, depth int) (ok bool) {
	size := g.types.Size(t)
	if depth > ctype.MaxNesting || size < 0 {
		return false
	}
	switch t.Kind {
	case ctype.Struct:
		members, err := g.types.Members(t)
		if err != nil {
			return false
		}
		for _, m := range members {
			inner, err := g.types.Strip(m.Type, true)
			if err != nil || !g.registers(s, inner, off+m.Offset, pieces, depth+1) {
				return false
			}
		}
		return true
	case ctype.Array:
		return g.array(s, t, off, pieces, depth)
	case ctype.Float:
		return s.float(off, size, pieces)
	case ctype.Complex:
		return s.float(off, size/2, pieces) && s.float(off+size/2, size/2, pieces)
	}
	if size > s.word { // a 64-bit integer of a 32-bit machine, which passes no arguments in registers
		return false
	}
	return size == 0 || s.integer(off, size, pieces)
}

// array assigns registers to an array. Only arrays of up to one element are passed in registers.
func (g golang) array(s *goSlots, t *ctype.Type, off int64, pieces *[]location.Piece, depth int) bool {
	if len(t.Dims) == 0 || t.Dims[0] < 0 || t.Dims[0] > 1 {
		return false
	}
	elem, err := g.types.Strip(t.Elem, t.HasElem)
	if err != nil {
		return false
	}
	return t.Dims[0] == 0 || g.registers(s, elem, off, pieces, depth+1)
}

func (s *goSlots) integer(off, size int64, pieces *[]location.Piece) bool {
	if s.ints >= s.maxInts {
		return false
	}
	addPiece(pieces, off, size, s.convention.ints[s.ints])
	s.ints++
	return true
}

func (s *goSlots) float(off, size int64, pieces *[]location.Piece) bool {
	if s.floats >= s.maxFloats {
		return false
	}
	addPiece(pieces, off, size, s.convention.floats[s.floats])
	s.floats++
	return true
}

// addPiece adds a register that holds size bytes at off, and the padding before them.
func addPiece(pieces *[]location.Piece, off, size int64, reg string) {
	var end int64
	for _, p := range *pieces {
		end += p.Size
	}
	if off > end {
		*pieces = append(*pieces, location.Piece{Size: off - end, Absent: true})
	}
	*pieces = append(*pieces, location.Piece{Size: size, Place: location.InRegister(reg)})
}

// align returns the alignment of a type by Go's rules: that of its largest part, at most a word.
func (g golang) align(t *ctype.Type, depth int) int64 {
	align := int64(1)
	switch t.Kind {
	case ctype.Struct:
		members, err := g.types.Members(t)
		for _, m := range members {
			if inner, e := g.types.Strip(m.Type, true); err == nil && e == nil && depth < ctype.MaxNesting {
				align = max(align, g.align(inner, depth+1))
			}
		}
		return align
	case ctype.Array:
		if elem, err := g.types.Strip(t.Elem, t.HasElem); err == nil && depth < ctype.MaxNesting {
			return g.align(elem, depth+1)
		}
		return align
	case ctype.Complex:
		return max(align, min(g.types.Size(t)/2, g.entries.Word()))
	}
	return max(align, min(g.types.Size(t), g.entries.Word()))
}
