package debuginfo

import (
	"debug/dwarf"
	"slices"
)

// membersOf reads the members and base classes of a struct.
func (in *Info) membersOf(t *ctype) ([]member, error) {
	if t.read {
		return t.members, nil
	}
	err := in.children(t.entry, func(c *dwarf.Entry) error {
		if c.Tag != dwarf.TagMember && c.Tag != dwarf.TagInheritance {
			return nil
		}
		m, ok, err := in.readMember(c)
		if ok {
			t.members = append(t.members, m)
		}
		return err
	})
	t.read = err == nil
	if err != nil {
		t.members = nil
	}
	return t.members, err
}

// readMember reads one member; ok is false for static ones, which have no place in the object.
func (in *Info) readMember(c *dwarf.Entry) (m member, ok bool, err error) {
	if external, _ := c.Val(dwarf.AttrExternal).(bool); external {
		return m, false, nil
	}
	if declared, _ := c.Val(dwarf.AttrDeclaration).(bool); declared {
		return m, false, nil
	}
	m.name, _ = c.Val(dwarf.AttrName).(string)
	m.base = c.Tag == dwarf.TagInheritance
	virtuality, _ := c.Val(dwarf.AttrVirtuality).(int64)
	m.virtual = m.base && virtuality != 0
	if m.typ, ok, err = in.ref(c, dwarf.AttrType); err != nil || !ok {
		return m, false, err
	}
	m.offset, ok = memberOffset(c)
	m.virtual = m.virtual || !ok
	return m, true, in.readBits(&m, c)
}

// memberOffset is where a member starts; ok is false when that is computed from the object.
func memberOffset(c *dwarf.Entry) (int64, bool) {
	switch v := c.Val(dwarf.AttrDataMemberLoc).(type) {
	case nil:
		return 0, true // of a union, or a bit-field that says it in bits
	case int64:
		return v, true
	case []byte: // before DWARF 4: DW_OP_plus_uconst, or the same as a constant
		if len(v) > 1 && (v[0] == 0x23 || v[0] == 0x10) {
			cur := cursor{data: v, off: 1}
			n := cur.uleb()
			return int64(n), cur.err == nil && !cur.more()
		}
	}
	return 0, false
}

// readBits fills in the place of a bit-field: DWARF 5 counts from the start of the struct, DWARF 3 from the most
// significant bit of the unit it is stored in (DWARF 3, 5.6.6).
func (in *Info) readBits(m *member, c *dwarf.Entry) error {
	bits, ok := c.Val(dwarf.AttrBitSize).(int64)
	if !ok {
		return nil
	}
	m.bits = bits
	if at, ok := c.Val(dwarf.AttrDataBitOffset).(int64); ok {
		m.bit = m.offset*8 + at
		return nil
	}
	storage, ok := c.Val(dwarf.AttrByteSize).(int64)
	if !ok {
		t, err := in.strip(m.typ, true)
		if err != nil {
			return err
		}
		storage = in.sizeOf(t)
	}
	if at, ok := c.Val(dwarf.AttrBitOffset).(int64); ok {
		m.bit = m.offset*8 + storage*8 - at - bits
	} else {
		m.bit = m.offset * 8
	}
	return nil
}

// memberNames lists what a path may say next, through anonymous members and base classes.
func (in *Info) memberNames(t *ctype) []string {
	return in.addNames(nil, t, 0)
}

// maxNesting bounds how deep anonymous members and base classes are searched.
const maxNesting = 16

func (in *Info) addNames(names []string, t *ctype, depth int) []string {
	members, err := in.membersOf(t)
	if err != nil || depth > maxNesting {
		return names
	}
	for _, m := range members {
		if m.name != "" && !m.base {
			if !slices.Contains(names, m.name) {
				names = append(names, m.name)
			}
			continue
		}
		if inner, err := in.strip(m.typ, true); err == nil {
			names = in.addNames(names, inner, depth+1)
		}
	}
	return names
}

// findMember finds a member by name: own ones first, then those of anonymous members and of base classes. The offset is
// from the start of t.
func (in *Info) findMember(t *ctype, name string, depth int) (m member, ok bool, err error) {
	members, err := in.membersOf(t)
	if err != nil || depth > maxNesting {
		return m, false, err
	}
	for _, m := range members {
		if !m.base && (m.name == name || name == "ptr" && m.isGoData(members)) {
			return m, true, nil
		}
	}
	for _, outer := range members {
		if outer.name != "" && !outer.base {
			continue
		}
		inner, err := in.strip(outer.typ, true)
		if err != nil {
			return m, false, err
		}
		m, ok, err := in.findMember(inner, name, depth+1)
		if err != nil || ok {
			m.offset += outer.offset
			m.bit += outer.offset * 8
			m.virtual = m.virtual || outer.virtual
			return m, ok, err
		}
	}
	return m, false, nil
}
