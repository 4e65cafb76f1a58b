package compile

import (
	"strconv"
	"strings"

	"gotap/compile/diag"
	"gotap/compile/dprobes"
	"gotap/compile/spelling"
	"gotap/runtime/opcode"
	"gotap/runtime/outcome"
)

// Assemble makes a program from a listing, or from handwritten text in the same form. Each line has one command, with
// an optional number before it. Labels end with a colon, comments begin with a semicolon, and directives with a period.
// All errors are reported at once; if there are any, the program is nil. The program is not verified yet.
func Assemble(src *diag.Source) (*Program, diag.List) {
	all, diags := AssembleAll(src)
	if len(all) > 1 {
		diags.Errorf(diag.Span{Source: src}, "", "expected one program, found %d", len(all))
	}
	if diags.HasErrors() {
		return nil, diags
	}
	return all[0], diags
}

// AssembleAll makes programs from several consecutive listings, as `gotap dis` prints those of a script. The directive
// .program begins each listing. There is at least one program unless there are errors.
func AssembleAll(src *diag.Source) ([]*Program, diag.List) {
	a := assembler{src: src}
	a.begin()
	for rest, at := src.Text, 0; at < len(src.Text); {
		line, tail, _ := strings.Cut(rest, "\n")
		a.line(token{line, at})
		at += len(rest) - len(tail)
		rest = tail
	}
	a.resolve()
	if a.diags.HasErrors() {
		return nil, a.diags
	}
	return append(a.done, a.p), a.diags
}

// begin starts a program.
func (a *assembler) begin() {
	a.p, a.labels, a.jumps, a.named = &Program{Name: a.src.Name}, map[string]int{}, nil, false
}

// program ends the previous program and starts the one that a directive names.
func (a *assembler) program(name string) {
	if a.named {
		a.resolve()
		a.done = append(a.done, a.p)
		a.begin()
	}
	a.p.Name, a.named = name, true
}

// token is a piece of the source with its position. Positions are kept through all splitting, so that carets stand
// under the wrong operand.
type token struct {
	text string
	at   int
}

// trim removes blanks on both sides.
func (t token) trim() token {
	left := strings.TrimLeft(t.text, " \t\r")
	return token{strings.TrimRight(left, " \t\r"), t.at + len(t.text) - len(left)}
}

// cut splits a token around a separator of size bytes after its first n bytes.
func (t token) cut(n, size int) (before, after token) {
	return token{t.text[:n], t.at}.trim(), token{t.text[n+size:], t.at + n + size}.trim()
}

// word splits off the first word of a token: a quoted text, a bar, or everything up to a blank.
func (t token) word() (first, rest token) {
	t = t.trim()
	if quoted, err := strconv.QuotedPrefix(t.text); err == nil && strings.HasPrefix(t.text, `"`) {
		return t.cut(len(quoted), 0)
	}
	if end := strings.IndexAny(t.text, " \t"); end >= 0 {
		return t.cut(end, 0)
	}
	return t, token{"", t.at + len(t.text)}
}

type assembler struct {
	src    *diag.Source
	done   []*Program // the programs before the current one
	p      *Program
	named  bool // p has had its .program directive
	diags  diag.List
	labels map[string]int
	jumps  []labelUse
}

// labelUse is a command whose label is not resolved yet.
type labelUse struct {
	command int
	name    token
}

func (a *assembler) span(t token) diag.Span {
	return diag.Span{Source: a.src, Start: t.at, End: t.at + len(t.text)}
}

func (a *assembler) errorf(t token, hint, format string, args ...any) {
	a.diags.Errorf(a.span(t), hint, format, args...)
}

// line reads one line. The number before a command is only for the reader: labels bind, numbers do not, so lines can be
// moved.
func (a *assembler) line(t token) {
	t = withoutComment(t).trim()
	if strings.HasPrefix(t.text, ".") {
		a.directive(t)
		return
	}
	for {
		end := strings.IndexByte(t.text, ':')
		if end < 0 || !isWord(strings.TrimSpace(t.text[:end])) {
			break
		}
		var label token
		label, t = t.cut(end, 1)
		a.label(label)
	}
	if first, rest := t.word(); isNumber(first.text) {
		t = rest
	}
	if t.text != "" {
		a.command(t)
	}
}

// withoutComment cuts a line before a semicolon that is not quoted. Semicolons in quoted text do not begin comments.
// After an unfinished quote a semicolon may begin one.
func withoutComment(t token) token {
	for i := 0; i < len(t.text); i++ {
		switch t.text[i] {
		case ';':
			return token{t.text[:i], t.at}
		case '"':
			if quoted, err := strconv.QuotedPrefix(t.text[i:]); err == nil {
				i += len(quoted) - 1
			}
		}
	}
	return t
}

// isNumber reports whether a word consists of decimal digits.
func isNumber(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

// label binds a name to the next command. Labels belong to one program.
func (a *assembler) label(t token) {
	if _, taken := a.labels[t.text]; taken {
		a.errorf(t, "", "label %q is defined twice", t.text)
	}
	a.labels[t.text] = len(a.p.Code)
}

// command reads one command. A refused DProbes command is reported with its reason, because people who know DProbes
// also write listings.
func (a *assembler) command(t token) {
	row, operand := findRow(t)
	if row == nil {
		hint := ""
		if near := spelling.Nearest(t.text, opcode.Names()); near != "" {
			hint = "did you mean " + near + "?"
		}
		if why := dprobes.Refused(t.text); why != "" {
			a.errorf(t, "", "%s: %s", t.text, why)
		} else {
			a.errorf(t, hint, "unknown command %q", t.text)
		}
		return
	}
	c := Command{Op: row.Op(), Pos: a.span(t)}
	if row.Operand != opcode.NoOperand {
		a.operand(row, operand, &c)
	}
	a.p.Code = append(a.p.Code, c)
}

// findRow returns the command that a line begins with, and the rest of the line.
func findRow(t token) (*opcode.Row, token) {
	for _, row := range opcode.ByName(t.text) {
		if row.Operand == opcode.NoOperand || row.Operand == opcode.ExitOperand {
			return row, token{"", t.at + len(t.text)}
		}
	}
	for i := len(t.text) - 1; i > 0; i-- {
		if t.text[i] != ',' && t.text[i] != ' ' {
			continue
		}
		name, operand := t.cut(i, 1)
		for _, row := range opcode.ByName(name.text) {
			if row.Operand != opcode.NoOperand {
				return row, operand
			}
		}
	}
	return nil, t
}

// operand reads the operand after the name of a command.
func (a *assembler) operand(row *opcode.Row, t token, c *Command) {
	switch row.Operand {
	case opcode.LabelOperand:
		a.jumps = append(a.jumps, labelUse{len(a.p.Code), t})
	case opcode.WordOperand:
		c.V = a.word(t)
	case opcode.BaseOperand:
		c.A = uint32(a.word(t))
	case opcode.RegisterOperand:
		c.A = a.register(t)
	case opcode.FieldOperand:
		c.A = a.name(t, fieldNames[:])
	case opcode.ContextOperand:
		c.A = a.name(t, contextNames[:])
	case opcode.KindOperand:
		c.A = a.name(t, kindNames[:])
	case opcode.WideOperand:
		c.A = a.name(t, wideNames[:])
	case opcode.UnitsOperand:
		c.A = a.name(t, unitNames[:])
	case opcode.ExitOperand:
		a.exit(t, c)
	case opcode.WordsOperand:
		count, format, _ := strings.Cut(t.text, ",")
		c.A = a.number(token{count, t.at}.trim())
		c.V = uint64(a.number(token{format, t.at + len(t.text) - len(format)}.trim()))
	default:
		c.A = a.number(t)
	}
}

// word reads a 64-bit number.
func (a *assembler) word(t token) uint64 {
	if v, err := strconv.ParseInt(t.text, 0, 64); err == nil {
		return uint64(v)
	}
	v, err := strconv.ParseUint(t.text, 0, 64)
	if err != nil {
		a.errorf(t, "", "%q is not a 64-bit number", t.text)
	}
	return v
}

// number reads an operand that is a plain number.
func (a *assembler) number(t token) uint32 {
	v, err := strconv.ParseUint(strings.TrimPrefix(t.text, "#"), 0, 32)
	if err != nil {
		a.errorf(t, "", "%q is not a number", t.text)
	}
	return uint32(v)
}

// name reads an operand that is one of several names, or # and a number.
func (a *assembler) name(t token, list []string) uint32 {
	for i, name := range list {
		if name == t.text {
			return uint32(i)
		}
	}
	if !strings.HasPrefix(t.text, "#") && !isNumber(t.text) {
		a.errorf(t, "it is one of "+strings.Join(list, ", "), "unknown name %q", t.text)
		return 0
	}
	return a.number(t)
}

// register reads the name of a register. It declares the register if necessary.
func (a *assembler) register(t token) uint32 {
	if strings.HasPrefix(t.text, "#") {
		return a.number(t)
	}
	for i, name := range a.p.Regs {
		if name == t.text {
			return uint32(i)
		}
	}
	if why := dprobes.Refused("push r," + t.text); why != "" {
		a.errorf(t, "", "%s: %s", t.text, why)
	} else if !isWord(t.text) {
		a.errorf(t, "", "%q is not a register", t.text)
	}
	a.p.Regs = append(a.p.Regs, t.text)
	return uint32(len(a.p.Regs) - 1)
}

// exit reads the kind of an exit.
func (a *assembler) exit(t token, c *Command) {
	if t.text == "" {
		return
	}
	kind, facility, _ := strings.Cut(t.text, ",")
	c.A = a.name(token{kind, t.at}.trim(), exitNames[:])
	if outcome.ExitKind(c.A) == outcome.ExitFacility {
		c.V = uint64(a.number(token{facility, t.at + len(t.text) - len(facility)}.trim()))
	}
}

// resolve stores the labels' commands in the jumps. It runs at the end, because most jumps go forward.
func (a *assembler) resolve() {
	for _, j := range a.jumps {
		at, ok := a.labels[j.name.text]
		if !ok {
			a.errorf(j.name, "", "unknown label %q", j.name.text)
		}
		a.p.Code[j.command].A = uint32(at)
	}
}
