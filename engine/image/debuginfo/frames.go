package debuginfo

import (
	"debug/dwarf"
	"errors"
	"slices"

	"gotap/engine/image/debuginfo/entry"
	"gotap/engine/image/debuginfo/function"
	"gotap/engine/image/debuginfo/lines"
)

// Frame is a function and the line it is at.
type Frame struct {
	Func string // with namespaces and classes; "" when unknown
	File string // absolute path; "" when unknown
	Line int    // 0 when unknown
}

// LineAt returns the source line and the function of the instruction at vaddr. For inlined code that is the inlined
// function. For a return address, pass the address minus 1.
func (in *Info) LineAt(vaddr uint64) (file string, line int, fn string, err error) {
	frames, err := in.FramesAt(vaddr)
	if err != nil {
		return "", 0, "", err
	}
	return frames[0].File, frames[0].Line, frames[0].Func, nil
}

// FramesAt returns the frames of the instruction at vaddr, innermost first: the functions inlined there, then the
// function itself. There is at least one when err is nil.
func (in *Info) FramesAt(vaddr uint64) (frames []Frame, err error) {
	defer in.guard(&err)()
	if err := in.entries.Load(); err != nil {
		return nil, err
	}
	u, err := in.entries.SkeletonAt(vaddr)
	if err != nil {
		return nil, err
	}
	t, err := in.lines.Of(u)
	if err != nil {
		return nil, err
	}
	var cur Frame
	if row, ok := t.At(vaddr); ok {
		cur.File, cur.Line = t.File(int64(row.File)), int(row.Line)
	}
	fn, err := in.functions.At(vaddr)
	if (errors.Is(err, entry.ErrNone) || errors.Is(err, entry.ErrSplit)) && cur.Line != 0 {
		return []Frame{cur}, nil // assembly has lines without functions, and units have whose entries are missing
	}
	if err != nil {
		return nil, err
	}
	top, err := in.functions.Scope(fn)
	if err != nil {
		return nil, err
	}
	chain := top.Path(vaddr)
	chain = slices.DeleteFunc(chain, func(s *function.Scope) bool { return s != top && s.DIE.Tag != dwarf.TagInlinedSubroutine })
	for i := len(chain) - 1; i >= 0; i-- {
		e := chain[i].DIE
		if i > 0 && in.inlines.remainder(u, e, originOf(chain[i-1].DIE)) {
			continue // the same call as the frame around it
		}
		// The line belongs to the innermost function; the line of each outer one is that of the call.
		cur.Func = in.entries.QualifiedName(e)
		frames = append(frames, cur)
		file, _ := e.Val(dwarf.AttrCallFile).(int64)
		line, _ := e.Val(dwarf.AttrCallLine).(int64)
		cur = Frame{File: t.File(file), Line: int(line)}
	}
	return frames, nil
}

// AddrsOf returns where to stop for a line of a source file, so that each execution of the line is seen once. file is
// compared with the last components of paths: "main.c" and "src/main.c" match /home/x/src/main.c. For a line without
// code the error is a *LineError, and nearest are lines that have code, nearest first.
func (in *Info) AddrsOf(file string, line int) (addrs []uint64, nearest []int, err error) {
	defer in.guard(&err)()
	if err := in.entries.Load(); err != nil {
		return nil, nil, err
	}
	addrs, err = in.lines.Addrs(file, line)
	var without *LineError
	if errors.As(err, &without) {
		nearest = without.Nearest
	}
	return addrs, nearest, err
}

// PlacesIn returns where to stop for each line from first to last that has code, as AddrsOf does for one, and the line
// of each address; with a column only for what begins in it. Without any the error is a *LineError.
func (in *Info) PlacesIn(file string, first, last, column int) (addrs []uint64, numbers []int, err error) {
	defer in.guard(&err)()
	if err := in.entries.Load(); err != nil {
		return nil, nil, err
	}
	places, err := in.lines.In(lines.Span{File: file, First: first, Last: last, Column: column})
	for _, p := range places {
		addrs, numbers = append(addrs, p.Addr), append(numbers, p.Line)
	}
	return addrs, numbers, err
}

// Declared returns the source file and the line in which the function at pc is declared, as its definition says.
func (in *Info) Declared(pc uint64) (file string, line int, err error) {
	defer in.guard(&err)()
	fn, err := in.functions.At(pc)
	if err != nil {
		return "", 0, err
	}
	t, err := in.lines.Of(fn.Unit)
	if err != nil {
		return "", 0, err
	}
	number, _, err := in.entries.Attr(fn.DIE, dwarf.AttrDeclLine)
	if err != nil || number == nil {
		return "", 0, err
	}
	declared, _ := number.Val.(int64)
	if row, ok := t.At(fn.Low); ok {
		file = t.File(int64(row.File))
	}
	return file, int(declared), nil
}
