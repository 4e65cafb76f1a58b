package ctype

import (
	"debug/dwarf"
	"fmt"
	"slices"
	"strings"

	"gotap/engine/image/debuginfo/entry"
)

// define returns the definition of a type that is only declared, or the declaration when there is none.
func (ts *Types) define(t *Type) (*Type, error) {
	if !t.Declared || t.Name == "" {
		return t, nil
	}
	if err := ts.indexDefinitions(); err != nil {
		return nil, err
	}
	if d, ok := ts.defs[ts.qualified(t.Offset, t.Name)]; ok && !d.ambiguous {
		return ts.At(d.off)
	}
	return t, nil
}

// definition is the definition of a struct in some unit.
type definition struct {
	off       dwarf.Offset
	size      int64
	line      int64 // of its declaration
	ambiguous bool  // another unit defines another struct of that name, which C allows
}

// qualified returns the name of a type with the namespaces and classes around it. A name in an anonymous namespace
// belongs to its unit alone.
func (ts *Types) qualified(off dwarf.Offset, name string) string {
	u := ts.entries.UnitOf(off)
	if u == nil || !u.HasScopes() {
		return name
	}
	around := ts.entries.ScopeNames(u, off)
	if slices.Contains(around, entry.NoName) {
		name += fmt.Sprintf(" in unit %#x", u.Root)
	}
	return strings.Join(append(around, name), "::")
}

// indexDefinitions lists the structs that units define by name. It reads the top level of every unit, so it runs only
// when a script follows a pointer to a type that its own unit does not define.
func (ts *Types) indexDefinitions() error {
	if ts.defs != nil {
		return nil
	}
	defs := map[string]definition{}
	for _, u := range ts.entries.Units() {
		if err := ts.addDefinitions(u, defs); err != nil {
			return err
		}
	}
	ts.defs = defs
	return nil
}

// addDefinitions adds the structs that a unit defines.
func (ts *Types) addDefinitions(u *entry.Unit, defs map[string]definition) error {
	ts.qualified(u.Root, "") // lists the unit's scopes now, because that moves the reader
	return ts.entries.TopLevel(u, func(e *dwarf.Entry) bool {
		switch e.Tag {
		case dwarf.TagStructType, dwarf.TagClassType, dwarf.TagUnionType:
			name, _ := e.Val(dwarf.AttrName).(string)
			if declared, _ := e.Val(dwarf.AttrDeclaration).(bool); !declared && name != "" {
				size, _ := e.Val(dwarf.AttrByteSize).(int64)
				line, _ := e.Val(dwarf.AttrDeclLine).(int64)
				full := ts.qualified(e.Offset, name)
				before, known := defs[full]
				defs[full] = definition{e.Offset, size, line, known && (before.ambiguous || before.size != size || before.line != line)}
			}
		}
		return e.Tag == dwarf.TagNamespace
	})
}
