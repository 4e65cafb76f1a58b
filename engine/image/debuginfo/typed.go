package debuginfo

import (
	"debug/dwarf"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"gotap/compile"
	"gotap/compile/spelling"
	"gotap/engine/image/debuginfo/ctype"
	"gotap/engine/image/debuginfo/entry"
	"gotap/engine/image/debuginfo/location"
)

// Programs keep values in variables and convert addresses, so a path may start with a value and a type instead of a
// variable.

// TypeError is the error for a type that does not exist, or that has no size.
type TypeError struct {
	Name   string // as asked
	Reason string
	Near   []string // names that resemble it
}

func (e *TypeError) Error() string { return fmt.Sprintf("no type %q: %s", e.Name, e.Reason) }

// Hint names the types that could have been meant.
func (e *TypeError) Hint() string {
	if len(e.Near) == 0 {
		return `types are named as in the source: "struct point *", "geo::Square *", "main.Stack *"`
	}
	return "did you mean " + strings.Join(e.Near, " or ") + "?"
}

// Typed returns the access to the part that path names of a value of a type that an earlier access had (TypeRef), as
// Access does. The access has BaseValue.
func (in *Info) Typed(ref compile.TypeRef, path []string) (a compile.Access, err error) {
	defer in.guard(&err)()
	if err := in.entries.Load(); err != nil {
		return a, err
	}
	w, err := in.startTyped(ref)
	if err != nil {
		return a, err
	}
	return w.along(path)
}

// startTyped starts a walk from a value of a type.
func (in *Info) startTyped(ref compile.TypeRef) (*walk, error) {
	w := &walk{in: in, place: location.Given(ref.Address), typ: dwarf.Offset(ref.Offset), ok: true, name: "it"}
	if _, err := in.types.At(w.typ); err != nil {
		return nil, err
	}
	for range ref.Stars {
		w.pointers++
	}
	return w, nil
}

// TypeNamed finds a type by its name as the source has it, with stars behind it: "struct point", "point *",
// "geo::Square *". A value of a struct, a union or an array is the address of the object. Of several types with the
// name, the one of the unit around pc is preferred.
func (in *Info) TypeNamed(pc uint64, name string) (ref compile.TypeRef, err error) {
	defer in.guard(&err)()
	if err := in.entries.Load(); err != nil {
		return ref, err
	}
	base, stars := splitStars(name)
	off, err := in.findType(pc, base)
	if unknown := (*TypeError)(nil); errors.As(err, &unknown) && unnamed().MatchString(name) {
		return ref, &TypeError{Name: name, Reason: "arrays and functions have no names; the type of an element has: cast(p, \"int *\")[5]"}
	}
	if err != nil {
		return ref, err
	}
	ref = compile.TypeRef{Offset: uint64(off), Stars: stars, Name: strings.Join(strings.Fields(base), " ") + strings.Repeat("*", stars)}
	if t, err := in.types.Strip(off, true); err == nil && stars == 0 {
		ref.Address = t.Kind == ctype.Struct || t.Kind == ctype.Union || t.Kind == ctype.Array
	}
	return ref, nil
}

// unnamed matches arrays and pointers to functions as C writes them.
var unnamed = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\(\*|[^\[\]]\[[0-9]*\]$`) })

// splitStars splits "struct point * *" into the type and the number of stars. Qualifiers do not matter.
func splitStars(name string) (base string, stars int) {
	var words []string
	for _, w := range strings.Fields(strings.ReplaceAll(name, "*", " * ")) {
		switch w {
		case "*":
			stars++
		case "const", "volatile", "restrict", "_Atomic":
		default:
			words = append(words, w)
		}
	}
	return strings.Join(words, " "), stars
}

// SizeOf returns the size in bytes of a type.
func (in *Info) SizeOf(ref compile.TypeRef) (size int64, err error) {
	defer in.guard(&err)()
	if ref.Stars > 0 {
		return in.entries.Word(), nil
	}
	t, err := in.types.Strip(dwarf.Offset(ref.Offset), true)
	if err != nil {
		return 0, err
	}
	if size = in.types.Size(t); size < 0 || t.Declared {
		return 0, &TypeError{Name: ref.Name, Reason: "the debug information only declares it"}
	}
	return size, nil
}

// Enumerator returns the value of an enumeration's constant. Of several with the name, the one of the unit around pc is
// preferred; if their values differ otherwise, the error is a *TypeError.
func (in *Info) Enumerator(pc uint64, name string) (v int64, ok bool, err error) {
	defer in.guard(&err)()
	if err := in.entries.Load(); err != nil {
		return 0, false, err
	}
	local := lastName(name)
	found := in.named(pc).constants[local]
	if len(found) == 0 {
		found = in.named(0).constants[local]
	}
	for _, c := range found {
		if c != found[0] {
			return 0, false, &TypeError{Name: name, Reason: "several enumerations have a constant of this name, with different values"}
		}
	}
	if len(found) == 0 {
		return 0, false, nil
	}
	return found[0], true, nil
}

// names are the types and the constants of enumerations of a unit, or of all units.
type names struct {
	types     map[string][]dwarf.Offset // by their name without namespaces
	constants map[string][]int64
}

// named lists the names of the unit around pc; pc 0 stands for all units.
func (in *Info) named(pc uint64) *names {
	var units []*entry.Unit
	key := (*entry.Unit)(nil)
	if pc != 0 {
		if fn, err := in.functions.At(pc); err == nil {
			key = fn.Unit
			units = []*entry.Unit{key}
		}
	} else {
		units = in.entries.Units()
	}
	if n := in.names[key]; n != nil && (pc == 0) == (key == nil) {
		return n
	}
	n := &names{map[string][]dwarf.Offset{}, map[string][]int64{}}
	for _, u := range units {
		in.addNames(u, n)
	}
	if (pc == 0) == (key == nil) {
		in.names[key] = n
	}
	return n
}

// addNames adds the types and constants of a unit, those in functions excepted. Damaged data ends the list early.
func (in *Info) addNames(u *entry.Unit, n *names) {
	var enums []*dwarf.Entry
	in.entries.TopLevel(u, func(e *dwarf.Entry) bool {
		switch e.Tag {
		case dwarf.TagStructType, dwarf.TagClassType, dwarf.TagUnionType, dwarf.TagEnumerationType, dwarf.TagTypedef, dwarf.TagBaseType:
			declared, _ := e.Val(dwarf.AttrDeclaration).(bool)
			if name, _ := e.Val(dwarf.AttrName).(string); name != "" && !declared {
				n.types[name] = append(n.types[name], e.Offset)
			}
			if e.Tag == dwarf.TagEnumerationType {
				enums = append(enums, e)
			}
		}
		return e.Tag == dwarf.TagNamespace || e.Tag == dwarf.TagStructType || e.Tag == dwarf.TagClassType
	})
	for _, e := range enums {
		t, err := in.types.At(e.Offset)
		if err != nil {
			continue
		}
		for _, c := range in.allEnumerators(t) {
			n.constants[c.Name] = append(n.constants[c.Name], c.Value)
		}
	}
}

// findType finds the definition of a type.
func (in *Info) findType(pc uint64, name string) (dwarf.Offset, error) {
	keyword, plain := "", name
	for _, k := range []string{"struct ", "union ", "enum ", "class "} {
		if rest, ok := strings.CutPrefix(name, k); ok {
			keyword, plain = k, rest
		}
	}
	for long, short := range ctype.BaseNames() {
		if plain == short {
			if off, err := in.findType(pc, long); err == nil {
				return off, nil
			}
		}
	}
	for _, in1 := range []*names{in.named(pc), in.named(0)} {
		for _, off := range in1.types[lastType(plain)] {
			t, err := in.types.At(off)
			if err == nil && fitsKeyword(keyword, t.Tag) && in.isCalled(t, plain) {
				return off, nil
			}
		}
	}
	var all []string
	for n := range in.named(0).types {
		all = append(all, n)
	}
	slices.Sort(all)
	return 0, &TypeError{Name: name, Reason: "the debug information of the place's module does not have it", Near: spelling.Near(lastType(plain), all)}
}

// lastType returns the name of a type without the namespaces before it. Those in arguments of templates stay.
func lastType(name string) string {
	head, rest, _ := strings.Cut(name, "<")
	if i := strings.LastIndex(head, "::"); i >= 0 {
		return name[i+2:]
	}
	_ = rest
	return name
}

// fitsKeyword reports whether a type may have a keyword before its name.
func fitsKeyword(keyword string, tag dwarf.Tag) bool {
	switch keyword {
	case "struct ", "class ":
		return tag == dwarf.TagStructType || tag == dwarf.TagClassType
	case "union ":
		return tag == dwarf.TagUnionType
	case "enum ":
		return tag == dwarf.TagEnumerationType
	}
	return true
}

// isCalled reports whether a type has a name, with namespaces if the name has some.
func (in *Info) isCalled(t *ctype.Type, name string) bool {
	if lastType(name) == name {
		return true
	}
	full := in.types.Name(t)
	for _, k := range []string{"struct ", "union ", "enum "} {
		full = strings.TrimPrefix(full, k)
	}
	return full == name || strings.HasSuffix(full, "::"+name)
}
