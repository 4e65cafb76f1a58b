package debuginfo

import (
	"debug/dwarf"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"sort"
	"strings"
)

// lineRow is one row of a line table: the code from addr up to the next row comes from line.
type lineRow struct {
	addr uint64
	line int32
	file int32 // index in lineTable.files
	stmt bool  // a good place for a breakpoint
	body bool  // the prologue ends here
	end  bool  // the first address behind a sequence
}

// lineTable is the line table of a unit: sequences sorted by address, rows of one sequence in their order.
type lineTable struct {
	files []string
	rows  []lineRow
}

// lineReader opens the line table of a unit; nil when it has none.
func (in *Info) lineReader(u *unit) (*dwarf.LineReader, error) {
	r, err := in.data.LineReader(u.entry)
	if err != nil {
		return nil, fmt.Errorf("cannot read the line table: %w", err)
	}
	return r, nil
}

// fileNames are the files of a line table, by index; entries may be empty.
func (u *unit) fileNames(r *dwarf.LineReader) []string {
	names := make([]string, len(r.Files()))
	for i, f := range r.Files() {
		if f != nil {
			names[i] = u.absolute(f.Name)
		}
	}
	return names
}

// absolute is the path of a source file, which may be relative to the directory of the compilation.
func (u *unit) absolute(name string) string {
	if dir, _ := u.entry.Val(dwarf.AttrCompDir).(string); dir != "" && !path.IsAbs(name) {
		return path.Join(dir, name)
	}
	return path.Clean(name)
}

// linesOf reads the line table of a unit.
func (in *Info) linesOf(u *unit) (*lineTable, error) {
	if u.lines != nil {
		return u.lines, nil
	}
	t := &lineTable{}
	r, err := in.lineReader(u)
	if err != nil {
		return nil, err
	}
	if r != nil {
		t.files = u.fileNames(r)
		if err := t.read(u, r); err != nil {
			return nil, err
		}
	}
	u.lines = t
	return t, nil
}

// read takes all rows. Sequences of functions that the linker dropped start at address 0 or 1 and are left out.
func (t *lineTable) read(u *unit, r *dwarf.LineReader) error {
	index := map[*dwarf.LineFile]int32{}
	for i, f := range r.Files() {
		if f != nil {
			index[f] = int32(i)
		}
	}
	// Sequences come in the order of the object files, not of addresses; rows within one ascend. Sorting whole
	// sequences keeps rows of the same address in the order the compiler gave them, of which the last one holds.
	var sequences [][]lineRow
	var rows []lineRow
	var e dwarf.LineEntry
	for {
		err := r.Next(&e)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return fmt.Errorf("cannot read the line table: %w", err)
		}
		file, ok := index[e.File]
		if !ok { // a file defined within the line program, or a number that stands for none
			name := ""
			if e.File != nil {
				name = u.absolute(e.File.Name)
			}
			t.files = append(t.files, name)
			file = int32(len(t.files) - 1)
			index[e.File] = file
		}
		rows = append(rows, lineRow{addr: e.Address, line: int32(e.Line), file: file, stmt: e.IsStmt, body: e.PrologueEnd, end: e.EndSequence})
		if e.EndSequence {
			if rows[0].addr > 1 {
				sequences = append(sequences, rows)
			}
			rows = nil
		}
	}
	sort.SliceStable(sequences, func(i, j int) bool { return sequences[i][0].addr < sequences[j][0].addr })
	t.rows = slices.Concat(sequences...)
	return nil
}

// at finds the last row at or before pc.
func (t *lineTable) at(pc uint64) (row lineRow, ok bool) {
	i := sort.Search(len(t.rows), func(i int) bool { return t.rows[i].addr > pc }) - 1
	if i < 0 || t.rows[i].end {
		return lineRow{}, false
	}
	return t.rows[i], true
}

// inPrologue reports whether pc lies before the end of the code that makes the frame of fn and stores its parameters:
// the place the compiler marked, or else where the second row of the line table starts.
func (in *Info) inPrologue(fn *function, pc uint64) bool {
	if pc == fn.low {
		return true
	}
	t, err := in.linesOf(fn.unit)
	if err != nil || pc < fn.low {
		return false
	}
	i := sort.Search(len(t.rows), func(i int) bool { return t.rows[i].addr >= fn.low })
	second := uint64(0)
	for ; i < len(t.rows) && !t.rows[i].end && t.rows[i].addr <= fn.low+256; i++ {
		if t.rows[i].body {
			return pc < t.rows[i].addr
		}
		if second == 0 && t.rows[i].addr > fn.low {
			second = t.rows[i].addr
		}
	}
	return pc < second
}

// Frame is a function at work, and the line it is at.
type Frame struct {
	Func string // with namespaces and classes; "" when unknown
	File string // as the compiler had it, made absolute; "" when unknown
	Line int    // 0 when unknown
}

// LineAt returns the source line and the function of the instruction at vaddr; of inlined code those of the
// function that was inlined. For a return address ask one byte before it.
func (in *Info) LineAt(vaddr uint64) (file string, line int, fn string, err error) {
	frames, err := in.FramesAt(vaddr)
	if err != nil {
		return "", 0, "", err
	}
	return frames[0].File, frames[0].Line, frames[0].Func, nil
}

// FramesAt returns the frames that the instruction at vaddr belongs to, innermost first: the function, and before it those
// that were inlined into it there. There is at least one when err is nil.
func (in *Info) FramesAt(vaddr uint64) (frames []Frame, err error) {
	defer in.guard(&err)()
	if err := in.openLocked(); err != nil {
		return nil, err
	}
	u, err := in.unitAt(vaddr)
	if err != nil {
		return nil, err
	}
	t, err := in.linesOf(u)
	if err != nil {
		return nil, err
	}
	var cur Frame
	if row, ok := t.at(vaddr); ok {
		cur.File, cur.Line = t.file(int64(row.file)), int(row.line)
	}
	fn, err := in.functionAt(vaddr)
	if errors.Is(err, ErrNone) && cur.Line != 0 {
		return []Frame{cur}, nil // assembly has lines without functions
	}
	if err != nil {
		return nil, err
	}
	top, err := in.scopeOf(fn)
	if err != nil {
		return nil, err
	}
	chain := top.path(vaddr)
	for i := len(chain) - 1; i >= 0; i-- {
		e := chain[i].entry
		if i > 0 && e.Tag != dwarf.TagInlinedSubroutine {
			continue
		}
		// The line belongs to the innermost function; that of each outer one is where it calls the next.
		cur.Func = in.funcName(e)
		frames = append(frames, cur)
		file, _ := e.Val(dwarf.AttrCallFile).(int64)
		line, _ := e.Val(dwarf.AttrCallLine).(int64)
		cur = Frame{File: t.file(file), Line: int(line)}
	}
	return frames, nil
}

func (t *lineTable) file(i int64) string {
	if i < 0 || i >= int64(len(t.files)) {
		return ""
	}
	return t.files[i]
}

// AddrsOf returns where to stop for a line of a source file so that each time the line runs is seen once. file is matched by its
// last components: "main.c" and "src/main.c" find /home/x/src/main.c. A line without code is a *LineError, and nearest are
// lines that have some, nearest first.
func (in *Info) AddrsOf(file string, line int) (addrs []uint64, nearest []int, err error) {
	defer in.guard(&err)()
	if err := in.openLocked(); err != nil {
		return nil, nil, err
	}
	search := lineSearch{in: in, file: path.Clean(file), line: line, lines: map[int]bool{}}
	tables, err := search.tables()
	if err != nil {
		return nil, nil, err
	}
	for _, t := range tables {
		search.table(t)
	}
	if len(search.addrs) == 0 {
		nearest = nearestLines(search.lines, line)
		return nil, nearest, &LineError{File: file, Line: line, Nearest: nearest, Files: search.similar()}
	}
	slices.Sort(search.addrs)
	return slices.Compact(search.addrs), nil, nil
}

// lineSearch gathers the code of one line over all units.
type lineSearch struct {
	in    *Info
	file  string
	line  int
	addrs []uint64
	lines map[int]bool // lines of the file that have code
	names []string     // of files that were seen and did not match
}

// matches reports whether name ends in the components asked for.
func (s *lineSearch) matches(name string) bool {
	return name == s.file || strings.HasSuffix(name, "/"+strings.TrimPrefix(s.file, "/")) && !path.IsAbs(s.file)
}

// tables are the line tables that mention the file.
func (s *lineSearch) tables() (found []*lineTable, err error) {
	for _, u := range s.in.units {
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

// tableOf is the line table of a unit, nil when it does not mention the file.
func (s *lineSearch) tableOf(u *unit) (*lineTable, error) {
	if u.split {
		return nil, nil
	}
	r, err := s.in.lineReader(u)
	if err != nil || r == nil {
		return nil, err
	}
	found := false
	for _, name := range u.fileNames(r) {
		if s.matches(name) {
			found = true
		} else if name != "" && len(s.names) < 10000 {
			s.names = append(s.names, path.Base(name))
		}
	}
	if !found {
		return nil, nil
	}
	return s.in.linesOf(u)
}

// table adds the code of the line in one unit.
func (s *lineSearch) table(t *lineTable) {
	for _, r := range s.in.onePerPass(s.runs(t)) {
		s.addrs = append(s.addrs, r.stop)
	}
}

// run is a stretch of code of the line without code of other lines in between.
type run struct {
	lo, hi uint64
	stop   uint64 // where to stop: the first statement, or lo
	stmt   bool   // stop is the start of a statement
	block  *scope // the innermost inlined call, nil in the function itself
}

// runs gathers the stretches of the line in a unit. Rows of other lines that are no statements do not end one:
// optimised code weaves instructions of neighbouring statements together.
func (s *lineSearch) runs(t *lineTable) []run {
	var runs []run
	open := false
	for i, row := range t.rows {
		mine := !row.end && row.line == int32(s.line) && s.matches(t.files[row.file])
		if !row.end && row.line > 0 && s.matches(t.files[row.file]) {
			s.lines[int(row.line)] = true
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
			if last.stmt && last.hi == last.stop && !first { // the statement has its code here, in a call that was inlined
				runs, stmt = runs[:len(runs)-1], true
			}
		}
		runs = append(runs, run{lo: row.addr, hi: row.addr, stop: row.addr, stmt: stmt, block: block})
		runs[len(runs)-1].extend(row, t.rows[i+1].addr)
		open = true
	}
	return best(runs)
}

// extend adds a row to a run. A run whose first rows are no statements is stopped at its first statement.
func (r *run) extend(row lineRow, hi uint64) {
	r.hi = max(r.hi, hi)
	if row.stmt && !r.stmt {
		r.stop, r.stmt = row.addr, true
	}
}

// best leaves out runs that start no statement, which are pieces of statements that start elsewhere, and runs without
// an instruction, which optimisers leave where a statement was; unless there are no others.
func best(runs []run) []run {
	for _, good := range []func(*run) bool{
		func(r *run) bool { return r.stmt && r.hi > r.stop },
		func(r *run) bool { return r.stmt },
	} {
		var out []run
		for i := range runs {
			if good(&runs[i]) {
				out = append(out, runs[i])
			}
		}
		if out != nil {
			return out
		}
	}
	return runs
}

// blockAt is the inlined call that the code of the line at pc belongs to, or the function; and whether pc is the first
// instruction of a function. The code of a call starts with instructions of the line that the call stands on: those
// belong to the caller.
func (s *lineSearch) blockAt(t *lineTable, pc uint64) (block *scope, first bool) {
	fn, err := s.in.functionAt(pc)
	if err != nil {
		return nil, false
	}
	top, err := s.in.scopeOf(fn)
	if err != nil {
		return nil, false
	}
	block = top
	for _, sc := range top.path(pc) {
		if sc.entry.Tag != dwarf.TagInlinedSubroutine {
			continue
		}
		file, _ := sc.entry.Val(dwarf.AttrCallFile).(int64)
		line, _ := sc.entry.Val(dwarf.AttrCallLine).(int64)
		if line == int64(s.line) && s.matches(t.file(file)) {
			break
		}
		block = sc
	}
	return block, pc == fn.low
}

// nearestLines are the lines that have code around a line that has none, nearest first, four at most.
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

// similar are names of files that resemble the one that was not found.
func (s *lineSearch) similar() []string {
	slices.Sort(s.names)
	return near(path.Base(s.file), slices.Compact(s.names))
}
