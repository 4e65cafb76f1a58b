package entry

import (
	"debug/dwarf"
	"fmt"
)

// TopLevel calls visit for the entries directly below the root of a unit, and for the children of those for which visit
// returns true. visit must not move the reader. The end is found by counting levels, because a type unit may follow,
// and no entry is at the offset where that starts.
func (rd *Reader) TopLevel(u *Unit, visit func(*dwarf.Entry) (enter bool)) error {
	rd.Seek(u.Root)
	for depth := 0; ; {
		e, err := rd.Next()
		if err != nil {
			return fmt.Errorf("cannot read the debug information: %w", err)
		}
		switch {
		case e == nil || e.Offset >= u.End:
			return nil
		case e.Tag == 0:
			depth--
		case e.Children && (e.Offset == u.Root || visit(e)):
			depth++
		case e.Children:
			rd.SkipChildren()
		default:
			visit(e)
		}
		if depth == 0 {
			return nil
		}
	}
}

// At reads the entry at off.
func (rd *Reader) At(off dwarf.Offset) (*dwarf.Entry, error) {
	rd.Seek(off)
	e, err := rd.Next()
	if err == nil && e == nil {
		err = fmt.Errorf("no entry at offset %#x", off)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read the debug information: %w", err)
	}
	return e, nil
}

// Children calls visit for each child of e. It collects the children first, because visit may move the reader.
func (rd *Reader) Children(e *dwarf.Entry, visit func(*dwarf.Entry) error) error {
	if !e.Children {
		return nil
	}
	list, err := rd.childList(e)
	if err != nil {
		return err
	}
	for _, c := range list {
		if err := visit(c); err != nil {
			return err
		}
	}
	return nil
}

// childList reads the children of e without their own children.
func (rd *Reader) childList(e *dwarf.Entry) ([]*dwarf.Entry, error) {
	rd.Seek(e.Offset)
	if _, err := rd.Next(); err != nil {
		return nil, err
	}
	var list []*dwarf.Entry
	for {
		c, err := rd.Next()
		if err != nil {
			return nil, fmt.Errorf("cannot read the debug information: %w", err)
		}
		if c == nil || c.Tag == 0 {
			return list, nil
		}
		list = append(list, c)
		rd.SkipChildren()
	}
}

// Ref follows a reference attribute. ok is false when e has none.
func (rd *Reader) Ref(e *dwarf.Entry, attr dwarf.Attr) (off dwarf.Offset, ok bool, err error) {
	f := e.AttrField(attr)
	if f == nil {
		return 0, false, nil
	}
	switch v := f.Val.(type) {
	case dwarf.Offset:
		return v, true, nil
	case uint64:
		if f.Class == dwarf.ClassReferenceSig {
			off, ok := rd.signature(v)
			if !ok {
				return 0, false, fmt.Errorf("cannot read the debug information: type unit %#x is missing", v)
			}
			return off, true, nil
		}
	}
	if f.Class == dwarf.ClassReferenceAlt {
		return 0, false, rd.alternate()
	}
	return 0, false, fmt.Errorf("cannot read the debug information: the entry at %#x has a reference of unknown form", e.Offset)
}

// MaxOrigins bounds chains of references between entries, which form a cycle in a damaged file.
const MaxOrigins = 8

// Attr finds an attribute in e or in the entries that e is an instance or a definition of. It returns the entry that
// has the attribute, too.
func (rd *Reader) Attr(e *dwarf.Entry, attr dwarf.Attr) (*dwarf.Field, *dwarf.Entry, error) {
	for range MaxOrigins {
		if f := e.AttrField(attr); f != nil {
			return f, e, nil
		}
		next, err := rd.Origin(e)
		if err != nil || next == nil {
			return nil, nil, err
		}
		e = next
	}
	return nil, nil, nil
}

// Origin returns the entry that e is an instance or a definition of, or nil.
func (rd *Reader) Origin(e *dwarf.Entry) (*dwarf.Entry, error) {
	off, ok, err := rd.Ref(e, dwarf.AttrAbstractOrigin)
	if err == nil && !ok {
		off, ok, err = rd.Ref(e, dwarf.AttrSpecification)
	}
	if err != nil || !ok {
		return nil, err
	}
	return rd.At(off)
}

// Name returns the name of e in the source, or "" when there is none or it cannot be read.
func (rd *Reader) Name(e *dwarf.Entry) string {
	f, _, err := rd.Attr(e, dwarf.AttrName)
	if err != nil || f == nil {
		return ""
	}
	s, _ := f.Val.(string)
	return s
}

// TypeRef returns the offset of the type that e refers to. ok is false for void.
func (rd *Reader) TypeRef(e *dwarf.Entry) (off dwarf.Offset, ok bool, err error) {
	f, at, err := rd.Attr(e, dwarf.AttrType)
	if err != nil || f == nil {
		return 0, false, err
	}
	return rd.Ref(at, dwarf.AttrType)
}
