package debuginfo

import (
	"debug/dwarf"
	"strconv"
	"strings"
)

// declare writes a declaration as C does: the type around inner, which is the name and what already surrounds it.
func (in *Info) declare(off dwarf.Offset, ok bool, inner string, depth int) string {
	if !ok {
		return join("void", inner)
	}
	t, err := in.typeAt(off)
	if err != nil || depth > maxAliases {
		return join("?", inner)
	}
	next := func(inner string) string { return in.declare(t.elem, t.hasElem, inner, depth+1) }
	switch t.tag {
	case dwarf.TagPointerType:
		return next(in.wrap(t, "*"+inner))
	case dwarf.TagReferenceType:
		return next(in.wrap(t, "&"+inner))
	case dwarf.TagRvalueReferenceType:
		return next(in.wrap(t, "&&"+inner))
	case dwarf.TagConstType, dwarf.TagVolatileType, dwarf.TagRestrictType, dwarf.TagAtomicType:
		return in.qualify(t, inner, next)
	case dwarf.TagArrayType:
		return next(inner + t.brackets())
	case dwarf.TagSubroutineType:
		return next(inner + in.paramTypes(t, depth))
	}
	return join(in.typeName(t), inner)
}

// join puts a blank between a type and a name, but not after a star.
func join(typ, inner string) string {
	if inner == "" || strings.HasPrefix(inner, "[") {
		return typ + strings.TrimPrefix(" "+inner, " ")
	}
	return typ + " " + inner
}

// wrap puts parentheses around the declarator of a pointer to an array or a function.
func (in *Info) wrap(t *ctype, inner string) string {
	if !t.hasElem {
		return inner
	}
	if elem, err := in.typeAt(t.elem); err == nil && (elem.tag == dwarf.TagArrayType || elem.tag == dwarf.TagSubroutineType) {
		return "(" + inner + ")"
	}
	return inner
}

// qualify places a qualifier: behind the star of a pointer, else before the type.
func (in *Info) qualify(t *ctype, inner string, next func(string) string) string {
	words := map[dwarf.Tag]string{dwarf.TagConstType: "const", dwarf.TagVolatileType: "volatile",
		dwarf.TagRestrictType: "restrict", dwarf.TagAtomicType: "_Atomic"}
	word := words[t.tag]
	if t.hasElem {
		if elem, err := in.typeAt(t.elem); err == nil && elem.tag == dwarf.TagPointerType {
			return next(strings.TrimSuffix(word+" "+inner, " "))
		}
	}
	return word + " " + next(inner)
}

func (t *ctype) brackets() string {
	var b strings.Builder
	for _, n := range t.dims {
		if n < 0 {
			b.WriteString("[]")
		} else {
			b.WriteString("[" + strconv.FormatInt(n, 10) + "]")
		}
	}
	if len(t.dims) == 0 {
		return "[]"
	}
	return b.String()
}

// paramTypes is the parameter list of a function type.
func (in *Info) paramTypes(t *ctype, depth int) string {
	var list []string
	in.children(t.entry, func(c *dwarf.Entry) error {
		switch c.Tag {
		case dwarf.TagFormalParameter:
			off, ok, _ := in.ref(c, dwarf.AttrType)
			list = append(list, in.declare(off, ok, "", depth+1))
		case dwarf.TagUnspecifiedParameters:
			list = append(list, "...")
		}
		return nil
	})
	return "(" + strings.Join(list, ", ") + ")"
}

// typeName is the name of a type with the keyword C wants before it.
func (in *Info) typeName(t *ctype) string {
	name := t.name
	if short, ok := baseNames[name]; ok && t.tag == dwarf.TagBaseType {
		return short
	}
	if name == "" {
		name = "{…}"
	} else if u := in.unitOf(t.off); u != nil && u.hasScopes() && t.tag != dwarf.TagBaseType {
		name = strings.Join(append(in.scopeNames(u, t.off), name), "::")
	}
	if !t.keyword && t.name != "" {
		return name
	}
	switch t.tag {
	case dwarf.TagStructType, dwarf.TagClassType:
		return "struct " + name
	case dwarf.TagUnionType:
		return "union " + name
	case dwarf.TagEnumerationType:
		return "enum " + name
	}
	return name
}

// baseNames are GCC's names of base types and how sources write them.
var baseNames = map[string]string{
	"long int": "long", "short int": "short", "long long int": "long long", "_Bool": "bool",
	"long unsigned int": "unsigned long", "short unsigned int": "unsigned short",
	"long long unsigned int": "unsigned long long",
}
