package dpdf

import (
	"slices"
	"strings"
	"unicode/utf8"

	"gotap/compile/diag"
)

// tokenKind is what a token is.
// The language has few tokens: what a word means is known only from where it stands.
type tokenKind uint8

const (
	wordToken   tokenKind = iota // letters, digits, underscores, beginning with a letter or underscore
	numberToken                  // beginning with a digit, or a character in single quotes
	quotedToken                  // with its quotes
	markToken                    // one or two characters
)

// token is one piece of a line. Text made by a macro has the span of the macro's use. Whether
// it is glued to the one before tells symbols of C++ and of the linker (Foo::bar,
// memcpy@GLIBC_2.14) from their parts.
type token struct {
	kind  tokenKind
	text  string
	span  diag.Span
	glued bool // nothing stands between it and the token before

	hidden []string // macros that it came from, which are not replaced in it again
}

// is reports whether a token is a certain mark.
func (t token) is(mark string) bool { return t.kind == markToken && t.text == mark }

// line is one logical line: continued lines are joined, comments are removed.
// The language ends commands with lines, so lines are kept where C's scanner would drop them.
type line []token

// span is the text from the first to the last token. Words of a macro's arguments stand behind its name, wherever
// in the line it puts them.
func (l line) span() diag.Span {
	at := l[0].span
	for _, t := range l[1:] {
		if t.span.Source == at.Source {
			at.Start, at.End = min(at.Start, t.span.Start), max(at.End, t.span.End)
		}
	}
	return at
}

// text is the line with single blanks where there were any.
func (l line) text() string {
	var b strings.Builder
	for i, t := range l {
		if i > 0 && !t.glued {
			b.WriteByte(' ')
		}
		b.WriteString(t.text)
	}
	return b.String()
}

// scanner cuts a source into lines.
type scanner struct {
	src   *diag.Source
	at    int
	diags *diag.List
	dead  bool // an #if leaves the lines out: what stands in them need not be right
}

// next is the next line that has tokens; ok is false at the end.
func (s *scanner) next() (l line, ok bool) {
	for s.at < len(s.src.Text) {
		if l = s.line(); len(l) > 0 {
			return l, true
		}
	}
	return nil, false
}

// line scans up to the end of a line.
func (s *scanner) line() (l line) {
	glued := false
	for s.at < len(s.src.Text) {
		c := s.src.Text[s.at]
		switch {
		case c == '\n':
			s.at++
			return l
		case s.skip():
			glued = false
		default:
			t := s.token()
			t.glued = glued
			l = append(l, t)
			glued = true
		}
	}
	return l
}

// skip passes a blank, a comment or the end of a line that goes on.
// Comments are removed before macros are expanded: // in a macro's replacement is not a comment.
func (s *scanner) skip() bool {
	rest := s.src.Text[s.at:]
	switch {
	case strings.HasPrefix(rest, "\\\n"):
		s.at += 2
	case strings.HasPrefix(rest, "\\\r\n"):
		s.at += 3
	case strings.HasPrefix(rest, "//"):
		if end := strings.IndexByte(rest, '\n'); end >= 0 {
			s.at += end
		} else {
			s.at = len(s.src.Text)
		}
	case strings.HasPrefix(rest, "/*"):
		s.comment(rest)
	case strings.IndexByte(" \t\r\f\v", rest[0]) >= 0:
		s.at++
	default:
		return false
	}
	return true
}

// comment passes a comment that may hold several lines; it counts as a blank.
func (s *scanner) comment(rest string) {
	end := strings.Index(rest[2:], "*/")
	if end < 0 {
		s.diags.Errorf(diag.Span{Source: s.src, Start: s.at, End: s.at + 2}, "", "the comment does not end")
		s.at = len(s.src.Text)
		return
	}
	s.at += 2 + end + 2
}

// token takes one token.
func (s *scanner) token() token {
	start := s.at
	kind := markToken
	switch c := s.src.Text[s.at]; {
	case c == '"':
		kind = quotedToken
		s.quoted()
	case letter(c):
		kind = wordToken
		s.run()
	case digit(c):
		kind = numberToken
		s.run()
	case c == '\'' && characterLength(s.src.Text[s.at:]) > 0:
		kind = numberToken
		s.at += characterLength(s.src.Text[s.at:])
	case slices.ContainsFunc(pairs, func(pair string) bool { return strings.HasPrefix(s.src.Text[s.at:], pair) }):
		s.at += 2
	default:
		_, size := utf8.DecodeRuneInString(s.src.Text[s.at:]) // 1 for bytes that are not UTF-8
		s.at += size
	}
	return token{kind: kind, text: s.src.Text[start:s.at], span: diag.Span{Source: s.src, Start: start, End: s.at}}
}

// pairs are the marks of two characters.
var pairs = []string{"<<", ">>", "==", "!=", "<=", ">=", "&&", "||", "##"}

// characters are those with a backslash in single quotes.
var characters = map[byte]byte{'n': '\n', 't': '\t', 'r': '\r', '0': 0, '\\': '\\', '\'': '\'', '"': '"'}

// characterLength is the length of a character in single quotes that a text begins with, or 0.
func characterLength(text string) int {
	switch {
	case len(text) > 3 && text[1] == '\\' && text[3] == '\'':
		if _, known := characters[text[2]]; known {
			return 4
		}
	case len(text) > 2 && text[1] != '\'' && text[1] != '\\' && text[1] >= ' ' && text[1] < 0x7f && text[2] == '\'':
		return 3
	}
	return 0
}

// run takes letters and digits. Numbers are taken with all letters behind them; whether 0x5g is
// one is found out when its value is wanted.
func (s *scanner) run() {
	for s.at < len(s.src.Text) && (letter(s.src.Text[s.at]) || digit(s.src.Text[s.at])) {
		s.at++
	}
}

// quoted takes a text in quotes, which ends with its line at the latest.
// Nothing is escaped in it: paths are taken as they are.
func (s *scanner) quoted() {
	start := s.at
	for s.at++; s.at < len(s.src.Text); s.at++ {
		switch s.src.Text[s.at] {
		case '"':
			s.at++
			return
		case '\n':
			s.unended(start)
			return
		}
	}
	s.unended(start)
}

// unended reports a quoted text without an end. Lines that are left out may be prose, with an inch in it.
func (s *scanner) unended(start int) {
	if !s.dead {
		s.diags.Errorf(diag.Span{Source: s.src, Start: start, End: s.at}, "", "the quoted text does not end")
	}
}

func letter(c byte) bool { return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }
func digit(c byte) bool  { return c >= '0' && c <= '9' }
