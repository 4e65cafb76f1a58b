package lines

import (
	"fmt"
	"strings"
)

// Error is the error for a source line, or a source file, without code.
type Error struct {
	File    string
	Line    int
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
	return fmt.Sprintf("%s:%d has no code; the nearest lines with code are %s", e.File, e.Line,
		strings.Trim(strings.Join(strings.Fields(fmt.Sprint(e.Nearest)), ", "), "[]"))
}
