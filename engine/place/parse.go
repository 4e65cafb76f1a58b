package place

import (
	"path/filepath"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"gotap/engine/image/symname"
)

// prefixes are the words before places that are not code by name.
var prefixes = [...]string{Function: "", Address: "", Line: "", Mark: "usdt:", Watch: "watch:", Syscall: "syscall:", Sample: "sample:"}

// maxSpec bounds the text of a specification, in bytes; C++ names are long.
const maxSpec = 1 << 16

// Parse reads a specification. Errors are *SyntaxError.
func Parse(text string) (Spec, error) {
	p := parser{text}
	if err := p.check(); err != nil {
		return Spec{}, err
	}
	var s Spec
	var err *SyntaxError
	switch {
	case strings.HasPrefix(text, prefixes[Mark]):
		s, err = p.mark(len(prefixes[Mark]))
	case strings.HasPrefix(text, prefixes[Watch]):
		s, err = p.watch(len(prefixes[Watch]))
	case strings.HasPrefix(text, prefixes[Syscall]):
		s, err = p.syscall(len(prefixes[Syscall]))
	case strings.HasPrefix(text, prefixes[Sample]):
		s, err = p.sample(len(prefixes[Sample]))
	default:
		if kind, at := p.kindBehindModule(); at > 0 {
			s, err = p.inModule(kind, at)
		} else {
			s, err = p.code(0, len(text))
		}
	}
	if err != nil {
		return Spec{}, err
	}
	for _, pattern := range []string{s.Module, s.Provider, s.Name, s.File} {
		if err := symname.CheckAlternatives(pattern); err != nil {
			at := strings.IndexByte(text, '{')
			return Spec{}, syntax(text, at, at+1, err.Error(), "give several places instead: probe([\"a\", \"b\"], …)")
		}
	}
	return s, nil
}

// parser parses parts of one text, given as byte positions.
type parser struct{ text string }

// check refuses texts that no specification may be.
func (p parser) check() error {
	switch {
	case p.text == "":
		return syntax(p.text, 0, 0, "it is empty", `write [MODULE:]PLACE, such as "libc:malloc"`)
	case len(p.text) > maxSpec:
		return syntax(p.text[:32]+"…", 0, 0, "it is too long", "")
	case !utf8.ValidString(p.text):
		return syntax(strings.ToValidUTF8(p.text, "�"), 0, 0, "it is not UTF-8 text", "")
	}
	first, _ := utf8.DecodeRuneInString(p.text)
	last, n := utf8.DecodeLastRuneInString(p.text)
	if unicode.IsSpace(first) {
		return syntax(p.text, 0, 1, "it begins with a blank", "")
	}
	if unicode.IsSpace(last) {
		return syntax(p.text, len(p.text)-n, len(p.text), "it ends with a blank", "")
	}
	if i := strings.IndexFunc(p.text, unicode.IsControl); i >= 0 {
		return syntax(p.text, i, i+1, "it holds a control character", "")
	}
	return nil
}

// kindBehindModule returns the position of the word of a static mark or a watchpoint behind a module, and of the colon
// between them, or 0. The module may stand before the word or behind it.
func (p parser) kindBehindModule() (Kind, int) {
	for _, kind := range [...]Kind{Mark, Watch} {
		at := strings.Index(p.text, ":"+prefixes[kind])
		behind := at + 1 + len(prefixes[kind])
		if at > 0 && p.text[at-1] != ':' && !strings.HasPrefix(p.text[behind:], ":") { // those are C++ names
			return kind, at
		}
	}
	return Function, 0
}

// inModule parses MODULE:usdt:PROVIDER:NAME or MODULE:watch:PLACE/LEN/w.
func (p parser) inModule(kind Kind, colon int) (Spec, *SyntaxError) {
	read := p.mark
	if kind == Watch {
		read = p.watch
	}
	from := colon + 1 + len(prefixes[kind])
	s, err := read(from)
	if err == nil && s.Module != "" {
		err = syntax(p.text, from, from+len(s.Module), "it names two modules", "")
	}
	if err == nil {
		err = p.module(0, colon)
	}
	s.Module = p.text[:colon]
	return s, err
}

// module refuses a module with a colon in it, unless it is a path: the first colon behind a slash.
func (p parser) module(from, to int) *SyntaxError {
	colon := from + strings.IndexByte(p.text[from:to], ':')
	switch {
	case colon < from || strings.Contains(p.text[from:colon], "/"):
		return nil
	case colon == from:
		return syntax(p.text, from, from+1, "the module before the colon is missing", "a.out is the main program: a.out:main")
	}
	return syntax(p.text, colon, colon+1, "there is a colon too many", "only in a path a module may have a colon")
}

// code reads [MODULE:]PLACE.
func (p parser) code(from, to int) (Spec, *SyntaxError) {
	s := Spec{}
	if colon := p.relative(from, to); colon >= 0 && p.text[from] != '@' {
		n, err := strconv.ParseUint(p.text[colon+2:to], 10, 20)
		if err != nil {
			return s, syntax(p.text, colon+1, to, strconv.Quote(p.text[colon+1:to])+" is not a number of lines", "lines below the beginning of a function are written main:+2")
		}
		s, bad := p.code(from, colon)
		if bad == nil && (s.Kind != Function || s.HasOff || s.Every || s.Of != Named) {
			bad = syntax(p.text, colon, to, "only lines of a function are counted from its beginning", "write main:+2 or main@main.c:+2")
		}
		s.Line, s.Relative = int(n), true
		return s, bad
	}
	// The colon of @main.c:42 is not a separator, and paths of sources may contain colons.
	if set, _ := p.setAt(from, to); set == Named && p.text[from] != '@' {
		if colon := p.moduleColon(from, to); colon >= 0 {
			s.Module = p.text[from:colon]
			if colon == from {
				return s, syntax(p.text, from, from+1, "the module before the colon is missing", "a.out is the main program: a.out:main")
			}
			from = colon + 1
		}
	}
	if from == to {
		return s, syntax(p.text, from, to, "a place is missing after the colon", "name a function, an address or @file:line")
	}
	place := p.text[from:to]
	if set, at := p.setAt(from, to); set != Named {
		return p.set(s, set, at, to)
	}
	switch {
	case place[0] == '/' && len(place) > 2 && strings.HasSuffix(place, "/"):
		return p.function(s, from, to)
	case place[0] == '@':
		return p.line(s, from, to)
	case strings.HasPrefix(place, "0x") || strings.HasPrefix(place, "0X"):
		return p.address(s, from, to)
	case place[0] >= '0' && place[0] <= '9':
		help := "addresses are hexadecimal: 0x1136"
		switch {
		case s.Module != "" && !strings.ContainsAny(s.Module, "./"): // as perf and delve count in a function
			help = "addresses are hexadecimal: " + s.Module + ":0x1136; lines of a function are counted from its first one: " + s.Module + ":+" + place
		case strings.Contains(filepath.Base(s.Module), "."): // the syntax of debuggers for a line
			help = "a source line is written @" + p.text[strings.LastIndexByte(s.Module, '@')+1:] + ", an address in a file " + s.Module + ":0x1136"
		}
		return s, syntax(p.text, from, to, "a name cannot begin with a digit", help)
	}
	// Go has names with a colon, "type:.eq.main.T".
	if colon := p.colon(from, to); colon >= 0 && !strings.HasPrefix(p.text[colon:], ":.") {
		help := foreignModule(s.Module)
		if help == "" {
			help = "MODULE:PLACE has one colon; static marks are usdt:PROVIDER:NAME"
		}
		return s, syntax(p.text, colon, colon+1, "there is a colon too many", help)
	}
	return p.function(s, from, to)
}

// moduleColon finds the colon behind the module: the one in front of a set's word, or the first one. A path may contain
// colons, so behind a path it is the last one, or the one before a source line.
func (p parser) moduleColon(from, to int) int {
	if at := p.setColon(from, to); at >= 0 {
		return at
	}
	first := p.colon(from, to)
	if first < 0 || !strings.Contains(p.text[from:first], "/") {
		return first
	}
	if line := strings.LastIndex(p.text[first:to], ":@"); line >= 0 {
		return first + line
	}
	last := first
	for next := p.colon(last+1, to); next >= 0; next = p.colon(last+1, to) {
		if strings.HasPrefix(p.text[next:], ":.") {
			break // Go's "type:.eq.main.T"
		}
		last = next
	}
	return last
}

// colon finds the first single colon. Double colons separate C++ and Rust names.
func (p parser) colon(from, to int) int {
	for i := from; i < to; i++ {
		if p.text[i] != ':' {
			continue
		}
		run := i
		for run < to && p.text[run] == ':' {
			run++
		}
		if run == i+1 {
			return i
		}
		i = run - 1
	}
	return -1
}

// address reads 0xHEX.
func (p parser) address(s Spec, from, to int) (Spec, *SyntaxError) {
	n, err := strconv.ParseUint(p.text[from+2:to], 16, 64)
	if err != nil || strings.HasPrefix(p.text[from+2:to], "_") {
		return s, syntax(p.text, from, to, strconv.Quote(p.text[from:to])+" is not a hexadecimal address", "")
	}
	s.Kind, s.Addr = Address, n
	return s, nil
}

// function reads NAME[+OFFSET].
func (p parser) function(s Spec, from, to int) (Spec, *SyntaxError) {
	s.Kind, s.Name = Function, p.text[from:to]
	if len(s.Name) > 2 && s.Name[0] == '/' && strings.HasSuffix(s.Name, "/") {
		if err := symname.CheckPattern(s.Name); err != nil {
			return s, syntax(p.text, from, to, err.Error(), "a regular expression is written between slashes: /^str(len|cpy)$/")
		}
		return s, nil
	}
	if at := fileAtSign(s.Name); at > 0 {
		s.Name, s.File = s.Name[:at], s.Name[at+1:]
		return s, nil
	}
	plus := offsetAt(s.Name)
	if plus < 0 {
		return s, nil
	}
	// An offset follows a plus: no name but that of an operator has a plus outside brackets.
	offset := s.Name[plus+1:]
	s.Name = s.Name[:plus]
	if s.Name == "" {
		return s, syntax(p.text, from, to, "a name is missing before the offset", "")
	}
	if offset == "*" {
		s.Every = true
		return s, nil
	}
	n, err := strconv.ParseUint(offset, 0, 64)
	if err != nil || !plainNumber(offset) {
		at := from + plus + 1
		return s, syntax(p.text, at, to, strconv.Quote(offset)+" is not an offset", "offsets are written +16, +0x10 or +*")
	}
	s.Offset, s.HasOff = n, true
	return s, nil
}

// plainNumber parses decimal and hexadecimal numbers: no octal, no signs, no underscores between digits.
func plainNumber(text string) bool {
	hex := strings.HasPrefix(text, "0x") || strings.HasPrefix(text, "0X")
	return !strings.Contains(text, "_") && (hex || len(text) == 1 || text[0] != '0')
}

// offsetAt finds the plus sign of an offset: the last one that is neither inside brackets, nor part of an operator's
// name, nor between spaces ("Send + Sync").
func offsetAt(name string) int {
	depth := 0 // of brackets, counted from the end
	for i := len(name) - 1; i >= 0; i-- {
		switch name[i] {
		case '>', ')', ']':
			depth++
		case '<', '(', '[':
			depth--
		case '+':
			if depth != 0 || i > 0 && name[i-1] == ' ' || i+1 < len(name) && name[i+1] == ' ' {
				continue
			}
			if operatorPlus(name, i) {
				return -1
			}
			return i
		}
	}
	return -1
}

// operatorPlus reports whether the plus sign at i belongs to an operator: "operator+", "operator++", "operator+=". The
// last plus of "operator++0x10" belongs to the offset, because a number follows.
func operatorPlus(name string, i int) bool {
	const word = "operator"
	rest := name[i+1:]
	before := strings.TrimSuffix(name[:i], " ")
	if strings.HasSuffix(before, word) {
		return true
	}
	before, plus := strings.CutSuffix(before, "+")
	return plus && strings.HasSuffix(before, word) && (rest == "" || rest[0] == '(')
}

// mark reads [MODULE:]PROVIDER:NAME.
func (p parser) mark(from int) (Spec, *SyntaxError) {
	const help = "static marks are written usdt:PROVIDER:NAME or usdt:MODULE:PROVIDER:NAME"
	s := Spec{Kind: Mark}
	part := strings.Split(p.text[from:], ":")
	if len(part) < 2 {
		return s, syntax(p.text, from, len(p.text), "it needs a provider and a name", help)
	}
	at := from
	for _, text := range part {
		if text == "" {
			return s, syntax(p.text, at, at, "a part of it is empty", help)
		}
		at += len(text) + 1
	}
	last := len(part) - 1
	s.Module, s.Provider, s.Name = strings.Join(part[:last-1], ":"), part[last-1], part[last]
	return s, p.module(from, from+len(s.Module))
}

// syscall reads NAME.
func (p parser) syscall(from int) (Spec, *SyntaxError) {
	s := Spec{Kind: Syscall, Name: p.text[from:]}
	// The names depend on the architecture of the target, so only texts that cannot be a name or pattern are refused.
	bad := strings.IndexFunc(s.Name, func(r rune) bool {
		return !strings.ContainsRune(`_*?[]!^-\`, r) && (r > unicode.MaxASCII || !unicode.IsLetter(r) && !unicode.IsDigit(r))
	})
	switch {
	case s.Name == "":
		return s, syntax(p.text, from, from, "the name of the system call is missing", "such as syscall:openat, or syscall:*")
	case bad >= 0:
		return s, syntax(p.text, from+bad, from+bad+1, strconv.Quote(s.Name)+" is not the name of a system call", "")
	}
	return s, nil
}

// watchHelp is the syntax of watchpoints.
const watchHelp = "watchpoints are written watch:PLACE/LEN/w, /rw or /x, with 1, 2, 4 or 8 bytes: watch:counter/8/w"

// watch parses PLACE/LEN/w|rw|x. It starts at the end, because modules may be paths.
func (p parser) watch(from int) (Spec, *SyntaxError) {
	text := p.text
	kindAt := strings.LastIndexByte(text, '/')
	if kindAt < from {
		return Spec{}, syntax(text, from, len(text), "the length and the kind are missing", watchHelp)
	}
	lenAt := strings.LastIndexByte(text[:kindAt], '/')
	if lenAt < from {
		return Spec{}, syntax(text, kindAt, len(text), "the length or the kind is missing", watchHelp)
	}
	if lenAt == from {
		return Spec{}, syntax(text, from, lenAt, "there is nothing to watch", watchHelp)
	}
	s, err := p.code(from, lenAt)
	if err == nil {
		err = p.watchable(s, from, lenAt)
	}
	if err != nil {
		return s, err
	}
	// The place is checked first, so that errors are in the order of the text.
	s.Kind = Watch
	var ok bool
	if s.Access, ok = accessOf(text[kindAt+1:]); !ok {
		return s, syntax(text, kindAt+1, len(text), strconv.Quote(text[kindAt+1:])+" is not a kind of watchpoint", watchHelp)
	}
	s.Len, _ = strconv.Atoi(text[lenAt+1 : kindAt])
	if digits := text[lenAt+1 : kindAt]; !strings.Contains("1 2 4 8", digits) || len(digits) != 1 || digits == " " {
		return s, syntax(text, lenAt+1, kindAt, "the length "+strconv.Quote(digits)+" is not 1, 2, 4 or 8", watchHelp)
	}
	return s, nil
}

// watchable refuses places that are not one address.
func (p parser) watchable(s Spec, from, to int) *SyntaxError {
	switch {
	case s.Kind == Line:
		return syntax(p.text, from, to, "a source line cannot be watched", watchHelp)
	case s.Every || s.Of != Named:
		return syntax(p.text, from, to, "a watchpoint has one place", watchHelp)
	case symname.IsGlob(s.Name):
		return syntax(p.text, from, to, "a watchpoint takes no pattern", "there are only a few debug registers; name the variable")
	}
	return nil
}

// accessOf returns the kind of watchpoint with a name.
func accessOf(name string) (Access, bool) {
	for a, n := range accessNames {
		if n == name {
			return Access(a), true
		}
	}
	return 0, false
}
