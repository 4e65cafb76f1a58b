package lines

import (
	"fmt"
	"strings"
)

// Error is the error for a source line, or a source file, without code.
type Error struct {
	File    string
	Line    int
	Last    int      // of a range: its last line; else 0
	Column  int      // 0: any
	Columns []int    // in which code of the lines begins
	Nearest []int    // lines of the file that have code, nearest first; none when the file is unknown
	Files   []string // files that resemble File, when it is unknown
}

// NoCode marks an error that means that there is no code, and not that reading failed.
func (e *Error) NoCode() {}

// Error names the line and the nearest lines that have code, or for an unknown file those that resemble it.
func (e *Error) Error() string {
	if len(e.Nearest) == 0 {
		s := fmt.Sprintf("no code comes from a file %s", e.File)
		if len(e.Files) > 0 {
			s += "; there is " + strings.Join(e.Files, ", ")
		}
		return s
	}
	where := fmt.Sprintf("%s:%d", e.File, e.Line)
	if e.Last > e.Line {
		where += fmt.Sprintf("-%d", e.Last)
	}
	if e.Column > 0 && len(e.Columns) > 0 {
		return fmt.Sprintf("no code of %s begins in column %d; some begins in %s", where, e.Column, list(e.Columns))
	}
	return fmt.Sprintf("%s has no code; the nearest lines with code are %s", where, list(e.Nearest))
}

// list is numbers with commas between them.
func list(numbers []int) string {
	return strings.Trim(strings.Join(strings.Fields(fmt.Sprint(numbers)), ", "), "[]")
}
