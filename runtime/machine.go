package runtime

import (
	"math"
	"math/bits"

	"gotap/runtime/arena"
	"gotap/runtime/key"
	"gotap/runtime/opcode"
	"gotap/runtime/outcome"
	"gotap/runtime/record"
	"gotap/runtime/value"
)

// Machine runs programs for one thread. Only memory that the next run reuses outlives a run. It is not safe for
// concurrent use.
type Machine struct {
	a      *arena.Arena
	stack  [stackWords]uint64
	sp     int // valid while an operation outside Run's loop executes
	temps  [MaxTemps]uint64
	frames [MaxCalls + 1]Frame // frames[0] is the program's own
	nested int                 // index of the current frame
	base   int                 // of the stack: SBP, an index
	resume int                 // the handler to be entered
	caught Exception
	p1, p2 uint64 // parameters of the exception, set by operations that trap
	trace  trace
	data   int // bytes of data in this program's items, for programs that have LogData
	item   int // the same for the current item
	pc     int // of the current operation, if it is outside the loop

	scratch scratch
	place   placeTexts
	key     key.Buffer
	heap    heap
	buf     [8]byte
	pcs     [value.MaxStackDepth]uint64

	code *Code
	ctx  *Context
	hit  *record.Log
	out  outcome.Outcome
}

// stackWords is a power of two above MaxStack: with indexes masked by stackMask no access needs a bounds check. It is
// twice the maximum stack, so that an operation that pushes before its result is checked stays inside.
const (
	stackWords = 2 * MaxStack
	stackMask  = stackWords - 1
)

// NewMachine returns a machine for programs whose objects are in the arena.
func NewMachine(a *arena.Arena) *Machine { return &Machine{a: a} }

// begin prepares a run. Stack words left by an earlier run need not be cleared: the checks before each step prevent
// programs from reading them. Only a circular stack starts as zeros. begin is in the path of every hit, so it touches
// only what the program declares to use: its scratch words, not all 256.
func (m *Machine) begin(c *Code, ctx *Context, h *record.Log) {
	m.code, m.ctx, m.hit = c, ctx, h
	m.out = outcome.Outcome{}
	m.scratch.used = 0
	m.nested, m.base, m.frames[0] = 0, 0, Frame{Handler: noHandler}
	m.caught, m.p1, m.p2 = Exception{}, 0, 0
	m.data, m.item = 0, 0
	m.trace.begin(c.Room)
	m.key.Reset()
	m.heap.begin()
	clear(m.temps[:c.temps()])
	if c.Wrap {
		clear(m.stack[:])
	}
	h.Start(c.LogLimit())
}

// LogLimit returns how many bytes of items this program may log.
func (c *Code) LogLimit() int {
	if c.LogMax <= 0 {
		return record.DefaultLog
	}
	return min(c.LogMax, record.MaxLog)
}

// StackLimit returns how many words this program may have on the stack. A verified program gets the proved size. For an
// unverified program less room means an earlier trap.
func (c *Code) StackLimit() int {
	if c.Stack <= 0 {
		return DefaultStack
	}
	return min(c.Stack, MaxStack)
}

// StepLimit returns how many steps this program may take. The maximum fuel, a million steps, takes some
// milliseconds, which is the longest time for which a program can delay a thread.
func (c *Code) StepLimit() uint32 {
	if c.Fuel == 0 {
		return DefaultFuel
	}
	return min(c.Fuel, MaxFuel)
}

// Run runs a program for one hit and appends its log to h. It does not allocate. For any instructions it returns a trap
// and does not panic. A program that traps keeps its completed items. One that aborts loses its own items, but not
// those that other programs logged before it. Each instruction is one step; none is free.
func (m *Machine) Run(c *Code, ctx *Context, h *record.Log) outcome.Outcome {
	m.begin(c, ctx, h)
	if m.loop(0, 0, 0, c.StepLimit()) != outcome.NoTrap {
		m.fail()
	}
	return m.out
}

// fail ends a program that trapped. No item remains incomplete.
func (m *Machine) fail() {
	m.hit.CloseOpen()
	traceOps{m}.endTrace()
}

// loop executes steps until the program ends or traps, starting at the operation pc with sp words on the stack and the
// given number of steps already taken. m.out describes the end. A program out of fuel is left between two operations,
// with its state in m.sp and m.out.PC.
//
// Checks: before each step the program counter, the fuel and, by the table of effects, both ends of the stack. The
// state of the loop is in locals; operations outside it find the stack pointer in m.sp.
func (m *Machine) loop(pc, sp int, steps, fuel uint32) outcome.Trap {
	var (
		insts = m.code.Insts
		st    = &m.stack
		limit = m.code.StackLimit()
		trap  outcome.Trap
	)
	for {
		if uint(pc) >= uint(len(insts)) {
			trap = outcome.TrapOp
			break
		}
		in := &insts[pc]
		// Op is a byte and effects has 256 entries, so there is no bounds check. An unknown operation has no effect and
		// traps below.
		e := effects[in.Op]
		left := sp - int(e.pops)
		if left < 0 || left+int(e.pushes) > limit {
			if sp = m.turn(in, sp, limit); sp < 0 {
				trap = outcome.TrapStack
				break
			}
			continue
		}
		// Checked before the step and not after: a program with fuel n takes n steps. No loop of any form escapes,
		// because every cycle leads through here. Calls, loops and entries of handlers are steps like all others.
		if steps >= fuel {
			trap = outcome.TrapFuel
			break
		}
		steps++
		pc++
		switch in.Op {
		// Sequence. Popped words stay in the array; only sp moves.
		case opcode.Nop:
		// Jumps do not check their targets: the program counter is checked before the next step.
		case opcode.Jmp:
			pc = int(in.A)
		case opcode.Jz:
			sp--
			if st[sp&stackMask] == 0 {
				pc = int(in.A)
			}
		case opcode.Jnz:
			sp--
			if st[sp&stackMask] != 0 {
				pc = int(in.A)
			}
		case opcode.Jlt:
			sp--
			if int64(st[sp&stackMask]) < 0 {
				pc = int(in.A)
			}
		case opcode.Jle:
			sp--
			if int64(st[sp&stackMask]) <= 0 {
				pc = int(in.A)
			}
		case opcode.Jgt:
			sp--
			if int64(st[sp&stackMask]) > 0 {
				pc = int(in.A)
			}
		case opcode.Jge:
			sp--
			if int64(st[sp&stackMask]) >= 0 {
				pc = int(in.A)
			}
		case opcode.Loop:
			n := st[(sp-1)&stackMask] - 1
			st[(sp-1)&stackMask] = n
			if n != 0 {
				pc = int(in.A)
			} else {
				sp--
			}
		case opcode.Call:
			if m.nested >= MaxCalls {
				trap = outcome.TrapCalls
				break
			}
			m.nested++
			m.frames[m.nested] = Frame{Return: pc, Depth: sp, Base: m.base, Routine: int(in.A), Handler: noHandler}
			pc = int(in.A)
		case opcode.Ret:
			if m.nested == 0 {
				trap = outcome.TrapCalls
				break
			}
			f := &m.frames[m.nested]
			pc, m.base = f.Return, f.Base
			m.nested--
		case opcode.SetX:
			m.frames[m.nested].Handler = int(in.A)

		// The stack. Accesses deeper than the table of effects knows are checked here.
		case opcode.PushD:
			st[sp&stackMask] = in.V
			sp++
		case opcode.Dup:
			st[sp&stackMask] = st[(sp-1)&stackMask]
			sp++
		case opcode.Xchg:
			st[(sp-1)&stackMask], st[(sp-2)&stackMask] = st[(sp-2)&stackMask], st[(sp-1)&stackMask]
		case opcode.Over:
			st[sp&stackMask] = st[(sp-2)&stackMask]
			sp++
		case opcode.Drop:
			if int64(in.A) > int64(sp) {
				steps--
				if sp = m.turn(in, sp, limit); sp < 0 {
					trap = outcome.TrapStack
				} else {
					pc--
				}
				break
			}
			sp -= int(in.A)
		case opcode.PushTV:
			if in.A >= MaxTemps {
				trap = outcome.TrapIndex
				break
			}
			st[sp&stackMask] = m.temps[in.A]
			sp++
		case opcode.PopTV:
			if in.A >= MaxTemps {
				trap = outcome.TrapIndex
				break
			}
			sp--
			m.temps[in.A] = st[sp&stackMask]
		case opcode.Depth:
			st[sp&stackMask] = uint64(sp)
			sp++
		case opcode.DupN, opcode.Pick, opcode.Poke, opcode.LogWords:
			pops, pushes := need(in)
			if pops > sp || sp-pops+pushes > limit {
				steps--
				if sp = m.turn(in, sp, limit); sp < 0 {
					trap = outcome.TrapStack
				} else {
					pc--
				}
				break
			}
			m.sp = sp
			trap = m.shuffle(in)
			sp = m.sp

		// Integers. Go's operations wrap, truncate and shift as defined here, except for shift counts.
		case opcode.Add:
			sp--
			st[(sp-1)&stackMask] += st[sp&stackMask]
		case opcode.Sub:
			sp--
			st[(sp-1)&stackMask] -= st[sp&stackMask]
		case opcode.Mul:
			sp--
			st[(sp-1)&stackMask] *= st[sp&stackMask]
		case opcode.Quo:
			sp--
			b := int64(st[sp&stackMask])
			if b == 0 {
				trap = outcome.TrapDivide
				break
			}
			st[(sp-1)&stackMask] = uint64(int64(st[(sp-1)&stackMask]) / b)
		case opcode.Rem:
			sp--
			b := int64(st[sp&stackMask])
			if b == 0 {
				trap = outcome.TrapDivide
				break
			}
			st[(sp-1)&stackMask] = uint64(int64(st[(sp-1)&stackMask]) % b)
		case opcode.Udivmod:
			a, b := st[(sp-2)&stackMask], st[(sp-1)&stackMask]
			if b == 0 {
				trap = outcome.TrapDivide
				break
			}
			st[(sp-2)&stackMask], st[(sp-1)&stackMask] = a%b, a/b
		case opcode.Sdivmod:
			a, b := int64(st[(sp-2)&stackMask]), int64(st[(sp-1)&stackMask])
			if b == 0 {
				trap = outcome.TrapDivide
				break
			}
			st[(sp-2)&stackMask], st[(sp-1)&stackMask] = uint64(a%b), uint64(a/b)
		case opcode.Neg:
			st[(sp-1)&stackMask] = -st[(sp-1)&stackMask]
		case opcode.Not:
			st[(sp-1)&stackMask] = ^st[(sp-1)&stackMask]
		case opcode.And:
			sp--
			st[(sp-1)&stackMask] &= st[sp&stackMask]
		case opcode.Or:
			sp--
			st[(sp-1)&stackMask] |= st[sp&stackMask]
		case opcode.Xor:
			sp--
			st[(sp-1)&stackMask] ^= st[sp&stackMask]
		case opcode.Shl:
			sp--
			st[(sp-1)&stackMask] <<= st[sp&stackMask] & 63
		case opcode.Shr:
			sp--
			st[(sp-1)&stackMask] >>= st[sp&stackMask] & 63
		case opcode.Sar:
			sp--
			st[(sp-1)&stackMask] = uint64(int64(st[(sp-1)&stackMask]) >> (st[sp&stackMask] & 63))
		case opcode.Rol:
			sp--
			st[(sp-1)&stackMask] = bits.RotateLeft64(st[(sp-1)&stackMask], int(st[sp&stackMask]&63))
		case opcode.Ror:
			sp--
			st[(sp-1)&stackMask] = bits.RotateLeft64(st[(sp-1)&stackMask], -int(st[sp&stackMask]&63))
		case opcode.Eq:
			sp--
			st[(sp-1)&stackMask] = flag(st[(sp-1)&stackMask] == st[sp&stackMask])
		case opcode.Ne:
			sp--
			st[(sp-1)&stackMask] = flag(st[(sp-1)&stackMask] != st[sp&stackMask])
		case opcode.Lt:
			sp--
			st[(sp-1)&stackMask] = flag(int64(st[(sp-1)&stackMask]) < int64(st[sp&stackMask]))
		case opcode.Le:
			sp--
			st[(sp-1)&stackMask] = flag(int64(st[(sp-1)&stackMask]) <= int64(st[sp&stackMask]))
		case opcode.Gt:
			sp--
			st[(sp-1)&stackMask] = flag(int64(st[(sp-1)&stackMask]) > int64(st[sp&stackMask]))
		case opcode.Ge:
			sp--
			st[(sp-1)&stackMask] = flag(int64(st[(sp-1)&stackMask]) >= int64(st[sp&stackMask]))
		case opcode.Ult:
			sp--
			st[(sp-1)&stackMask] = flag(st[(sp-1)&stackMask] < st[sp&stackMask])
		case opcode.Ule:
			sp--
			st[(sp-1)&stackMask] = flag(st[(sp-1)&stackMask] <= st[sp&stackMask])
		case opcode.Lnot:
			st[(sp-1)&stackMask] = flag(st[(sp-1)&stackMask] == 0)
		case opcode.Bool:
			st[(sp-1)&stackMask] = flag(st[(sp-1)&stackMask] != 0)
		case opcode.Min:
			sp--
			st[(sp-1)&stackMask] = uint64(min(int64(st[(sp-1)&stackMask]), int64(st[sp&stackMask])))
		case opcode.Max:
			sp--
			st[(sp-1)&stackMask] = uint64(max(int64(st[(sp-1)&stackMask]), int64(st[sp&stackMask])))
		case opcode.Abs:
			if v := st[(sp-1)&stackMask]; int64(v) < 0 {
				st[(sp-1)&stackMask] = -v
			}
		case opcode.Clz:
			st[(sp-1)&stackMask] = uint64(bits.LeadingZeros64(st[(sp-1)&stackMask]))
		case opcode.Popcnt:
			st[(sp-1)&stackMask] = uint64(bits.OnesCount64(st[(sp-1)&stackMask]))
		case opcode.Ext:
			if n := in.A; n < 64 {
				st[(sp-1)&stackMask] = uint64(int64(st[(sp-1)&stackMask]<<(64-n)) >> (64 - n))
			}
		case opcode.Zext:
			if n := in.A; n < 64 {
				st[(sp-1)&stackMask] &= 1<<n - 1
			}
		case opcode.Within:
			if st[(sp-1)&stackMask] >= in.V {
				trap = outcome.TrapIndex
			}

		// Floats.
		case opcode.Fadd:
			sp--
			st[(sp-1)&stackMask] = math.Float64bits(float(st[(sp-1)&stackMask]) + float(st[sp&stackMask]))
		case opcode.Fsub:
			sp--
			st[(sp-1)&stackMask] = math.Float64bits(float(st[(sp-1)&stackMask]) - float(st[sp&stackMask]))
		case opcode.Fmul:
			sp--
			st[(sp-1)&stackMask] = math.Float64bits(float(st[(sp-1)&stackMask]) * float(st[sp&stackMask]))
		case opcode.Fdiv:
			sp--
			st[(sp-1)&stackMask] = math.Float64bits(float(st[(sp-1)&stackMask]) / float(st[sp&stackMask]))
		case opcode.Fneg:
			st[(sp-1)&stackMask] ^= 1 << 63
		case opcode.Feq:
			sp--
			st[(sp-1)&stackMask] = flag(float(st[(sp-1)&stackMask]) == float(st[sp&stackMask]))
		case opcode.Fne:
			sp--
			st[(sp-1)&stackMask] = flag(float(st[(sp-1)&stackMask]) != float(st[sp&stackMask]))
		case opcode.Flt:
			sp--
			st[(sp-1)&stackMask] = flag(float(st[(sp-1)&stackMask]) < float(st[sp&stackMask]))
		case opcode.Fle:
			sp--
			st[(sp-1)&stackMask] = flag(float(st[(sp-1)&stackMask]) <= float(st[sp&stackMask]))
		case opcode.Itof:
			st[(sp-1)&stackMask] = math.Float64bits(float64(int64(st[(sp-1)&stackMask])))

		// Ends.
		case opcode.Exit:
			if trap = m.exit(in); trap == outcome.NoTrap {
				traceOps{m}.endTrace()
				m.out.PC, m.out.Steps = uint32(pc-1), steps
				return outcome.NoTrap
			}
		case opcode.Abort:
			m.hit.Discard()
			m.out.Abort, m.out.PC, m.out.Steps = true, uint32(pc-1), steps
			return outcome.NoTrap
		case opcode.Remove:
			m.hit.CloseOpen()
			traceOps{m}.endTrace()
			m.out.Remove, m.out.PC, m.out.Steps = true, uint32(pc-1), steps
			return outcome.NoTrap

		default:
			m.sp, m.pc = sp, pc-1
			trap = m.operate(in)
			sp = m.sp
		}
		if trap != outcome.NoTrap {
			if m.sp = left + int(e.pops); m.catch(trap, pc-1, limit) { // restore the stack from before the operation
				pc, sp, trap = m.resume, m.sp, outcome.NoTrap
				continue
			}
			pc--
			break
		}
	}
	m.sp = sp
	m.out.Trap, m.out.PC, m.out.Steps = trap, uint32(pc), steps
	return trap
}

// flag returns a truth value as a word. The compiler turns it into a SETcc.
func flag(b bool) uint64 {
	var v uint64
	if b {
		v = 1
	}
	return v
}

func float(w uint64) float64 { return math.Float64frombits(w) }

// exit records how the program ends. If the record of an event did not fit into the log, there is no event: nobody
// would be notified, and a thread held for it would wait forever.
func (m *Machine) exit(in *Inst) outcome.Trap {
	if in.A > uint32(outcome.ExitFacility) {
		return outcome.TrapOp
	}
	h, kind := m.hit, outcome.ExitKind(in.A)
	h.CloseOpen()
	switch kind {
	case outcome.ExitFacility:
		m.out.Facility = uint32(in.V)
	case outcome.ExitEvent, outcome.ExitHold:
		if h.Failed() {
			kind = outcome.ExitPlain
		}
	}
	if kind != outcome.ExitPlain && kind != outcome.ExitFacility && !h.Failed() && h.Used() > 0 {
		h.SetEvent()
	}
	m.out.Kind = kind
	return outcome.NoTrap
}
