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

// Rust's convention is not specified, but these rules have held for every rustc so far, because they follow from
// layouts (Rust compiler development guide, "Backend agnostic codegen"; rustc_target::callconv). A value that is one
// number or pointer is passed as in C. One that consists of two (a slice, a str, a trait object, a pair) is passed as
// two arguments, which need not both be in registers. One of more than two words is passed by its address. How all
// others are passed has changed between versions, so their places and those of later arguments are unknown.

// isMangled reports whether a function has a mangled Rust name, in the old or the new form. A function that other
// languages call has a plain name.
func (rs rust) isMangled(e *dwarf.Entry) bool {
	f, _, err := rs.entries.Attr(e, dwarf.AttrLinkageName)
	if err != nil || f == nil {
		return false
	}
	name, _ := f.Val.(string)
	return strings.HasPrefix(name, "_R") || strings.HasPrefix(name, "_ZN") && strings.HasSuffix(name, "E")
}

// rust is the calling convention of Rust.
type rust struct{ *Rules }

// rustPart is a number or pointer in a value.
type rustPart struct {
	off int64
	typ *ctype.Type
}

// param returns the place of the last of the parameters of a Rust function at its entry.
func (rs rust) param(fn *function.Function, ret *ctype.Type, types []*ctype.Type) (location.Place, error) {
	if ret = rs.asReturned(fn, ret); ret == nil {
		return location.Place{}, ErrUnknown // in registers or through an address, which is a parameter of its own
	}
	var passed []*ctype.Type
	for _, t := range types[:len(types)-1] {
		words, _, err := rs.words(fn, t)
		if err != nil {
			return location.Place{}, err
		}
		passed = append(passed, words...)
	}
	last := types[len(types)-1]
	words, parts, err := rs.words(fn, last)
	if err != nil {
		return location.Place{}, err
	}
	var at []location.Place
	for _, w := range words {
		passed = append(passed, w)
		p, err := rs.machineParam(fn, ret, passed)
		if err != nil {
			return location.Place{}, err
		}
		at = append(at, p)
	}
	if parts == nil {
		return at[0].Pointed(int(rs.entries.Word())), nil
	}
	return rs.joined(last, parts, at), nil
}

// result returns the place of the result of a Rust function that is more than one number. One or two numbers are
// returned in registers, in their order. This is known for x86-64 only.
func (rs rust) result(fn *function.Function, t *ctype.Type) (location.Place, error) {
	parts, ok := rs.parts(t)
	as := rs.asReturned(fn, t)
	switch {
	case as == nil || rs.entries.Machine() != elf.EM_X86_64 || !rs.isMangled(fn.DIE):
		return location.Place{}, ErrUnknown
	case !ok || len(parts) == 0 || rs.types.Size(t) > 2*rs.entries.Word() || rs.hasDouble(parts):
		return rs.machine.result(as, false)
	}
	ints, floats := []string{"rax", "rdx"}, []string{"xmm0", "xmm1"}
	var at []location.Place
	for _, p := range parts {
		if p.typ.Kind == ctype.Float {
			at, floats = append(at, location.InRegister(floats[0])), floats[1:]
		} else {
			at, ints = append(at, location.InRegister(ints[0])), ints[1:]
		}
	}
	return rs.joined(t, parts, at), nil
}

// words returns the arguments that a value is passed as. Without parts it is passed by its address.
func (rs rust) words(fn *function.Function, t *ctype.Type) (words []*ctype.Type, parts []rustPart, err error) {
	parts, ok := rs.parts(t)
	switch {
	case ok:
		for _, p := range parts {
			words = append(words, p.typ)
		}
		return words, parts, nil
	case rs.isModern(fn) && rs.types.Size(t) > 0 && rs.types.Size(t) <= rs.entries.Word():
		whole := &ctype.Type{Kind: ctype.Int, Size: rs.types.Size(t)}
		return []*ctype.Type{whole}, []rustPart{{0, whole}}, nil
	case rs.isModern(fn) && rs.types.Size(t) > rs.entries.Word(), rs.types.Size(t) > 2*rs.entries.Word():
		return []*ctype.Type{{Kind: ctype.Pointer, Size: rs.entries.Word()}}, nil, nil
	}
	return nil, nil, ErrUnknown
}

// parts returns the one or two numbers in a value by their offsets, or none for an empty value. ok is false for all
// other values.
func (rs rust) parts(t *ctype.Type) (parts []rustPart, ok bool) {
	if !rs.walk(&parts, t, 0, 0) || len(parts) > 2 {
		return nil, false
	}
	slices.SortFunc(parts, func(a, b rustPart) int { return int(a.off - b.off) })
	if parts == nil {
		parts = []rustPart{}
	}
	return parts, true
}

// walk collects the numbers of t, which starts at off. It fails for enums with values and unions, whose numbers are
// unknown.
func (rs rust) walk(parts *[]rustPart, t *ctype.Type, off int64, depth int) bool {
	size := rs.types.Size(t)
	switch {
	case size == 0:
		return true
	case depth > ctype.MaxNesting || size < 0 || len(*parts) > 2:
		return false
	}
	switch t.Kind {
	case ctype.Int, ctype.Bool, ctype.Float, ctype.Pointer, ctype.Reference, ctype.Enum:
		*parts = append(*parts, rustPart{off, t})
		return size <= 2*rs.entries.Word()
	case ctype.Struct:
		if v := rs.types.Variants(t); v != nil {
			return rs.walkVariants(parts, v, off, depth)
		}
	default:
		return false
	}
	members, err := rs.types.Members(t)
	if err != nil || len(members) == 0 {
		return false
	}
	for _, m := range members {
		inner, err := rs.types.Strip(m.Type, true)
		if err != nil || m.Bits > 0 || !rs.walk(parts, inner, off+m.Offset, depth+1) {
			return false
		}
	}
	return true
}

// joined returns the place of a value whose parts are in different places, with gaps between them.
func (rs rust) joined(t *ctype.Type, parts []rustPart, at []location.Place) location.Place {
	if len(parts) == 1 && parts[0].off == 0 {
		return at[0]
	}
	var pieces []location.Piece
	end := int64(0)
	gap := func(to int64) {
		if to > end {
			pieces = append(pieces, location.Piece{Size: to - end, Absent: true})
			end = to
		}
	}
	for i, p := range parts {
		gap(p.off)
		size := rs.types.Size(p.typ)
		pieces = append(pieces, location.Piece{Size: size, Place: at[i]})
		end += size
	}
	gap(rs.types.Size(t))
	return location.Join(pieces)
}

// walkVariants collects the numbers of an enum with data: the discriminant, and one number that all variants with data
// have at one place. If only one variant has data, the discriminant may be in it, at values that it does not use
// otherwise.
func (rs rust) walkVariants(parts *[]rustPart, v *ctype.Variants, off int64, depth int) bool {
	var data [][]rustPart
	for _, c := range v.Cases {
		var one []rustPart
		inner, err := rs.types.Strip(c.Type, true)
		if err != nil {
			return false
		}
		if members, err := rs.types.Members(inner); err != nil || len(members) > 0 && !rs.walk(&one, inner, off+c.Offset, depth+1) {
			return false
		}
		if len(one) > 0 {
			data = append(data, one)
		}
	}
	if !v.Has {
		return len(v.Cases) <= 1 && rs.add(parts, data...)
	}
	discr, err := rs.types.Strip(v.Discr.Type, true)
	if err != nil {
		return false
	}
	tag := rustPart{off + v.Discr.Offset, discr}
	if len(data) == 1 && rs.overlaps(data[0], tag) {
		return rs.add(parts, data[0])
	}
	if !rs.add(parts, []rustPart{tag}) {
		return false
	}
	for _, one := range data {
		if len(one) != 1 || rs.overlaps(one, tag) || one[0].off != data[0][0].off || rs.types.Size(one[0].typ) != rs.types.Size(data[0][0].typ) ||
			(one[0].typ.Kind == ctype.Float) != (data[0][0].typ.Kind == ctype.Float) {
			return false
		}
	}
	return len(data) == 0 || rs.add(parts, data[0])
}

// add appends parts; it reports false when they are too many.
func (rs rust) add(parts *[]rustPart, more ...[]rustPart) bool {
	for _, list := range more {
		*parts = append(*parts, list...)
	}
	return len(*parts) <= 2
}

// overlaps reports whether one of the parts has bytes of another.
func (rs rust) overlaps(parts []rustPart, other rustPart) bool {
	end := other.off + rs.types.Size(other.typ)
	return slices.ContainsFunc(parts, func(p rustPart) bool { return p.off < end && other.off < p.off+rs.types.Size(p.typ) })
}

// Values of more than two numbers, and of alternatives with different data. By rustc 1.84 and later they are passed as
// an integer, if they have no more than a word, or by their address; and returned as an integer, or in memory whose
// address the caller passes. Of how rustc before 1.95 returned those of more than one and up to two words nothing is
// known here.

// isModern reports whether a function is by such a rustc.
func (rs rust) isModern(fn *function.Function) bool { return rs.isSince(fn, 84) }

// isSince reports whether a function is by rustc 1.minor or later, on x86-64.
func (rs rust) isSince(fn *function.Function, minor int) bool {
	producer, _ := fn.Unit.Entry.Val(dwarf.AttrProducer).(string)
	_, version, ok := strings.Cut(producer, "rustc version 1.")
	if !ok || rs.entries.Machine() != elf.EM_X86_64 {
		return false
	}
	number, _, _ := strings.Cut(version, ".")
	n, err := strconv.Atoi(number)
	return err == nil && n >= minor
}

// asReturned returns a type that C returns as Rust returns t, or nil if that is not known.
func (rs rust) asReturned(fn *function.Function, t *ctype.Type) *ctype.Type {
	size, word := rs.types.Size(t), rs.entries.Word()
	parts, ok := rs.parts(t)
	isPair := ok && len(parts) > 0
	switch {
	case t.Kind == ctype.Void || size == 0:
		return &ctype.Type{Kind: ctype.Void}
	case size < 0:
		return nil
	case isPair && size <= 2*word:
		return &ctype.Type{Kind: ctype.Int, Size: size}
	case size > 2*word && (!isPair || rs.isModern(fn)), rs.isSince(fn, 95) && size > word:
		return &ctype.Type{Kind: ctype.Struct, Size: size, ByRef: ctype.ByReference, Told: true}
	case size <= word && rs.isModern(fn):
		return &ctype.Type{Kind: ctype.Int, Size: size}
	}
	return nil
}

// hasDouble reports whether one of the parts is an integer of two words.
func (rs rust) hasDouble(parts []rustPart) bool {
	return slices.ContainsFunc(parts, func(p rustPart) bool { return rs.types.Size(p.typ) > rs.entries.Word() })
}
