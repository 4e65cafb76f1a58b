package load

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/go-sourcemap/sourcemap"

	"gotap/compile/diag"
)

// mapping maps esbuild's text back to the originals.
type mapping struct {
	consumer *sourcemap.Consumer // nil: no text comes from the originals
	lines    []int               // starts of the generated text's lines
	sources  map[string]*diag.Source
	entry    *diag.Source // the source that errors in text without origin refer to

	// In ASCII texts columns are bytes, so lines of megabytes need not be scanned.
	plain      map[*diag.Source]bool
	plainLines bool // of the generated text
}

// isPlain reports whether a text is ASCII.
func isPlain(text string) bool {
	return strings.IndexFunc(text, func(r rune) bool { return r >= utf8.RuneSelf }) < 0
}

// newMapping reads a source map. sources is indexed by the names in the map, which esbuild chose.
func newMapping(raw []byte, text string, sources map[string]*diag.Source, entry *diag.Source) (*mapping, error) {
	var whole struct {
		Mappings string `json:"mappings"`
	}
	if json.Unmarshal(raw, &whole) == nil && whole.Mappings == "" { // only types, or empty imports
		return &mapping{lines: lineStarts(text), sources: sources, entry: entry}, nil
	}
	consumer, err := sourcemap.Parse("", raw)
	if err != nil {
		return nil, fmt.Errorf("cannot read the source map: %w", err)
	}
	m := &mapping{consumer, lineStarts(text), sources, entry, map[*diag.Source]bool{}, isPlain(text)}
	for _, src := range sources {
		m.plain[src] = isPlain(src.Text)
	}
	return m, nil
}

// origin converts an offset of the generated text. This library counts the generated lines of source maps from 1, and
// columns in UTF-16 units.
func (m *mapping) origin(generated *diag.Source, offset int) (*diag.Source, int) {
	if m.consumer == nil {
		return m.entry, 0
	}
	offset = max(0, min(offset, len(generated.Text)))
	line := lineAt(m.lines, offset)
	col := offset - m.lines[line]
	if !m.plainLines {
		col = utf16Len(generated.Text[m.lines[line]:offset])
	}
	name, _, row, column, ok := m.consumer.Source(line+1, col)
	src := m.sources[name]
	if !ok || src == nil {
		return m.entry, 0
	}
	if m.plain[src] {
		return src, min(src.Offset(row, 1)+column, len(src.Text))
	}
	return src, utf16Offset(src, row, column)
}

// end returns the end of a span that begins at an original place. Maps hold only starts of tokens. If the generated
// span is one word, the end is that of the original word. Otherwise the span has the same length as in the generated
// text, cut to where the texts agree.
func (m *mapping) end(generated, src *diag.Source, start, end int) int {
	_, at := m.origin(generated, start)
	want := generated.Text[min(start, len(generated.Text)):max(start, min(end, len(generated.Text)))]
	n := 0
	for n < len(want) && at+n < len(src.Text) && want[n] == src.Text[at+n] {
		n++
	}
	if n == len(want) && n > 0 {
		return at + n
	}
	if last, lastAt := m.origin(generated, max(start, end-1)); last == src && lastAt >= at {
		return lastAt + 1
	}
	return at + max(1, n)
}

// utf16Len returns the length of a text in UTF-16 units, which source maps and JavaScript count.
func utf16Len(s string) int {
	n := 0
	for _, r := range s {
		n += max(1, utf16.RuneLen(r))
	}
	return n
}

// utf16Offset returns the byte offset of a line, counted from 1, and a column, counted from 0 in UTF-16 units.
func utf16Offset(src *diag.Source, line, col int) int {
	at := src.Offset(line, 1)
	for col > 0 && at < len(src.Text) && src.Text[at] != '\n' {
		r, n := utf8.DecodeRuneInString(src.Text[at:])
		col -= max(1, utf16.RuneLen(r))
		at += n
	}
	return at
}
