package retprobe

import (
	"math/rand/v2"
	"testing"

	"gotap/arch"
	"gotap/engine/isa"
	"gotap/engine/place"
	"gotap/engine/registry"
	"gotap/engine/registry/hit"
	"gotap/runtime"
	"gotap/runtime/arena"
	"gotap/runtime/facility"
	"gotap/runtime/opcode"
	"gotap/runtime/outcome"
)

// machine is a program whose calls are known: it has functions of three instructions, an entry, a return and a jump to
// another function, and threads that enter and leave them. It knows itself how often each has returned, which is what
// the leaves of probes are held against.
type machine struct {
	*testing.T
	*rand.Rand
	arena   *arena.Arena
	runner  *hit.Runner
	points  map[uint64]*spot
	threads []*cpu
	tasks   []*task
	callees []*callee
	golang  bool
	asked   int    // how often a thread was asked for its goroutine, or for who has a call
	pops    uint64 // bytes of arguments that functions take off the stack, of IA-32
}

// callee is a function of the machine.
type callee struct {
	addr    uint64
	opaque  bool // its exits cannot be found
	probes  []*registry.Probe
	returns uint64 // of calls that began while it was probed
}

// Offsets of a function's instructions.
const (
	atReturn = 8
	atTail   = 16
)

// spot is a breakpoint of the machine.
type spot struct {
	Point
	addr    uint64
	planted bool
	counted int
}

func (s *spot) Address() uint64 { return s.addr }

func (s *spot) Recount(by int) { s.counted += by }

func (s *spot) Strategy() string { return "by hand" }

func (s *spot) Sync() error {
	s.planted = s.Wanted()
	return nil
}

func (m *machine) at(addr uint64) *Point {
	if m.points[addr] == nil {
		s := &spot{addr: addr}
		s.At = s
		m.points[addr] = s
	}
	return &m.points[addr].Point
}

// task is a flow of control with a stack of its own: a thread, a coroutine of one, or a task of a kernel.
type task struct {
	top   uint64 // of its stack
	sp    uint64
	calls []under
}

// under is a call under way, in which functions may follow one another by jumps.
type under struct {
	sp  uint64 // at entry, where the return address is
	ret uint64
	of  []*callee // all that end when it returns; the last one runs
}

// cpu is a thread, or a processor. It runs one task at a time.
type cpu struct {
	hit.Target // not asked
	m          *machine
	h          hit.Hit
	calls      Thread
	task       *task
	at         *Point
	regs       [34]uint64
}

func (c *cpu) IDs() (pid, tid int)                                { return 1, 1 }
func (c *cpu) Disarm(pr *registry.Probe)                          {}
func (c *cpu) Push(pl *registry.Placement) (this uint64, ok bool) { return c.calls.Push(c.at, pl) }
func (c *cpu) SP() uint64                                         { return c.task.sp }
func (c *cpu) ExitSP() uint64                                     { return c.task.sp }
func (c *cpu) ResultAddress() uint64                              { return 0 }
func (c *cpu) ReturnPoint() *Point                                { return c.m.at(c.task.calls[len(c.task.calls)-1].ret) }

func (c *cpu) ISA() *isa.ISA {
	if c.m.pops > 0 {
		return isa.I386
	}
	return isa.AMD64
}

func (c *cpu) Goroutine() (g, hi uint64) {
	c.m.asked++
	for i, k := range c.m.tasks {
		if k == c.task {
			g = uint64(i + 1)
		}
	}
	for _, o := range c.m.threads {
		o.calls.Moved(g, c.task.top)
	}
	return g, c.task.top
}

func (c *cpu) Elsewhere(p *Point, sp, g uint64) *Thread {
	c.m.asked++
	for _, o := range c.m.threads {
		if o != c && o.calls.Has(p, sp, g) {
			return &o.calls
		}
	}
	return nil
}

// run executes the instruction at an address.
func (c *cpu) run(addr uint64) {
	s := c.m.points[addr]
	if s == nil || !s.planted {
		return
	}
	c.at = &s.Point
	c.h.Begin(8)
	c.calls.Hit(&s.Point)
	c.h.Commit()
}

func newMachine(t *testing.T, seed uint64, threads, tasks, functions int, shared *List) *machine {
	arena := newArena(t)
	m := &machine{T: t, Rand: rand.New(rand.NewPCG(seed, 1)), arena: arena, points: map[uint64]*spot{},
		runner: hit.NewRunner(arena, facility.NewTable())}
	for range threads {
		c := &cpu{m: m}
		c.h.Init(m.runner, c, nil, c.regs[:], 1)
		c.calls.Init(c, &c.h, shared)
		m.threads = append(m.threads, c)
	}
	stack := 1 << 19 // farther apart than nearBy
	if shared != nil {
		stack = 1 << shared.Stacks
	}
	for i := range tasks {
		top := uint64(1<<30 + (i+1)*stack - 64)
		m.tasks = append(m.tasks, &task{top: top, sp: top})
	}
	for i := range functions {
		m.callees = append(m.callees, &callee{addr: uint64(0x1000 + i*0x100), opaque: i%3 == 2})
	}
	return m
}

// newArena makes an arena with storage for thousands of calls. More would only take time: at the end of each program all of
// it is allocated, and counted.
func newArena(t *testing.T) *arena.Arena {
	arena, err := arena.New(arena.Options{Size: 6 << 20})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { arena.Close() })
	return arena
}

// thisBytes is the storage of a call.
const thisBytes = 256

// probe puts a probe on a function: its hits are returns.
func (m *machine) probe(f *callee, change func(*registry.Spec)) *registry.Placement {
	id := uint32(f.addr) + uint32(len(f.probes))
	code := registry.Handlers{Leave: &runtime.Code{Insts: []runtime.Inst{{Op: opcode.Exit, A: uint32(outcome.ExitPlain)}}, Stack: 4}}
	spec := registry.Spec{ID: id, Name: "p", Specs: []place.Spec{{}}, ThisBytes: thisBytes,
		Compile: func(registry.PlaceInfo) (registry.Handlers, error) { return code, nil }}
	if change != nil {
		change(&spec)
	}
	pr, err := registry.New(spec, nil)
	if err != nil {
		m.Fatal(err)
	}
	pr.Order = int(id)
	pl := &registry.Placement{Probe: pr, Code: code}
	entry := m.at(f.addr)
	if err := entry.Attach(pl, &code3{m, f}); err != nil {
		m.Fatal(err)
	}
	f.probes = append(f.probes, pr)
	return pl
}

// code3 is the code of a function.
type code3 struct {
	m *machine
	f *callee
}

func (c *code3) Goroutine() bool { return c.m.golang }

func (c *code3) Exits() ([]arch.Exit, error) {
	if c.f.opaque {
		return nil, &arch.RefusedError{Addr: c.f.addr, Reason: "an indirect jump"}
	}
	at := func(n uint64) arch.Insn { return arch.Insn{Addr: c.f.addr + n} }
	return []arch.Exit{{Insn: at(atReturn)}, {Insn: at(atTail), Tail: true}}, nil
}

func (c *code3) PointAt(addr uint64) (*Point, error) { return c.m.at(addr), nil }

// enter calls a function.
func (c *cpu) enter(f *callee) {
	k := c.task
	k.sp -= 8 * (1 + c.m.Uint64N(2)) // often where another call began that was left
	k.calls = append(k.calls, under{k.sp, c.site(f), []*callee{f}})
	c.run(f.addr)
}

// site is the return address of a call of f: each function has one for each other that it calls.
func (c *cpu) site(f *callee) uint64 {
	at := 1<<40 + f.addr
	if n := len(c.task.calls); n > 0 {
		of := c.task.calls[n-1].of
		at += of[len(of)-1].addr << 20
	}
	return at
}

// tail jumps from the function that runs to another one.
func (c *cpu) tail(f *callee) {
	u := &c.task.calls[len(c.task.calls)-1]
	c.task.sp = u.sp
	c.run(u.of[len(u.of)-1].addr + atTail)
	u.of = append(u.of, f)
	c.run(f.addr)
}

// leave returns from the function that runs.
func (c *cpu) leave() {
	k := c.task
	u := k.calls[len(k.calls)-1]
	k.sp = u.sp
	c.run(u.of[len(u.of)-1].addr + atReturn)
	k.calls, k.sp = k.calls[:len(k.calls)-1], u.sp+c.ISA().Pushed+c.m.pops
	c.run(u.ret)
	for _, f := range u.of {
		f.returns++
	}
}

// jump leaves some functions without returning, as longjmp does; all: the task ends, and another has its stack.
func (c *cpu) jump(all bool) {
	k := c.task
	n := c.m.IntN(len(k.calls))
	if all {
		n = 0
	}
	if k.calls = k.calls[:n]; n == 0 {
		k.sp = k.top
		return
	}
	k.sp = k.calls[n-1].sp
}

// finish returns from everything, and looks whether all has been given back and no breakpoint of a call is left.
func (m *machine) finish() {
	m.Helper()
	for i, k := range m.tasks {
		c := m.threads[i%len(m.threads)]
		for c.task = k; len(k.calls) > 0; {
			c.leave()
		}
	}
	for _, c := range m.threads {
		c.calls.Drop()
	}
	for addr, s := range m.points {
		if s.Returns != 0 || s.Routines != 0 {
			m.Errorf("%d calls wait at %#x for ever, and %d of goroutines", s.Returns, addr, s.Routines)
		}
	}
	if got, want := room(m.T, m.arena), room(m.T, newArena(m.T)); got != want {
		m.Errorf("there is room for %d calls, not %d", got, want)
	}
}

// room counts the calls that an arena has storage for.
func room(t *testing.T, a *arena.Arena) int {
	t.Helper()
	seen := map[uint64]bool{}
	for {
		this := a.AllocThis(thisBytes)
		if this == 0 {
			return len(seen)
		}
		if seen[this] {
			t.Fatal("storage was given back twice")
		}
		seen[this] = true
	}
}
