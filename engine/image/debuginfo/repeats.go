package debuginfo

import (
	"debug/dwarf"

	"gotap/engine/image/debuginfo/entry"
)

// repeats finds inlined calls of one function whose code is there several times. GCC describes the copies that it makes of a
// call, when it unrolls a loop or joins paths, as one call with one entry. But each copy begins with a statement at the
// place of the function's declaration: in a function that has more of these than calls, a call is repeated.
type repeats struct {
	*inlines
	unit  *entry.Unit
	entry *dwarf.Entry // of one of the calls
	calls map[dwarf.Offset]int
}

// add adds a call that begins at pc.
func (r *repeats) add(u *entry.Unit, e *dwarf.Entry, pc uint64) {
	if r.calls == nil {
		r.calls = map[dwarf.Offset]int{}
	}
	r.unit, r.entry = u, e
	if in, err := r.functions.Range(pc); err == nil {
		r.calls[in.Off]++
	}
}

// at reports whether a call is repeated in the function that contains pc. All calls have been added.
func (r *repeats) at(pc uint64) bool {
	in, err := r.functions.Range(pc)
	if err != nil || r.calls[in.Off] == 0 { // a call of another function
		return false
	}
	field, origin, err := r.entries.Attr(r.entry, dwarf.AttrDeclColumn)
	if err != nil || field == nil {
		return false
	}
	column, _ := field.Val.(int64)
	t, err := r.lines.Of(r.unit)
	if err != nil || column == 0 {
		return false
	}
	file, line := r.declared(r.entries.UnitOf(origin.Offset), origin)
	return t.Statements(file, line, int(column), r.functions.Pieces(in)) > r.calls[in.Off]
}
