package dpdf

import (
	"slices"
	"strings"

	"gotap/compile"
	"gotap/compile/diag"
	"gotap/compile/dprobes"
	"gotap/compile/spelling"
	"gotap/runtime"
	"gotap/runtime/record"
	"gotap/runtime/value"
)

// statement is one line of commands: labels, and a command or none.
// Labels may stand alone; then they belong to the command on a later line.
type statement struct {
	labels   []token
	name     string // "push d"; "" when there are only labels
	operands []line // what follows the name, at commas
	span     diag.Span
	cmd      *command
}

// statement reads a line as labels and a command, and finds the command. The longest name that
// fits is the command's: "log lv" before "log", so that operands need no comma in front.
func (p *parser) statement(l line) statement {
	var s statement
	for len(l) >= 2 && l[0].kind == wordToken && l[1].text == ":" {
		s.labels = append(s.labels, l[0])
		l = l[2:]
	}
	if len(l) == 0 {
		return s
	}
	s.span = l.span()
	ok := true
	if why := dprobes.Refused(squeeze(l)); why != "" {
		p.diags.Errorf(s.span, "", "%s: %s", l.text(), why)
		return s
	}
	for words := min(3, leadingWords(l)); words > 0; words-- {
		name := l[:words].text()
		if c := commands[name]; c != nil {
			s.name, s.cmd = name, c
			if s.operands, ok = p.operands(l[words:], s.span); !ok {
				s.cmd = nil
			}
			return s
		}
	}
	p.unknown(l)
	return s
}

// squeeze is a line with no blanks beside commas, as the list of refused commands has it.
func squeeze(l line) string {
	text := strings.ReplaceAll(l.text(), " ,", ",")
	return strings.ReplaceAll(text, ", ", ",")
}

// leadingWords counts the words before the first number or mark.
func leadingWords(l line) (n int) {
	for n < len(l) && l[n].kind == wordToken {
		n++
	}
	return n
}

// unknown reports a command there is not. What is echoed is its first word, or the two that
// make a name.
// Only its first word may be wrong: the hint compares with whole names anyway.
func (p *parser) unknown(l line) {
	typed := l[:max(1, min(leadingWords(l), 2))]
	hint := ""
	if near := spelling.Nearest(typed.text(), commandNames()); near != "" {
		hint = "did you mean " + near + "?"
	}
	if !isGroup(typed[0].text) {
		typed = typed[:1]
	}
	p.diags.Errorf(typed.span(), hint, "unknown command %q", typed.text())
}

// isGroup reports whether a word begins the names of commands.
func isGroup(word string) bool {
	for name := range commands {
		if strings.HasPrefix(name, word+" ") {
			return true
		}
	}
	return false
}

// operands cuts what follows a name at commas; a first comma only divides it from the name.
func (p *parser) operands(l line, at diag.Span) (list []line, ok bool) {
	if len(l) == 0 {
		return nil, true
	}
	if l[0].text == "," {
		l = l[1:]
	}
	from := 0
	for i, t := range l {
		if t.text == "," {
			list = append(list, l[from:i])
			from = i + 1
		}
	}
	list = append(list, l[from:])
	for _, o := range list {
		if len(o) == 0 {
			p.diags.Errorf(at, "", "an operand is missing")
			return nil, false
		}
	}
	return list, true
}

// build makes a program of each probe. Each is verified by itself: its bound is its own, and an
// error in one does not hide those of the next.
func (p *parser) build() {
	for i := range p.bodies {
		b := &p.bodies[i]
		if !b.bad && !slices.ContainsFunc(b.code, func(s statement) bool { return s.name != "" }) { // labels are not commands
			p.diags.Errorf(b.span, "", "the probe has no commands")
			continue
		}
		e := emitter{parser: p, b: compile.NewBuilder(p.file.Name + ":" + afterColon(b.probe.Place))}
		if program := e.program(i); program != nil {
			b.probe.Program = program
			p.file.Probes = append(p.file.Probes, b.probe)
		}
	}
}

func afterColon(place string) string { return place[strings.LastIndexByte(place, ':')+1:] }

// emitter writes the program of one probe. It walks the statements once, in order; what a
// statement needs to know of the one before is in fresh and known.
type emitter struct {
	*parser
	b      *compile.Builder
	body   int // whose statements are being written
	labels map[labelAt]compile.Label
	wanted []labelAt    // of other probes
	taken  map[int]bool // bodies that are part of the program

	fresh  []uint64 // constants that the commands written last have pushed, with nothing between them
	known  []uint64 // the same as it was before the command being written
	under  *uint64  // the constant below the top, when the last command pushed one word on a constant
	logs   int      // commands that log
	calls  int      // commands that call
	traces bool     // something may be in the trace
}

// labelAt names a label: a body and its name there.
type labelAt struct {
	body int
	name string
}

// program writes the commands of a probe, and after them those of other probes whose labels
// they use. It stops as soon as there is an error in the probe: what a program with a hole in
// it does is not worth verifying.
func (e *emitter) program(i int) *compile.Program {
	before := len(*e.diags)
	e.labels, e.taken = map[labelAt]compile.Label{}, map[int]bool{}
	e.b.SetUnsafe(e.o.Unsafe)
	e.b.SetWrap(e.wrap)
	e.traces = e.auto && e.traceMax != 0
	e.take(i)
	for len(e.wanted) > 0 {
		next := e.wanted[0]
		e.wanted = e.wanted[1:]
		e.take(next.body)
	}
	if len(*e.diags) > before || e.holes() {
		return nil
	}
	e.limits(i)
	program, err := e.b.Program()
	if err != nil {
		e.diags.Errorf(e.bodies[i].span, "", "%v", err)
		return nil
	}
	program, list := verified(program)
	*e.diags = append(*e.diags, list...)
	return program
}

// holes reports whether the program has not all commands that were written, or not as they were meant.
func (e *emitter) holes() bool {
	for i := range e.taken {
		if e.bodies[i].bad {
			return true
		}
	}
	return e.badHeader || e.unsure
}

// take writes the commands of one body.
func (e *emitter) take(i int) {
	if e.taken[i] {
		return
	}
	e.taken[i], e.body, e.fresh, e.under = true, i, nil, nil
	seen := map[string]bool{}
	for _, s := range e.bodies[i].code {
		for _, t := range s.labels {
			if seen[t.text] {
				e.diags.Errorf(t.span, "", "label %q is defined twice", t.text)
				continue
			}
			seen[t.text] = true
			e.b.Place(e.label(i, t.text))
			e.fresh, e.under = nil, nil
		}
		if s.cmd != nil {
			e.command(s)
		}
	}
}

// label is the builder's label for a name in a body.
func (e *emitter) label(body int, name string) compile.Label {
	key := labelAt{body, name}
	l, ok := e.labels[key]
	if !ok {
		l = e.b.NewLabel()
		e.labels[key] = l
	}
	return l
}

// find is the label that a jump names: one of its own body, or else the only one of that name
// in the file. DProbes had one block of code for all probes of a file, so jumps into another
// probe's commands are part of the language.
func (e *emitter) find(t token) (compile.Label, bool) {
	if e.has(e.body, t.text) {
		return e.label(e.body, t.text), true
	}
	found := -1
	for i := range e.bodies {
		if e.has(i, t.text) {
			if found >= 0 {
				e.diags.Errorf(t.span, "", "several other probes have a label %q", t.text)
				return 0, false
			}
			found = i
		}
	}
	if found < 0 {
		e.diags.Errorf(t.span, e.near(t.text), "unknown label %q", t.text)
		return 0, false
	}
	e.wanted = append(e.wanted, labelAt{found, t.text})
	return e.label(found, t.text), true
}

// has reports whether a body has a label.
func (e *emitter) has(body int, name string) bool { return e.bodies[body].labels[name] }

// near is a hint at a label of the same body that looks like a name.
func (e *emitter) near(name string) string {
	var names []string
	for _, s := range e.bodies[e.body].code {
		for _, t := range s.labels {
			names = append(names, t.text)
		}
	}
	if near := spelling.Nearest(name, names); near != "" {
		return "did you mean " + near + "?"
	}
	return ""
}

// limits turns jmpmax and logmax into fuel and bytes. A program of n commands takes at most n
// steps between two jumps, and as many again in each routine it calls. The bound is generous:
// its purpose is that a program which ended in DProbes ends here by itself, and not by fuel.
// logmax is a limit on data. What stores them has room for headers, lengths and padding as well,
// of as many items as there are commands that log, or bytes that they may log one by one.
func (e *emitter) limits(i int) {
	fuel, logged, data := 0, 0, e.logMax
	if data < 0 {
		data = record.DefaultLog
	}
	if e.jumps > 0 {
		steps := int64(max(1, e.b.Len())) * int64(e.calls+1) // of a file of maxLines, with all jumps, below 2^63
		fuel = int(min(int64(e.jumps+1)*steps, runtime.MaxFuel))
	}
	if e.logs > 0 && data > 0 {
		logged = min(data+itemOverhead*max(data, e.logs), record.MaxLog)
		e.b.SetLogData(data)
	}
	room := max(0, e.traceMax) // none given: as much as the machine has
	if e.traces {
		e.b.Format(record.Format{Kind: record.ItemTrace, Fields: []record.Field{{Kind: value.KindText}}})
		logged = min(logged+itemOverhead+runtime.MaxTrace, record.MaxLog)
	}
	e.b.SetExceptions(e.bodies[i].mask, room, e.auto && e.traceMax != 0)
	e.b.SetHeap(e.heapOf(i))
	e.b.Limits(e.stack, uint32(fuel), logged)
}

// itemOverhead is what an item takes in the log besides its bytes: a header, a length, and padding.
const itemOverhead = 24
