package dpdf

import (
	"gotap/runtime"
	"gotap/runtime/opcode"
)

// exceptionCommands are those of exceptions, of the trace, and of the base of the stack.
func exceptionCommands() {
	commands["sx"] = jump(opcode.SetX)
	commands["ux"] = simple(opcode.UnsetX)
	commands["rx"] = simple(opcode.Raise)
	commands["push x"] = simple(opcode.PushX)
	commands["log st"] = tracing(opcode.LogTrace)
	commands["purge st"] = tracing(opcode.PurgeTrace)
	commands["push stp"] = tracing(opcode.PushSTP)
	commands["pop stp"] = tracing(opcode.PopSTP)
	commands["trace pv"] = tracing(opcode.TraceStack)
	for _, v := range arrays {
		commands["trace "+v.name] = v.trace()
	}
	commands["save tsp"] = simple(opcode.SaveTSP)
	commands["restore tsp"] = simple(opcode.RestoreTSP)
	commands["save sbp"] = simple(opcode.SaveSBP)
	commands["restore sbp"] = simple(opcode.RestoreSBP)
	commands["push sbp"] = based(func(e *emitter, a uint32) { e.b.A(opcode.PickBase, a) })
	commands["pop sbp"] = based(func(e *emitter, a uint32) { e.b.A(opcode.PokeBase, a) })
	commands["copy sbp"] = based(func(e *emitter, a uint32) {
		e.b.Op(opcode.Dup)
		e.b.A(opcode.PokeBase, a)
	})
}

// tracing is a command on the trace of the hit, which "ex_logmax = 0" switches off: then it is
// always empty. Commands on the trace stay where the trace is off: positions are then 0, as the
// program expects of an empty one.
func tracing(op opcode.Op) *command {
	return &command{emit: func(e *emitter, s statement) {
		switch {
		case op != opcode.LogTrace:
			e.b.Op(op)
		case e.traceMax != 0:
			e.traces = true
			e.b.Op(op)
		}
	}}
}

// trace is the command that chooses variables that a trace shows: ( first count -- ).
// The range is taken at the hit, unlike that of log: a trace is text, and has no format to make.
func (v variables) trace() *command {
	return &command{0, 0, func(e *emitter, s statement) {
		if id, _, ok := v.declared(e, s); ok {
			e.b.Object(opcode.TraceVars, id)
		}
	}}
}

// based is a command on a word of the stack, counted from its base: those above it from 0 on,
// those below from -1 on. DProbes' stack grows down, and its indexes with it. Counting from the
// base upwards is the order in which words were pushed.
func based(emit func(e *emitter, a uint32)) *command {
	return &command{0, 1, func(e *emitter, s statement) {
		if n, ok := e.operand(s, -runtime.MaxStack, runtime.MaxStack); ok {
			emit(e, uint32(n))
		}
	}}
}
