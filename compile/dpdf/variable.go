package dpdf

import "gotap/runtime/opcode"

// variables are the two arrays of a file. lv belongs to the file and gv to the session. Both
// keep their values across hits, and while a file is replaced by a newer version of itself.
type variables struct {
	name  string // "lv"
	key   string // the keyword of the header that says how many there are
	array func(f *File) (id, size int)
}

var arrays = []variables{
	{"lv", "vars", func(f *File) (int, int) { return f.Locals, f.Vars }},
	{"gv", "globals", func(f *File) (int, int) { return f.GlobalVars, f.Globals }},
}

// declared is the number of the array in the arena and how many variables it has. ok is false, and said, when the
// header asks for none.
func (v variables) declared(e *emitter, s statement) (id, size int, ok bool) {
	id, size = v.array(e.file)
	if size == 0 {
		e.diags.Errorf(s.span, v.key+" = 1", "the header does not declare how many variables %s there are", v.name)
	}
	return id, size, size > 0
}

func variableCommands() {
	for _, v := range arrays {
		commands["push "+v.name] = v.command(opcode.PushLV, nil)
		// ( v -- ) with an index after the command; ( i v -- ) without.
		commands["pop "+v.name] = v.command(opcode.PopLV, func(e *emitter, onStack bool) {
			if onStack {
				e.b.Op(opcode.Xchg)
			}
		})
		// ( v -- v ) with an index; ( v i -- v ) without.
		commands["move "+v.name] = v.command(opcode.PopLV, func(e *emitter, onStack bool) {
			if onStack {
				e.b.Op(opcode.Over)
				e.b.Op(opcode.Xchg)
			} else {
				e.b.Op(opcode.Dup)
			}
		})
		commands["inc "+v.name] = v.command(opcode.AddLV, addend(1))
		commands["dec "+v.name] = v.command(opcode.AddLV, addend(-1))
	}
}

// addend pushes what is to be added, below the index.
// The machine adds atomically, as DProbes did not: two threads that count lose nothing.
func addend(n int64) func(e *emitter, onStack bool) {
	return func(e *emitter, onStack bool) {
		e.b.Push(uint64(n))
		if onStack {
			e.b.Op(opcode.Xchg)
		}
	}
}

// command is a command on a variable, whose index is after it or on the stack. before writes
// what goes before the index. A constant index is checked here, one from the stack at the hit.
func (v variables) command(op opcode.Op, before func(e *emitter, onStack bool)) *command {
	return &command{0, 1, func(e *emitter, s statement) {
		id, size, ok := v.declared(e, s)
		if !ok {
			return
		}
		onStack := len(s.operands) == 0
		if before != nil {
			before(e, onStack)
		}
		if !onStack {
			n, ok := e.number(s.operands[0], 0, int64(size)-1)
			if !ok {
				return
			}
			e.b.Push(uint64(n))
		}
		e.b.Object(op, id)
	}}
}
