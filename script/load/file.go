package load

import (
	"sort"
	"unicode/utf8"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/file"

	"gotap/compile/diag"
)

// Base is the number of the first byte of a parsed file in the tree's positions.
const Base = 1

// File is one parsed text.
type File struct {
	Path   string       // identity: absolute path, "gotap/NAME", or the given name if the text came from elsewhere
	Source *diag.Source // the text that was parsed
	Tree   *ast.Program // as written
	Run    *ast.Program // a second copy, which is rewritten and run
	Inputs []string     // paths of all files joined into this one, including itself: the files to watch

	joined bool  // the whole text is one function that esbuild wrapped around joined modules
	lines  []int // byte offset of each line's start, with lines as the JavaScript parser counts them
	back   *mapping
}

// Mapped reports whether the parsed text differs from what the user wrote.
func (f *File) Mapped() bool { return f.back != nil }

// Origin converts a byte offset of the parsed text to the source and offset that the user wrote.
func (f *File) Origin(offset int) (*diag.Source, int) {
	if f.back == nil {
		return f.Source, offset
	}
	return f.back.origin(f.Source, offset)
}

// Span returns the original text for a range of tree positions.
func (f *File) Span(from, to file.Idx) diag.Span {
	start, end := int(from)-Base, int(to)-Base
	src, at := f.Origin(start)
	if f.back == nil {
		return diag.Span{Source: src, Start: at, End: end}
	}
	return diag.Span{Source: src, Start: at, End: f.back.end(f.Source, src, start, end)}
}

// NodeSpan returns the original text of a node.
func (f *File) NodeSpan(n ast.Node) diag.Span { return f.Span(n.Idx0(), n.Idx1()) }

// Offset converts the parser's line and column to a byte offset. Both count from 1, the column in bytes.
func (f *File) Offset(p file.Position) int {
	if p.Line < 1 || p.Line > len(f.lines) {
		return len(f.Source.Text)
	}
	return min(f.lines[p.Line-1]+p.Column-1, len(f.Source.Text))
}

// PlaceSpan returns the original character at a position of the JavaScript machine.
func (f *File) PlaceSpan(p file.Position) diag.Span {
	src, at := f.Origin(f.Offset(p))
	return diag.Span{Source: src, Start: at, End: at + 1}
}

// lineStarts returns the starts of the lines as the parser counts them: it ends lines at CR, LF, CR LF and the two
// Unicode separators, while diagnostics count only LF.
func lineStarts(text string) []int {
	starts := []int{0}
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRuneInString(text[i:])
		i += n
		switch r {
		case '\r':
			if i < len(text) && text[i] == '\n' {
				i++
			}
			starts = append(starts, i)
		case '\n', '\u2028', '\u2029':
			starts = append(starts, i)
		}
	}
	return starts
}

// lineAt returns the line of an offset, counted from 0.
func lineAt(starts []int, offset int) int { return sort.SearchInts(starts, offset+1) - 1 }
