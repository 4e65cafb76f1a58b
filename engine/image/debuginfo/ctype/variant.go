package ctype

import (
	"debug/dwarf"
	"slices"
)

// Variants are the alternatives of a value, such as those of an enum of Rust with data. At most one of them is there:
// the one whose value the discriminant has.
type Variants struct {
	Discr Member // without a name; Size is 0 if there is one alternative only
	Has   bool   // there is a discriminant
	Cases []Case
}

// Case is one alternative.
type Case struct {
	Member
	Value int64 // of the discriminant
	Other bool  // the one for all values that no other case has
}

// Variants returns the alternatives of a struct, or nil.
func (ts *Types) Variants(t *Type) *Variants {
	if t.variantsRead {
		return t.variants
	}
	t.variantsRead = true
	if t.Kind != Struct || t.Entry == nil || !t.Entry.Children {
		return nil
	}
	var part *dwarf.Entry
	ts.entries.Children(t.Entry, func(c *dwarf.Entry) error {
		if c.Tag == dwarf.TagVariantPart && part == nil {
			part = c
		}
		return nil
	})
	if part == nil || !part.Children {
		return nil
	}
	v := &Variants{}
	discr, has := part.Val(dwarf.AttrDiscr).(dwarf.Offset)
	var cases []*dwarf.Entry
	err := ts.entries.Children(part, func(c *dwarf.Entry) error {
		switch {
		case c.Tag == dwarf.TagMember && has && c.Offset == discr:
			m, ok, err := ts.readMember(c)
			v.Discr, v.Has = m, ok
			return err
		case c.Tag == dwarf.TagVariant:
			cases = append(cases, c)
		}
		return nil
	})
	if err != nil {
		return nil
	}
	for _, c := range cases {
		if one, ok := ts.readCase(c); ok {
			v.Cases = append(v.Cases, one)
		}
	}
	t.variants = v
	return v
}

// readCase reads one alternative. ok is false in damaged files, and for ranges of values.
func (ts *Types) readCase(c *dwarf.Entry) (one Case, ok bool) {
	value, has := c.Val(dwarf.AttrDiscrValue).(int64)
	one.Value, one.Other = value, !has
	ts.entries.Children(c, func(m *dwarf.Entry) error {
		if m.Tag == dwarf.TagMember && !ok {
			read, isMember, err := ts.readMember(m)
			one.Member, ok = read, isMember && err == nil
		}
		return nil
	})
	return one, ok
}

// TemplateType returns the type that a parameter of a template or of a generic type has, by its number.
func (ts *Types) TemplateType(t *Type, number int) (off dwarf.Offset, ok bool) {
	if t.Entry == nil || !t.Entry.Children {
		return 0, false
	}
	ts.entries.Children(t.Entry, func(c *dwarf.Entry) error {
		if c.Tag == dwarf.TagTemplateTypeParameter {
			if number == 0 {
				if at, has, err := ts.entries.Ref(c, dwarf.AttrType); err == nil && has {
					off, ok = at, true
				}
			}
			number--
		}
		return nil
	})
	return off, ok
}

// TemplateValue returns a constant argument of the template that t is made from, of those that are no types.
func (ts *Types) TemplateValue(t *Type, number int) (v int64, ok bool) {
	if t.Entry == nil || !t.Entry.Children {
		return 0, false
	}
	ts.entries.Children(t.Entry, func(c *dwarf.Entry) error {
		if c.Tag == dwarf.TagTemplateValueParameter {
			if number == 0 {
				v, ok = c.Val(dwarf.AttrConstValue).(int64)
			}
			number--
		}
		return nil
	})
	return v, ok
}

// CaseNames returns the names of the alternatives.
func (v *Variants) CaseNames() (names []string) {
	for _, c := range v.Cases {
		if c.Name != "" && !slices.Contains(names, c.Name) {
			names = append(names, c.Name)
		}
	}
	return names
}

// ValuesOf returns the discriminant's values that mean a case; for the other one, those that do not.
func (v *Variants) ValuesOf(c Case) (values []int64) {
	if !c.Other {
		return []int64{c.Value}
	}
	for _, one := range v.Cases {
		if !one.Other {
			values = append(values, one.Value)
		}
	}
	return values
}
