package ctype

import "debug/dwarf"

// TextUnit returns how many bytes a unit of text has if arrays of a type are text: 1, 2 or 4. Of other types it is 0:
// uint8_t and int8_t are numbers, which no 0 ends. In C, wchar_t and its like are other names of integers.
func (ts *Types) TextUnit(off dwarf.Offset, ok bool) int {
	for range maxAliases {
		if !ok {
			break
		}
		t, err := ts.At(off)
		if err != nil {
			break
		}
		switch t.Name {
		case "wchar_t", "char16_t", "char32_t", "char8_t":
			return ts.unit(off)
		case "char":
			if t.Char && t.Size == 1 {
				return 1
			}
		}
		if !t.isAlias() {
			break
		}
		off, ok = t.Elem, t.HasElem
	}
	return 0
}

// unit returns the size of an integer that can be a unit of text.
func (ts *Types) unit(off dwarf.Offset) int {
	t, err := ts.Strip(off, true)
	if err != nil || t.Kind != Int || t.Size != 1 && t.Size != 2 && t.Size != 4 {
		return 0
	}
	return int(t.Size)
}
