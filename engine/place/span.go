package place

import (
	"errors"
	"fmt"
	"math"
	"path"
	"path/filepath"
	"strconv"
	"strings"

	"gotap/engine/image/module"
	"gotap/engine/image/symtab"
)

// Spans is what a line table tells besides Lines.
type Spans interface {
	// PlacesIn returns the addresses in the file at which lines from first to last start, and the line of each; with a
	// column that is not 0 only of what begins in it.
	PlacesIn(file string, first, last, column int) (addrs []uint64, lines []int, err error)
	// Declared returns the file and the line in which the function at an address is declared; the file may be "".
	Declared(vaddr uint64) (file string, line int, err error)
}

// AllLines is the last line of a span to the end of the file.
const AllLines = math.MaxInt32

// spans returns the line table of a module, or nil without one.
func (r *Resolver) spans(f *module.File) (Spans, error) {
	if r.Lines == nil {
		return nil, nil
	}
	lines, err := r.Lines(f)
	if err != nil {
		return nil, fmt.Errorf("cannot read source lines of %s: %w", f.Path, err)
	}
	spans, _ := lines.(Spans)
	return spans, nil
}

// span resolves @FILE:FIRST-LAST, @FILE:* and @FILE:LINE:COLUMN.
func (r *Resolver) span(s Spec, f *module.File) ([]Target, error) {
	missing := &NotFoundError{Spec: s, What: NoLine, Searched: []string{f.Path}, Stripped: stripped(f)}
	spans, err := r.spans(f)
	if err != nil {
		return nil, err
	}
	if spans == nil {
		missing.NoLines = filepath.Base(f.Path)
		return nil, missing
	}
	addrs, lines, err := spans.PlacesIn(s.File, s.Line, max(s.Last, s.Line), s.Column)
	if err != nil {
		if !errors.As(err, new(noCode)) {
			return nil, fmt.Errorf("cannot find %s in %s: %w", s.lines(), f.Path, err)
		}
		missing.Reason = err
		return nil, missing
	}
	return lineTargets(f, s.File, addrs, lines), nil
}

func lineTargets(f *module.File, file string, addrs []uint64, lines []int) []Target {
	var found []Target
	for i, addr := range addrs {
		t := At(f, addr)
		t.Name = fmt.Sprintf("%s:@%s:%d", filepath.Base(f.Path), file, lines[i])
		found = append(found, t)
	}
	return found
}

// inFile keeps the matches whose function is declared in the file of a specification.
func (r *Resolver) inFile(s Spec, f *module.File, matches []symtab.Match) ([]symtab.Match, error) {
	spans, err := r.spans(f)
	if err != nil {
		return nil, err
	}
	missing := &NotFoundError{Spec: s, What: NoFunction, Searched: []string{f.Path}, Stripped: stripped(f)}
	if spans == nil {
		missing.NoLines = filepath.Base(f.Path)
		return nil, missing
	}
	var kept []symtab.Match
	for _, m := range matches {
		file, _, err := spans.Declared(m.Func.Addr)
		switch {
		case err != nil || file == "":
		case isFile(file, s.File):
			kept = append(kept, m)
		case len(missing.Suggestions) < 3:
			missing.Suggestions = addOnce(missing.Suggestions, []string{m.Name + "@" + path.Base(file)})
		}
	}
	if len(kept) == 0 {
		return nil, missing
	}
	return kept, nil
}

// isFile reports whether a path ends in the components of a name.
func isFile(full, name string) bool {
	return full == name || strings.HasSuffix(full, "/"+strings.TrimPrefix(path.Clean(name), "/"))
}

// below resolves FUNCTION:+N: the code of the line that is so many below that of the function's declaration, in it.
func (r *Resolver) below(s Spec, t Target) ([]Target, error) {
	spans, err := r.spans(t.File)
	if err != nil {
		return nil, err
	}
	refused := &RefusedError{Place: s.String(), Reason: "the debug information does not say where " + t.Symbol + " begins", Help: "compile it with -g"}
	if spans == nil {
		return nil, refused
	}
	file, declared, err := spans.Declared(t.Func.Addr)
	if err != nil || file == "" || declared == 0 {
		return nil, refused
	}
	line := declared + s.Line
	addrs, lines, err := spans.PlacesIn(file, line, line, 0)
	if err != nil {
		if !errors.As(err, new(noCode)) {
			return nil, err
		}
		refused.Reason, refused.Help = err.Error(), fmt.Sprintf("%s begins at line %d", t.Symbol, declared)
		return nil, refused
	}
	var found []Target
	for _, one := range lineTargets(t.File, path.Base(file), addrs, lines) {
		if one.Func != nil && one.Func.Addr == t.Func.Addr {
			found = append(found, one)
		}
	}
	if len(found) == 0 {
		refused.Reason = fmt.Sprintf("%s begins at line %d of %s, and line %d is not in it", t.Symbol, declared, path.Base(file), line)
		refused.Help = ""
		return nil, refused
	}
	return found, nil
}

// lines is the text of the lines of a specification: "main.c:33-36".
func (s Spec) lines() string {
	switch {
	case s.Column > 0:
		return fmt.Sprintf("%s:%d:%d", s.File, s.Line, s.Column)
	case s.Last == AllLines && s.Line == 1:
		return s.File + ":*"
	case s.Last > 0:
		return fmt.Sprintf("%s:%d-%d", s.File, s.Line, s.Last)
	}
	return fmt.Sprintf("%s:%d", s.File, s.Line)
}

const lineHelp = "source lines are written @main.c:42, @main.c:42-50, @main.c:* or @main.c:42:7 with a column"

// lineNumber reads a number of a line or a column in text[from:to].
func (p parser) lineNumber(from, to int, what string) (int, *SyntaxError) {
	n, err := strconv.ParseUint(p.text[from:to], 10, 31)
	if err != nil || n == 0 || n == AllLines {
		return 0, syntax(p.text, from, to, strconv.Quote(p.text[from:to])+" is not a "+what+" number", lineHelp)
	}
	return int(n), nil
}

// line reads @FILE:LINE, @FILE:FIRST-LAST, @FILE:* and @FILE:LINE:COLUMN.
func (p parser) line(s Spec, from, to int) (Spec, *SyntaxError) {
	s.Kind = Line
	colon := strings.LastIndexByte(p.text[from:to], ':') // the last one, because names of files may contain one
	if colon < 0 {
		return s, syntax(p.text, from, to, "the line number is missing", lineHelp)
	}
	colon += from
	end := to
	if before := strings.LastIndexByte(p.text[from:colon], ':'); before > 0 && isDigits(p.text[from+before+1:colon]) && isDigits(p.text[colon+1:to]) {
		column, err := p.lineNumber(colon+1, to, "column")
		if err != nil {
			return s, err
		}
		s.Column, end, colon = column, colon, from+before
	}
	if colon == from+1 {
		return s, syntax(p.text, from, colon, "the file name is missing", lineHelp)
	}
	s.File = p.text[from+1 : colon]
	number := p.text[colon+1 : end]
	if number == "*" {
		s.Line, s.Last = 1, AllLines
		return s, nil
	}
	var err *SyntaxError
	if dash := strings.IndexByte(number, '-'); dash > 0 {
		if s.Line, err = p.lineNumber(colon+1, colon+1+dash, "line"); err == nil {
			s.Last, err = p.lineNumber(colon+1+dash+1, end, "line")
		}
		if err == nil && s.Last < s.Line {
			err = syntax(p.text, colon+1, end, "the last line is before the first", lineHelp)
		}
		return s, err
	}
	s.Line, err = p.lineNumber(colon+1, end, "line")
	return s, err
}

func isDigits(text string) bool { return text != "" && strings.Trim(text, "0123456789") == "" }

// relative finds the colon of FUNCTION:+N at the end of a place, or -1.
func (p parser) relative(from, to int) int {
	colon := strings.LastIndex(p.text[from:to], ":+")
	if colon <= 0 || !isDigits(p.text[from+colon+2:to]) || p.text[from+colon-1] == ':' {
		return -1
	}
	return from + colon
}

// fileAtSign finds the @ of FUNCTION@FILE, or -1. What is behind the @ of a version of a symbol, GLIBC_2.14, is not the
// name of a source file, which ends in a dot and a letter and more.
func fileAtSign(name string) int {
	at := strings.LastIndexByte(name, '@')
	if at <= 0 || name[at-1] == '@' {
		return -1
	}
	suffix := path.Ext(name[at+1:])
	if len(suffix) < 2 || suffix[1] >= '0' && suffix[1] <= '9' {
		return -1
	}
	return at
}
