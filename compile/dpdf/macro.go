package dpdf

import (
	"slices"
	"strconv"

	"gotap/compile/diag"
)

// macro is what #define has made of a name.
type macro struct {
	function bool // it is used with brackets, also when it has no parameters
	params   []string
	rest     bool // the last parameter takes all further arguments: __VA_ARGS__
	body     []token
}

// builtins are the macros that are always defined; their values depend on where they are used.
var builtins = map[string]func(at diag.Span) token{
	"__LINE__": func(at diag.Span) token {
		return token{kind: numberToken, text: strconv.Itoa(at.Source.Position(at.Start).Line)}
	},
	"__FILE__": func(at diag.Span) token {
		return token{kind: quotedToken, text: `"` + at.Source.Name + `"`}
	},
}

// define follows #define; rest is the part of line l after it.
func (p *preprocessor) define(l, rest line) {
	if len(rest) == 0 || rest[0].kind != wordToken || rest[0].text == "defined" {
		p.diags.Errorf(l.span(), "", "#define takes a name and its replacement")
		return
	}
	name, m := rest[0], &macro{body: rest[1:]}
	if len(rest) > 1 && rest[1].text == "(" && rest[1].glued {
		n, ok := m.parameters(rest[2:])
		if !ok {
			p.diags.Errorf(rest[1:].span(), "as in #define MAX(a, b); without parameters, put a space before the bracket", "these are not parameters of a macro")
			return
		}
		m.body = rest[2+n:]
	}
	if why, at := m.check(); why != "" {
		p.diags.Errorf(at, "", "%s", why)
		return
	}
	if before := p.macros[name.text]; before != nil && !before.same(m) {
		p.diags.Warnf(name.span, "#undef "+name.text+" first, if that is intended", "%s is already defined differently", name.text)
	}
	p.macros[name.text] = m
}

// parameters reads "a, b)" and reports how many tokens it took.
func (m *macro) parameters(l line) (n int, ok bool) {
	m.function = true
	for i := 0; i < len(l); i++ {
		switch t := l[i]; {
		case t.text == ")" && len(m.params) == 0 && i == 0:
			return 1, true
		case t.text == "." && i+2 < len(l) && l[i+1].text == "." && l[i+2].text == ".":
			m.rest, m.params = true, append(m.params, "__VA_ARGS__")
			i += 2
		case t.kind == wordToken && !slices.Contains(m.params, t.text):
			m.params = append(m.params, t.text)
		default:
			return 0, false
		}
		if i++; i >= len(l) || l[i].text != "," && l[i].text != ")" || m.rest && l[i].text != ")" {
			return 0, false
		}
		if l[i].text == ")" {
			return i + 1, true
		}
	}
	return 0, false
}

// check is what is wrong with # and ## in a replacement, and where.
func (m *macro) check() (why string, at diag.Span) {
	for i, t := range m.body {
		switch {
		case t.text == "##" && (i == 0 || i == len(m.body)-1):
			return "## stands between two words", t.span
		case t.text == "#" && m.function && (i == len(m.body)-1 || m.param(m.body[i+1]) < 0):
			return "# stands before a parameter", t.span
		}
	}
	return "", diag.Span{}
}

// param is the number of the parameter that a token names, or -1.
func (m *macro) param(t token) int {
	if t.kind != wordToken {
		return -1
	}
	return slices.Index(m.params, t.text)
}

// same reports whether two definitions are one.
func (m *macro) same(o *macro) bool {
	return m.function == o.function && slices.Equal(m.params, o.params) && slices.EqualFunc(m.body, o.body, func(a, b token) bool {
		return a.text == b.text && a.glued == b.glued
	})
}

// expand replaces the macros of a line. What a macro makes is looked at again, with the rest of the line;
// a word knows the macros it came from, and none of them is replaced again (ISO C, 6.10.3.4; the sets of
// names are those of D. Prosser's algorithm). So #define exit exit is harmless, and everything ends. The work
// for a line is limited besides.
func (p *preprocessor) expand(l line) (out line) {
	if !slices.ContainsFunc(l, p.isMacro) {
		return l // most lines
	}
	todo := slices.Clone(l) // the next word last
	slices.Reverse(todo)
	for len(todo) > 0 {
		t := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		made, rest, ok := p.replace(t, todo)
		if !ok {
			out = append(out, t)
			continue
		}
		if p.tooMuch(t, len(made)) {
			return out
		}
		slices.Reverse(made)
		todo = append(rest, made...)
	}
	return out
}

// isMacro reports whether a word may have to be replaced.
func (p *preprocessor) isMacro(t token) bool { return t.kind == wordToken && p.has(t.text) }

// tooMuch counts words that were made, and reports whether there are more than a line may have.
func (p *preprocessor) tooMuch(t token, n int) bool {
	if p.made > maxTokens {
		return true // said before
	}
	p.made += 1 + n
	p.total += 1 + n
	switch {
	case p.made > maxTokens:
		p.diags.Errorf(t.span, "", "macros make a line of more than %d words", maxTokens)
	case p.total > maxMade:
		p.diags.Errorf(t.span, "", "macros make more than %d words of the file", maxMade)
		p.total, p.made = 0, maxTokens+1
		p.macros = map[string]*macro{}
	}
	return p.made > maxTokens
}

// replace expands a word; ok is false when it is not a macro, or is not used as one.
// The words after it are at the end of todo; rest is what remains of them.
func (p *preprocessor) replace(t token, todo []token) (made line, rest []token, ok bool) {
	if t.kind != wordToken || slices.Contains(t.hidden, t.text) {
		return nil, nil, false
	}
	m := p.macros[t.text]
	switch {
	case m == nil:
		builtin, ok := builtins[t.text]
		if !ok {
			return nil, nil, false
		}
		b := builtin(t.span)
		b.span, b.glued = t.span, t.glued
		return line{b}, todo, true
	case !m.function:
		return p.substitute(m, nil, t, append(slices.Clone(t.hidden), t.text)), todo, true
	case len(todo) == 0 || todo[len(todo)-1].text != "(":
		return nil, nil, false
	}
	args, end, rest := arguments(todo)
	if end == nil {
		p.diags.Errorf(t.span, "", "the arguments of %s do not end", t.text)
		return line{unknown(t)}, nil, true
	}
	if args, ok = m.fit(args); !ok {
		p.diags.Errorf(t.span, "", "%s takes %s", t.text, m.argumentCount())
		return line{unknown(t)}, rest, true
	}
	hidden := []string{t.text}
	for _, name := range t.hidden {
		if slices.Contains(end.hidden, name) {
			hidden = append(hidden, name)
		}
	}
	return p.substitute(m, args, t, hidden), rest, true
}

// unknown replaces the expansion of a macro that was used wrongly: one error is enough.
func unknown(t token) token { return token{kind: numberToken, text: "0", span: t.span, glued: t.glued} }

// arguments takes "( a , b )" off the end of the words to come. end is the closing bracket, or nil.
func arguments(todo []token) (args []line, end *token, rest []token) {
	depth := 0
	var arg line
	for i := len(todo) - 1; i >= 0; i-- {
		t := todo[i]
		switch {
		case t.text == "(" && t.kind == markToken:
			if depth++; depth == 1 {
				continue
			}
		case t.text == ")" && t.kind == markToken:
			if depth--; depth == 0 {
				return append(args, arg), &todo[i], todo[:i]
			}
		case t.text == "," && depth == 1:
			args, arg = append(args, arg), nil
			continue
		}
		arg = append(arg, t)
	}
	return nil, nil, nil
}

// argumentCount is how many arguments the macro takes, in words.
func (m *macro) argumentCount() string {
	switch n := len(m.params); {
	case m.rest:
		return strconv.Itoa(n-1) + " arguments or more"
	case n == 1:
		return "1 argument"
	default:
		return strconv.Itoa(n) + " arguments"
	}
}

// fit makes as many arguments as there are parameters of those given.
func (m *macro) fit(args []line) ([]line, bool) {
	n := len(m.params)
	switch {
	case n == 0:
		return nil, len(args) == 1 && len(args[0]) == 0
	case m.rest && len(args) == n-1:
		return append(args, nil), true
	case m.rest && len(args) > n:
		last := slices.Clone(args[n-1])
		for _, a := range args[n:] {
			last = append(append(last, token{kind: markToken, text: ",", glued: true, span: last.spanOr(a)}), a...)
		}
		return append(args[:n-1:n-1], last), true
	}
	return args, len(args) == n
}

// spanOr is the place of a comma between two arguments, either of which may be empty.
func (l line) spanOr(o line) diag.Span {
	switch {
	case len(l) > 0:
		return l[len(l)-1].span
	case len(o) > 0:
		return o[0].span
	}
	return diag.Span{}
}

// use is one use of a macro. Its words have the place of the macro's name; those of arguments keep theirs.
type use struct {
	p        *preprocessor
	m        *macro
	at       token
	args     []line
	replaced []line // arguments with their own macros replaced, once each: they may nest
}

// substitute is the replacement of a macro, with arguments in the places of parameters.
func (p *preprocessor) substitute(m *macro, args []line, at token, hidden []string) (out line) {
	u := use{p, m, at, args, make([]line, len(args))}
	pasted := false // the next word is joined to the last
	for i := 0; i < len(m.body); i++ {
		if m.body[i].is("##") {
			pasted = true
			continue
		}
		joined := pasted || i+1 < len(m.body) && m.body[i+1].is("##")
		piece, took := u.piece(i, joined)
		if i += took - 1; pasted && len(out) > 0 && len(piece) > 0 {
			out[len(out)-1] = p.paste(out[len(out)-1], piece[0], at)
			piece = piece[1:]
		}
		out, pasted = append(out, piece...), false
	}
	out = slices.DeleteFunc(out, func(t token) bool { return t.text == "" })
	for i := range out {
		out[i].hidden = union(out[i].hidden, hidden)
	}
	if len(out) > 0 {
		out[0].glued = at.glued
	}
	return out
}

// piece returns what a word of the replacement expands to, and how many words that took. An argument that is joined to
// something else is taken as it was written.
func (u *use) piece(i int, joined bool) (piece line, took int) {
	t, took := u.m.body[i], 1
	n := u.m.param(t)
	switch {
	case u.m.function && t.is("#"):
		piece, took = line{u.p.quote(u.args[u.m.param(u.m.body[i+1])], u.at)}, 2
	case n < 0:
		piece = line{{kind: t.kind, text: t.text, span: u.at.span}}
	case joined && len(u.args[n]) == 0:
		piece = line{{kind: markToken, span: u.at.span}} // holds the place, and goes at the end
	case joined:
		piece = slices.Clone(u.args[n])
	default:
		piece = u.argument(n)
	}
	if len(piece) > 0 {
		piece[0].glued = t.glued
	}
	return piece, took
}

// argument is an argument with its macros replaced.
func (u *use) argument(n int) line {
	if u.replaced[n] == nil {
		u.replaced[n] = append(line{}, u.p.argument(u.args[n], u.at)...)
	}
	return slices.Clone(u.replaced[n])
}

// union adds names to those of a word; words share what they are not alone in.
func union(a, b []string) []string {
	if len(a) == 0 {
		return b
	}
	a = slices.Clone(a)
	for _, name := range b {
		if !slices.Contains(a, name) {
			a = append(a, name)
		}
	}
	return a
}

// argument is an argument with its own macros replaced.
func (p *preprocessor) argument(arg line, use token) line {
	if p.made > maxTokens {
		return nil
	}
	if p.nested >= maxNesting {
		if !p.deep {
			p.diags.Errorf(use.span, "", "macros are nested more than %d deep in arguments", maxNesting)
		}
		p.deep = true
		return nil
	}
	p.nested++
	defer func() { p.nested-- }()
	return p.expand(arg)
}

// quote is an argument as a quoted text, which # makes. One that is quoted already stays as it is: nothing is
// escaped in a quoted text of this language.
func (p *preprocessor) quote(arg line, use token) token {
	if len(arg) == 1 && arg[0].kind == quotedToken {
		return token{kind: quotedToken, text: arg[0].text, span: use.span}
	}
	for _, t := range arg {
		if t.kind == quotedToken {
			p.diags.Errorf(t.span, "", "# cannot quote text that contains quotes")
			return token{kind: quotedToken, text: `""`, span: use.span}
		}
	}
	return token{kind: quotedToken, text: `"` + arg.text() + `"`, span: use.span}
}

// paste is one word made of two, which ## does.
func (p *preprocessor) paste(a, b, use token) token {
	if a.text == "" || b.text == "" {
		if a.text == "" {
			a.kind, a.text = b.kind, b.text
		}
		return a
	}
	var ignored diag.List
	s := scanner{src: diag.NewSource("", a.text+b.text), diags: &ignored}
	l, _ := s.next()
	if len(l) != 1 || len(ignored) > 0 || l[0].text != a.text+b.text {
		p.diags.Errorf(use.span, "", "## cannot join %q and %q into one word", a.text, b.text)
		return a
	}
	return token{kind: l[0].kind, text: l[0].text, span: use.span, glued: a.glued}
}

// join adds the next lines to one in which the arguments of a macro are not ended.
func (p *preprocessor) join(in *input, l line) line {
	for depth := p.openBrackets(l); depth > 0 && len(l) <= maxTokens; {
		next, ok := in.next()
		if !ok {
			break
		}
		if next[0].text == "#" {
			in.ahead = next
			break
		}
		l = append(l, next...)
		if depth += brackets(next); depth <= 0 {
			depth = p.openBrackets(l)
		}
	}
	return l
}

// openBrackets counts the brackets that are open at the end of a line, from the first macro on whose arguments are not
// ended.
func (p *preprocessor) openBrackets(l line) int {
	for i := 0; i+1 < len(l); i++ {
		if l[i+1].text != "(" || l[i].kind != wordToken {
			continue
		}
		if m := p.macros[l[i].text]; m == nil || !m.function {
			continue
		}
		depth, end := 0, i+1
		for ; end < len(l); end++ {
			if depth += brackets(l[end : end+1]); depth == 0 {
				break
			}
		}
		if depth > 0 {
			return depth
		}
		i = end
	}
	return 0
}

// brackets is how many more brackets a line opens than it closes.
func brackets(l line) (n int) {
	for _, t := range l {
		switch {
		case t.kind != markToken:
		case t.text == "(":
			n++
		case t.text == ")":
			n--
		}
	}
	return n
}
