package dpdf

import (
	"path/filepath"
	"slices"
	"strings"

	"gotap/compile/diag"
)

// Limits of the preprocessor, against files that include or define themselves.
const (
	maxIncludes = 16
	maxLines    = 100_000
	maxTokens   = 1000 // of one line, macros replaced
)

// preprocessor follows the directives of a file and of those it includes. DProbes had gcc do
// this. A preprocessor of tokens, and not of text, keeps the place of every word, so that an
// error inside a macro points at its use; and no compiler has to be on the machine.
type preprocessor struct {
	open   func(path string) ([]byte, error)
	macros map[string][]token
	diags  *diag.List
	lines  []line
	files  []string // being read, outermost first
	made   int      // macros replaced in the line, and words they made
}

// branch is one #ifdef that is open. Directives within lines that are left out are followed
// too, as far as it takes to find the right #endif.
type branch struct {
	at      diag.Span
	active  bool // lines are taken
	outer   bool // they would be, without it
	hasElse bool
}

// preprocess gives the lines of a file with everything replaced and included.
func preprocess(src *diag.Source, o Options, diags *diag.List) []line {
	p := &preprocessor{open: o.Open, macros: map[string][]token{}, diags: diags}
	for name, value := range o.Defs {
		p.predefine(name, value)
	}
	p.file(src)
	return p.lines
}

// predefine takes a definition from the command line.
// The value is scanned like a line of a file, so that -D N=(A+1) is what #define N (A+1) is.
func (p *preprocessor) predefine(name, value string) {
	src := diag.NewSource("-D "+name, name+"="+value)
	s := scanner{src: src, at: len(name) + 1, diags: p.diags}
	body, _ := s.next()
	p.macros[name] = body
}

// file takes the lines of one file.
// Branches belong to their file: an #endif in an included one does not end an #ifdef outside.
func (p *preprocessor) file(src *diag.Source) {
	p.files = append(p.files, src.Name)
	defer func() { p.files = p.files[:len(p.files)-1] }()
	var branches []branch
	s := scanner{src: src, diags: p.diags}
	for l, ok := s.next(); ok && len(p.lines) < maxLines; l, ok = s.next() {
		active := len(branches) == 0 || branches[len(branches)-1].active
		switch {
		case l[0].text == "#":
			branches = p.directive(l, active, branches)
		case active:
			p.made = 0
			p.lines = append(p.lines, p.expand(l, nil))
		}
	}
	if len(p.lines) == maxLines {
		p.diags.Errorf(diag.Span{Source: src}, "", "there are more than %d lines with all that is included", maxLines)
	}
	for _, b := range branches {
		p.diags.Errorf(b.at, "", "there is no #endif for this")
	}
}

// directive follows a line that begins with #.
func (p *preprocessor) directive(l line, active bool, branches []branch) []branch {
	if len(l) == 1 {
		return branches
	}
	name, rest := l[1].text, l[2:]
	switch name {
	case "ifdef", "ifndef":
		on := p.defined(l, rest) == (name == "ifdef")
		return append(branches, branch{at: l.span(), active: active && on, outer: active})
	case "else", "endif":
		return p.close(l, name, branches)
	}
	if !active {
		return branches
	}
	switch name {
	case "define":
		p.define(l, rest)
	case "undef":
		if p.defined(l, rest) {
			delete(p.macros, rest[0].text)
		}
	case "include":
		p.include(l, rest)
	case "if", "elif":
		p.diags.Errorf(l.span(), "use #ifdef or #ifndef", "#%s is not known here", name)
	default:
		p.diags.Errorf(l.span(), "there are define, undef, ifdef, ifndef, else, endif and include", "there is no #%s", name)
	}
	return branches
}

// defined reports whether the name after a directive is defined.
func (p *preprocessor) defined(l, rest line) bool {
	if len(rest) != 1 || rest[0].kind != wordToken {
		p.diags.Errorf(l.span(), "", "#%s takes one name", l[1].text)
		return false
	}
	_, ok := p.macros[rest[0].text]
	return ok
}

// close follows #else and #endif.
func (p *preprocessor) close(l line, name string, branches []branch) []branch {
	if len(branches) == 0 {
		p.diags.Errorf(l.span(), "", "there is no #ifdef or #ifndef for this #%s", name)
		return branches
	}
	last := &branches[len(branches)-1]
	if name == "endif" {
		return branches[:len(branches)-1]
	}
	if last.hasElse {
		p.diags.Errorf(l.span(), "", "there is a second #else")
	}
	last.active, last.hasElse = last.outer && !last.active, true
	return branches
}

// define follows #define.
func (p *preprocessor) define(l, rest line) {
	switch {
	case len(rest) == 0 || rest[0].kind != wordToken:
		p.diags.Errorf(l.span(), "", "#define takes a name and its replacement")
	case len(rest) > 1 && rest[1].text == "(" && rest[1].glued:
		p.diags.Errorf(rest[0].span, "leave a blank before the bracket if it belongs to the replacement", "macros cannot have parameters")
	default:
		p.macros[rest[0].text] = rest[1:]
	}
}

// include takes the lines of another file, which is looked for beside this one. Paths are
// relative to the including file, as C has it, so that a directory of definitions can be moved.
func (p *preprocessor) include(l, rest line) {
	if len(rest) != 1 || rest[0].kind != quotedToken || len(rest[0].text) < 2 {
		p.diags.Errorf(l.span(), "", "#include takes a quoted path")
		return
	}
	path := strings.Trim(rest[0].text, `"`)
	if !filepath.IsAbs(path) {
		path = filepath.Join(filepath.Dir(p.files[len(p.files)-1]), path)
	}
	switch {
	case slices.Contains(p.files, path):
		p.diags.Errorf(rest[0].span, "", "%s includes itself", path)
		return
	case len(p.files) >= maxIncludes:
		p.diags.Errorf(rest[0].span, "", "files are included more than %d deep", maxIncludes)
		return
	case p.open == nil:
		p.diags.Errorf(rest[0].span, "", "cannot include a file here")
		return
	}
	text, err := p.open(path)
	if err != nil {
		p.diags.Errorf(rest[0].span, "", "cannot include: %v", err)
		return
	}
	p.file(diag.NewSource(path, string(text)))
}

// expand replaces the macros of a line. Names in hidden are being replaced, and stay as they
// are. The work for one line is limited, whatever macros make of each other. A macro that names
// itself stays as it is inside of its own replacement (ISO C, 6.10.3.4): so #define exit exit
// is harmless.
func (p *preprocessor) expand(l line, hidden []string) (out line) {
	for _, t := range l {
		body, ok := p.macros[t.text]
		if t.kind != wordToken || !ok || slices.Contains(hidden, t.text) {
			out = append(out, t)
			continue
		}
		if p.made > maxTokens {
			return out
		}
		if p.made += 1 + len(body); p.made > maxTokens {
			p.diags.Errorf(t.span, "", "macros make a line of more than %d words", maxTokens)
			return out
		}
		for i, made := range p.expand(body, append(hidden, t.text)) {
			made.span, made.glued = t.span, made.glued && i > 0 || t.glued && i == 0
			out = append(out, made)
		}
	}
	return out
}
