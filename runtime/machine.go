package runtime

import (
	"math"
	"math/bits"
)

// Machine runs programs for one thread. Nothing in it outlives a run but memory that the next
// one uses again. Not safe for concurrent use.
type Machine struct {
	a      *Arena
	stack  [stackWords]uint64
	sp     int // while an operation outside Run's loop works
	temps  [MaxTemps]uint64
	frames [MaxCalls + 1]frame // frames[0] is the program's own
	nested int                 // the frame that runs
	base   int                 // of the stack: SBP, an index
	caught exception
	p1, p2 uint64 // what operations that trap say of the exception
	trace  [MaxTrace]byte
	traced int
	data   int                   // bytes of data in this program's items, for programs that have LogData
	item   int                   // the same of the item being written
	pc     int                   // of the operation outside Run's loop that runs
	arrays [numArrays + 1]uint64 // arrays of variables that traces show, by their class

	scratch [ScratchSize]byte // texts of this run
	used    int
	key     keyBuffer
	heap    heap
	buf     [8]byte
	pcs     [MaxStackDepth]uint64

	code *Code
	ctx  *Context
	hit  *Hit
	out  Outcome
}

// stackWords is a power of two above MaxStack: with indexes masked by stackMask no access needs
// a bounds check. Twice the greatest stack, so that an operation which pushes before its result
// is checked stays inside.
const (
	stackWords = 2 * MaxStack
	stackMask  = stackWords - 1
)

// NewMachine makes a machine for programs whose objects are in the arena.
func NewMachine(a *Arena) *Machine { return &Machine{a: a} }

// begin prepares a run. What an earlier run left in the stack's words above need not be
// cleared: the checks before each step keep programs from reading it, except with a circular
// stack, which starts as zeros. It is on the way of every hit, so it touches only what the
// program says it uses: its scratch words, not all 256.
func (m *Machine) begin(c *Code, ctx *Context, h *Hit) {
	m.code, m.ctx, m.hit = c, ctx, h
	m.out = Outcome{}
	m.used = 0
	m.nested, m.base, m.frames[0] = 0, 0, frame{handler: noHandler}
	m.caught, m.traced, m.p1, m.p2 = exception{}, 0, 0, 0
	m.data, m.item = 0, 0
	m.arrays = [numArrays + 1]uint64{}
	m.key.reset()
	m.heap.begin()
	clear(m.temps[:min(max(c.Temps, 0), MaxTemps)])
	if c.Wrap {
		clear(m.stack[:])
	}
	limit := c.LogMax
	if limit <= 0 {
		limit = DefaultLog
	}
	h.start(min(limit, MaxLog))
}

// stackLimit is how many words this program may have on the stack. A verified program gets what
// it was proved to need. Less room means an earlier trap for one that was not.
func (c *Code) stackLimit() int {
	if c.Stack <= 0 {
		return DefaultStack
	}
	return min(c.Stack, MaxStack)
}

// fuel is how many steps this program may take. The limit on fuel, a million steps, is some
// milliseconds: what a thread may be held for at the very most.
func (c *Code) fuel() uint32 {
	if c.Fuel == 0 {
		return DefaultFuel
	}
	return min(c.Fuel, MaxFuel)
}

// Run runs a program for one hit, appending what it logs to h. It does not allocate, and
// returns a trap rather than panic whatever the instructions are. A program that traps keeps
// the items it had completed; one that aborts loses its own items and not those that other
// programs logged before it. Each instruction is one step, and none is free.
//
// Checks: before each step the program counter, the fuel and, by the table of effects, both
// ends of the stack. The state of the loop is in locals; operations that are not listed in it
// find the stack pointer in m.sp.
func (m *Machine) Run(c *Code, ctx *Context, h *Hit) Outcome {
	m.begin(c, ctx, h)
	var (
		insts = c.Insts
		st    = &m.stack
		limit = c.stackLimit()
		fuel  = c.fuel()
		steps uint32
		pc    int
		sp    int // words on the stack; the top is st[sp-1]
		trap  Trap
	)
	for {
		if uint(pc) >= uint(len(insts)) {
			trap = TrapOp
			break
		}
		in := &insts[pc]
		// Op is a byte and effects has 256 entries: no bounds check, and an operation there is
		// not has no effect and traps below.
		e := effects[in.Op]
		left := sp - int(e.pops)
		if left < 0 || left+int(e.pushes) > limit {
			if sp = m.turn(in, sp, limit); sp < 0 {
				trap = TrapStack
				break
			}
			continue
		}
		// Before the step and not after: a program with fuel n takes n steps, and no loop of
		// any form escapes, because every way back leads through here. Calls, loops and entries
		// of handlers are steps like all others.
		if steps >= fuel {
			trap = TrapFuel
			break
		}
		steps++
		pc++
		switch in.Op {
		// Sequence. The words popped stay in the array; only sp moves.
		case OpNop:
		// Targets are not checked when jumped to: the program counter is, before the next step.
		case OpJmp:
			pc = int(in.A)
		case OpJz:
			sp--
			if st[sp&stackMask] == 0 {
				pc = int(in.A)
			}
		case OpJnz:
			sp--
			if st[sp&stackMask] != 0 {
				pc = int(in.A)
			}
		case OpJlt:
			sp--
			if int64(st[sp&stackMask]) < 0 {
				pc = int(in.A)
			}
		case OpJle:
			sp--
			if int64(st[sp&stackMask]) <= 0 {
				pc = int(in.A)
			}
		case OpJgt:
			sp--
			if int64(st[sp&stackMask]) > 0 {
				pc = int(in.A)
			}
		case OpJge:
			sp--
			if int64(st[sp&stackMask]) >= 0 {
				pc = int(in.A)
			}
		case OpLoop:
			n := st[(sp-1)&stackMask] - 1
			st[(sp-1)&stackMask] = n
			if n != 0 {
				pc = int(in.A)
			} else {
				sp--
			}
		case OpCall:
			if m.nested >= MaxCalls {
				trap = TrapCalls
				break
			}
			m.nested++
			m.frames[m.nested] = frame{ret: pc, sp: sp, base: m.base, routine: int(in.A), handler: noHandler}
			pc = int(in.A)
		case OpRet:
			if m.nested == 0 {
				trap = TrapCalls
				break
			}
			f := &m.frames[m.nested]
			pc, m.base = f.ret, f.base
			m.nested--
		case OpSetX:
			m.frames[m.nested].handler = int(in.A)

		// The stack. What reaches further down than the table of effects knows is checked here.
		case OpPushD:
			st[sp&stackMask] = in.V
			sp++
		case OpDup:
			st[sp&stackMask] = st[(sp-1)&stackMask]
			sp++
		case OpXchg:
			st[(sp-1)&stackMask], st[(sp-2)&stackMask] = st[(sp-2)&stackMask], st[(sp-1)&stackMask]
		case OpOver:
			st[sp&stackMask] = st[(sp-2)&stackMask]
			sp++
		case OpDrop:
			if int64(in.A) > int64(sp) {
				steps--
				if sp = m.turn(in, sp, limit); sp < 0 {
					trap = TrapStack
				} else {
					pc--
				}
				break
			}
			sp -= int(in.A)
		case OpPushTV:
			if in.A >= MaxTemps {
				trap = TrapIndex
				break
			}
			st[sp&stackMask] = m.temps[in.A]
			sp++
		case OpPopTV:
			if in.A >= MaxTemps {
				trap = TrapIndex
				break
			}
			sp--
			m.temps[in.A] = st[sp&stackMask]
		case OpDepth:
			st[sp&stackMask] = uint64(sp)
			sp++
		case OpDupN, OpPick, OpPoke, OpLogWords:
			pops, pushes := need(in)
			if pops > sp || sp-pops+pushes > limit {
				steps--
				if sp = m.turn(in, sp, limit); sp < 0 {
					trap = TrapStack
				} else {
					pc--
				}
				break
			}
			m.sp = sp
			trap = m.shuffle(in)
			sp = m.sp

		// Integers. Go's wrap, truncate and shift as the operations are defined to, but for
		// shift counts.
		case OpAdd:
			sp--
			st[(sp-1)&stackMask] += st[sp&stackMask]
		case OpSub:
			sp--
			st[(sp-1)&stackMask] -= st[sp&stackMask]
		case OpMul:
			sp--
			st[(sp-1)&stackMask] *= st[sp&stackMask]
		case OpQuo:
			sp--
			b := int64(st[sp&stackMask])
			if b == 0 {
				trap = TrapDivide
				break
			}
			st[(sp-1)&stackMask] = uint64(int64(st[(sp-1)&stackMask]) / b)
		case OpRem:
			sp--
			b := int64(st[sp&stackMask])
			if b == 0 {
				trap = TrapDivide
				break
			}
			st[(sp-1)&stackMask] = uint64(int64(st[(sp-1)&stackMask]) % b)
		case OpUdivmod:
			a, b := st[(sp-2)&stackMask], st[(sp-1)&stackMask]
			if b == 0 {
				trap = TrapDivide
				break
			}
			st[(sp-2)&stackMask], st[(sp-1)&stackMask] = a%b, a/b
		case OpSdivmod:
			a, b := int64(st[(sp-2)&stackMask]), int64(st[(sp-1)&stackMask])
			if b == 0 {
				trap = TrapDivide
				break
			}
			st[(sp-2)&stackMask], st[(sp-1)&stackMask] = uint64(a%b), uint64(a/b)
		case OpNeg:
			st[(sp-1)&stackMask] = -st[(sp-1)&stackMask]
		case OpNot:
			st[(sp-1)&stackMask] = ^st[(sp-1)&stackMask]
		case OpAnd:
			sp--
			st[(sp-1)&stackMask] &= st[sp&stackMask]
		case OpOr:
			sp--
			st[(sp-1)&stackMask] |= st[sp&stackMask]
		case OpXor:
			sp--
			st[(sp-1)&stackMask] ^= st[sp&stackMask]
		case OpShl:
			sp--
			st[(sp-1)&stackMask] <<= st[sp&stackMask] & 63
		case OpShr:
			sp--
			st[(sp-1)&stackMask] >>= st[sp&stackMask] & 63
		case OpSar:
			sp--
			st[(sp-1)&stackMask] = uint64(int64(st[(sp-1)&stackMask]) >> (st[sp&stackMask] & 63))
		case OpRol:
			sp--
			st[(sp-1)&stackMask] = bits.RotateLeft64(st[(sp-1)&stackMask], int(st[sp&stackMask]&63))
		case OpRor:
			sp--
			st[(sp-1)&stackMask] = bits.RotateLeft64(st[(sp-1)&stackMask], -int(st[sp&stackMask]&63))
		case OpEq:
			sp--
			st[(sp-1)&stackMask] = flag(st[(sp-1)&stackMask] == st[sp&stackMask])
		case OpNe:
			sp--
			st[(sp-1)&stackMask] = flag(st[(sp-1)&stackMask] != st[sp&stackMask])
		case OpLt:
			sp--
			st[(sp-1)&stackMask] = flag(int64(st[(sp-1)&stackMask]) < int64(st[sp&stackMask]))
		case OpLe:
			sp--
			st[(sp-1)&stackMask] = flag(int64(st[(sp-1)&stackMask]) <= int64(st[sp&stackMask]))
		case OpGt:
			sp--
			st[(sp-1)&stackMask] = flag(int64(st[(sp-1)&stackMask]) > int64(st[sp&stackMask]))
		case OpGe:
			sp--
			st[(sp-1)&stackMask] = flag(int64(st[(sp-1)&stackMask]) >= int64(st[sp&stackMask]))
		case OpUlt:
			sp--
			st[(sp-1)&stackMask] = flag(st[(sp-1)&stackMask] < st[sp&stackMask])
		case OpUle:
			sp--
			st[(sp-1)&stackMask] = flag(st[(sp-1)&stackMask] <= st[sp&stackMask])
		case OpLnot:
			st[(sp-1)&stackMask] = flag(st[(sp-1)&stackMask] == 0)
		case OpBool:
			st[(sp-1)&stackMask] = flag(st[(sp-1)&stackMask] != 0)
		case OpMin:
			sp--
			st[(sp-1)&stackMask] = uint64(min(int64(st[(sp-1)&stackMask]), int64(st[sp&stackMask])))
		case OpMax:
			sp--
			st[(sp-1)&stackMask] = uint64(max(int64(st[(sp-1)&stackMask]), int64(st[sp&stackMask])))
		case OpAbs:
			if v := st[(sp-1)&stackMask]; int64(v) < 0 {
				st[(sp-1)&stackMask] = -v
			}
		case OpClz:
			st[(sp-1)&stackMask] = uint64(bits.LeadingZeros64(st[(sp-1)&stackMask]))
		case OpPopcnt:
			st[(sp-1)&stackMask] = uint64(bits.OnesCount64(st[(sp-1)&stackMask]))
		case OpExt:
			if n := in.A; n < 64 {
				st[(sp-1)&stackMask] = uint64(int64(st[(sp-1)&stackMask]<<(64-n)) >> (64 - n))
			}
		case OpZext:
			if n := in.A; n < 64 {
				st[(sp-1)&stackMask] &= 1<<n - 1
			}

		// Floats.
		case OpFadd:
			sp--
			st[(sp-1)&stackMask] = math.Float64bits(float(st[(sp-1)&stackMask]) + float(st[sp&stackMask]))
		case OpFsub:
			sp--
			st[(sp-1)&stackMask] = math.Float64bits(float(st[(sp-1)&stackMask]) - float(st[sp&stackMask]))
		case OpFmul:
			sp--
			st[(sp-1)&stackMask] = math.Float64bits(float(st[(sp-1)&stackMask]) * float(st[sp&stackMask]))
		case OpFdiv:
			sp--
			st[(sp-1)&stackMask] = math.Float64bits(float(st[(sp-1)&stackMask]) / float(st[sp&stackMask]))
		case OpFneg:
			st[(sp-1)&stackMask] ^= 1 << 63
		case OpFeq:
			sp--
			st[(sp-1)&stackMask] = flag(float(st[(sp-1)&stackMask]) == float(st[sp&stackMask]))
		case OpFne:
			sp--
			st[(sp-1)&stackMask] = flag(float(st[(sp-1)&stackMask]) != float(st[sp&stackMask]))
		case OpFlt:
			sp--
			st[(sp-1)&stackMask] = flag(float(st[(sp-1)&stackMask]) < float(st[sp&stackMask]))
		case OpFle:
			sp--
			st[(sp-1)&stackMask] = flag(float(st[(sp-1)&stackMask]) <= float(st[sp&stackMask]))
		case OpItof:
			st[(sp-1)&stackMask] = math.Float64bits(float64(int64(st[(sp-1)&stackMask])))

		// Ends.
		case OpExit:
			if trap = m.exit(in); trap == NoTrap {
				m.endTrace()
				m.out.PC, m.out.Steps = uint32(pc-1), steps
				return m.out
			}
		case OpAbort:
			h.discard()
			m.out.Abort, m.out.PC, m.out.Steps = true, uint32(pc-1), steps
			return m.out
		case OpRemove:
			h.closeOpen()
			m.endTrace()
			m.out.Remove, m.out.PC, m.out.Steps = true, uint32(pc-1), steps
			return m.out

		default:
			m.sp, m.pc = sp, pc-1
			trap = m.operate(in)
			sp = m.sp
		}
		if trap != NoTrap {
			if m.sp = left + int(e.pops); m.catch(trap, pc-1, limit) { // the stack as it was before the operation
				pc, sp, trap = m.frames[m.nested].resume, m.sp, NoTrap
				continue
			}
			pc--
			break
		}
	}
	h.closeOpen()
	m.endTrace()
	m.out.Trap, m.out.PC, m.out.Steps = trap, uint32(pc), steps
	return m.out
}

// flag is a truth value as a word. The compiler makes it a SETcc.
func flag(b bool) uint64 {
	var v uint64
	if b {
		v = 1
	}
	return v
}

func float(w uint64) float64 { return math.Float64frombits(w) }

// exit notes how the program ends. An event whose record did not fit into the log is none:
// nobody would be told of it, and a thread held for it would wait for ever.
func (m *Machine) exit(in *Inst) Trap {
	if in.A > uint32(ExitFacility) {
		return TrapOp
	}
	h, kind := m.hit, ExitKind(in.A)
	h.closeOpen()
	switch kind {
	case ExitFacility:
		m.out.Facility = uint32(in.V)
	case ExitEvent, ExitHold:
		if h.over {
			kind = ExitPlain
		}
	}
	if kind != ExitPlain && kind != ExitFacility && !h.over && h.n > h.mark {
		h.event = true
	}
	m.out.Kind = kind
	return NoTrap
}

// pop and push are for operations outside the loop; the effects have been checked.
func (m *Machine) pop() uint64 {
	m.sp--
	return m.stack[m.sp&stackMask]
}

func (m *Machine) push(v uint64) {
	m.stack[m.sp&stackMask] = v
	m.sp++
}

// top is the word on top, to be replaced by a result.
func (m *Machine) top() *uint64 { return &m.stack[(m.sp-1)&stackMask] }
