package lower

import (
	"gotap/compile/diag"
	"gotap/compile/js"
	"gotap/compile/js/builtin"
	"gotap/compile/js/fetch"
	"gotap/compile/js/operand"
	"gotap/compile/js/report"
	"gotap/compile/js/tree"
	"gotap/runtime/opcode"
)

// contextMember is c.name.
func (l *lowering) contextMember(name string, at diag.Span) operand.Operand {
	if l.refusedInSample(name, at) {
		return operand.Bad{}
	}
	if f := builtin.FindMember(name); f != nil {
		return l.contextField(f, at)
	}
	switch name {
	case "args":
		return fetch.Path{}
	case "locals":
		if l.fetch.RefuseLocals(at) {
			return operand.Bad{}
		}
		return fetch.Path{OfLocals: true}
	case "goid", "gopc", "gostart":
		return operand.Value{Expr: l.fetch.Goroutine(name, at)}
	case "mark":
		return operand.Value{Expr: l.fetch.Mark(at)}
	case "regs":
		return operand.Registers{}
	case "ret":
		r, ok := l.fetch.Result(at)
		if !ok {
			return operand.Bad{}
		}
		return r
	case "rets":
		if !l.fetch.Returning() {
			l.Errorf(at, "use it in leave(c) { … }", "the results are known only when the function returns")
			return operand.Bad{}
		}
		return operand.Results{}
	case "stack":
		l.Errorf(at, "say how many frames: c.stack(8)", "stack is a method")
		return operand.Bad{}
	}
	if isArgument(name) {
		l.fetch.WarnLateArgument(name, at)
		return operand.Value{Expr: l.fetch.Argument(int(name[3]-'0'), at)}
	}
	var known []string
	for _, m := range builtin.Members() {
		known = append(known, m.Name)
	}
	otherwise := "there are arg0 … arg9, args, locals, ret, regs, stack(n), pid, tid, comm, time and others"
	if here := renamed[name]; here != "" {
		known, otherwise = nil, "here it is "+here
	}
	hint := report.Suggestion(name, known, otherwise)
	if name == "arg" {
		hint = "arguments are c.arg0 … c.arg9, each by its name: a number that is not known beforehand chooses by switch or ?:"
	}
	l.Errorf(at, hint, "the context has no member %s", name)
	return operand.Bad{}
}

// refusedInSample reports members that mean nothing in a sample, which is taken wherever the thread is.
func (l *lowering) refusedInSample(name string, at diag.Span) bool {
	if !l.state.Unit.Sample {
		return false
	}
	why := ""
	switch name {
	case "args", "ret", "rets", "elapsed", "caller":
		why = "a sample is a moment, and no call begins or ends then"
	case "locals", "mark":
		why = "a sample is taken anywhere, and not at a place whose variables are known"
	default:
		if isArgument(name) {
			why = "a sample is a moment, and no call begins or ends then"
		}
	}
	if why != "" {
		l.Errorf(at, "there are stack(n), pc, func, module, regs, pid, tid, comm, cpu, time and others; a probe on a function has arguments and results", "a sample has no %s: %s", name, why)
	}
	return why != ""
}

// isArgument reports whether a member is arg0 … arg9.
func isArgument(name string) bool {
	return len(name) == 4 && name[:3] == "arg" && name[3] >= '0' && name[3] <= '9'
}

// contextField is a member that is one command.
func (l *lowering) contextField(f *builtin.ContextField, at diag.Span) operand.Operand {
	switch {
	case f.Leave && !l.fetch.Returning():
		l.Errorf(at, "use it in leave(c) { … }", "%s is known only when the function returns", f.Name)
		return operand.Bad{}
	case f.Fault && l.fetch.Handler != js.Fault:
		l.Errorf(at, "use it in fault(c) { … }", "%s is known only in a fault handler", f.Name)
		return operand.Bad{}
	case f.Kind == tree.KindText:
		return operand.Value{Expr: tree.ApplyA(at, tree.KindText, opcode.Text, uint32(f.Text))}
	}
	return operand.Value{Expr: tree.ApplyA(at, f.Kind, opcode.Field, uint32(f.Field))}
}
