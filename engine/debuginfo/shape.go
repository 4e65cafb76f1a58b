package debuginfo

import (
	"debug/dwarf"
	"slices"
	"strings"

	"gotap/compile"
)

// maxEnumerators bounds the names of an enumeration that programs are told of.
const maxEnumerators = 64

// shape says what the value at the end of a walk is made of; t is its type.
func (w *walk) shape(t *ctype) *compile.Shape {
	if w.bits != nil {
		return nil
	}
	switch t.kind {
	case kindStruct, kindUnion:
		return &compile.Shape{Kind: compile.ShapeStruct, Members: w.in.memberNames(t), Text: w.in.countedText(t)}
	case kindArray:
		return w.arrayShape(t)
	case kindPointer:
		return w.pointerShape(t)
	case kindInt:
		if t.char && t.size == 1 {
			return &compile.Shape{Kind: compile.ShapeChar}
		}
	}
	return nil
}

// countedTexts are the types of text with a length: strings of Go, Rust, and C++ as libstdc++ has them. A name that ends in < is
// that of a template, of which the first argument is char. Types of these names with other members are not meant.
var countedTexts = []struct {
	name    string
	members []string // the first ones
	compile.Counted
}{
	{"string", []string{"str", "len"}, compile.Counted{Address: "str", Len: "len"}},
	{"&str", []string{"data_ptr", "length"}, compile.Counted{Address: "data_ptr", Len: "length"}},
	{"basic_string<", []string{"_M_dataplus", "_M_string_length"}, compile.Counted{Address: "_M_dataplus._M_p", Len: "_M_string_length"}},
	{"basic_string_view<", []string{"_M_len", "_M_str"}, compile.Counted{Address: "_M_str", Len: "_M_len"}},
}

// countedText is how a type is text with a length; nil when it is none.
func (in *Info) countedText(t *ctype) *compile.Counted {
	for _, known := range countedTexts {
		if !isNamed(t.name, known.name) {
			continue
		}
		if have := in.memberNames(t); len(have) >= len(known.members) && slices.Equal(have[:len(known.members)], known.members) {
			return &known.Counted
		}
	}
	return nil
}

// isNamed reports whether a type has a name of countedTexts.
func isNamed(name, known string) bool {
	if !strings.HasSuffix(known, "<") {
		return name == known
	}
	argument, ok := strings.CutPrefix(name, known+"char")
	return ok && (strings.HasPrefix(argument, ",") || strings.HasPrefix(argument, ">"))
}

// arrayShape is that of an array, whose first dimension counts.
func (w *walk) arrayShape(t *ctype) *compile.Shape {
	s := &compile.Shape{Kind: compile.ShapeArray}
	if len(t.dims) > 0 {
		s.Len = int(max(t.dims[0], 0))
	}
	if elem, err := w.in.strip(t.elem, t.hasElem); err == nil && len(t.dims) == 1 && elem.isText() {
		s.Kind = compile.ShapeChars
	}
	return s
}

// isText reports whether an array of a type is text. C has one type for that; those with a sign, as uint8_t is one, are numbers, of
// which 0 ends nothing.
func (t *ctype) isText() bool { return t.char && t.size == 1 && t.name == "char" }

// pointerShape is that of a pointer, by what it points to.
func (w *walk) pointerShape(t *ctype) *compile.Shape {
	s := &compile.Shape{Kind: compile.ShapePointer}
	to, err := w.in.strip(t.elem, t.hasElem)
	s.Other = err == nil && t.hasElem && !w.in.mayBeBytes(to)
	switch {
	case err != nil || !t.hasElem:
	case to.char && to.size == 1:
		s.Kind = compile.ShapeText
	case (to.kind == kindStruct || to.kind == kindUnion) && !to.declared:
		s.Members = w.in.memberNames(to)
	}
	return s
}

// mayBeBytes reports whether text may be where a pointer to t leads: characters, single bytes, or what has no type.
func (in *Info) mayBeBytes(t *ctype) bool {
	switch t.kind {
	case kindVoid:
		return true
	case kindInt:
		return in.sizeOf(t) == 1
	case kindArray:
		elem, err := in.strip(t.elem, t.hasElem)
		return err == nil && elem.kind == kindInt && in.sizeOf(elem) == 1
	}
	return false
}

// enumerators are the names of an enumeration, nil when it has too many.
func (in *Info) enumerators(t *ctype) []compile.Enumerator {
	if t.kind != kindEnum || t.entry == nil {
		return nil
	}
	var names []compile.Enumerator
	in.children(t.entry, func(c *dwarf.Entry) error { // damaged ones have fewer
		name, _ := c.Val(dwarf.AttrName).(string)
		if v, ok := c.Val(dwarf.AttrConstValue).(int64); ok && c.Tag == dwarf.TagEnumerator && name != "" {
			names = append(names, compile.Enumerator{Name: name, Value: extend(v, 8*in.sizeOf(t), t.signed)})
		}
		return nil
	})
	if len(names) > maxEnumerators {
		return nil
	}
	return names
}

// Locals lists the names of the local variables in scope at pc, those of the innermost block last; of two of one name the inner one is
// meant. The arguments of an inlined call are among them. At a function's entry there are none, since nothing is in them yet.
func (in *Info) Locals(pc uint64) (names []string, err error) {
	defer in.guard(&err)()
	fn, err := in.functionAt(pc)
	if err != nil || pc == fn.low {
		return nil, err
	}
	top, err := in.scopeOf(fn)
	if err != nil {
		return nil, err
	}
	for i, s := range top.path(pc) {
		declared := s.vars
		if i > 0 {
			declared = append(slices.Clone(s.params), s.vars...)
		}
		for _, e := range declared {
			if n := in.name(e); !slices.Contains(names, n) {
				names = append(names, n)
			}
		}
	}
	return named(names), nil
}

// Parameters lists the names of the parameters of the function at pc, in their order.
func (in *Info) Parameters(pc uint64) (names []string, err error) {
	defer in.guard(&err)()
	fn, err := in.functionAt(pc)
	if err != nil {
		return nil, err
	}
	params, _, err := in.paramsOf(fn)
	for _, p := range params {
		names = append(names, in.name(p))
	}
	return named(names), err
}
