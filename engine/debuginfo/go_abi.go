package debuginfo

import (
	"debug/dwarf"
	"debug/elf"
	"slices"
	"strconv"
	"strings"

	"gotap/compile"
)

// Go's own calling convention, ABIInternal (src/cmd/compile/abi-internal.md of the Go distribution). Each argument is taken
// apart into numbers and pointers: a string is two of them, a slice three. Either all of them fit in the registers left, or
// the argument goes on the stack whole, in the caller's frame, and what follows may still find registers. Results
// are assigned by the same rules anew, those on the stack behind the arguments there. Architectures without registers in this convention pass everything on the stack.

// goConvention is what an architecture has of it: the registers of integers and of floats, and where arguments on the stack start,
// counted from the frame address: where calls push nothing, every function leaves a word there for the return address of those that
// it calls.
type goConvention struct {
	ints, floats []string
	link         bool
}

var goConventions = map[elf.Machine]*goConvention{
	machineAMD64: {ints: strings.Fields("rax rbx rcx rdi rsi r8 r9 r10 r11"), floats: numbered("xmm", 15)},
	machine386:   {},
	machineARM:   {link: true},
	machineARM64: {ints: numbered("x", 16), floats: numbered("v", 16), link: true},
}

func numbered(prefix string, n int) (names []string) {
	for i := range n {
		names = append(names, prefix+strconv.Itoa(i))
	}
	return names
}

// goSlots hands out registers and stack to one argument after the other.
type goSlots struct {
	ints, floats       int
	maxInts, maxFloats int
	convention         *goConvention
	word               int64
	stack              int64 // from the canonical frame address
}

func (in *Info) goSlots() goSlots {
	s := goSlots{word: in.word(), convention: goConventions[in.machine]}
	if s.convention == nil {
		s.convention = &goConvention{}
	}
	s.maxInts, s.maxFloats = len(s.convention.ints), len(s.convention.floats)
	if s.convention.link {
		s.stack = s.word
	}
	return s
}

// goValue is an argument or result, and where it travels.
type goValue struct {
	entry *dwarf.Entry
	typ   *ctype
	place place
}

// goValues are the arguments of a Go function, or its results: debug information lists both as parameters.
//
// Two things it does not tell: that a function is a wrapper which assembly calls with everything on the stack (ABI0), and that
// an instance of a generic function takes a dictionary of its types, behind the receiver if it has one. Both show in
// the places that the compiler wrote down for those arguments that are used; the assignment that agrees with most is right.
func (in *Info) goValues(fn *function, results bool) ([]goValue, error) {
	entries, _, err := in.paramsOf(fn)
	if results {
		entries, err = in.goResults(fn)
	}
	if err != nil {
		return nil, err
	}
	var list []goValue
	for _, e := range entries {
		t, err := in.paramType(e)
		if err != nil {
			return nil, err
		}
		list = append(list, goValue{entry: e, typ: t})
	}
	if !results {
		in.goChoose(fn, list)
		return list, nil
	}
	params, err := in.goValues(fn, false)
	if err != nil {
		return nil, err
	}
	way := in.goChoose(fn, params)
	s := in.goSlots()
	s.stack = in.goAssign(params, way)
	in.goPlace(&s, list, resultWay(way))
	return list, nil
}

// resultWay is the way of results, of a function that takes its arguments in a way: results have no dictionary.
func resultWay(way int) int {
	if way == goStack {
		return way
	}
	return goRegular
}

// Assignments other than goRegular: all on the stack, or a dictionary before the argument of that number.
const (
	goRegular    = -1
	goStack      = -2
	goDictionary = 0
)

// goChoose assigns places to the arguments of fn, in the way that its location lists contradict least.
func (in *Info) goChoose(fn *function, list []goValue) (way int) {
	ways := []int{goRegular, goStack}
	if name := in.name(fn.entry); strings.Contains(name, "[go.shape.") && !in.hasDictionary(list) {
		ways = []int{goDictionary + 1, goDictionary, goRegular}
		if strings.HasSuffix(name, "]") { // no method, nor a closure
			ways = ways[1:]
		}
	}
	best, fewest := goRegular, len(list)+1
	for _, way := range ways {
		in.goAssign(list, way)
		if n := in.goContradictions(fn, list); n < fewest {
			best, fewest = way, n
		}
	}
	in.goAssign(list, best)
	return best
}

// hasDictionary reports whether a dictionary is among the arguments, as it is without optimisation.
func (in *Info) hasDictionary(list []goValue) bool {
	return slices.ContainsFunc(list, func(v goValue) bool { return in.name(v.entry) == ".dict" })
}

// goAssign gives each argument its place, and tells where results on the stack begin.
func (in *Info) goAssign(list []goValue, way int) (end int64) {
	s := in.goSlots()
	in.goPlace(&s, list, way)
	return (s.stack + s.word - 1) / s.word * s.word
}

// goPlace gives values their places in what is left.
func (in *Info) goPlace(s *goSlots, list []goValue, way int) {
	if way == goStack {
		s.maxInts, s.maxFloats = 0, 0
	}
	for i := range list {
		if i == way {
			in.goNext(s, &ctype{kind: kindPointer, size: s.word})
		}
		list[i].place = in.goNext(s, list[i].typ)
	}
}

// goContradictions counts the values that the compiler says are elsewhere at the entry. What it says without a list, for all of the
// function, holds at the entry where arguments need not be taken out of registers first.
func (in *Info) goContradictions(fn *function, list []goValue) int {
	count, always := 0, in.goSlots().maxInts == 0
	for _, v := range list {
		loc, ok, err := in.locationOf(fn.unit, v.entry, fn.low)
		if err != nil || !ok || !loc.list && !always {
			continue
		}
		if written, err := in.locate(fn, fn.low, loc.expr); err == nil && !agree(v.place, written) {
			count++
		}
	}
	return count
}

// agree compares a place by convention with the one written down, as far as that goes: parts that are not used are left out.
func agree(p, written place) bool {
	if len(written.pieces) == 0 {
		if len(p.pieces) == 1 {
			p = p.pieces[0].place
		}
		return p.base == written.base && p.reg == written.reg && p.value == written.value && p.memory == written.memory
	}
	off, next := int64(0), 0
	for _, w := range written.pieces {
		// Both lists are in the order of the value's parts; padding and unused parts are in one of them only.
		switch {
		case w.absent:
		case p.memory:
			if !agree(p.add(off), w.place) {
				return false
			}
		default:
			for next < len(p.pieces) && (p.pieces[next].absent || !agree(p.pieces[next].place, w.place)) {
				next++
			}
			if next == len(p.pieces) {
				return false
			}
		}
		off += w.size
	}
	return true
}

// goResults lists the results of fn, which are kept with its variables.
func (in *Info) goResults(fn *function) ([]*dwarf.Entry, error) {
	top, err := in.scopeOf(fn)
	if err != nil {
		return nil, err
	}
	var list []*dwarf.Entry
	for _, e := range top.vars {
		if f, _, err := in.attr(e, dwarf.AttrVarParam); err == nil && f != nil && f.Val == true {
			list = append(list, e)
		}
	}
	return list, nil
}

// goParam finds parameter index at the entry of a Go function.
func (in *Info) goParam(fn *function, params []*dwarf.Entry, index int) (place, error) {
	values, err := in.goValues(fn, false)
	if err != nil {
		return place{}, err
	}
	for _, v := range values {
		if v.entry.Offset == params[index].Offset {
			return v.place, nil
		}
	}
	return place{}, errNowhere // a result, which does not exist yet
}

// goNext places one argument.
func (in *Info) goNext(s *goSlots, t *ctype) place {
	before := *s
	var pieces []piece
	if in.goRegisters(s, t, 0, &pieces, 0) {
		switch len(pieces) {
		case 0:
			return constant(0) // nothing of it is passed
		case 1:
			if !pieces[0].absent {
				return pieces[0].place
			}
		}
		return place{pieces: pieces}
	}
	*s = before
	align := in.goAlign(t, 0)
	s.stack = (s.stack + align - 1) / align * align
	p := atFrame(s.stack)
	s.stack += max(in.sizeOf(t), 0)
	return p
}

// goRegisters assigns registers to t, which lies at off of the argument, and adds a piece for each. ok is false when they do
// not suffice.
func (in *Info) goRegisters(s *goSlots, t *ctype, off int64, pieces *[]piece, depth int) (ok bool) {
	size := in.sizeOf(t)
	if depth > maxNesting || size < 0 {
		return false
	}
	switch t.kind {
	case kindStruct:
		members, err := in.membersOf(t)
		if err != nil {
			return false
		}
		for _, m := range members {
			inner, err := in.strip(m.typ, true)
			if err != nil || !in.goRegisters(s, inner, off+m.offset, pieces, depth+1) {
				return false
			}
		}
		return true
	case kindArray:
		return in.goArray(s, t, off, pieces, depth)
	case kindFloat:
		return s.float(off, size, pieces)
	case kindComplex:
		return s.float(off, size/2, pieces) && s.float(off+size/2, size/2, pieces)
	}
	if size > s.word { // a 64-bit integer of a 32-bit machine, which has no registers for arguments anyway
		return false
	}
	return size == 0 || s.integer(off, size, pieces)
}

// goArray assigns registers to an array, which has them only with one element.
func (in *Info) goArray(s *goSlots, t *ctype, off int64, pieces *[]piece, depth int) bool {
	if len(t.dims) == 0 || t.dims[0] < 0 || t.dims[0] > 1 {
		return false
	}
	elem, err := in.strip(t.elem, t.hasElem)
	if err != nil {
		return false
	}
	return t.dims[0] == 0 || in.goRegisters(s, elem, off, pieces, depth+1)
}

func (s *goSlots) integer(off, size int64, pieces *[]piece) bool {
	if s.ints >= s.maxInts {
		return false
	}
	addPiece(pieces, off, size, s.convention.ints[s.ints])
	s.ints++
	return true
}

func (s *goSlots) float(off, size int64, pieces *[]piece) bool {
	if s.floats >= s.maxFloats {
		return false
	}
	addPiece(pieces, off, size, s.convention.floats[s.floats])
	s.floats++
	return true
}

// addPiece adds a register that holds size bytes at off, and the padding in front of them.
func addPiece(pieces *[]piece, off, size int64, reg string) {
	var end int64
	for _, p := range *pieces {
		end += p.size
	}
	if off > end {
		*pieces = append(*pieces, piece{size: off - end, absent: true})
	}
	*pieces = append(*pieces, piece{size: size, place: inRegister(reg)})
}

// goAlign is the alignment of a type by Go's rules: that of its largest part, at most a word.
func (in *Info) goAlign(t *ctype, depth int) int64 {
	align := int64(1)
	switch t.kind {
	case kindStruct:
		members, err := in.membersOf(t)
		for _, m := range members {
			if inner, e := in.strip(m.typ, true); err == nil && e == nil && depth < maxNesting {
				align = max(align, in.goAlign(inner, depth+1))
			}
		}
		return align
	case kindArray:
		if elem, err := in.strip(t.elem, t.hasElem); err == nil && depth < maxNesting {
			return in.goAlign(elem, depth+1)
		}
		return align
	case kindComplex:
		return max(align, min(in.sizeOf(t)/2, in.word()))
	}
	return max(align, min(in.sizeOf(t), in.word()))
}

// isGoData reports whether m is the pointer in a string or slice of Go, whose names in the debug information are those of the
// runtime; scripts may call both "ptr".
func (m *member) isGoData(all []member) bool {
	return (m.name == "str" && len(all) == 2 || m.name == "array" && len(all) == 3 && all[2].name == "cap") && all[1].name == "len"
}

// goResult finds the first result of a Go function that has just returned; its type is void when it has none. One on the stack lies
// behind the arguments, in the caller's frame.
func (in *Info) goResult(fn *function) (v goValue, err error) {
	values, err := in.goValues(fn, true)
	if err != nil {
		return v, err
	}
	if len(values) == 0 {
		return goValue{typ: void}, nil
	}
	return values[0], nil
}

// GoArg says how to fetch word n, from 0, of the integers and pointers that the Go function at vaddr is called with: a string
// is two such words, a slice three, floats are none. ok is false when the function has no such word, or is no Go function
// with debug information.
func (in *Info) GoArg(vaddr uint64, n int) (a compile.Access, ok bool) {
	var err error
	defer func() { ok = ok && err == nil }()
	defer in.guard(&err)()
	fn, e := in.functionAt(vaddr)
	if e != nil || fn.unit.language() != langGo || n < 0 {
		return a, false
	}
	values, e := in.goValues(fn, false)
	if e != nil {
		return a, false
	}
	for _, v := range values {
		words := in.goWords(in.atEntry(v.place), v.typ, n+1)
		if n < len(words) {
			return words[n], true
		}
		n -= len(words)
	}
	return a, false
}

// goWords lists the words of an argument that are no floats, at least as many as are wanted: arrays can have millions.
func (in *Info) goWords(p place, t *ctype, wanted int) []compile.Access {
	if !p.memory && len(p.pieces) == 0 {
		p = place{pieces: []piece{{size: in.sizeOf(t), place: p}}}
	}
	var words []compile.Access
	for _, part := range p.pieces {
		if part.absent || isVector(part.place) {
			continue
		}
		if a, err := part.place.scalar(min(part.size, 8), t.signed, false); err == nil {
			a.Type = compile.TypeInt
			words = append(words, a)
		}
	}
	if !p.memory || t.kind == kindFloat {
		return words
	}
	for off := int64(0); off < in.sizeOf(t) && len(words) < wanted; off += in.word() {
		size := min(in.word(), in.sizeOf(t)-off)
		if a, err := p.add(off).scalar(size&-size, t.signed, false); err == nil {
			a.Type = compile.TypeInt
			words = append(words, a)
		}
	}
	return words
}

// isVector reports whether a place is a vector register, or none at all.
func isVector(p place) bool {
	return p.base != compile.BaseReg || strings.HasPrefix(p.reg, "xmm") || p.reg[0] == 'v' || p.reg[0] == 'd'
}
