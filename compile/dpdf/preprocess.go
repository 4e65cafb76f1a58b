package dpdf

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"gotap/compile/diag"
)

// Limits of the preprocessor, against files that include or define themselves.
const (
	maxIncludes = 16   // open at a time
	maxFiles    = 1000 // included in all
	maxLines    = 100_000
	maxTokens   = 1000    // made by the macros of one line
	maxMade     = 1 << 19 // made by those of all lines
	maxNesting  = 100     // of macros in the arguments of macros
)

// preprocessor follows the directives of a file and of those it includes. DProbes had gcc do
// this. A preprocessor of tokens, and not of text, keeps the place of every word, so that an
// error inside a macro points at its use; and no compiler has to be on the machine.
type preprocessor struct {
	o      Options
	macros map[string]*macro
	diags  *diag.List
	lines  []line
	files  []*diag.Source // being read, outermost first
	once   map[string]bool
	read   int // files included so far

	made   int  // words that macros made in the line
	total  int  // in all lines
	nested int  // arguments that are being replaced, in each other
	deep   bool // too many of them, which has been said

	// from is where the file was included; messages name it.
	from map[*diag.Source]diag.Span

	missing bool // a file could not be included
	wrong   bool // a directive was not understood
}

// preprocess has the lines of a file with everything replaced and included.
func preprocess(src *diag.Source, o Options, diags *diag.List) *preprocessor {
	p := &preprocessor{o: o, macros: map[string]*macro{}, diags: diags, once: map[string]bool{}, from: map[*diag.Source]diag.Span{}}
	for _, name := range slices.Sorted(maps.Keys(o.Defs)) {
		p.predefine(name, o.Defs[name])
	}
	p.file(src)
	return p
}

// predefine takes a definition from the command line.
// The value is scanned like a line of a file, so that -D N=(A+1) is what #define N (A+1) is.
func (p *preprocessor) predefine(name, value string) {
	src := diag.NewSource("-D "+name, name+" "+value)
	s := scanner{src: src, diags: p.diags}
	definition, _ := s.next()
	if len(definition) == 0 {
		p.diags.Errorf(diag.Span{Source: src}, "as in -D SIZE=0x1000", "a definition needs a name")
		return
	}
	p.define(definition, definition)
}

// input is a file that is being read: its lines, and the conditions that are open in it.
// Branches belong to their file: an #endif in an included one does not end an #if outside.
type input struct {
	scanner
	ahead    line // read already
	branches []branch
}

// next is the next line that has tokens.
func (in *input) next() (line, bool) {
	if l := in.ahead; l != nil {
		in.ahead = nil
		return l, true
	}
	return in.scanner.next()
}

// file takes the lines of one file.
func (p *preprocessor) file(src *diag.Source) {
	p.files = append(p.files, src)
	defer func() { p.files = p.files[:len(p.files)-1] }()
	in := input{scanner: scanner{src: src, diags: p.diags}}
	for len(p.lines) < maxLines {
		in.dead = !in.active()
		l, ok := in.next()
		switch {
		case !ok:
			for _, b := range in.branches {
				p.diags.Errorf(b.at, "", "this has no #endif")
			}
			return
		case l[0].text == "#":
			p.directive(&in, l)
		case in.active():
			p.made = 0
			if l = p.expand(p.join(&in, l)); len(l) > 0 { // a macro may expand to nothing
				p.lines = append(p.lines, l)
			}
		}
	}
	if len(p.files) == 1 {
		p.diags.Errorf(diag.Span{Source: src}, "", "the file has more than %d lines, included files counted", maxLines)
	}
}

// directive follows a line that begins with #.
func (p *preprocessor) directive(in *input, l line) {
	before := len(*p.diags)
	if len(l) > 1 && !p.conditional(in, l) && in.active() {
		p.unconditional(l)
	}
	p.wrong = p.wrong || (*p.diags)[before:].HasErrors()
}

// unconditional follows a directive in lines that are taken.
func (p *preprocessor) unconditional(l line) {
	name, rest := l[1].text, l[2:]
	switch name {
	case "define":
		p.define(l, rest)
	case "undef":
		if p.defined(l, rest) {
			delete(p.macros, rest[0].text)
		}
	case "include":
		p.include(l, rest)
	case "error":
		p.diags.Errorf(l.span(), "", "#error %s", rest.text())
	case "warning":
		p.diags.Warnf(l.span(), "", "#warning %s", rest.text())
	case "pragma":
		p.pragma(l, rest)
	default:
		p.diags.Errorf(l.span(), "there are define, undef, if, ifdef, ifndef, elif, else, endif, include, error, warning and pragma once", "unknown directive #%s", name)
	}
}

// pragma follows #pragma, of which there is one.
func (p *preprocessor) pragma(l, rest line) {
	if rest.text() != "once" {
		p.diags.Warnf(l.span(), "", "#%s is ignored", l[1:].text())
		return
	}
	p.once[p.files[len(p.files)-1].Name] = true
}

// include takes the lines of another file. A quoted path is looked for beside the file that
// names it, as C has it, so that a directory of definitions can be moved; then, as one in <>,
// in the directories of -I.
func (p *preprocessor) include(l, rest line) {
	p.made = 0
	if path, quoted, ok := includedPath(p.expand(rest)); ok {
		p.includePath(rest.span(), path, quoted)
		return
	}
	p.diags.Errorf(l.span(), "", "#include takes a quoted path, or one in <>")
}

// includedPath is the path in quotes, or in <>.
func includedPath(l line) (path string, quoted, ok bool) {
	switch {
	case len(l) == 1 && l[0].kind == quotedToken && len(l[0].text) > 2:
		return strings.Trim(l[0].text, `"`), true, true
	case len(l) > 2 && l[0].text == "<" && l[len(l)-1].text == ">":
		inside := slices.Clone(l[1 : len(l)-1])
		return inside.text(), false, true
	}
	return "", false, false
}

// includePath looks for a file, and takes it.
func (p *preprocessor) includePath(at diag.Span, path string, quoted bool) {
	found := false
	defer func() { p.missing = p.missing || !found }()
	if p.o.Open == nil {
		p.diags.Errorf(at, "", "cannot include a file here")
		return
	}
	var first error
	for _, candidate := range p.candidates(path, quoted) {
		if p.once[candidate] {
			found = true
			return
		}
		if !p.mayInclude(at, candidate) {
			return
		}
		text, err := p.o.Open(candidate)
		if err == nil {
			src := diag.NewSource(candidate, string(text))
			p.from[src], found = at, true
			p.file(src)
			return
		}
		if first == nil {
			first = err
		}
	}
	if first == nil {
		p.diags.Errorf(at, "-I names a directory; a file beside this one is named in quotes", "cannot include <%s>: no -I is given", path)
		return
	}
	p.diags.Errorf(at, "", "cannot include: %v", first)
}

// candidates are where an included file may be.
func (p *preprocessor) candidates(path string, quoted bool) (list []string) {
	if filepath.IsAbs(path) {
		return []string{path}
	}
	if quoted {
		list = append(list, filepath.Join(filepath.Dir(p.files[len(p.files)-1].Name), path))
	}
	for _, dir := range p.o.Include {
		list = append(list, filepath.Join(dir, path))
	}
	return list
}

// mayInclude checks the limits. A file may be included while it is read: with an #ifndef around it, that
// comes to an end.
func (p *preprocessor) mayInclude(at diag.Span, path string) bool {
	cycle := slices.ContainsFunc(p.files, func(s *diag.Source) bool { return s.Name == path })
	switch p.read++; {
	case p.read > maxFiles:
		if p.read == maxFiles+1 {
			p.diags.Errorf(at, "", "more than %d files are included", maxFiles)
		}
		return false
	case len(p.files) < maxIncludes:
		return true
	case cycle:
		p.diags.Errorf(at, "#pragma once, or #ifndef around all of it, ends this", "%s includes itself without end", path)
	default:
		p.diags.Errorf(at, "", "files are included more than %d deep", maxIncludes)
	}
	p.read = maxFiles + 1 // one error is enough
	return false
}
