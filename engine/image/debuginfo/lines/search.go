package lines

import (
	"debug/dwarf"
	"path"
	"slices"
	"strings"

	"gotap/compile/spelling"
	"gotap/engine/image/debuginfo/entry"
	"gotap/engine/image/debuginfo/function"
)

// Addrs returns where to stop for a line of a source file, so that each execution of the line is seen once. file is
// compared with the last components of paths: "main.c" and "src/main.c" match /home/x/src/main.c. The error for a line
// without code is an *Error.
func (lt *Tables) Addrs(file string, line int) ([]uint64, error) {
	s := search{lt: lt, file: path.Clean(file), line: line, lines: map[int]bool{}}
	tables, err := s.tables()
	if err != nil {
		return nil, err
	}
	for _, t := range tables {
		s.table(t)
	}
	if len(s.addrs) == 0 {
		return nil, &Error{File: file, Line: line, Nearest: nearestLines(s.lines, line), Files: s.similar()}
	}
	slices.Sort(s.addrs)
	return slices.Compact(s.addrs), nil
}

// search collects the code of one line in all units.
type search struct {
	lt     *Tables
	file   string
	line   int
	addrs  []uint64
	column int          // 0: any
	lines  map[int]bool // lines of the file that have code
	names  []string     // of files that did not match
}

// matches reports whether name ends in the path components of the file.
func (s *search) matches(name string) bool {
	return name == s.file || strings.HasSuffix(name, "/"+strings.TrimPrefix(s.file, "/")) && !path.IsAbs(s.file)
}

// tables returns the line tables that mention the file.
func (s *search) tables() (found []*Table, err error) {
	for _, u := range s.lt.entries.Skeletons() {
		t, err := s.tableOf(u)
		if err != nil {
			return nil, err
		}
		if t != nil {
			found = append(found, t)
		}
	}
	return found, nil
}

// tableOf returns the line table of a unit, or nil when it does not mention the file.
func (s *search) tableOf(u *entry.Unit) (*Table, error) {
	r, err := s.lt.entries.Lines(u)
	if err != nil || r == nil {
		return nil, err
	}
	found := false
	for _, name := range u.FileNames(r) {
		if s.matches(name) {
			found = true
		} else if name != "" && len(s.names) < 10000 {
			s.names = append(s.names, path.Base(name))
		}
	}
	if !found {
		return nil, nil
	}
	return s.lt.Of(u)
}

// table adds the addresses to stop at in one unit.
func (s *search) table(t *Table) {
	for _, r := range s.lt.distinctSteps(s.runs(t)) {
		s.addrs = append(s.addrs, r.stop)
	}
}

// runs collects the runs of the line in a unit. A row of another line ends a run only when it starts a statement,
// because optimisers interleave the instructions of neighbouring statements.
func (s *search) runs(t *Table) []run {
	var runs []run
	open := false
	for i, row := range t.rows {
		mine := !row.end && row.Line == int32(s.line) && (s.column == 0 || row.column == int32(s.column)) && s.matches(t.files[row.File])
		if !row.end && row.Line > 0 && s.matches(t.files[row.File]) {
			s.lines[int(row.Line)] = true
		}
		if !mine {
			open = open && !row.end && !row.stmt
			continue
		}
		block, first := s.blockAt(t, row.addr)
		stmt := row.stmt
		if open {
			last := &runs[len(runs)-1]
			if open = last.block == block && (!first || row.addr == last.lo); open {
				last.extend(row, t.rows[i+1].addr)
				continue
			}
			if last.stmt && last.hi == last.stop && !first { // the code of the statement is here, in an inlined call
				runs, stmt = runs[:len(runs)-1], true
			}
		}
		runs = append(runs, run{lo: row.addr, hi: row.addr, stop: row.addr, stmt: stmt, block: block})
		runs[len(runs)-1].extend(row, t.rows[i+1].addr)
		open = true
	}
	return best(runs)
}

// blockAt returns the inlined call, or the function, that the code of the line at pc belongs to, and whether pc is the
// first instruction of a function. An inlined call starts with instructions of the line of the call; those belong to
// the caller.
func (s *search) blockAt(t *Table, pc uint64) (block *function.Scope, first bool) {
	fn, err := s.lt.functions.At(pc)
	if err != nil {
		return nil, false
	}
	top, err := s.lt.functions.Scope(fn)
	if err != nil {
		return nil, false
	}
	block = top
	for _, sc := range top.Path(pc) {
		if sc.DIE.Tag != dwarf.TagInlinedSubroutine {
			continue
		}
		file, _ := sc.DIE.Val(dwarf.AttrCallFile).(int64)
		line, _ := sc.DIE.Val(dwarf.AttrCallLine).(int64)
		if line == int64(s.line) && s.matches(t.File(file)) {
			break
		}
		block = sc
	}
	return block, pc == fn.Low
}

// nearestLines returns up to four lines that have code, nearest first.
func nearestLines(lines map[int]bool, line int) []int {
	var all []int
	for l := range lines {
		all = append(all, l)
	}
	dist := func(l int) int { return max(l-line, line-l) }
	slices.SortFunc(all, func(a, b int) int {
		if d := dist(a) - dist(b); d != 0 {
			return d
		}
		return a - b
	})
	return all[:min(4, len(all))]
}

// similar returns the names of files that resemble the one that was not found.
func (s *search) similar() []string {
	slices.Sort(s.names)
	return spelling.Near(path.Base(s.file), slices.Compact(s.names))
}
