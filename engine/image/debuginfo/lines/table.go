package lines

import (
	"debug/dwarf"
	"errors"
	"fmt"
	"io"
	"slices"
	"sort"

	"gotap/engine/image/debuginfo/entry"
	"gotap/engine/image/debuginfo/function"
)

// Row is one row of a line table: the code from addr up to the next row belongs to Line.
type Row struct {
	addr   uint64
	Line   int32
	File   int32 // index of the file
	column int32 // from 1; 0: unknown
	stmt   bool  // a good place for a breakpoint
	body   bool  // the prologue ends here
	end    bool  // the address behind a sequence
}

// Tables reads the line tables of one module and caches them. It is not safe for concurrent use.
type Tables struct {
	entries   *entry.Reader
	functions *function.Index
	tables    map[*entry.Unit]*Table
}

// New returns the line tables that entries describes. It reads none of them.
func New(entries *entry.Reader, functions *function.Index) *Tables {
	return &Tables{entries: entries, functions: functions, tables: map[*entry.Unit]*Table{}}
}

// Table is the line table of a unit. Sequences are sorted by address; the rows of a sequence are in their original
// order.
type Table struct {
	files []string
	rows  []Row
}

// Of returns the line table of a unit.
func (lt *Tables) Of(u *entry.Unit) (*Table, error) {
	if lt.tables[u] != nil {
		return lt.tables[u], nil
	}
	t := &Table{}
	r, err := lt.entries.Lines(u)
	if err != nil {
		return nil, err
	}
	if r != nil {
		t.files = u.FileNames(r)
		if err := t.read(u, r); err != nil {
			return nil, err
		}
	}
	lt.tables[u] = t
	return t, nil
}

// read reads all rows. It leaves out sequences that start at address 0 or 1, which belong to functions that the linker
// removed.
func (t *Table) read(u *entry.Unit, r *dwarf.LineReader) error {
	index := map[*dwarf.LineFile]int32{}
	for i, f := range r.Files() {
		if f != nil {
			index[f] = int32(i)
		}
	}
	// Sequences are in the order of the object files; the rows of each ascend. Sorting whole sequences keeps
	// the order of rows that have the same address. The last of those counts.
	var sequences [][]Row
	var rows []Row
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
		if !ok { // defined within the line program, or an unknown number
			name := ""
			if e.File != nil {
				name = u.Absolute(e.File.Name)
			}
			t.files = append(t.files, name)
			file = int32(len(t.files) - 1)
			index[e.File] = file
		}
		rows = append(rows, Row{addr: e.Address, Line: int32(e.Line), File: file, column: int32(e.Column), stmt: e.IsStmt, body: e.PrologueEnd, end: e.EndSequence})
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

// Statements returns how many statements at a place in a file begin in the ranges of a function. A statement whose code
// was moved away begins somewhere, too.
func (t *Table) Statements(file string, line, column int, ranges []function.Range) (n int) {
	for _, r := range ranges {
		first := sort.Search(len(t.rows), func(i int) bool { return t.rows[i].addr >= r.Lo })
		for _, row := range t.rows[first:] {
			if row.addr >= r.Hi {
				break
			}
			if row.stmt && !row.end && int(row.Line) == line && int(row.column) == column && t.File(int64(row.File)) == file {
				n++
			}
		}
	}
	return n
}

// At returns the last row at or before pc.
func (t *Table) At(pc uint64) (row Row, ok bool) {
	i := sort.Search(len(t.rows), func(i int) bool { return t.rows[i].addr > pc }) - 1
	if i < 0 || t.rows[i].end {
		return Row{}, false
	}
	return t.rows[i], true
}

// InPrologue reports whether pc is before the end of the prologue of fn, which sets up the frame and stores the
// parameters. The prologue ends where the compiler marked it, or without a mark at the second row of the line table.
func (lt *Tables) InPrologue(fn *function.Function, pc uint64) bool {
	if pc == fn.Low {
		return true
	}
	t, err := lt.Of(fn.Unit)
	if err != nil || pc < fn.Low {
		return false
	}
	i := sort.Search(len(t.rows), func(i int) bool { return t.rows[i].addr >= fn.Low })
	second := uint64(0)
	for ; i < len(t.rows) && !t.rows[i].end && t.rows[i].addr <= fn.Low+256; i++ {
		if t.rows[i].body {
			return pc < t.rows[i].addr
		}
		if second == 0 && t.rows[i].addr > fn.Low {
			second = t.rows[i].addr
		}
	}
	return pc < second
}

// File returns the name of a file by its index, or "".
func (t *Table) File(i int64) string {
	if i < 0 || i >= int64(len(t.files)) {
		return ""
	}
	return t.files[i]
}
