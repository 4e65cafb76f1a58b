package debuginfo

import (
	"debug/dwarf"
	"slices"
	"strings"

	"gotap/compile"
	"gotap/compile/shape"
	"gotap/engine/image/debuginfo/ctype"
	"gotap/engine/image/debuginfo/location"
)

// maxEnumerators is the largest number of names of an enumeration that an access carries.
const maxEnumerators = 64

// shape returns the shape of the value at the end of a walk. t is its type.
func (w *walk) shape(t *ctype.Type) *shape.Shape {
	if w.bits != nil {
		return nil
	}
	switch t.Kind {
	case ctype.Struct, ctype.Union:
		s := &shape.Shape{Kind: shape.Struct, Members: w.in.types.MemberNames(t), Text: w.in.sizedText(t), Dynamic: w.dynamic(t)}
		w.container(s, t)
		return s
	case ctype.Array:
		return w.arrayShape(t)
	case ctype.Pointer:
		return w.pointerShape(t)
	case ctype.Complex:
		return &shape.Shape{Kind: shape.Complex}
	case ctype.Float:
		if isWide(t) {
			return &shape.Shape{Kind: shape.Wide}
		}
	case ctype.Int:
		if isWide(t) {
			return &shape.Shape{Kind: shape.Wide}
		}
		if t.Char && t.Size == 1 {
			return &shape.Shape{Kind: shape.Char}
		}
	}
	return nil
}

// sizedTexts are the types of text with a length: strings of Go, of Rust, and of C++ in both libraries. A name that
// ends in < is a template whose first argument is a character. Types with these names but other members are ignored.
var sizedTexts = []struct {
	name    string
	members []string // the first ones
	shape.SizedText
}{
	{"string", []string{"str", "len"}, shape.SizedText{Address: "str", Len: "len"}},
	{"String", nil, shape.SizedText{Address: "vec.buf.inner.ptr.pointer.pointer", Len: "vec.len"}},
	{"String", nil, shape.SizedText{Address: "vec.buf.ptr.pointer.pointer", Len: "vec.len"}},
	{"&str", []string{"data_ptr", "length"}, shape.SizedText{Address: "data_ptr", Len: "length"}},
	{"&mut str", []string{"data_ptr", "length"}, shape.SizedText{Address: "data_ptr", Len: "length"}},
	{rustBox + "str>", []string{"data_ptr", "length"}, shape.SizedText{Address: "data_ptr", Len: "length"}},
	{rustBox + "str, alloc::alloc::Global>", []string{"data_ptr", "length"}, shape.SizedText{Address: "data_ptr", Len: "length"}},
	{"basic_string<", []string{"_M_dataplus", "_M_string_length"}, shape.SizedText{Address: "_M_dataplus._M_p", Len: "_M_string_length"}},
	{"basic_string<", nil, libcString("__r_.__value_.", "__is_long_")},
	{"basic_string<", nil, libcString("__rep_.", "__is_long_")},
	{"basic_string<", nil, libcString("__r_.__value_.", "")},
	{"basic_string_view<", []string{"__data", "__size"}, shape.SizedText{Address: "__data", Len: "__size"}},
	{"basic_string_view<", []string{"__data_", "__size_"}, shape.SizedText{Address: "__data_", Len: "__size_"}},
	{"basic_string_view<", []string{"_M_len", "_M_str"}, shape.SizedText{Address: "_M_str", Len: "_M_len"}},
}

// libcString is a string of libc++. long is the member that says that it is not short, "" where its length says it.
func libcString(path, long string) shape.SizedText {
	short := &shape.ShortText{Address: path + "__s.__data_", Len: path + "__s.__size_"}
	if long != "" {
		short.Long = path + "__s." + long
	}
	return shape.SizedText{Address: path + "__l.__data_", Len: path + "__l.__size_", Short: short}
}

// sizedText returns how t is a text with a length, or nil.
func (in *Info) sizedText(t *ctype.Type) *shape.SizedText {
	for _, known := range sizedTexts {
		unit := unitNamed(in.types, t, known.name)
		if unit == 0 {
			continue
		}
		known.Width = wide(unit)
		if known.members == nil {
			if in.hasPath(t, strings.Split(known.Address, ".")) && (known.Short == nil || known.Short.Long == "" || in.hasPath(t, strings.Split(known.Short.Long, "."))) {
				return &known.SizedText
			}
			continue
		}
		if have := in.types.MemberNames(t); len(have) >= len(known.members) && slices.Equal(have[:len(known.members)], known.members) {
			return &known.SizedText
		}
	}
	return nil
}

// Kinds of types that Go's compiler writes down (reflect.Kind), whatever their names are.
const (
	attrGoKind = dwarf.Attr(0x2900)
	goSlice    = 23
	goString   = 24
)

// goKind returns the kind of a type of Go; 0 for other types.
func goKind(t *ctype.Type) int64 {
	if t.Entry == nil {
		return 0
	}
	kind, _ := t.Entry.Val(attrGoKind).(int64)
	return kind
}

// rustBox begins the name of a Box of Rust. One of a text, a slice or a trait is a struct, others are pointers.
const rustBox = "alloc::boxed::Box<"

// unitNamed returns the size of a unit of text if a type has a name of sizedTexts, else 0.
func unitNamed(types *ctype.Types, t *ctype.Type, known string) int {
	switch {
	case strings.HasSuffix(known, "<") && strings.HasPrefix(t.Name, known):
		unit, ok := types.TemplateType(t, 0)
		return types.TextUnit(unit, ok)
	case t.Name == known || known == "string" && goKind(t) == goString:
		return 1
	}
	return 0
}

// arrayShape returns the shape of an array, whose length is that of its first dimension.
func (w *walk) arrayShape(t *ctype.Type) *shape.Shape {
	s := &shape.Shape{Kind: shape.Array}
	if len(t.Dims) > 0 {
		s.Len = int(max(t.Dims[0], 0))
	}
	if unit := w.in.types.TextUnit(t.Elem, t.HasElem); unit > 0 && len(t.Dims) == 1 {
		s.Kind, s.Width = shape.Chars, wide(unit)
	}
	return s
}

// pointerShape returns the shape of a pointer, which depends on the type it points to.
func (w *walk) pointerShape(t *ctype.Type) *shape.Shape {
	s := &shape.Shape{Kind: shape.Pointer}
	if w.pointers > 1 {
		s.Other = true
		return s
	}
	to, err := w.in.types.Strip(t.Elem, t.HasElem)
	unit := w.in.types.TextUnit(t.Elem, t.HasElem)
	s.Other = err == nil && t.HasElem && unit == 0 && !w.in.mayBeBytes(to)
	switch {
	case err != nil || !t.HasElem:
	case unit > 0 || to.Char && to.Size == 1:
		s.Kind, s.Width = shape.Text, wide(unit)
	case (to.Kind == ctype.Struct || to.Kind == ctype.Union) && !to.Declared:
		s.Members = w.in.types.MemberNames(to)
		s.Text = w.in.sizedText(to)
		inner := *w
		if _, err := inner.follow(t); err == nil {
			inner.container(s, to)
		}
		s.Handle = w.isHandle(t)
	}
	if strings.HasPrefix(t.Name, rustBox) && w.pointers == 0 {
		s.Inner = compile.Target
	}
	return s
}

// wide returns the size of a unit of text if it has more than a byte.
func wide(unit int) int {
	if unit > 1 {
		return unit
	}
	return 0
}

// mayBeBytes reports whether a pointer to t may point to text: t is a character, a single byte, an array of them, or
// void.
func (in *Info) mayBeBytes(t *ctype.Type) bool {
	switch t.Kind {
	case ctype.Void:
		return true
	case ctype.Int:
		return in.types.Size(t) == 1
	case ctype.Array:
		elem, err := in.types.Strip(t.Elem, t.HasElem)
		return err == nil && elem.Kind == ctype.Int && in.types.Size(elem) == 1
	}
	return false
}

// enumerators returns the names of an enumeration, or nil when it has too many.
func (in *Info) enumerators(t *ctype.Type) []compile.Enumerator {
	names := in.allEnumerators(t)
	if len(names) > maxEnumerators {
		return nil
	}
	return names
}

// allEnumerators returns the names of an enumeration.
func (in *Info) allEnumerators(t *ctype.Type) []compile.Enumerator {
	if t.Kind != ctype.Enum || t.Entry == nil {
		return nil
	}
	var names []compile.Enumerator
	in.entries.Children(t.Entry, func(c *dwarf.Entry) error { // an enumeration in a damaged file has fewer
		name, _ := c.Val(dwarf.AttrName).(string)
		if v, ok := c.Val(dwarf.AttrConstValue).(int64); ok && c.Tag == dwarf.TagEnumerator && name != "" {
			names = append(names, compile.Enumerator{Name: name, Value: location.Extend(v, 8*in.types.Size(t), t.Signed)})
		}
		return nil
	})
	return names
}
