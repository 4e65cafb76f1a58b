package debuginfo

import (
	"cmp"
	"debug/dwarf"
	"maps"
	"slices"
	"strings"

	"gotap/engine/image/debuginfo/ctype"
	"gotap/engine/image/debuginfo/entry"
	"gotap/engine/image/debuginfo/function"
)

// Declarations is what a module declares, for tools that check scripts before they run. All lists are sorted by name.
type Declarations struct {
	Functions []DeclaredFunction
	Structs   []DeclaredStruct
	Globals   []DeclaredName
	Constants []string // of enumerations
	LeftOut   int      // functions and structs beyond the limits
}

// DeclaredFunction is a function with code. Several may have the same name.
type DeclaredFunction struct {
	Name    string // with namespaces and classes
	Params  []DeclaredName
	Results []DeclaredType // Go has several
}

// DeclaredName is a parameter, a member or a variable.
type DeclaredName struct {
	Name string
	Type DeclaredType
}

// DeclaredStruct is a struct, a class or a union. Pointers to it have its members, too.
type DeclaredStruct struct {
	Name    string // as C writes it: "struct point", "farm::Field"
	Members []DeclaredName
	Indexed bool // its elements have another type than itself
	Unclear bool // there are different ones of the name
	size    int64
}

// DeclaredType is the type of a value, as far as a script sees it.
type DeclaredType struct {
	Kind   DeclaredKind
	Struct string        // of DeclaredMembers: the name
	Elem   *DeclaredType // of DeclaredElements
	C      string        // as the source has it
}

// DeclaredKind classifies a DeclaredType.
type DeclaredKind uint8

const (
	DeclaredAnything DeclaredKind = iota
	DeclaredNothing
	DeclaredNumber
	DeclaredMembers  // a struct, or a pointer to one
	DeclaredElements // an array, or a pointer
)

// Limits of what Declare returns.
const (
	maxFunctions = 3000
	maxStructs   = 5000
	maxMembers   = 50000
)

// Declare returns the functions for whose names match returns true, with the types that they use, and the variables and
// constants of the module. A nil match stands for what the module's own sources define: not libraries that are linked
// into it.
func Declare(in *Info, match func(name string) bool) (d *Declarations, err error) {
	defer in.guard(&err)()
	if err := in.entries.Load(); err != nil {
		return nil, err
	}
	c := &declaring{in: in, match: match, structs: map[string]*DeclaredStruct{}, out: &Declarations{}}
	for _, u := range in.entries.Units() {
		if match != nil || c.isOwn(u) {
			if err := c.unit(u); err != nil {
				return nil, err
			}
		}
	}
	c.globals()
	c.constants()
	c.finish()
	return c.out, nil
}

// declaring is the state of Declare.
type declaring struct {
	in      *Info
	match   func(string) bool
	structs map[string]*DeclaredStruct
	queue   []*ctype.Type // structs whose members are not read yet
	members int
	out     *Declarations
}

// foreign are folders of sources that are not the user's.
var foreign = []string{"/usr/", "/rustc/", "/build/"}

// isForeign reports whether a source file belongs to a library.
func isForeign(file string) bool {
	return slices.ContainsFunc(foreign, func(dir string) bool { return strings.HasPrefix(file, dir) })
}

// isOwn reports whether a unit is not of a library.
func (c *declaring) isOwn(u *entry.Unit) bool {
	name, _ := u.Entry.Val(dwarf.AttrName).(string)
	if u.Language() == entry.Go { // the package; those of Go itself have no dot in their path
		first, _, _ := strings.Cut(name, "/")
		return name == "main" || strings.Contains(first, ".")
	}
	return !isForeign(u.Absolute(name))
}

// unit adds the functions of a unit.
func (c *declaring) unit(u *entry.Unit) error {
	ranges, err := c.in.functions.List(u)
	if err != nil {
		return err
	}
	seen := map[dwarf.Offset]bool{}
	for _, r := range ranges {
		if seen[r.Off] {
			continue
		}
		seen[r.Off] = true
		e, err := c.in.entries.At(r.Off)
		if err != nil {
			return err
		}
		c.function(&function.Function{Unit: u, DIE: e, Low: r.Lo})
	}
	return nil
}

// function adds a function. What cannot be read of it is left out.
func (c *declaring) function(fn *function.Function) {
	name := c.in.entries.QualifiedName(fn.DIE)
	if name == "" || strings.Contains(name, entry.NoName) || c.in.isUntyped(fn) || !c.isWanted(fn, name) {
		return
	}
	if len(c.out.Functions) >= maxFunctions {
		c.out.LeftOut++
		return
	}
	f := DeclaredFunction{Name: name}
	params, _, err := c.in.functions.Params(fn)
	if err != nil {
		return
	}
	for _, p := range params {
		if n := c.in.entries.Name(p); n != "" {
			off, ok, err := c.in.entries.TypeRef(p)
			f.Params = append(f.Params, DeclaredName{n, c.typed(off, ok, err)})
		}
	}
	results, err := c.in.rules.Results(fn)
	for _, off := range results {
		f.Results = append(f.Results, c.typed(off, true, err))
	}
	c.out.Functions = append(c.out.Functions, f)
}

// isWanted reports whether a function is to be declared: by default not those that headers of libraries define.
func (c *declaring) isWanted(fn *function.Function, name string) bool {
	if c.match != nil {
		return c.match(name)
	}
	file, _ := c.in.inlines.declared(fn.Unit, fn.DIE)
	return !isForeign(file)
}

// typed describes the type at an offset; ok false stands for void.
func (c *declaring) typed(off dwarf.Offset, ok bool, err error) DeclaredType {
	d := DeclaredType{}
	if err == nil {
		d = c.describe(off, ok, 0)
		d.C = c.in.types.Declare(off, ok, "", 0)
	}
	return d
}

func (c *declaring) describe(off dwarf.Offset, ok bool, depth int) (d DeclaredType) {
	t, err := c.in.types.Strip(off, ok)
	if err != nil || depth > ctype.MaxNesting {
		return d
	}
	switch t.Kind {
	case ctype.Void:
		d.Kind = DeclaredNothing
	case ctype.Int, ctype.Float, ctype.Enum:
		if partNames(t) == nil {
			d.Kind = DeclaredNumber
		}
	case ctype.Struct, ctype.Union:
		return c.structure(t)
	case ctype.Reference:
		return c.describe(t.Elem, t.HasElem, depth+1)
	case ctype.Pointer, ctype.Array:
		return c.elements(t, depth)
	}
	return d
}

// elements describes a pointer or an array.
func (c *declaring) elements(t *ctype.Type, depth int) DeclaredType {
	elem := c.describe(t.Elem, t.HasElem, depth+1)
	switch {
	case t.Kind == ctype.Pointer && elem.Kind == DeclaredMembers:
		return elem
	case t.Kind == ctype.Pointer && (elem.Kind == DeclaredNothing || elem.Kind == DeclaredAnything):
		return DeclaredType{Kind: DeclaredNumber}
	}
	for range max(len(t.Dims), 1) {
		inner := elem
		elem = DeclaredType{Kind: DeclaredElements, Elem: &inner}
	}
	return elem
}

// structure describes a struct, whose members are read later.
func (c *declaring) structure(t *ctype.Type) DeclaredType {
	name := c.in.types.Canonical(t, 0)
	switch s := c.structs[name]; {
	case t.Declared || t.Entry == nil:
		return DeclaredType{} // defined in another module
	case s != nil:
		s.Unclear = s.Unclear || s.size != t.Size
	case len(c.structs) >= maxStructs || c.members >= maxMembers:
		c.out.LeftOut++
		return DeclaredType{}
	default:
		c.structs[name] = &DeclaredStruct{Name: name, size: t.Size, Indexed: c.in.layoutOf(t) != nil}
		c.queue = append(c.queue, t)
	}
	return DeclaredType{Kind: DeclaredMembers, Struct: name}
}

// read adds the members of a struct: those of base classes and of members without a name are its own.
func (c *declaring) read(t *ctype.Type) {
	s := c.structs[c.in.types.Canonical(t, 0)]
	names := c.in.types.MemberNames(t)
	if v := c.in.types.Variants(t); v != nil {
		names = append(names, v.CaseNames()...)
	}
	for _, name := range append(names, "ptr") { // which Go's strings and slices have, too
		m, ok, err := c.in.types.FindMember(t, name)
		switch {
		case slices.ContainsFunc(s.Members, func(o DeclaredName) bool { return o.Name == name }):
		case ok:
			s.Members = append(s.Members, DeclaredName{name, c.typed(m.Type, true, err)})
			c.members++
		case name != "ptr":
			s.Members = append(s.Members, DeclaredName{Name: name})
		}
	}
}

// globals adds the variables of the module's own units.
func (c *declaring) globals() {
	c.in.globals.named("")
	for _, offsets := range c.in.globals.byName {
		for _, off := range offsets {
			u := c.in.entries.UnitOf(off)
			e, err := c.in.entries.At(off)
			if u == nil || err != nil || !c.isOwn(u) {
				continue
			}
			name := c.in.entries.QualifiedName(e)
			typ, ok, err := c.in.entries.TypeRef(e)
			if !strings.Contains(name, entry.NoName) && len(c.out.Globals) < maxFunctions {
				c.out.Globals = append(c.out.Globals, DeclaredName{name, c.typed(typ, ok, err)})
			}
		}
	}
}

// constants adds the constants of enumerations that have one value in all units.
func (c *declaring) constants() {
	for name, values := range c.in.named(0).constants {
		if len(slices.Compact(slices.Sorted(slices.Values(values)))) == 1 {
			c.out.Constants = append(c.out.Constants, name)
		}
	}
	slices.Sort(c.out.Constants)
	c.out.Constants = c.out.Constants[:min(len(c.out.Constants), maxFunctions)]
}

// finish reads the members of structs, which may need further ones, and sorts.
func (c *declaring) finish() {
	for len(c.queue) > 0 {
		t := c.queue[0]
		c.queue = c.queue[1:]
		c.read(t)
	}
	for _, name := range slices.Sorted(maps.Keys(c.structs)) {
		c.out.Structs = append(c.out.Structs, *c.structs[name])
	}
	byName := func(a, b DeclaredName) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Type.C, b.Type.C))
	}
	slices.SortStableFunc(c.out.Globals, byName)
	slices.SortStableFunc(c.out.Functions, func(a, b DeclaredFunction) int { return cmp.Compare(a.Name, b.Name) })
}
