package ctype

import (
	"debug/dwarf"

	"gotap/engine/image/debuginfo/entry"
)

// Member is a field of a struct, or a base class.
type Member struct {
	Name    string
	Type    dwarf.Offset
	Offset  int64 // bytes from the start
	Bit     int64 // of a bit-field: its lowest bit, from the start of the struct
	Bits    int64 // of a bit-field: its width; 0 for other members
	base    bool
	Virtual bool // a virtual base: its offset is known only to the object
}

// isGoData reports whether m is the pointer in a Go string or slice. The debug information has the names that Go's
// runtime uses; scripts may write "ptr" for both.
func (m *Member) isGoData(all []Member) bool {
	return (m.Name == "str" && len(all) == 2 || m.Name == "array" && len(all) == 3 && all[2].Name == "cap") && all[1].Name == "len"
}

// Members returns the members and base classes of a struct.
func (ts *Types) Members(t *Type) ([]Member, error) {
	if t.read {
		return t.members, nil
	}
	err := ts.entries.Children(t.Entry, func(c *dwarf.Entry) error {
		m, ok, err := Member{}, false, error(nil)
		if c.Tag == dwarf.TagMember || c.Tag == dwarf.TagInheritance {
			m, ok, err = ts.readMember(c)
		}
		if ok {
			t.members = append(t.members, m)
		} else if t.CPlusPlus {
			t.addOther(c)
		}
		return err
	})
	t.read = err == nil
	if err != nil {
		t.members, t.others = nil, nil
	}
	return t.members, err
}

// addOther notes what a class has besides the members of its objects: static members, functions and types.
func (t *Type) addOther(c *dwarf.Entry) {
	if c.Tag == dwarf.TagTemplateTypeParameter || c.Tag == dwarf.TagTemplateValueParameter {
		return
	}
	if name, _ := c.Val(dwarf.AttrName).(string); name != "" {
		t.others = append(t.others, other{name, c.Tag})
	}
}

// readMember reads one member. ok is false for static members, which are not part of the object.
func (ts *Types) readMember(c *dwarf.Entry) (m Member, ok bool, err error) {
	if external, _ := c.Val(dwarf.AttrExternal).(bool); external {
		return m, false, nil
	}
	if declared, _ := c.Val(dwarf.AttrDeclaration).(bool); declared {
		return m, false, nil
	}
	m.Name, _ = c.Val(dwarf.AttrName).(string)
	m.base = c.Tag == dwarf.TagInheritance
	virtuality, _ := c.Val(dwarf.AttrVirtuality).(int64)
	m.Virtual = m.base && virtuality != 0
	if m.Type, ok, err = ts.entries.Ref(c, dwarf.AttrType); err != nil || !ok {
		return m, false, err
	}
	m.Offset, ok = memberOffset(c)
	m.Virtual = m.Virtual || !ok
	return m, true, ts.readBits(&m, c)
}

// memberOffset returns where a member starts. ok is false when that is computed from the object.
func memberOffset(c *dwarf.Entry) (int64, bool) {
	switch v := c.Val(dwarf.AttrDataMemberLoc).(type) {
	case nil:
		return 0, true // of a union, or a bit-field whose offset is given in bits
	case int64:
		return v, true
	case []byte: // before DWARF 4: DW_OP_plus_uconst, or the same as a constant
		if len(v) > 1 && (v[0] == 0x23 || v[0] == 0x10) {
			cur := entry.Cursor{Data: v, Off: 1}
			n := cur.ULEB()
			return int64(n), cur.Err == nil && !cur.More()
		}
	}
	return 0, false
}

// readBits reads the position of a bit-field. DWARF 5 counts from the start of the struct, DWARF 3 from the most
// significant bit of the storage unit (DWARF 3, 5.6.6).
func (ts *Types) readBits(m *Member, c *dwarf.Entry) error {
	bits, ok := c.Val(dwarf.AttrBitSize).(int64)
	if !ok {
		return nil
	}
	m.Bits = bits
	if at, ok := c.Val(dwarf.AttrDataBitOffset).(int64); ok {
		m.Bit = m.Offset*8 + at
		return nil
	}
	storage, ok := c.Val(dwarf.AttrByteSize).(int64)
	if !ok {
		t, err := ts.Strip(m.Type, true)
		if err != nil {
			return err
		}
		storage = ts.Size(t)
	}
	if at, ok := c.Val(dwarf.AttrBitOffset).(int64); ok {
		m.Bit = m.Offset*8 + storage*8 - at - bits
	} else {
		m.Bit = m.Offset * 8
	}
	return nil
}
