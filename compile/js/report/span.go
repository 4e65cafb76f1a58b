package report

import (
	"strings"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/file"

	"gotap/compile/diag"
	"gotap/compile/js"
)

// At is where a node of a function is.
func (r *Report) At(fn *js.Function, n ast.Node) diag.Span {
	at := r.span(fn, r.start(fn, n), end(n))
	at.Call = r.call
	return at
}

// span is where a node is, in the text as the user wrote it.
func (r *Report) span(fn *js.Function, from, to file.Idx) diag.Span {
	source := r.sourceOf(fn)
	start, end := int(from)-fn.Base, int(to)-fn.Base
	if r.mapping == nil || source == nil {
		return diag.Span{Source: source, Start: start, End: end}
	}
	return r.mapped(source, start, end)
}

// sourceOf is the text that a function stands in.
func (r *Report) sourceOf(fn *js.Function) *diag.Source {
	if fn.Source == nil {
		return r.source
	}
	return fn.Source
}

// mapped finds a span of generated text in the original. Source maps know where tokens begin, not where they end: the
// length is kept when the text is the same there, otherwise the first word is taken.
func (r *Report) mapped(source *diag.Source, start, end int) diag.Span {
	original, at := r.mapping(start)
	if original == nil {
		return diag.Span{Source: source, Start: start, End: end}
	}
	piece := source.Text[clamp(start, source):clamp(max(start, end), source)]
	rest := original.Text[clamp(at, original):]
	if strings.HasPrefix(rest, piece) {
		return diag.Span{Source: original, Start: at, End: at + len(piece)}
	}
	word := strings.IndexFunc(rest, func(r rune) bool { return !isWord(r) })
	if word < 0 {
		word = len(rest)
	}
	return diag.Span{Source: original, Start: at, End: at + max(1, word)}
}

func clamp(offset int, s *diag.Source) int { return max(0, min(offset, len(s.Text))) }

func isWord(r rune) bool {
	return r == '_' || r == '$' || r == '.' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r > 0x7f
}

func idx(n int) file.Idx { return file.Idx(n) }
