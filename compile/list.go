package compile

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"gotap/compile/diag"
	"gotap/runtime/opcode"
	"gotap/runtime/record"
)

// ListOptions select what a listing shows besides what Assemble needs.
type ListOptions struct {
	// Object describes an arena object by its ID, for example `hist "request size"`. It may be nil.
	Object func(id int) string
	// NoSource omits the source lines.
	NoSource bool
}

// List writes a program so that people can read it and Assemble can make the same program from it, byte for byte:
//
//	; malloc enter: at most 4 steps, 2 words of stack, 0 bytes of log
//	.program "malloc enter"
//	; trace.js:3: if (c.arg0 > 64) return;
//	    0  push arg,0                 ; 0→1
//	    1  jz L3                      ; 1→0
//	    2  abort                      ; 0→0
//	L3:
//	    3  exit                       ; 0→0
//
// The number before a command is its index. After the command are the depths of the stack before and after it, counted
// from the entry of the routine. The listing of an unverified program shows no depths.
func List(w io.Writer, p *Program, o ListOptions) error {
	l := lister{p: p, o: o, w: bufio.NewWriter(w), targets: p.targets()}
	if p.Bound.Verified {
		l.depths = p.depths()
	}
	fmt.Fprintf(l.w, "; %s: %s\n", strings.ReplaceAll(p.Name, "\n", " "), p.Bound)
	l.directives()
	for i := range p.Code {
		l.command(i)
	}
	l.label(len(p.Code)) // Verify refuses a jump past the end, but it is listed
	return l.w.Flush()
}

// targets returns the commands that get labels: jump targets and handlers of exceptions.
func (p *Program) targets() map[uint32]bool {
	found := map[uint32]bool{}
	for _, c := range p.Code {
		if labels(c.Op) {
			found[c.A] = true
		}
	}
	return found
}

// neverReached is the depth at unreachable commands.
const neverReached = math.MinInt

// depths returns the depth of the stack before and after each command, or neverReached for unreachable commands.
func (p *Program) depths() [][2]int {
	f := analyse(p, new(diag.List))
	f.depths = make([][2]int, len(p.Code))
	for i := range f.depths {
		f.depths[i] = [2]int{neverReached, neverReached}
	}
	for n := range f.nodes {
		f.run(n)
	}
	return f.depths
}

type lister struct {
	p       *Program
	o       ListOptions
	w       *bufio.Writer
	targets map[uint32]bool
	depths  [][2]int
	file    string // of the most recently shown source line
	line    int
}

// directives writes everything except commands.
func (l *lister) directives() {
	fmt.Fprintf(l.w, ".program %s\n", strconv.Quote(l.p.Name))
	for _, d := range []struct {
		name string
		n    int
	}{{"stack", l.p.Stack}, {"temps", l.p.Temps}, {"this", l.p.This}, {"fuel", int(l.p.Fuel)}, {"log", l.p.LogMax}, {"logdata", l.p.LogData}, {"trace", l.p.TraceMax},
		{"heap", l.p.Heap}} {
		if d.n != 0 {
			fmt.Fprintf(l.w, ".%s %d\n", d.name, d.n)
		}
	}
	if l.p.Wrap {
		l.w.WriteString(".wrap\n")
	}
	if l.p.AutoTrace {
		l.w.WriteString(".autotrace\n")
	}
	if l.p.Mask != 0 {
		fmt.Fprintf(l.w, ".mask %#x\n", l.p.Mask)
	}
	if l.p.Unsafe {
		l.w.WriteString(".unsafe\n")
	}
	for i, s := range l.p.Texts {
		fmt.Fprintf(l.w, ".text %s ; %d\n", strconv.Quote(s), i)
	}
	for i, f := range l.p.Formats {
		fmt.Fprintf(l.w, ".format %s ; %d\n", formatText(f), i)
	}
	for i, id := range l.p.Objects {
		fmt.Fprintf(l.w, ".object %d ; %d%s\n", id, i, l.objectNote(id))
	}
	for i, r := range l.p.Regs {
		fmt.Fprintf(l.w, ".reg %s ; %d\n", strconv.Quote(r), i)
	}
}

// objectNote describes an object, after a colon. Only the number is assembled; names are for the reader and may have
// changed since.
func (l *lister) objectNote(id int) string {
	if l.o.Object == nil {
		return ""
	}
	return ": " + oneLine(l.o.Object(id))
}

// formatText returns the text of a format: its kind, its text, and its fields, each after a bar. Formats are part of a
// program, because its log cannot be read without them.
func formatText(f record.Format) string {
	var b strings.Builder
	b.WriteString(named(itemNames[:], int(f.Kind)))
	if f.Text != "" {
		b.WriteString(" " + strconv.Quote(f.Text))
	}
	for _, field := range f.Fields {
		fmt.Fprintf(&b, " | %s %d", named(kindNames[:], int(field.Kind)), field.Part)
		if field.Name != "" {
			b.WriteString(" named " + strconv.Quote(field.Name))
		}
		if field.IsLiteral {
			b.WriteString(" is " + strconv.Quote(field.Literal))
		}
	}
	return b.String()
}

// named returns a name from a list, or #n if n is out of range.
func named(list []string, n int) string {
	if n < len(list) {
		return list[n]
	}
	return "#" + strconv.Itoa(n)
}

// label writes the label of command i, if it has one, on a separate line, so that the columns stay aligned.
func (l *lister) label(i int) {
	if l.targets[uint32(i)] {
		fmt.Fprintf(l.w, "L%d:\n", i)
	}
}

// command writes a command, preceded by its source line and label.
func (l *lister) command(i int) {
	l.source(l.p.Code[i].Pos)
	l.label(i)
	text := l.p.commandText(i)
	if note := l.note(i); note != "" {
		fmt.Fprintf(l.w, "%5d  %-26s ; %s\n", i, text, note)
	} else {
		fmt.Fprintf(l.w, "%5d  %s\n", i, text)
	}
}

// note returns the comment after a command: depths, and the meaning of a number. Large constants are shown in
// hexadecimal too, because most of them are addresses, masks and sizes.
func (l *lister) note(i int) string {
	var notes []string
	if l.depths != nil {
		if d := l.depths[i]; d[0] == neverReached {
			notes = append(notes, "never reached")
		} else {
			notes = append(notes, fmt.Sprintf("%d→%d", d[0], d[1]))
		}
	}
	c := l.p.Code[i]
	switch row := opcode.RowOf(c.Op); {
	case row == nil:
	case row.Operand == opcode.TextOperand && int(c.A) < len(l.p.Texts):
		notes = append(notes, strconv.Quote(l.p.Texts[c.A]))
	case row.Operand.IsObject() && int(c.A) < len(l.p.Objects) && l.o.Object != nil:
		notes = append(notes, oneLine(l.o.Object(l.p.Objects[c.A])))
	case row.Operand == opcode.WordOperand && (int64(c.V) > 1<<15 || int64(c.V) < -1<<15):
		notes = append(notes, fmt.Sprintf("%#x", c.V))
	}
	return strings.Join(notes, "  ")
}

// source writes the source line of a command, unless it was the last one shown. Commands of one line need not be
// adjacent: a loop's test comes back after its body.
func (l *lister) source(pos diag.Span) {
	if pos.Source == nil || l.o.NoSource {
		return
	}
	at := pos.Source.Position(pos.Start)
	if at.File == l.file && at.Line == l.line {
		return
	}
	l.file, l.line = at.File, at.Line
	fmt.Fprintf(l.w, "; %s:%d: %s\n", oneLine(at.File), at.Line, oneLine(strings.TrimSpace(pos.Source.Line(at.Line))))
}

// oneLine prevents a comment from ending early. Characters that terminals and editors treat as line ends, including
// Unicode's, would turn text in a name or a source into commands.
func oneLine(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r == 0x85 || r == 0x2028 || r == 0x2029 {
			return ' '
		}
		return r
	}, s)
}
