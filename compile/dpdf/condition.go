package dpdf

import "gotap/compile/diag"

// branch is one #if that is open. Directives within lines that are left out are followed too,
// as far as it takes to find the right #endif.
type branch struct {
	at      diag.Span
	active  bool // lines are taken
	outer   bool // they would be, without it
	taken   bool // one of its parts was active
	hasElse bool
}

// active reports whether lines are taken.
func (in *input) active() bool {
	return len(in.branches) == 0 || in.branches[len(in.branches)-1].active
}

// conditional follows the directives that choose lines, and reports whether this is one.
func (p *preprocessor) conditional(in *input, l line) bool {
	name, rest, outer := l[1].text, l[2:], in.active()
	on := false
	switch name {
	case "if":
		on = outer && p.condition(l, rest)
	case "ifdef":
		on = outer && p.defined(l, rest)
	case "ifndef":
		on = outer && !p.defined(l, rest)
	case "elif", "elifdef", "elifndef", "else", "endif":
		p.goOn(in, l)
		return true
	default:
		return false
	}
	in.branches = append(in.branches, branch{at: l.span(), active: on, outer: outer, taken: on})
	return true
}

// goOn follows the directives that belong to an open #if.
func (p *preprocessor) goOn(in *input, l line) {
	name, rest := l[1].text, l[2:]
	if len(in.branches) == 0 {
		p.diags.Errorf(l.span(), "", "no #if, #ifdef or #ifndef before this #%s", name)
		return
	}
	last := &in.branches[len(in.branches)-1]
	if name == "endif" {
		in.branches = in.branches[:len(in.branches)-1]
		return
	}
	if last.hasElse {
		p.diags.Errorf(l.span(), "", "a second #else, or an #elif after #else")
	}
	open := last.outer && !last.taken
	switch name {
	case "elif":
		last.active = open && p.condition(l, rest)
	case "elifdef":
		last.active = open && p.defined(l, rest)
	case "elifndef":
		last.active = open && !p.defined(l, rest)
	default:
		last.active, last.hasElse = open, true
	}
	last.taken = last.taken || last.active
}

// defined reports whether the name after a directive is defined.
func (p *preprocessor) defined(l, rest line) bool {
	if len(rest) != 1 || rest[0].kind != wordToken {
		p.diags.Errorf(l.span(), "", "#%s takes one name", l[1].text)
		return false
	}
	return p.has(rest[0].text)
}

// has reports whether a name is defined.
func (p *preprocessor) has(name string) bool {
	_, builtin := builtins[name]
	return p.macros[name] != nil || builtin
}

// condition is the value of what stands behind #if: an expression, in which defined NAME and
// defined(NAME) are 1 or 0, and so is every name that is left when macros are replaced 0.
func (p *preprocessor) condition(l, rest line) bool {
	rest, ok := p.replaceDefined(rest)
	if !ok {
		p.diags.Errorf(l.span(), "", "defined takes one name")
		return false
	}
	p.made = 0
	rest = p.expand(rest)
	for i, t := range rest {
		if t.kind == wordToken {
			rest[i].kind, rest[i].text = numberToken, "0"
		}
	}
	n, _ := evaluate(rest, l.span(), false, p.diags)
	return n.value != 0
}

// replaceDefined takes the names that defined asks for out of a line, before macros are replaced.
func (p *preprocessor) replaceDefined(l line) (out line, ok bool) {
	for len(l) > 0 {
		t := l[0]
		l = l[1:]
		if t.kind != wordToken || t.text != "defined" {
			out = append(out, t)
			continue
		}
		brackets := len(l) > 2 && l[0].text == "(" && l[2].text == ")"
		if brackets {
			l = l[1:]
		}
		if len(l) == 0 || l[0].kind != wordToken {
			return nil, false
		}
		t.kind, t.text = numberToken, "0"
		if p.has(l[0].text) {
			t.text = "1"
		}
		out = append(out, t)
		if l = l[1:]; brackets {
			l = l[1:]
		}
	}
	return out, true
}
