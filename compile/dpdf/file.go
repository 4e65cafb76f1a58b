package dpdf

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"gotap/compile"
	"gotap/compile/diag"
	"gotap/compile/spelling"
	"gotap/runtime"
	"gotap/runtime/object"
)

// Limits of DProbes that are kept.
const (
	maxVars   = 256
	maxJumps  = 65535
	maxLogged = 1024
)

// Declarer makes objects of an arena; *arena.Arena is one. It is an interface so that files
// can be checked without an arena, and so that a session can share what several files declare.
type Declarer interface {
	Declare(o object.Object) (id int, err error)
}

// Options is what Parse needs besides the text.
type Options struct {
	Defs map[string]string                 // macros given from outside: -D name=value
	Open func(path string) ([]byte, error) // reads included files; nil: #include is refused
	// Include are directories where included files are looked for, as -I names them.
	Include []string
	// Arena is where the variables of the file are declared.
	Arena Declarer
	// Globals gives the number of an array with at least n global variables, which all files of
	// a session share. With nil the file gets an array of its own.
	Globals func(n int) (id int, err error)
	Unsafe  bool // commands that change the target are allowed
}

// File is one definition file: a module and its probes. Of a file with several modules it is the first, and Others are
// those that follow; each has variables of its own.
type File struct {
	Others        []*File
	Array         string // what its local variables are called: "lv", with the module where there are several
	Name          string // the module: name or path
	Major         int
	ID            int
	DefaultExit   int     // facility of a plain exit: recorded, not acted on
	Vars, Globals int     // how many
	Locals        int     // number of the array of local variables in the arena, -1 when there are none
	GlobalVars    int     // the same for global ones
	Probes        []Probe // those of Others included
}

// Modules returns the file itself and those that follow it.
func (f *File) Modules() []*File { return append([]*File{f}, f.Others...) }

// Probe is one probe of the file.
type Probe struct {
	Place        string    // "MODULE:malloc+0x10", as the rest of gotap writes places
	Span         diag.Span // the value of its offset
	Opcode       int       // first byte that the probed instruction must have, -1 when any will do
	Major, Minor int
	Group, Type  int
	PassCount    uint64 // hits to let pass first
	MaxHits      uint64 // then the probe is disabled; 0: never
	LogOnFault   bool
	Program      *compile.Program // verified
}

// Parse reads a definition file. When the list holds errors, there may be no File. The list is in the order of the
// file.
func Parse(src *diag.Source, o Options) (*File, diag.List) {
	var diags diag.List
	made := preprocess(src, o, &diags)
	if made.missing {
		inOrder(diags, made.from)
		return nil, diags
	}
	unsure := diags.HasErrors()
	var parts []*parser
	for _, lines := range sections(made.lines) {
		parts = append(parts, &parser{o: o, diags: &diags, src: src, file: &File{Array: "lv", Locals: -1, GlobalVars: -1}, stack: runtime.DefaultStack,
			lines: lines, from: made.from, unsure: unsure, incomplete: made.wrong})
	}
	parse(parts, &diags)
	inOrder(diags, made.from)
	if diags.HasErrors() {
		return nil, diags
	}
	f := parts[0].file
	for _, p := range parts[1:] {
		f.Others = append(f.Others, p.file)
		f.Probes = append(f.Probes, p.file.Probes...)
	}
	return f, diags
}

// sections splits a file where a name stands behind a probe: there begins the header of a further module.
func sections(lines []line) (all [][]line) {
	first, probes := 0, false
	for i, l := range lines {
		s, ok := asSetting(l)
		switch {
		case ok && beginsProbe(s.key.text):
			probes = true
		case ok && s.key.text == "name" && probes:
			all = append(all, lines[first:i])
			first, probes = i, false
		}
	}
	return append(all, lines[first:])
}

// parse goes through the stages, each for all modules of a file. What is wrong with a line does not hide what is wrong
// with others; but nothing is said of a file that lacks others, and of labels where a directive was wrong: they might
// be there otherwise.
func parse(parts []*parser, diags *diag.List) {
	named := map[string]bool{}
	for _, p := range parts {
		p.header()
		p.probes()
		if p.file.Name == "" && !p.badHeader && !p.incomplete {
			diags.Errorf(diag.Span{Source: p.src}, `name = "/path/of/module"`, "the file does not name its module")
		}
		if named[p.file.Name] {
			diags.Errorf(p.spans["name"], "its probes belong behind the others of the module", "the module %s is in the file already", p.file.Name)
		}
		named[p.file.Name] = true
		if len(parts) > 1 {
			p.file.Array = "lv(" + p.file.Name + ")"
		}
	}
	for _, p := range parts {
		switch {
		case p.incomplete:
			return
		case diags.HasErrors():
			p.pretend()
		default:
			if err := p.file.Declare(p.o); err != nil {
				diags.Errorf(diag.Span{Source: p.src}, "", "%v", err)
				return
			}
		}
	}
	for _, p := range parts {
		p.build()
	}
}

// pretend continues without an arena: the file has errors, and the rest of it is checked as well. How many variables
// there are is not known when the header is wrong.
func (p *parser) pretend() {
	f := p.file
	if p.badHeader {
		f.Vars, f.Globals = maxVars, maxVars
	}
	f.Locals, f.GlobalVars = 0, 0
	if p.badHeader {
		p.heapMax = runtime.MaxHeap
	}
}

// inOrder sorts what was found by its place; what an included file has stands where that is included.
func inOrder(list diag.List, from map[*diag.Source]diag.Span) {
	place := func(at diag.Span) (path []int) {
		for ok := true; ok; at, ok = from[at.Source] {
			path = append(path, at.Start)
		}
		slices.Reverse(path)
		return path
	}
	slices.SortStableFunc(list, func(a, b diag.Diagnostic) int { return slices.Compare(place(a.Span), place(b.Span)) })
}

// parser reads the lines that the preprocessor left.
// The header decides how the probes' commands are written (stack, vars), so it is read whole first.
type parser struct {
	o      Options
	src    *diag.Source
	diags  *diag.List
	lines  []line
	from   map[*diag.Source]diag.Span // where files are included
	file   *File
	bodies []body
	spans  map[string]diag.Span // of the header's keywords

	unsure     bool // the preprocessor found errors: the commands are not all as they were meant
	incomplete bool // some of them may be missing
	badHeader  bool

	jumps  int // jmpmax, 0 when not given
	logMax int // logmax, -1 when not given
	stack  int
	wrap   bool

	heapMax  int  // heapmax
	traceMax int  // ex_logmax, -1 when not given
	auto     bool // autostacktrace
}

// body is the commands of one probe.
type body struct {
	probe  Probe
	keys   map[string]diag.Span
	code   []statement
	labels map[string]bool
	mask   uint32    // exceptions that go to handlers; 0: not given
	heap   int       // bytes of it; -1: as the header says
	span   diag.Span // where the probe begins
	bad    bool      // it has errors: what its commands do together is not known
}

// add appends a line of commands.
func (b *body) add(s statement) {
	b.code = append(b.code, s)
	for _, t := range s.labels {
		b.labels[t.text] = true
	}
}

// setting is a line "key = value".
type setting struct {
	key   token
	value line
}

// asSetting reads a line as a setting; commands have no = behind their first word. No command
// has an = after its first word, which is the only difference: the paper's examples have
// no other mark.
func asSetting(l line) (setting, bool) {
	if len(l) < 2 || l[0].kind != wordToken || l[1].text != "=" {
		return setting{}, false
	}
	return setting{l[0], l[2:]}, true
}

// span is the value, or the key when there is none.
func (s setting) span() diag.Span {
	if len(s.value) == 0 {
		return s.key.span
	}
	return s.value.span()
}

// header reads settings up to the first that belongs to a probe. Keywords may stand in any
// order, and each once: the second of two different values would silently win.
func (p *parser) header() {
	p.logMax, p.traceMax, p.spans = -1, -1, map[string]diag.Span{}
	before := len(*p.diags)
	defer func() { p.badHeader = (*p.diags)[before:].HasErrors() }()
	early := false // a command has been there
	for len(p.lines) > 0 {
		s, ok := asSetting(p.lines[0])
		if !ok && early {
			// said of the first
		} else if !ok {
			early = true
			p.diags.Errorf(p.lines[0].span(), "a probe begins with offset = …", "a command stands before the first probe")
		} else if beginsProbe(s.key.text) {
			return
		} else {
			p.headerKey(s)
		}
		p.lines = p.lines[1:]
	}
}

// beginsProbe reports whether a keyword is the first of a probe.
// Every probe begins with its place. What stands before the first one is the header.
func beginsProbe(key string) bool { return key == "offset" || key == "address" }

// twice reports a keyword that has been there before.
func (p *parser) twice(seen map[string]diag.Span, s setting) bool {
	if before, ok := seen[s.key.text]; ok {
		p.diags.Errorf(s.key.span, "", "%s is set a second time; the first is at %s", s.key.text, before.Source.Position(before.Start))
		return true
	}
	seen[s.key.text] = s.key.span
	return false
}

// headerKeys are the keywords of the header, and what each does with its value.
var headerKeys map[string]func(p *parser, s setting)

// probeKeys are those of a probe.
var probeKeys map[string]func(p *parser, b *body, s setting)

func init() {
	headerKeys = map[string]func(p *parser, s setting){
		"name":           func(p *parser, s setting) { p.file.Name = p.text(s) },
		"modtype":        (*parser).modtype,
		"major":          func(p *parser, s setting) { p.file.Major = p.number(s, 1, 65535) },
		"id":             func(p *parser, s setting) { p.file.ID = p.number(s, 0, 65535) },
		"jmpmax":         func(p *parser, s setting) { p.jumps = max(1, p.number(s, 0, maxJumps)) },
		"logmax":         func(p *parser, s setting) { p.logMax = p.number(s, 0, maxLogged) },
		"vars":           func(p *parser, s setting) { p.file.Vars = p.number(s, 0, maxVars) },
		"globals":        func(p *parser, s setting) { p.file.Globals = p.number(s, 0, maxVars) },
		"dfltexit":       func(p *parser, s setting) { p.file.DefaultExit = p.number(s, 0, 255) },
		"stack":          (*parser).stackKey,
		"heapmax":        func(p *parser, s setting) { p.heapMax = p.number(s, 0, runtime.MaxHeap) },
		"autostacktrace": func(p *parser, s setting) { p.auto = p.yes(s) },
		"ex_logmax":      func(p *parser, s setting) { p.traceMax = p.number(s, 0, runtime.MaxTrace) },
		"align":          func(p *parser, s setting) { p.onlyZero(s, "modules of the kernel cannot be probed") },
	}
	probeKeys = map[string]func(p *parser, b *body, s setting){
		"opcode":     func(p *parser, b *body, s setting) { b.probe.Opcode = p.number(s, 0, 255) },
		"major":      func(p *parser, b *body, s setting) { b.probe.Major = p.number(s, 1, 65535) },
		"minor":      func(p *parser, b *body, s setting) { b.probe.Minor = p.number(s, 0, 65535) },
		"group":      func(p *parser, b *body, s setting) { b.probe.Group = p.number(s, 0, 65535) },
		"type":       func(p *parser, b *body, s setting) { b.probe.Type = p.number(s, 0, 65535) },
		"pass_count": func(p *parser, b *body, s setting) { b.probe.PassCount = uint64(p.number(s, 0, 1<<31-1)) },
		"max_hits":   func(p *parser, b *body, s setting) { b.probe.MaxHits = uint64(p.number(s, 0, 1<<31-1)) },
		"logonfault": func(p *parser, b *body, s setting) { b.probe.LogOnFault = p.yes(s) },
		"ex_mask":    func(p *parser, b *body, s setting) { b.mask = runtime.MaskSet | uint32(p.number(s, 0, 0xffff)) },
		"heap":       func(p *parser, b *body, s setting) { b.heap = p.number(s, 0, runtime.MaxHeap) },
	}
}

// headerKey reads one setting of the header.
func (p *parser) headerKey(s setting) {
	set := headerKeys[s.key.text]
	switch {
	case set != nil && !p.twice(p.spans, s):
		set(p, s)
	case set == nil && probeKeys[s.key.text] != nil:
		p.diags.Errorf(s.key.span, "write it after the probe's offset", "%s belongs to a probe, and no probe has begun", s.key.text)
	case set == nil:
		p.unknownKey(s, slices.Collect(maps.Keys(headerKeys)))
	}
}

// unknownKey reports a keyword there is not, with those like it.
func (p *parser) unknownKey(s setting, names []string) {
	slices.Sort(names)
	hint := "there are " + strings.Join(names, ", ")
	if near := spelling.Nearest(s.key.text, names); near != "" {
		hint = "did you mean " + near + "?"
	}
	p.diags.Errorf(s.key.span, hint, "unknown keyword %q", s.key.text)
}

// text is a value that is a name or a quoted text. Paths with blanks or other odd characters
// need quotes; the paper's /lib/libc.so.6 had them, and bzImage had not.
func (p *parser) text(s setting) string {
	if len(s.value) == 0 {
		p.diags.Errorf(s.key.span, "", "%s has no value", s.key.text)
		return ""
	}
	if len(s.value) == 1 && s.value[0].kind == quotedToken {
		return strings.Trim(s.value[0].text, `"`)
	}
	return s.value.text()
}

// number is a value within a range.
func (p *parser) number(s setting, least, most int64) int {
	n, ok := evaluate(s.value, s.span(), false, p.diags)
	if ok && (n.value < least || n.value > most) {
		p.diags.Errorf(s.span(), "", "%s is %d; it must be from %d to %d", s.key.text, n.value, least, most)
		return int(least)
	}
	return int(n.value)
}

// yes is a value that is yes or no.
// DProbes wrote yes; 1 is what people try.
func (p *parser) yes(s setting) bool {
	switch s.value.text() {
	case "yes", "1":
		return true
	case "no", "0":
	default:
		p.diags.Errorf(s.span(), "", "%s must be yes or no", s.key.text)
	}
	return false
}

// onlyZero takes a keyword that is known and of no use here, when it asks for nothing.
// Files that set it to what they get anyway should load.
func (p *parser) onlyZero(s setting, why string) {
	if v := s.value.text(); v != "0" && v != "no" {
		p.diags.Errorf(s.key.span, "", "%s: %s", s.key.text, why)
	}
}

// modtype reads what kind of module it is.
func (p *parser) modtype(s setting) {
	switch s.value.text() {
	case "user":
	case "kernel", "kmod":
		p.diags.Errorf(s.span(), "modtype = user", "the kernel and its modules cannot be probed")
	default:
		p.diags.Errorf(s.span(), "modtype = user", "unknown module type %q", s.value.text())
	}
}

// stackKey reads the size of the operand stack, or that it is circular.
func (p *parser) stackKey(s setting) {
	if s.value.text() == "circular" {
		p.wrap = true
		return
	}
	p.stack = p.number(s, 1, runtime.MaxStack)
}

// probes reads the probes.
func (p *parser) probes() {
	for len(p.lines) > 0 {
		p.probe()
	}
	if len(p.bodies) == 0 && !p.badHeader && !p.incomplete {
		p.diags.Errorf(diag.Span{Source: p.src, Start: len(p.src.Text), End: len(p.src.Text)}, "a probe begins with offset = …", "the file defines no probes")
	}
}

// probe reads one probe: its settings, then its commands, up to the next offset.
func (p *parser) probe() {
	first, _ := asSetting(p.lines[0])
	b := body{heap: -1, labels: map[string]bool{}, keys: map[string]diag.Span{first.key.text: first.key.span}, span: first.span()}
	b.probe = Probe{Opcode: -1, Major: p.file.Major, Span: first.span(), Place: p.place(first)}
	before := len(*p.diags)
	defer func() {
		b.bad = (*p.diags)[before:].HasErrors()
		p.bodies = append(p.bodies, b)
	}()
	for p.lines = p.lines[1:]; len(p.lines) > 0; p.lines = p.lines[1:] {
		s, ok := asSetting(p.lines[0])
		switch {
		case ok && beginsProbe(s.key.text):
			return
		case !ok:
			b.add(p.statement(p.lines[0]))
		case len(b.code) > 0:
			p.diags.Errorf(s.key.span, "", "%s stands after the commands of the probe", s.key.text)
		case probeKeys[s.key.text] == nil:
			p.unknownKey(s, append(slices.Collect(maps.Keys(probeKeys)), "offset", "address"))
		case !p.twice(b.keys, s):
			probeKeys[s.key.text](p, &b, s)
		}
	}
}

// place is the place that an offset or an address names. The result is text in the form that
// the rest of gotap reads, so that definitions and scripts name places by the same rules.
func (p *parser) place(s setting) string {
	module := p.file.Name + ":"
	if s.key.text == "address" {
		module = ""
	}
	if len(s.value) == 1 && s.value[0].kind == quotedToken {
		return module + strings.Trim(s.value[0].text, `"`)
	}
	n, ok := evaluate(s.value, s.span(), true, p.diags)
	switch {
	case !ok:
	case s.key.text == "address" && n.symbol != "":
		p.diags.Errorf(s.span(), "use offset = "+n.symbol, "an address must be a number")
	case n.symbol == "":
		return fmt.Sprintf("%s%#x", module, uint64(n.value))
	case n.value < 0:
		p.diags.Errorf(s.span(), "", "the place lies before %s", n.symbol)
	case n.value > 0:
		return fmt.Sprintf("%s%s+%#x", module, n.symbol, n.value)
	}
	return module + n.symbol
}

// Declare makes the arrays of variables that the file asks for, and notes their numbers.
// It comes after parsing, so that a file with errors leaves nothing in the arena.
func (f *File) Declare(o Options) (err error) {
	if f.Vars > 0 {
		if f.Locals, err = o.Arena.Declare(object.Object{Name: f.Array, Kind: object.KindArray, Size: f.Vars}); err != nil {
			return err
		}
	}
	switch {
	case f.Globals == 0:
	case o.Globals != nil:
		f.GlobalVars, err = o.Globals(f.Globals)
	default:
		f.GlobalVars, err = o.Arena.Declare(object.Object{Name: "gv", Kind: object.KindArray, Size: f.Globals})
	}
	return err
}
