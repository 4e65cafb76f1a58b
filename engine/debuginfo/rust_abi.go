package debuginfo

import (
	"debug/dwarf"
	"slices"
	"strings"
)

// Rust's own convention is not specified, but what follows has held in every rustc so far, for the layout of a value decides it (Rust
// compiler development guide, "Backend agnostic codegen"; rustc_target::callconv): a value that is one number or pointer travels as in C;
// one that is made of two (a slice, a text, a trait object, a pair) travels as two arguments, which need not both be in registers; one of
// more than two words is passed by its address. How the others travel, of two words at most and more than two parts or none that the
// debug information tells, has changed, and so they are said to be unknown, and with them whatever comes after them.

// isRustMangled reports whether a function has a name that only rustc makes, old or new; one that is called by other languages has
// a plain one.
func (in *Info) isRustMangled(e *dwarf.Entry) bool {
	f, _, err := in.attr(e, dwarf.AttrLinkageName)
	if err != nil || f == nil {
		return false
	}
	name, _ := f.Val.(string)
	return strings.HasPrefix(name, "_R") || strings.HasPrefix(name, "_ZN") && strings.HasSuffix(name, "E")
}

// rustPart is a number or pointer that a value is made of.
type rustPart struct {
	off int64
	typ *ctype
}

// rustParam finds the last of the parameters of a Rust function at its entry.
func (in *Info) rustParam(fn *function, ret *ctype, types []*ctype) (place, error) {
	if parts, ok := in.rustParts(ret); ret.kind != kindVoid && in.sizeOf(ret) > in.word() && (!ok || len(parts) == 0) && in.sizeOf(ret) <= 2*in.word() {
		return place{}, errConvention // in registers or by an address, which would be a parameter of its own
	}
	var passed []*ctype
	for _, t := range types[:len(types)-1] {
		words, _, err := in.rustWords(t)
		if err != nil {
			return place{}, err
		}
		passed = append(passed, words...)
	}
	last := types[len(types)-1]
	words, parts, err := in.rustWords(last)
	if err != nil {
		return place{}, err
	}
	var at []place
	for _, w := range words {
		passed = append(passed, w)
		p, err := in.machineParam(fn, ret, passed)
		if err != nil {
			return place{}, err
		}
		at = append(at, p)
	}
	if parts == nil {
		return at[0].pointed(int(in.word())), nil
	}
	return in.rustJoined(last, parts, at), nil
}

// rustReturn finds the result of a Rust function that is more than a plain number: one of one or two numbers returns in registers, one after the
// other. That of x86-64 alone is known well enough.
func (in *Info) rustReturn(fn *function, t *ctype) (place, error) {
	parts, ok := in.rustParts(t)
	switch {
	case in.machine != machineAMD64 || !in.isRustMangled(fn.entry):
		return place{}, errConvention
	case !ok || len(parts) == 0:
		return place{}, errConvention
	}
	ints, floats := []string{"rax", "rdx"}, []string{"xmm0", "xmm1"}
	var at []place
	for _, p := range parts {
		if p.typ.kind == kindFloat {
			at, floats = append(at, inRegister(floats[0])), floats[1:]
		} else {
			at, ints = append(at, inRegister(ints[0])), ints[1:]
		}
	}
	return in.rustJoined(t, parts, at), nil
}

// rustWords are the arguments that a value is passed as. Without parts it is passed by its address.
func (in *Info) rustWords(t *ctype) (words []*ctype, parts []rustPart, err error) {
	parts, ok := in.rustParts(t)
	switch {
	case ok:
		for _, p := range parts {
			words = append(words, p.typ)
		}
		return words, parts, nil
	case in.sizeOf(t) > 2*in.word():
		return []*ctype{{kind: kindPointer, size: in.word()}}, nil, nil
	}
	return nil, nil, errConvention
}

// rustParts are the one or two numbers that a value is made of, or none of an empty one, by their offset; ok false: it is another.
func (in *Info) rustParts(t *ctype) (parts []rustPart, ok bool) {
	if !in.rustWalk(&parts, t, 0, 0) || len(parts) > 2 {
		return nil, false
	}
	slices.SortFunc(parts, func(a, b rustPart) int { return int(a.off - b.off) })
	if parts == nil {
		parts = []rustPart{}
	}
	return parts, true
}

// rustWalk collects the numbers of t, which starts at off. An enum with values and a union tell none, and are no empty structs either.
func (in *Info) rustWalk(parts *[]rustPart, t *ctype, off int64, depth int) bool {
	size := in.sizeOf(t)
	switch {
	case size == 0:
		return true
	case depth > maxNesting || size < 0 || len(*parts) > 2:
		return false
	}
	switch t.kind {
	case kindInt, kindBool, kindFloat, kindPointer, kindReference, kindEnum:
		*parts = append(*parts, rustPart{off, t})
		return size <= in.word() || depth == 0
	case kindStruct:
	default:
		return false
	}
	members, err := in.membersOf(t)
	if err != nil || len(members) == 0 {
		return false
	}
	for _, m := range members {
		inner, err := in.strip(m.typ, true)
		if err != nil || m.bits > 0 || !in.rustWalk(parts, inner, off+m.offset, depth+1) {
			return false
		}
	}
	return true
}

// rustJoined is a value whose parts lie in different places; nothing is in between them.
func (in *Info) rustJoined(t *ctype, parts []rustPart, at []place) place {
	if len(parts) == 1 && parts[0].off == 0 {
		return at[0]
	}
	var pieces []piece
	end := int64(0)
	gap := func(to int64) {
		if to > end {
			pieces = append(pieces, piece{size: to - end, absent: true})
			end = to
		}
	}
	for i, p := range parts {
		gap(p.off)
		size := in.sizeOf(p.typ)
		pieces = append(pieces, piece{size: size, place: at[i]})
		end += size
	}
	gap(in.sizeOf(t))
	return joined(pieces)
}
