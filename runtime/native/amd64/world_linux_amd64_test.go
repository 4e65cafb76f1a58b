package amd64

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"golang.org/x/sys/cpu"
	"golang.org/x/sys/unix"

	"gotap/arch/x86"
	"gotap/compile"
	"gotap/runtime"
	"gotap/runtime/arena"
	"gotap/runtime/calls"
	"gotap/runtime/clock"
	"gotap/runtime/gate"
	"gotap/runtime/native"
	"gotap/runtime/native/amd64/asm"
	"gotap/runtime/object"
	"gotap/runtime/opcode"
	"gotap/runtime/ranges"
	"gotap/runtime/record"
	"gotap/runtime/value"
)

const (
	testPid   = 4711
	testPlace = 0x55555555_4321
	arenaSize = 64 << 20
	testTid   = 99
	ownData   = controlAddr + 0x740 // the base of fs, whose first word is its address
	fileFS    = 21

	// errno of the thread, and where it lies in its own data.
	errnoAt   = -0x28
	testErrno = -70000
)

// world is a tracee and an interpreter that share an arena.
type world struct {
	t         testing.TB
	c         *tracee
	arena     *arena.Arena
	memory    []byte // of the arena
	initial   []byte // its used parts at the start
	start     []byte // its used parts before a hit
	wanted    []byte // and after it, by the interpreter
	got       []byte // and by native code
	objects   objects
	gates     []*gate.Gate
	machine   *runtime.Machine
	stacks    *calls.Stacks
	owners    *calls.Owners
	sites     int
	shareless bool // native code counts nothing in shares
	stack     *calls.Stack
	ranges    *ranges.Table
	clock     *clock.Clock      // nil: the processor's counter does not tell the time
	floats    bool              // the programs of the case use vector registers
	fp        fpRegs            // of the hit, if they do
	names     *native.Names     // of the place
	this      uint64            // the storage of calls for the interpreter, an offset in the arena
	from      uint64            // what is allocated from here on is compared
	normalize func(used []byte) // removes what may differ; may be nil

	sources map[*native.Plan]*compile.Program // of the case
	counts  struct{ cases, hits, bells, faults, refused, rejected int }
}

func newWorld(t testing.TB) *world {
	a, err := arena.New(arena.Options{Size: arenaSize, Ring: 64 << 10, Spread: 192 << 10})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.Close() })
	w := &world{t: t, arena: a, names: &native.Names{Func: "func", Module: "/module", Probe: "func"}, machine: runtime.NewMachine(a)}
	if w.memory, err = unix.Mmap(a.FD(), 0, arenaSize, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Munmap(w.memory) })
	if w.stacks, err = calls.New(a); err != nil {
		t.Fatal(err)
	}
	if w.owners, err = calls.NewOwners(a); err != nil {
		t.Fatal(err)
	}
	w.clock, _ = clock.New(a)
	w.stack = w.stacks.Take(testTid)
	w.stack.SetComm([calls.CommSize]byte{'n', 'a', 'm', 'e'})
	w.owners.Set(ownData, w.stack)
	if w.ranges, err = ranges.New(a); err != nil {
		t.Fatal(err)
	}
	w.this, _, _ = a.Reserve(thisBytes)
	w.from = a.Used()
	w.declare()
	for _, l := range []gate.Limits{{}, {}, {After: 2}, {Every: 2}, {Every: 3, After: 1}, {After: 1 << 40}, {Every: 1}} {
		w.gates = append(w.gates, a.NewGate(l))
	}
	w.c = newTracee(t, a.FD(), arenaSize)
	w.c.setControl(1)
	w.c.ready[fileFS] = ownData
	binary.LittleEndian.PutUint64(w.c.work[codeSize+ownData-controlAddr:], ownData)
	binary.LittleEndian.PutUint64(w.c.work[codeSize+ownData+errnoAt-controlAddr:], testErrno&(1<<32-1)|0x1234<<32)
	w.fillData()
	w.initial = w.used(nil)
	return w
}

// other returns another tracee that shares the arena, with a share of its own. Its own data are at an address in the
// page of the control word.
func (w *world) other(data uint64) *tracee {
	c := newTracee(w.t, w.arena.FD(), arenaSize)
	c.ready[fileFS] = data
	binary.LittleEndian.PutUint64(c.work[codeSize+data-controlAddr:], data)
	w.owners.Set(data, w.stacks.Take(testTid+1))
	return c
}

// declare declares objects of all kinds.
func (w *world) declare() {
	add := func(list *[]int, o object.Object, keys ...value.Kind) {
		id, err := w.arena.Declare(o)
		if err != nil {
			w.t.Fatal(err)
		}
		if len(keys) > 0 {
			if err := w.arena.Refine(id, keys, value.KindInt); err != nil {
				w.t.Fatal(err)
			}
		}
		w.objects.all = append(w.objects.all, id)
		*list = append(*list, len(w.objects.all)-1)
		// The interpreter remembers what to evict outside of the arena, where restore does not reach.
		w.objects.few[len(w.objects.all)-1] = o.Full == object.FullEvict
	}
	o := &w.objects
	o.few = map[int]bool{}
	for range 3 {
		add(&o.numbers, object.Object{Kind: object.KindInt})
	}
	for _, max := range []int{1, 64} {
		add(&o.own, object.Object{Kind: object.KindPerThread, Max: max, Init: int64(max) - 3})
	}
	add(&o.arrays, object.Object{Kind: object.KindArray, Size: 8})
	add(&o.arrays, object.Object{Kind: object.KindArray, Size: 5})
	for _, k := range []object.Kind{object.KindCount, object.KindSum, object.KindAvg, object.KindStats, object.KindMin, object.KindMax} {
		add(&o.aggregations, object.Object{Kind: k})
	}
	for _, bits := range []int{0, 1, 3, 5} {
		add(&o.aggregations, object.Object{Kind: object.KindHist, Bits: bits})
	}
	for _, l := range [][3]int64{{0, 10, 2}, {-100, 1000, 7}, {-1 << 62, 1 << 62, 1 << 58}, {-1 << 63, 1<<63 - 1, 1 << 59}, {1 << 40, 1<<40 + 1<<33, 1<<28 + 1},
		{5, 6, 1}, {-1 << 33, 1 << 33, 3 << 27}} {
		add(&o.aggregations, object.Object{Kind: object.KindLhist, Lo: l[0], Hi: l[1], Step: l[2]})
	}
	keys := []value.Kind{value.KindInt, value.KindInt}
	for i := range 6 {
		o, kinds := object.Object{Kind: object.KindMap, Max: []int{5, 64}[i%3%2], Full: object.Full(i % 3)}, keys[:1+i%2]
		o.Keys = len(kinds)
		add(&w.objects.maps, o, kinds...)
	}
	for i, kinds := range [][]value.Kind{{value.KindText}, {value.KindInt, value.KindText}, {value.KindText, value.KindInt}, {value.KindText, value.KindText}} {
		for n, k := range []object.Kind{object.KindMap, object.KindCount, object.KindSum, object.KindHist} {
			var list []int
			add(&list, object.Object{Kind: k, Keys: len(kinds), Max: []int{3, 64}[(i+n)%2], Full: []object.Full{object.FullDrop, object.FullError}[n%2]}, kinds...)
			w.objects.texted = append(w.objects.texted, textKeyed{list[0], kinds, n == 0})
		}
	}
	for i, kinds := range [][]value.Kind{{value.KindInt}, {value.KindText}, {value.KindInt, value.KindText}} {
		id, err := w.arena.Declare(object.Object{Kind: object.KindMap, Keys: len(kinds), Max: 8 << i})
		if err == nil {
			err = w.arena.Refine(id, kinds, value.KindText)
		}
		if err != nil {
			w.t.Fatal(err)
		}
		o.all = append(o.all, id)
		o.named = append(o.named, textKeyed{len(o.all) - 1, kinds, true})
	}
	for i, k := range []object.Kind{object.KindCount, object.KindAvg, object.KindStats, object.KindSum, object.KindMin, object.KindMax, object.KindHist, object.KindLhist} {
		for parts := 1; parts <= 2; parts++ {
			add(&w.objects.keyed, object.Object{Kind: k, Keys: parts, Max: []int{3, 64}[i%3%2], Full: object.Full(i % 3), Hi: 10, Step: 3, Bits: 1}, keys[:parts]...)
		}
	}
}

// fillData writes what programs read, and tells native code of it.
func (w *world) fillData() {
	for i := range w.c.data() {
		w.c.data()[i] = byte(i*i>>3 ^ i)
	}
	for at, i := 0, 0; at < len(w.c.data())-64; i++ { // most texts are long ones with one of the constants
		at += copy(w.c.data()[at:], genTexts[i%len(genTexts)])
		if i%4 != 0 {
			w.c.data()[at] = 0
			at++
		}
	}
	for i, text := range genTexts {
		copy(w.c.data()[textsAddr-dataAddr+textsStep*i:], text+"\x00")
	}
	var list []ranges.Range
	for i, in := range tabled {
		if at := uint64(dataAddr + i*pageSize); in {
			list = append(list, ranges.Range{Start: at, End: at + pageSize})
		}
	}
	w.ranges.Set(list)
}

// spans are the parts of the arena that programs and the interpreter change: header, descriptors, and what is
// allocated.
func (w *world) spans() [][]byte {
	const header, descriptors, perObject = 4 << 10, 64 << 10, 128
	next := binary.LittleEndian.Uint64(w.memory[4*8:])
	return [][]byte{w.memory[:header], w.memory[descriptors:][:w.arena.Objects()*perObject], w.memory[w.from:next]}
}

// site completes a site with what native code finds in the arena.
func (w *world) site(s Site) Site {
	s.Arena, s.Control, s.Place, s.Pid = arenaAddr, controlAddr, testPlace, testPid
	s.Owners, s.Stacks, s.Ring = w.owners.Offset(), w.stacks.Offset(), w.arena.RingLayout()
	s.Ranges = w.ranges.Offset()
	w.sites++
	s.SelfAddressed = s.SelfAddressed || w.sites%2 == 0
	s.Shares = !w.shareless && w.sites%4 < 3
	s.Pairs = cpu.X86.HasCX16 && w.sites%3 != 0
	if w.clock != nil {
		s.Clock = w.clock.Offset()
	}
	return s
}

// inTracee is what native code finds besides the registers.
func (w *world) inTracee() native.Place {
	return native.Place{Thread: true, Clock: w.clock != nil, Reads: true, Returns: true, Texts: 1 << 10, Names: w.names, Errno: errnoAt}
}

// usedOffset returns where used has a word of the arena that was allocated.
func (w *world) usedOffset(off uint64) int {
	s := w.spans()
	return len(s[0]) + len(s[1]) + int(off) - (len(w.memory) - cap(s[2]))
}

// addPowers adds powers of two to stats, so that they have all groups of buckets.
func (w *world) addPowers(h *arena.Handle, key ...value.Value) {
	for bit := range 64 {
		h.Add(1<<bit, key...)
		h.Add(^(1 << bit), key...)
	}
}

// dropChanges clears the changes of slots in a copy of the used parts: pairs are swapped without one, and so are
// entries of the thread; stats that lack a group of buckets count one more before they ring.
func (w *world) dropChanges(used []byte) {
	for id := range w.arena.Objects() {
		_, off := w.arena.Lookup(id)
		l, ok := w.arena.LayoutOf(off)
		if !ok || l.Table == nil || !l.Table.Paired && l.Object.Kind != object.KindStats && l.KeyShare == nil {
			continue
		}
		step := 8
		if l.Table.Paired {
			step = 16
		}
		for at := w.usedOffset(l.Table.State); l.Table.Slots > 0; l.Table.Slots-- {
			used[at+6], used[at+7] = 0, 0
			at += step
		}
	}
}

// used appends a copy of the used parts of the arena.
func (w *world) used(to []byte) []byte {
	for _, s := range w.spans() {
		to = append(to, s...)
	}
	return to
}

// collect adds what native code has counted in shares.
func (w *world) collect(programs []native.Program) {
	for id := range w.arena.Objects() {
		switch h := w.arena.Handle(id); h.Object().Kind {
		case object.KindCount, object.KindSum, object.KindHist, object.KindLhist:
			if h.Object().Keys == 0 {
				h.Get()
			} else {
				h.Len()
			}
		}
	}
	for _, p := range programs {
		if p.Gate != nil {
			p.Gate.Hits()
		}
	}
}

// restart writes the used parts of the arena, in which keys may be missing that the thread has entries for: it gets
// free ones.
func (w *world) restart(used []byte) {
	w.collect(nil)
	for id := range w.arena.Objects() {
		_, off := w.arena.Lookup(id)
		l, _ := w.arena.LayoutOf(off)
		if e, ok := l.KeyShare.Entries(); ok {
			at := w.stacks.Offset() + calls.ShareAt + e.Entries
			for n := range uint64(1<<e.Bits + arena.KeyProbes - 1) {
				binary.LittleEndian.PutUint64(w.memory[at+n<<e.Shift:], 0)
			}
		}
	}
	w.restore(used)
}

// restore writes the used parts of the arena.
func (w *world) restore(used []byte) {
	for _, s := range w.spans() {
		used = used[copy(s, used):]
	}
}

// registrar is an arena that does not remember programs.
type registrar struct{ *arena.Arena }

func (registrar) Register(record.Program) uint32 { return 7 }

// code verifies and lowers a program; nil if the verifier refuses it.
func (w *world) code(p *compile.Program) (*runtime.Code, error) {
	if compile.Verify(p).HasErrors() {
		return nil, nil
	}
	return compile.Lower(p, compile.Env{Arena: registrar{w.arena}, Register: register, WordSize: 8})
}

// register is the environment's naming of registers, with those of the floating-point state.
func register(name string) (index, bits, shift int, ok bool) {
	for i := range 32 {
		if name == fmt.Sprintf("xmm%d%s", i/2, []string{"", "h"}[i%2]) {
			return runtime.FloatWords + i, 64, 0, true
		}
	}
	if name == "mxcsr" {
		return runtime.FloatWords + wordMXCSR, 64, 0, true
	}
	return x86.New64().RegIndex(name)
}

// thread is the thread of a hit as the interpreter sees it.
type thread struct {
	regs  *regFile
	fp    *fpRegs
	data  []byte // at dataAddr
	stack []byte // at stackAddr

	names *native.Names
}

func (h *thread) ReadMemory(addr uint64, p []byte) int {
	n := 0
	for at := addr - dataAddr; n < len(p) && at+uint64(n) < uint64(dataSize) && dataPages[(at+uint64(n))/pageSize] == readable; n++ {
		p[n] = h.data[at+uint64(n)]
	}
	for ; n < len(p) && addr+uint64(n) >= 0x1000 && addr+uint64(n) < 0x1064; n++ {
		p[n] = byte(addr+uint64(n)) * 7
	}
	return n
}
func (h *thread) WriteMemory(uint64, []byte) bool { return false }
func (h *thread) Arg(n int) (uint64, bool) {
	if n >= len(args) {
		at := h.regs[fileRSP] - stackAddr + 8*uint64(1+n-len(args))
		if at+8 > uint64(len(h.stack)) {
			return 0, false
		}
		return binary.LittleEndian.Uint64(h.stack[at:]), true
	}
	return h.regs[fileIndex[args[n]]], true
}
func (h *thread) ArgFloat(n int) (float64, bool) {
	if n >= 8 {
		return 0, false
	}
	return math.Float64frombits(h.fp.vectors[2*n]), true
}
func (h *thread) FloatWord(n int) (uint64, bool) {
	switch {
	case n < len(h.fp.vectors):
		return h.fp.vectors[n], true
	case n == wordMXCSR:
		return uint64(h.fp.mxcsr), true
	}
	return 0, false
}
func (h *thread) Errno() (uint64, bool)      { return testErrno & (1<<64 - 1), true }
func (h *thread) RunTime() (uint64, bool)    { return 0, false }
func (h *thread) Bias(string) (uint64, bool) { return 0, false }

func (h *thread) Return() uint64   { return h.regs[fileIndex[asm.RAX]] }
func (h *thread) SetReturn(uint64) {}
func (h *thread) Text(f runtime.TextField, p []byte) int {
	s := [runtime.NumTextFields]string{"comm", h.names.Func, h.names.Module, h.names.Probe, "/a/cgroup"}[f]
	copy(p, s)
	return len(s)
}
func (h *thread) Stack([]uint64) int { return 0 }
func (h *thread) Field(f runtime.Field) uint64 {
	switch f {
	case runtime.FieldPid:
		return testPid
	case runtime.FieldPC:
		return testPlace
	case runtime.FieldSP, runtime.FieldFrame:
		return h.regs[fileRSP]
	case runtime.FieldTid:
		return testTid
	case runtime.FieldCaller:
		return binary.LittleEndian.Uint64(h.stack[h.regs[fileRSP]-stackAddr:])
	}
	return 77 + uint64(f)
}

// anyPrograms returns one to three random programs with predicates and gates.
func (w *world) anyPrograms(r *rand.Rand) (*testCase, error) {
	c := &testCase{}
	for range 1 + r.IntN(3)*r.IntN(2) {
		p := native.Program{}
		if len(c.programs) == 0 && r.IntN(3) == 0 {
			p.Call = &native.Call{Func: 5, This: thisBytes}
		}
		for _, plan := range []**native.Plan{&p.Run, &p.When}[:1+r.IntN(2)] {
			var err error
			in := w.inTracee()
			if plan == &p.Run && p.Call != nil {
				in.Call, in.This = true, p.Call.This
			}
			if *plan, err = w.anyPlan(r, in); err != nil {
				return nil, err
			}
		}
		if n := r.IntN(len(w.gates) + 1); n < len(w.gates) {
			p.Gate = w.gates[n]
		}
		p.Probe = 1000 + uint32(len(c.programs))
		c.programs = append(c.programs, p)
	}
	return c, nil
}

// anyPlan returns the plan of a random program, or of instructions that nobody has verified.
func (w *world) anyPlan(r *rand.Rand, in native.Place) (*native.Plan, error) {
	for {
		var p *compile.Program
		var c *runtime.Code
		var err error
		if r.IntN(4) != 0 {
			p = w.objects.program(r, in.Call)
			if c, err = w.code(p); err != nil {
				return nil, err
			}
		} else {
			c = w.objects.anyCode(r, w.arena)
		}
		if c == nil || c.UsesField(runtime.FieldTime) {
			w.counts.rejected++
			continue
		}
		plan, err := native.PlanOf(c, w.arena, Features, in)
		if err == nil {
			w.sources[plan] = p
			return plan, nil
		}
		if !errors.As(err, new(*native.Refused)) {
			return nil, err
		}
		w.counts.refused++
	}
}

// anyRegs returns random registers. The stack pointer is on the stack, and may be misaligned.
func (w *world) anyRegs(r *rand.Rand) regFile {
	regs := w.c.ready
	regs[fileOrigRAX] = ^uint64(0) // as outside of system calls
	for x := range asm.NumRegs {
		if x != asm.RSP {
			regs[fileIndex[x]] = anyWord(r)
			if r.IntN(6) == 0 {
				regs[fileIndex[x]] = anyAddress(r)
			}
		}
	}
	regs[fileRSP] = stackAddr + stackSize/2 + uint64(r.IntN(64))*8
	if r.IntN(8) == 0 {
		regs[fileRSP] += uint64(r.IntN(8))
	}
	regs[fileEFLAGS] = 0x202 | uint64(r.Uint32())&(flagsLow|flagOF|1<<10)
	return regs
}

// anyCase compares the hits of a random place.
func (w *world) anyCase(t testing.TB, seed uint64) {
	t.Helper()
	var err error
	w.c.do(func() { err = w.oneCase(seed) })
	if err != nil {
		t.Fatalf("seed %d: %v", seed, err)
	}
}

// oneCase is anyCase on the tracing thread.
func (w *world) oneCase(seed uint64) error {
	r := rand.New(rand.NewPCG(seed, 21))
	w.counts.cases++
	w.sources = map[*native.Plan]*compile.Program{}
	w.restart(w.initial)
	for _, n := range w.objects.numbers {
		w.arena.Handle(w.objects.all[n]).Set(value.Int(int64(anyWord(r))))
	}
	for i, n := range append(slices.Clone(w.objects.maps), w.objects.keyed...) {
		for range r.IntN(5) {
			k := []value.Value{value.Int(int64(r.IntN(4))), value.Int(int64(r.IntN(4)))}[:1+i%2]
			w.arena.Handle(w.objects.all[n]).Add(int64(r.IntN(20)), k...)
			if h := w.arena.Handle(w.objects.all[n]); h.Object().Kind == object.KindStats && r.IntN(2) == 0 {
				w.addPowers(h, k...)
			}
		}
	}
	for _, o := range w.objects.texted {
		for range r.IntN(8) {
			w.arena.Handle(w.objects.all[o.index]).Add(int64(r.IntN(20)), o.key(r)...)
		}
	}
	for _, o := range w.objects.named {
		for range r.IntN(8) {
			w.arena.Handle(w.objects.all[o.index]).Set(value.Text(pick(r, append(genTexts, names...)...)), o.key(r)...)
		}
	}
	n := anyNames(r)
	w.names = &n
	for _, n := range w.objects.aggregations {
		if h := w.arena.Handle(w.objects.all[n]); h.Object().Kind == object.KindStats && r.IntN(2) == 0 {
			w.addPowers(h)
		}
		if r.IntN(2) == 0 {
			w.arena.Handle(w.objects.all[n]).Get() // selects the other bank
		}
	}
	c, err := w.anyPrograms(r)
	if err != nil {
		return err
	}
	c.words, c.marked = w.used(nil), r.IntN(2) == 0
	for range 1 + r.IntN(3) {
		c.hits = append(c.hits, w.anyRegs(r))
	}
	c.site = w.site(Site{Addr: codeAddr + uint64(r.IntN(64)), RedZone: r.IntN(2) == 0, Flags: r.IntN(2) == 0,
		Tail: func(uint64) ([]byte, error) { return []byte{0xcc}, nil }})
	if err = w.hit(c); err == nil {
		return nil
	}
	c, err = w.shrink(c, err)
	return fmt.Errorf("red zone %v, flags %v: %v\nregisters %#x\n%s", c.site.RedZone, c.site.Flags, err, c.hits, w.listing(c))
}

// marks are words of the page with the control word that native code sets: one for each operation, and behind them one
// for each object that is an aggregation.
const (
	marksAddr   = controlAddr + 64
	marksObject = 256
)

// mark notes that an operation is executed.
func (w *world) mark(a *asm.Assembler, in *runtime.Inst) {
	a.StoreImm(asm.Address(marksAddr+8*uint64(in.Op)), 1)
	for i, id := range w.objects.all {
		if _, off := w.arena.Lookup(id); in.Op == opcode.Agg && off == in.V {
			a.StoreImm(asm.Address(marksAddr+8*uint64(marksObject+i)), 1)
		}
	}
}

// executed reports whether a mark was set.
func (w *world) executed(n int) bool { return w.c.work[codeSize+marksAddr-controlAddr+8*n] != 0 }

// testCase is a place with its programs, and the hits of it.
type testCase struct {
	programs []native.Program
	site     Site
	marked   bool   // executed operations are noted
	words    []byte // used parts of the arena
	hits     []regFile
}

// hit lets both executors run the hits of a place, one after another.
func (w *world) hit(c *testCase) error {
	var mark func(*asm.Assembler, *runtime.Inst)
	if c.marked {
		mark = w.mark
	}
	stub, err := emit(c.programs, c.site, mark)
	if err != nil {
		return err
	}
	copy(w.c.code()[c.site.Addr-codeAddr:], stub.Code)
	w.restart(c.words)
	w.floats = usesFloats(c.programs)
	for i := range c.hits {
		if err := w.compare(stub, c.programs, c.site, &c.hits[i]); err != nil {
			return err
		}
	}
	return nil
}
