package ctype

import (
	"debug/dwarf"
	"strconv"
	"strings"
)

// Declare returns a declaration as C writes it: the type around inner, which is the name and everything that already
// surrounds it. ok false stands for void; depth is 0 for all callers outside.
func (ts *Types) Declare(off dwarf.Offset, ok bool, inner string, depth int) string {
	if !ok {
		return join("void", inner)
	}
	t, err := ts.At(off)
	if err != nil || depth > maxAliases {
		return join("?", inner)
	}
	next := func(inner string) string { return ts.Declare(t.Elem, t.HasElem, inner, depth+1) }
	switch t.Tag {
	case dwarf.TagPointerType:
		return next(ts.wrap(t, "*"+inner))
	case dwarf.TagReferenceType:
		return next(ts.wrap(t, "&"+inner))
	case dwarf.TagRvalueReferenceType:
		return next(ts.wrap(t, "&&"+inner))
	case dwarf.TagConstType, dwarf.TagVolatileType, dwarf.TagRestrictType, dwarf.TagAtomicType:
		return ts.qualify(t, inner, next)
	case dwarf.TagArrayType:
		return next(inner + t.brackets())
	case dwarf.TagSubroutineType:
		return next(inner + ts.paramTypes(t, depth))
	}
	return join(ts.Name(t), inner)
}

// join puts a space between a type and a name, but not before a bracket.
func join(typ, inner string) string {
	if inner == "" || strings.HasPrefix(inner, "[") {
		return typ + strings.TrimPrefix(" "+inner, " ")
	}
	return typ + " " + inner
}

// wrap puts parentheses around the declarator of a pointer to an array or a function.
func (ts *Types) wrap(t *Type, inner string) string {
	if !t.HasElem {
		return inner
	}
	if elem, err := ts.At(t.Elem); err == nil && (elem.Tag == dwarf.TagArrayType || elem.Tag == dwarf.TagSubroutineType) {
		return "(" + inner + ")"
	}
	return inner
}

// qualify places a qualifier: behind the star of a pointer, otherwise before the type.
func (ts *Types) qualify(t *Type, inner string, next func(string) string) string {
	words := map[dwarf.Tag]string{dwarf.TagConstType: "const", dwarf.TagVolatileType: "volatile",
		dwarf.TagRestrictType: "restrict", dwarf.TagAtomicType: "_Atomic"}
	word := words[t.Tag]
	if t.HasElem {
		if elem, err := ts.At(t.Elem); err == nil && elem.Tag == dwarf.TagPointerType {
			return next(strings.TrimSuffix(word+" "+inner, " "))
		}
	}
	return word + " " + next(inner)
}

// brackets returns the dimensions of an array as C writes them.
func (t *Type) brackets() string {
	var b strings.Builder
	for _, n := range t.Dims {
		if n < 0 {
			b.WriteString("[]")
		} else {
			b.WriteString("[" + strconv.FormatInt(n, 10) + "]")
		}
	}
	if len(t.Dims) == 0 {
		return "[]"
	}
	return b.String()
}

// paramTypes returns the parameter list of a function type.
func (ts *Types) paramTypes(t *Type, depth int) string {
	var list []string
	ts.entries.Children(t.Entry, func(c *dwarf.Entry) error {
		switch c.Tag {
		case dwarf.TagFormalParameter:
			off, ok, _ := ts.entries.Ref(c, dwarf.AttrType)
			list = append(list, ts.Declare(off, ok, "", depth+1))
		case dwarf.TagUnspecifiedParameters:
			list = append(list, "...")
		}
		return nil
	})
	return "(" + strings.Join(list, ", ") + ")"
}

// Name returns the name of a type, with the keyword before it that C needs.
func (ts *Types) Name(t *Type) string {
	name := t.Name
	if short, ok := baseNames[name]; ok && t.Tag == dwarf.TagBaseType {
		return short
	}
	if name == "" {
		name = "{…}"
	} else if u := ts.entries.UnitOf(t.Offset); u != nil && u.HasScopes() && t.Tag != dwarf.TagBaseType {
		name = strings.Join(append(ts.entries.ScopeNames(u, t.Offset), name), "::")
	}
	if !t.keyword && t.Name != "" {
		return name
	}
	switch t.Tag {
	case dwarf.TagStructType, dwarf.TagClassType:
		return "struct " + name
	case dwarf.TagUnionType:
		return "union " + name
	case dwarf.TagEnumerationType:
		return "enum " + name
	}
	return name
}

// BaseNames returns GCC's names of base types, with those that sources use.
func BaseNames() map[string]string { return baseNames }

// baseNames maps GCC's names of base types to those that sources use.
var baseNames = map[string]string{
	"long int": "long", "short int": "short", "long long int": "long long", "_Bool": "bool",
	"long unsigned int": "unsigned long", "short unsigned int": "unsigned short",
	"long long unsigned int": "unsigned long long",
}

// Canonical returns a name for a stripped type that is the same for all ways of writing it, and in all units.
func (ts *Types) Canonical(t *Type, depth int) string {
	switch {
	case depth > MaxNesting:
		return "?"
	case t.Kind == Pointer || t.Kind == Array:
		inner, err := ts.Strip(t.Elem, t.HasElem)
		if err != nil {
			return "?"
		}
		if t.Kind == Array {
			return ts.Canonical(inner, depth+1) + t.brackets()
		}
		return ts.Canonical(inner, depth+1) + "*"
	case t.Name == "":
		return "type at " + strconv.FormatUint(uint64(t.Offset), 16)
	}
	return ts.Name(t)
}
