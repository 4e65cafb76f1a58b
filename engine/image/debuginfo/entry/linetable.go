package entry

import (
	"debug/dwarf"
	"encoding/binary"
	"fmt"
)

// Lines opens the line table of a unit. It returns nil when the unit has none. Package debug/dwarf reads line tables by
// the header of their unit, so it is given a section that has this header alone.
func (rd *Reader) Lines(u *Unit) (*dwarf.LineReader, error) {
	s := u.home.sections
	info, root := u.standIn()
	data, err := dwarf.New([]byte{0}, nil, nil, info, s["line"], nil, nil, s["str"])
	if err == nil {
		err = data.AddSection(".debug_line_str", s["line_str"])
	}
	var r *dwarf.LineReader
	if err == nil {
		top := *u.top
		top.Offset = root
		r, err = data.LineReader(&top)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read the line table: %w", err)
	}
	return r, nil
}

// standIn returns a section that contains a unit without entries and with the header that a unit has in the module's
// own files, and where the first entry would be.
func (u *Unit) standIn() (info []byte, root dwarf.Offset) {
	order := binary.LittleEndian
	k := u.homeKey
	offset := func(b []byte, n int) []byte {
		if k.wide {
			return order.AppendUint64(b, uint64(n))
		}
		return order.AppendUint32(b, uint32(n))
	}
	body := order.AppendUint16(nil, uint16(k.version))
	if k.version >= 5 {
		const compile = 1 // DW_UT_compile
		body = offset(append(body, compile, byte(k.addr)), 0)
	} else {
		body = append(offset(body, 0), byte(k.addr))
	}
	if k.wide {
		info = order.AppendUint32(info, 0xffffffff)
	}
	info = offset(info, len(body)+1)
	info = append(info, body...)
	return append(info, 0), dwarf.Offset(len(info))
}
