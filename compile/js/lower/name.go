package lower

import (
	"math"
	"strings"

	"github.com/dop251/goja/ast"

	"gotap/compile/diag"
	"gotap/compile/js"
	"gotap/compile/js/builtin"
	"gotap/compile/js/operand"
	"gotap/compile/js/report"
	"gotap/compile/js/tree"
)

// builtinName is a name that the script does not have.
func (n *binder) builtinName(name string, at diag.Span) operand.Operand {
	if builtin.Find(name) != nil || len(builtin.MembersOf(name)) > 0 {
		return operand.Builtin{Name: name}
	}
	switch name {
	case "NaN":
		return operand.Value{Expr: tree.Constant(at, tree.KindFloat, math.Float64bits(math.NaN()))}
	case "Infinity":
		return operand.Value{Expr: tree.Constant(at, tree.KindFloat, math.Float64bits(math.Inf(1)))}
	}
	if hint := foreign[name]; hint != "" {
		n.l.Errorf(at, hint, "%s cannot be used in a program", name)
		return operand.Bad{}
	}
	if e, ok := n.l.enumerator(name, at); ok && (n.l.state.Unit.Place != nil || report.Suggestion(name, n.knownNames(), inContext(name)) == "") {
		return operand.Value{Expr: e}
	}
	hint := inContext(name)
	if hint == "" {
		hint = report.Suggestion(name, n.knownNames(), "a program knows its own variables, constants and shared variables of the script, and the builtins")
	}
	n.l.Errorf(at, hint, "unknown name %s", name)
	return operand.Bad{}
}

// foreign are names of JavaScript and of the script's own language that have no place in a program.
var foreign = map[string]string{
	"undefined":  "everything in a program has a value: compare with 0",
	"arguments":  "name the parameters",
	"eval":       "a program is compiled before it runs: write it out",
	"Object":     "use separate variables, or a map() of the script",
	"Array":      "use separate variables, or a map() of the script",
	"JSON":       "send the values in exit({ … }) and use JSON in the callback",
	"Date":       "use c.time, or Date in a callback",
	"Promise":    "a program cannot wait: send an event with exit({ … })",
	"parseInt":   "send the text in exit({ … }) and parse it in the callback",
	"parseFloat": "send the text in exit({ … }) and parse it in the callback",
	"Map":        "declare const m = map() at the top level",
	"Set":        "declare const m = map() at the top level",
	"require":    "require modules at the top level",
	"send":       "emit({ … }) sends a record to the exit callback, and the program continues",
	"globalThis": "name what is meant",
	"probe":      "register probes at the top level or in a callback",
	"every":      "call it at the top level", "begin": "call it at the top level", "end": "call it at the top level",
	"on": "call it at the top level", "stop": "send an event with exit({ … }) and call stop(n) in its callback",
	"option": "call it at the top level and use the constant it gives",
	"hist":   "declare it at the top level", "lhist": "declare it at the top level", "tseries": "declare it at the top level", "count": "declare it at the top level",
	"sum": "declare it at the top level", "avg": "declare it at the top level", "stats": "declare it at the top level",
	"map": "declare it at the top level", "perThread": "declare it at the top level",
}

// knownNames are the names that could have been meant.
func (n *binder) knownNames() []string {
	var known []string
	for _, b := range builtin.All() {
		if !strings.Contains(b.Name, ".") {
			known = append(known, b.Name)
		}
	}
	known = append(known, "console", "write", "Math")
	n.scope.EachVisible(func(name string) { known = append(known, name) })
	_, root := n.scope.Find("\x00")
	if s, ok := root.Fn.Scope.(interface{ Names() []string }); ok {
		known = append(known, s.Names()...)
	}
	return known
}

// binding is what a free name stands for.
func (n *binder) binding(name string, b js.Binding, at diag.Span) operand.Operand {
	switch b.Kind {
	case js.BindInt:
		return operand.Value{Expr: tree.Integer(at, b.Int)}
	case js.BindBool:
		return operand.Value{Expr: tree.Boolean(at, b.Int != 0)}
	case js.BindFloat:
		return operand.Value{Expr: tree.Constant(at, tree.KindFloat, math.Float64bits(b.Float))}
	case js.BindText:
		return operand.Value{Expr: n.l.ops.ConstText(at, b.Text)}
	case js.BindShared, js.BindSharedText, js.BindSharedBool:
		return operand.Shared{Name: name, Object: b.Object, Text: b.Kind == js.BindSharedText, Bool: b.Kind == js.BindSharedBool}
	case js.BindAgg:
		return operand.Aggregation{Name: name, Object: b.Object}
	case js.BindMap:
		return operand.Map{Name: name, Object: b.Object}
	case js.BindPerThread:
		return operand.PerThread{Name: name, Object: b.Object}
	case js.BindTrail, js.BindRecorder:
		return operand.Deferred{Name: name, Object: b.Object, Trail: b.Kind == js.BindTrail}
	case js.BindFunction:
		return n.l.scriptFunction(name, b, at)
	case js.BindBuiltin:
		if b.Text != "" {
			name = b.Text
		}
		return operand.Builtin{Name: name}
	case js.BindNamespace:
		return operand.Namespace{Name: name, Scope: b.Scope}
	}
	n.unusable(name, b, at)
	return operand.Bad{}
}

// unusable reports a name of the script that a program cannot have.
func (n *binder) unusable(name string, b js.Binding, at diag.Span) {
	reason, hint := b.Reason, b.Hint
	if reason == "" {
		reason = "is not a value that a program can use"
	}
	if hint == "" {
		hint = "a program can use constants, top-level let variables, aggregations, maps and plain functions of the script"
	}
	n.l.Errorf(at, hint, "cannot use %s in a program: it %s", name, verb(reason))
}

// verb puts "is" before a reason that is a noun: "an array".
func verb(reason string) string {
	for _, article := range []string{"a ", "an ", "the "} {
		if len(reason) > len(article) && reason[:len(article)] == article {
			return "is " + reason
		}
	}
	return reason
}

// identifier is what a name stands for.
func (n *binder) identifier(id *ast.Identifier) operand.Operand {
	name, at := id.Name.String(), n.l.At(id)
	sym, root := n.scope.Find(name)
	if sym != nil {
		return n.symbol(sym, at)
	}
	if b, ok := js.Lookup(root.Fn.Scope, name); ok {
		return n.binding(name, b, at)
	}
	return n.builtinName(name, at)
}

// symbol is what a declared name stands for.
func (n *binder) symbol(sym *operand.Symbol, at diag.Span) operand.Operand {
	switch {
	case sym.Pending:
		n.l.Errorf(at, "move the declaration up", "%s is used before it is declared", sym.Name)
		return operand.Bad{}
	case sym.Path != nil:
		return operand.PathConst{Sym: sym}
	}
	if v, ok := sym.Meaning.(operand.Value); ok {
		return operand.Value{Expr: v.Expr.UsedAt(at)}
	}
	return sym.Denotes()
}

// renamed are words of programs in other tracers' languages, with what stands here in their place.
var renamed = map[string]string{
	"retval": "c.ret, in leave(c) { … }", "nsecs": "c.time", "timestamp": "c.time", "gettimeofday_ns": "c.time", "execname": "c.comm",
	"ustack": "c.stack(n)", "ubacktrace": "c.stack(n)", "probefunc": "c.func", "ppfunc": "c.func", "reg": "c.regs.NAME", "register": "c.regs.NAME",
	"copyinstr": "str(p, n)", "user_string": "str(p, n)", "kstr": "str(p, n)", "buf": "bytes(p, n)", "copyin": "bytes(p, n)", "uptr": "ptr(p)",
	"strncmp": "s === t, or s.startsWith(t)", "performance": "c.time", "uregs": "c.regs.NAME", "usym": "sym(p), in a callback",
	"override": "skip(result) in enter(c) { … }, or c.ret = result in leave(c) { … }, with --unsafe", "pcomm": "c.comm, of the thread; gotap/proc in a callback",
	"strlen": "s.length", "strcontains": "s.startsWith(t), or includes in a callback", "strstr": "s.startsWith(t), or indexOf in a callback",
	"strcap": "str(p, n)", "join": "a callback: gotap/proc has args(pid)", "strftime": "clock(e.time) of gotap/time, in a callback",
	"jiffies": "c.time", "elapsed": "c.elapsed in leave(c) { … }, or c.time", "cgroupid": "c.cgroup, the path of the group",
	"vtimestamp": "c.vtime", "task_utime": "c.vtime", "task_stime": "c.vtime", "cputime": "c.vtime",
	"username": "c.uid", "kstack": "c.stack(n): the kernel's own frames are not traced", "rand": "every: 100 in the probe, which takes one hit in 100",
	"goroutine": "c.goid", "exe": "exe(e.pid) of gotap/proc, in a callback", "Process": "c.pid, c.tid",
	"threadId": "c.tid", "vars": "c.locals.NAME",
	"quantize": "const h = hist() at the top level, and h.add(x)",
}

// inContext is the hint for a name that means something here when it is written otherwise: as a member of the context,
// or as another tracer calls it.
func inContext(name string) string {
	for _, m := range builtin.Members() {
		if m.Name == name {
			return "it is a member of the context: c." + name
		}
	}
	if name == "c" || name == "ctx" || name == "context" {
		return "the context is a parameter of the program: enter(c) { … }, or c => …"
	}
	if here := renamed[name]; here != "" {
		return "here it is " + here
	}
	if len(name) > 1 && name[0] == '$' {
		return "a local variable of the target is c.locals." + name[1:] + " at @FILE:LINE; a program's own begins with let"
	}
	return ""
}
