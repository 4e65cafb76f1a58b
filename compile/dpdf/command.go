package dpdf

import (
	"slices"
	"strings"

	"gotap/runtime"
	"gotap/runtime/opcode"
	"gotap/runtime/outcome"
)

// command is how one command of the language is written: what operands it takes, and what it
// becomes. There is a table and no grammar: a command is words, then operands at commas. What
// is odd about one is in its function.
type command struct {
	// least and most are how many operands there may be.
	least, most int
	emit        func(e *emitter, s statement)
}

// commands are all commands that are not refused, by name. A command that exists with an
// operand and without, where the number then comes from the stack, stands here once.
var commands = map[string]*command{}

// commandNames are the names of the commands, sorted.
func commandNames() []string {
	var names []string
	for name := range commands {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// command writes one command.
func (e *emitter) command(s statement) {
	if n := len(s.operands); n < s.cmd.least || n > s.cmd.most {
		e.diags.Errorf(s.span, "", "%s takes %s", s.name, countText(s.cmd.least, s.cmd.most))
		return
	}
	e.b.At(s.span)
	e.known, e.fresh = e.fresh, nil
	var top *uint64 // the constant on top before the command
	if n := len(e.known); n > 0 {
		top = &e.known[n-1]
	}
	s.cmd.emit(e, s)
	if e.under = nil; pushesOne(s) {
		e.under = top
	}
}

// takeConstant takes back the constant that the command just before pushed, and returns it. An
// error is reported when it was no constant: how deep the stack gets would only be known at the
// hit. Stacks of a depth that depends on data cannot be verified. In DProbes such counts came
// from the stack too, but were constants in practice, as their own compiler (dpcc) wrote them.
func (e *emitter) takeConstant(s statement) (n uint64, ok bool) {
	last := len(e.known) - 1
	if last < 0 {
		e.diags.Errorf(s.span, "write the number behind the command, or push it as a constant just before",
			"%s takes a number from the stack that is not known before the hit", s.name)
		return 0, false
	}
	n, e.known = e.known[last], e.known[:last]
	e.b.TakeBack()
	return n, true
}

// operand is the number after the command, or else the constant just pushed.
func (e *emitter) operand(s statement, least, most int64) (int64, bool) {
	if len(s.operands) == 1 {
		return e.number(s.operands[0], least, most)
	}
	n, ok := e.takeConstant(s)
	if ok && (int64(n) < least || int64(n) > most) {
		e.diags.Errorf(s.span, "", "the number is %d; it must be from %d to %d", int64(n), least, most)
		return 0, false
	}
	return int64(n), ok
}

// countText says how many operands there may be.
func countText(least, most int) string {
	switch {
	case most == 0:
		return "no operand"
	case least == most && least == 1:
		return "one operand"
	case least == 0 && most == 1:
		return "one operand or none"
	}
	return "another number of operands"
}

// simple is a command that is one of the machine's.
func simple(op opcode.Op) *command {
	return &command{emit: func(e *emitter, s statement) { e.b.Op(op) }}
}

// jump is a command with a label.
// Calls are counted for the fuel: a routine's steps come on top of those between two jumps.
func jump(op opcode.Op) *command {
	return &command{1, 1, func(e *emitter, s statement) {
		t := s.operands[0]
		if len(t) != 1 || t[0].kind != wordToken {
			e.diags.Errorf(t.span(), "", "%s takes a label", s.name)
			return
		}
		if op == opcode.Call {
			e.calls++
		}
		if l, ok := e.find(t[0]); ok {
			e.b.Jump(op, l)
		}
	}}
}

// number is an operand that is a constant within a range.
// Ranges are checked on the value of the whole expression, and the carets stand under all of it.
func (e *emitter) number(o line, least, most int64) (int64, bool) {
	n, ok := evaluate(o, o.span(), false, e.diags)
	if ok && (n.value < least || n.value > most) {
		e.diags.Errorf(o.span(), "", "it is %d; it must be from %d to %d", n.value, least, most)
		return 0, false
	}
	return n.value, ok
}

func init() {
	for name, op := range map[string]opcode.Op{
		"nop": opcode.Nop, "ret": opcode.Ret, "abort": opcode.Abort, "remove": opcode.Remove,
		"add": opcode.Add, "sub": opcode.Sub, "mul": opcode.Mul, "div": opcode.Udivmod, "idiv": opcode.Sdivmod,
		"and": opcode.And, "or": opcode.Or, "xor": opcode.Xor, "neg": opcode.Neg, "not": opcode.Not,
		"xchg": opcode.Xchg,
	} {
		commands[name] = simple(op)
	}
	for name, op := range map[string]opcode.Op{
		"jmp": opcode.Jmp, "jz": opcode.Jz, "jnz": opcode.Jnz, "jlt": opcode.Jlt, "jle": opcode.Jle,
		"jgt": opcode.Jgt, "jge": opcode.Jge, "loop": opcode.Loop, "call": opcode.Call,
	} {
		commands[name] = jump(op)
	}
	for name, op := range map[string]opcode.Op{
		"shl": opcode.Shl, "shr": opcode.Shr, "rol": opcode.Rol, "ror": opcode.Ror,
	} {
		commands[name] = shift(op)
	}
	commands["exit"] = &command{0, 1, (*emitter).exit}
	stackCommands()
	dataCommands()
	variableCommands()
	bitCommands()
	logCommands()
	exceptionCommands()
	heapCommands()
}

// exit writes exit: plain, or to a facility. DProbes 5.0 has 1 to 3: the kernel's debugger, a dump of the kernel, a
// core of the process. Here 3 is the same. 1 stops the process for a debugger, and 2 holds the thread until its record
// has been handled. Other numbers are accepted, because the file may be for a session that has such a facility; a
// session without it refuses the program.
func (e *emitter) exit(s statement) {
	if len(s.operands) == 0 {
		e.b.Exit(outcome.ExitPlain)
		return
	}
	n, ok := e.number(s.operands[0], 0, 255)
	switch {
	case !ok:
	case n == 0:
		e.b.Exit(outcome.ExitPlain)
	default:
		e.b.Emit(opcode.Exit, uint32(outcome.ExitFacility), uint64(n), s.span)
	}
}

// shift writes a shift by a constant, or by the word below the top. The value lies on top and
// the count below it, in DProbes' order; the machine has them the other way round.
func shift(op opcode.Op) *command {
	return &command{0, 1, func(e *emitter, s statement) {
		if len(s.operands) == 0 {
			e.b.Op(opcode.Xchg)
		} else if n, ok := e.number(s.operands[0], 0, 63); ok {
			e.b.Push(uint64(n))
		}
		e.b.Op(op)
	}}
}

func stackCommands() {
	commands["push d"] = &command{1, 1, func(e *emitter, s statement) {
		if n, ok := evaluate(s.operands[0], s.span, false, e.diags); ok {
			e.b.Push(uint64(n.value))
			e.fresh = append(e.known, uint64(n.value))
		}
	}}
	commands["dup"] = &command{0, 1, (*emitter).dup}
	commands["ros"] = &command{1, 1, func(e *emitter, s statement) {
		if n, ok := e.number(s.operands[0], 0, runtime.MaxStack-1); ok {
			e.b.A(opcode.Drop, uint32(n))
		}
	}}
	commands["push tsp"] = indexed(func(e *emitter, n uint32) { e.b.A(opcode.Pick, n) })
	commands["pop tsp"] = indexed(func(e *emitter, n uint32) { e.b.A(opcode.Poke, n) })
	commands["copy tsp"] = indexed(func(e *emitter, n uint32) {
		e.b.Op(opcode.Dup)
		e.b.A(opcode.Poke, n+1)
	})
}

// pushers are the commands that push one word and look at nothing else of the stack. Behind one of them a constant that
// was on top is just below the top.
var pushers = map[string]bool{
	"push d": true, "push r": true, "push u": true, "push pid": true, "push procid": true, "push wid": true,
	"push lp": true, "push plp": true, "push stp": true, "save tsp": true, "save sbp": true,
}

// pushesOne reports whether a statement is one of them.
func pushesOne(s statement) bool {
	register := s.name == "push r" || s.name == "push u"
	return pushers[s.name] && !(register && len(s.operands) == 1 && wide(s.operands[0].text()))
}

// dup writes dup: copies of the top word, as many as the operand says, or as the word below says, which goes. That word
// has to be a constant, as the depth of the stack has to be known before the hit.
func (e *emitter) dup(s statement) {
	if len(s.operands) == 1 {
		if n, ok := e.number(s.operands[0], 0, runtime.MaxStack-1); ok {
			e.b.A(opcode.DupN, uint32(n))
		}
		return
	}
	switch n := e.under; {
	case n == nil:
		e.diags.Errorf(s.span, "write dup,N, or push the number as a constant just before the word",
			"dup takes a number from below the top that is not known before the hit")
	case *n >= runtime.MaxStack:
		e.diags.Errorf(s.span, "", "the number is %d; it must be from 0 to %d", int64(*n), runtime.MaxStack-1)
	default:
		e.b.Op(opcode.Xchg)
		e.b.A(opcode.Drop, 1)
		e.b.A(opcode.DupN, uint32(*n))
	}
}

// indexed is a command on a word of the stack, counted from the top.
// An index must be known before the hit, as it decides of which word the verifier knows something.
func indexed(emit func(e *emitter, n uint32)) *command {
	return &command{0, 1, func(e *emitter, s statement) {
		if n, ok := e.operand(s, 0, runtime.MaxStack-2); ok {
			emit(e, uint32(n))
		}
	}}
}

func dataCommands() {
	commands["push r"] = register(opcode.PushR)
	commands["push u"] = register(opcode.PushR)
	commands["pop r"] = register(opcode.PopR)
	commands["pop u"] = register(opcode.PopR)
	commands["push mem"] = memory(map[string]opcode.Op{
		"u8": opcode.Load8, "u16": opcode.Load16, "u32": opcode.Load32, "u64": opcode.Load64,
	})
	commands["pop mem"] = memory(map[string]opcode.Op{
		"u8": opcode.Store8, "u16": opcode.Store16, "u32": opcode.Store32, "u64": opcode.Store64,
	})
	commands["push pid"] = field(runtime.FieldPid)
	commands["push procid"] = field(runtime.FieldCPU)
	commands["push wid"] = &command{emit: func(e *emitter, s statement) { e.b.Push(^uint64(63)) }} // -64: 64 bits, little-endian
	commands["vfy r"] = verify(opcode.Readable)
	commands["vfy rw"] = verify(opcode.Writable)
}

// wide reports a register of more than 64 bits: a vector register, or one of x86's floating-point unit. It is two
// words.
func wide(name string) bool {
	for _, prefix := range []string{"xmm", "fr", "v"} {
		if n, ok := strings.CutPrefix(name, prefix); ok && n != "" && strings.Trim(n, "0123456789") == "" {
			return true
		}
	}
	return false
}

// register is a command on a register. The upper half of a wide one is pushed first, so that the lower is on top, as in
// DProbes. Whether the target has it is found out when the program is bound to one: a file may hold programs for
// several architectures, behind #ifdef.
func register(op opcode.Op) *command {
	return &command{1, 1, func(e *emitter, s statement) {
		o := s.operands[0]
		if len(o) != 1 || o[0].kind != wordToken {
			e.diags.Errorf(o.span(), "", "%s takes a register", s.name)
			return
		}
		if wide(o[0].text) {
			e.b.A(op, e.b.Reg(o[0].text+"h"))
		}
		e.b.A(op, e.b.Reg(o[0].text))
	}}
}

// memory is a command on memory, by width.
// Loads fill the word with zeros, as in DProbes; u64 is one word here, where there were two of 32 bits.
func memory(ops map[string]opcode.Op) *command {
	return &command{1, 1, func(e *emitter, s statement) {
		op, ok := ops[s.operands[0].text()]
		if !ok {
			e.diags.Errorf(s.operands[0].span(), "", "%s takes u8, u16, u32 or u64", s.name)
			return
		}
		e.b.Op(op)
	}}
}

// field is a command that reads the context.
func field(f runtime.Field) *command {
	return &command{emit: func(e *emitter, s statement) { e.b.A(opcode.Field, uint32(f)) }}
}

// verify is a command that gives 0 when the byte at an address is accessible, and 1 when it is
// not. DProbes gave 0 for accessible, as a system call gives 0 for success. vfy rw wrote the
// byte back to find out; here the mappings of the process tell, so that nothing is written.
func verify(op opcode.Op) *command {
	return &command{emit: func(e *emitter, s statement) {
		e.b.Push(1)
		e.b.Op(op)
		e.b.Op(opcode.Lnot)
	}}
}
