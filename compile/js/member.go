package js

import (
	"errors"
	"sort"
	"strings"

	"gotap/compile"
	"gotap/compile/diag"
	"gotap/runtime"
)

// maxArgs is how many arguments have a member of the context: arg0 … arg9.
const maxArgs = 10

// Member is a member of the context, as documentation lists it.
type Member struct {
	Name  string
	Type  string // in TypeScript's words
	Leave bool   // only in leave handlers
	Fault bool   // only in fault handlers
	Doc   string
}

// contextField is a member that is one command: a number of the context, or a text.
type contextField struct {
	Member
	kind  kind
	field runtime.Field
	text  runtime.TextField
}

// contextFields are the members of the context that are one command.
var contextFields = []contextField{
	{Member{"pid", "number", false, false, "process"}, kindInt, runtime.FieldPid, 0},
	{Member{"tid", "number", false, false, "thread"}, kindInt, runtime.FieldTid, 0},
	{Member{"ppid", "number", false, false, "parent process"}, kindInt, runtime.FieldPpid, 0},
	{Member{"uid", "number", false, false, "user the process runs as"}, kindInt, runtime.FieldUid, 0},
	{Member{"gid", "number", false, false, "group the process runs as"}, kindInt, runtime.FieldGid, 0},
	{Member{"errno", "number", false, false, "the C library's errno of the thread, as its last failed call left it; in leave of a syscall: place the call's own error, 0 for none"}, kindInt, runtime.FieldErrno, 0},
	{Member{"cpu", "number", false, false, "processor"}, kindInt, runtime.FieldCPU, 0},
	{Member{"time", "number", false, false, "monotonic nanoseconds, read anew wherever it stands"}, kindInt, runtime.FieldTime, 0},
	{Member{"elapsed", "number", true, false, "nanoseconds since the call was entered"}, kindInt, runtime.FieldElapsed, 0},
	{Member{"pc", "number", false, false, "address of the probed instruction"}, kindUint, runtime.FieldPC, 0},
	{Member{"sp", "number", false, false, "stack pointer"}, kindUint, runtime.FieldSP, 0},
	{Member{"caller", "number", false, false, "address the function returns to; callsym of it, in a callback, names the call"}, kindUint, runtime.FieldCaller, 0},
	{Member{"fault", "number", false, true, "address that faulted"}, kindUint, runtime.FieldFault, 0},
	{Member{"signal", "number", false, true, "signal of the fault"}, kindInt, runtime.FieldSignal, 0},
	{Member{"comm", "string", false, false, "name of the thread"}, kindText, 0, runtime.TextComm},
	{Member{"func", "string", false, false, "function that is probed"}, kindText, 0, runtime.TextFunc},
	{Member{"module", "string", false, false, "module it is in"}, kindText, 0, runtime.TextModule},
	{Member{"probe", "string", false, false, "name of the probe"}, kindText, 0, runtime.TextProbe},
}

// fieldsByName finds a context field.
var fieldsByName = indexFields()

func indexFields() map[string]*contextField {
	index := map[string]*contextField{}
	for i := range contextFields {
		index[contextFields[i].Name] = &contextFields[i]
	}
	return index
}

// Members lists the members of the context, by name.
func Members() []Member {
	list := []Member{
		{Name: "args", Type: "any", Doc: "arguments by name, by debug information: c.args.path, c.args.p.field"},
		{Name: "locals", Type: "any", Doc: "local variables in scope at the place, by debug information: c.locals.sum; all of them: log(c.locals)"},
		{Name: "mark", Type: "string", Doc: "static mark at the place, \"provider:name\"; empty elsewhere"},
		{Name: "ret", Type: "any", Leave: true, Doc: "result of the function, and by debug information what it points to or is made of: c.ret.field"},
		{Name: "regs", Type: "Record<string, number>", Doc: "registers by name"},
		{Name: "stack", Type: "(frames: number) => Stack", Doc: "frames, innermost first, at most so many; calls that the compiler inlined are frames too"},
	}
	for i := range maxArgs {
		list = append(list, Member{Name: argName(i), Type: "number", Doc: "argument by calling convention"})
	}
	for _, f := range contextFields {
		list = append(list, f.Member)
	}
	sort.Slice(list, func(i, j int) bool { return list[i].Name < list[j].Name })
	return list
}

func argName(i int) string { return "arg" + string(rune('0'+i)) }

// member is a.name.
func (l *lowering) member(of operand, name string, at diag.Span) operand {
	switch of := of.(type) {
	case bad:
		return bad{}
	case context:
		return l.contextMember(name, at)
	case arguments:
		return of.below(l, name)
	case registers:
		return register{name}
	case call:
		return l.thisField(name, at)
	case perThread:
		if name == "value" {
			return threadValue(of)
		}
		l.errorf(at, "use "+of.name+".value", "a per-thread variable has no member %s", name)
		return bad{}
	case namespace:
		return l.namespaceMember(of, name, at)
	case argument:
		return of.sym.path.below(l, name)
	case result:
		return arguments{ofResult: true}.below(l, name)
	}
	if !hasValue(of) {
		return l.noMember(of, name, at)
	}
	return l.valueMember(l.valueOf(of, at), name, at)
}

// valueMember is a member of a value: only text has one.
func (l *lowering) valueMember(e *expr, name string, at diag.Span) operand {
	switch {
	case e.kind.silent():
		return bad{}
	case e.code == codeText && name == "length":
		return value{integer(at, int64(len(e.text)))}
	case (e.kind == kindText || e.kind == kindBytes) && name == "length":
		return value{apply(at, kindInt, runtime.OpSlen, e)}
	case e.kind == kindText:
		l.errorf(at, suggestion(name, []string{"length", "startsWith"}, "text has length and startsWith(t); more can be done with it in a callback"),
			"text has no member %s in a program", name)
	case name == "toString" || name == "toFixed" || name == "toLocaleString":
		l.errorf(at, "text is made by `${x}`, or by printf with %x, %o, %.2f and others", "%s has no members", e.kind)
	default:
		l.errorf(at, "read memory with u8(p), u32(p + 8), str(p), …; fields of arguments with c.args.NAME.field", "%s has no members", e.kind)
	}
	return bad{}
}

// noMember reports a member of something that has none, or only methods.
func (l *lowering) noMember(of operand, name string, at diag.Span) operand {
	methods := methodsOf(of)
	if _, ok := of.(builtin); ok || len(methods) == 0 {
		l.errorf(at, valueHint(of), "%s has no member %s", of.noun(), name)
		return bad{}
	}
	for _, m := range methods {
		if m == name {
			l.errorf(at, "call it: "+name+"(…)", "%s is a method", name)
			return bad{}
		}
	}
	hint := suggestion(name, methods, "there are "+list(methods))
	if a, ok := of.(aside); ok && name == "dump" && !a.trail {
		hint = a.hint()
	}
	l.errorf(at, hint, "%s has no member %s in a program", of.noun(), name)
	return bad{}
}

// namespaceMember is a member of a constant object of the script.
func (l *lowering) namespaceMember(n namespace, name string, at diag.Span) operand {
	if b, ok := lookup(n.scope, name); ok {
		return l.binding(n.name+"."+name, b, at)
	}
	var known []string
	if s, ok := n.scope.(interface{ Names() []string }); ok {
		known = s.Names()
	}
	l.errorf(at, suggestion(name, known, ""), "%s has no member %s", n.name, name)
	return bad{}
}

// contextMember is c.name.
func (l *lowering) contextMember(name string, at diag.Span) operand {
	if f := fieldsByName[name]; f != nil {
		return l.contextField(f, at)
	}
	switch name {
	case "args":
		return arguments{}
	case "locals":
		if l.goneLocals(at) {
			return bad{}
		}
		return arguments{ofLocals: true}
	case "mark":
		return value{l.mark(at)}
	case "regs":
		return registers{}
	case "ret":
		return l.result(at)
	case "stack":
		l.errorf(at, "say how many frames: c.stack(8)", "stack is a method")
		return bad{}
	}
	if len(name) == 4 && name[:3] == "arg" && name[3] >= '0' && name[3] <= '9' {
		l.lateArgument(name, at)
		return value{l.argument(int(name[3]-'0'), at)}
	}
	var known []string
	for _, m := range Members() {
		known = append(known, m.Name)
	}
	otherwise := "there are arg0 … arg9, args, locals, ret, regs, stack(n), pid, tid, comm, time and others"
	if here := renamed[name]; here != "" {
		known, otherwise = nil, "here it is "+here
	}
	hint := suggestion(name, known, otherwise)
	if name == "arg" {
		hint = "arguments are c.arg0 … c.arg9, each by its name: a number that is not known beforehand chooses by switch or ?:"
	}
	l.errorf(at, hint, "the context has no member %s", name)
	return bad{}
}

// contextField is a member that is one command.
func (l *lowering) contextField(f *contextField, at diag.Span) operand {
	switch {
	case f.Leave && !l.returning():
		l.errorf(at, "use it in leave(c) { … }", "%s is known only when the function returns", f.Name)
		return bad{}
	case f.Fault && l.handler != Fault:
		l.errorf(at, "use it in fault(c) { … }", "%s is known only in a fault handler", f.Name)
		return bad{}
	case f.kind == kindText:
		return value{applyA(at, kindText, runtime.OpText, uint32(f.text))}
	}
	return value{applyA(at, f.kind, runtime.OpField, uint32(f.field))}
}

// Marked is a Place that may be a static mark.
type Marked interface {
	Mark() string // "provider:name"; "" when it is none
}

// mark is c.mark, which is another constant at each place.
func (l *lowering) mark(at diag.Span) *expr {
	l.compiler.result.UsesPlace = true
	if place, ok := l.unit.Place.(Marked); ok {
		return text(at, place.Mark())
	}
	return text(at, "")
}

// returning reports whether the handler runs as the function returns.
func (l *lowering) returning() bool {
	return l.handler == Leave || l.handler == When && l.unit.AtReturn
}

// lateArgument warns of arguments by register where the register has long been used for something else.
func (l *lowering) lateArgument(name string, at diag.Span) {
	if l.returning() {
		kept := "this." + name[strings.LastIndex(name, ".")+1:]
		l.warnf(at, "in enter write "+kept+" = c."+name+", here read "+kept,
			"%s is read when the function returns: its register may hold anything by then", name)
	}
}

// argument is argument n by calling convention, or operand n of a static mark.
func (l *lowering) argument(n int, at diag.Span) *expr {
	l.compiler.result.UsesArg = true
	if l.unit.Place != nil {
		a, ok, err := l.unit.Place.Arg(n)
		if err != nil {
			l.errorf(at, "the other operands of the mark can be read", "arg%d: %v", n, err)
			return poison(at)
		}
		if ok {
			e := l.access(a, at)
			if e.kind == kindUint { // a note's 8 bytes are the signed register, as c.argN is everywhere
				e.kind = kindInt
			}
			return e
		}
	}
	return applyA(at, kindInt, runtime.OpArg, uint32(n))
}

// below is a member of c.args or of an argument.
func (a arguments) below(_ *lowering, name string) operand {
	a.path = append(append([]string{}, a.path...), name)
	return a
}

// resolve asks debug information where something below c.args or c.ret is.
func (l *lowering) resolve(a arguments) (compile.Access, error) {
	switch {
	case a.global != "":
		return l.globalAccess(a)
	case a.ofLocals:
		return l.localAccess(a)
	case a.ofResult:
		return l.unit.Place.ResultMember(a.path)
	}
	return l.unit.Place.Access(a.path)
}

// isGroup reports whether a path has no value, only members: c.args, or a struct in registers.
func (l *lowering) isGroup(a arguments) bool {
	if len(a.path) == 0 && a.global == "" {
		return true
	}
	if l.unit.Place == nil {
		return false
	}
	_, err := l.resolve(a)
	return err != nil
}

// argumentValue is the value of c.args.NAME.field… or c.ret.field….
func (l *lowering) argumentValue(a arguments, at diag.Span) *expr {
	if len(a.path) == 0 && a.global == "" {
		of := "args"
		if a.ofLocals {
			of = "locals"
		}
		l.errorf(at, "name one: c."+of+".NAME", "%s are not a value", a.noun())
		return poison(at)
	}
	l.compiler.result.UsesPlace = true
	if !a.ofResult && !a.ofLocals && a.global == "" {
		l.lateArgument("args."+a.path[0], at)
	}
	if l.unit.Place == nil {
		return apply(at, kindInt, runtime.OpArg) // any argument will do: this is compiled again at the place
	}
	access, err := l.resolve(a)
	if err != nil {
		l.errorf(at, hintOf(err), "%v", err)
		return poison(at)
	}
	return l.access(access, at)
}

// hintOf is the hint an error carries.
func hintOf(err error) string {
	var h interface{ Hint() string }
	if errors.As(err, &h) {
		return h.Hint()
	}
	return ""
}
