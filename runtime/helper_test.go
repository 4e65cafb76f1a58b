package runtime

import (
	"encoding/binary"
	"slices"
	"testing"

	"gotap/runtime/arena"
	"gotap/runtime/object"
	"gotap/runtime/opcode"
	"gotap/runtime/outcome"
	"gotap/runtime/record"
	"gotap/runtime/value"
)

// newArena is an arena in ordinary memory, which the race detector watches; it does not see
// mapped memory.
func newArena(t testing.TB) *arena.Arena {
	t.Helper()
	a, _ := newMemory(t)
	return a
}

// arenaUsed is the word of an arena's header that holds the offset of the first byte that was never allocated.
const arenaUsed = 4

// newMemory returns an arena and its memory.
func newMemory(t testing.TB) (*arena.Arena, []uint64) {
	t.Helper()
	memory := make([]uint64, 24<<20/8)
	a, err := arena.NewOn(memory, 64<<10)
	if err != nil {
		t.Fatal(err)
	}
	return a, memory
}

// fakeThread is a target made of a few bytes.
type fakeThread struct {
	base   uint64
	memory []byte
	args   []uint64
	floats []float64
	fields [NumFields]uint64
	texts  [NumTextFields]string
	ret    uint64
	pcs    []uint64
}

func (f *fakeThread) at(addr uint64) []byte {
	if addr < f.base || addr-f.base > uint64(len(f.memory)) {
		return nil
	}
	return f.memory[addr-f.base:]
}

func (f *fakeThread) ReadMemory(addr uint64, p []byte) int { return copy(p, f.at(addr)) }

func (f *fakeThread) WriteMemory(addr uint64, p []byte) bool {
	to := f.at(addr)
	return len(to) >= len(p) && copy(to, p) == len(p)
}

func (f *fakeThread) Arg(n int) (uint64, bool) {
	if n >= len(f.args) {
		return 0, false
	}
	return f.args[n], true
}

func (f *fakeThread) FloatWord(n int) (uint64, bool) { return uint64(n) * 3, n < 8 }
func (f *fakeThread) ArgFloat(n int) (float64, bool) {
	if n >= len(f.floats) {
		return 0, false
	}
	return f.floats[n], true
}

func (f *fakeThread) Return() uint64                 { return f.ret }
func (f *fakeThread) SetReturn(v uint64)             { f.ret = v }
func (f *fakeThread) Field(n Field) uint64           { return f.fields[n] }
func (f *fakeThread) Text(n TextField, p []byte) int { copy(p, f.texts[n]); return len(f.texts[n]) }
func (f *fakeThread) Stack(pcs []uint64) int         { return copy(pcs, f.pcs) }
func (f *fakeThread) Writable(addr uint64, n uint64) bool {
	return uint64(len(f.at(addr))) >= n
}

// newThread is a target with text and numbers at 0x1000.
func newThread() *fakeThread {
	f := &fakeThread{base: 0x1000, memory: make([]byte, 8192), args: []uint64{7, ^uint64(0)}, floats: []float64{1.5}}
	copy(f.memory, "hello\x00world")
	binary.LittleEndian.PutUint64(f.memory[16:], 0x8899aabbccddeeff)
	binary.LittleEndian.PutUint32(f.memory[24:], 0x3fc00000) // 1.5
	for i := 64; i < 5000; i++ {
		f.memory[i] = 'a' + byte(i%26)
	}
	f.fields[FieldPid], f.fields[FieldTid] = 100, 101
	f.texts[TextComm], f.texts[TextFunc], f.texts[TextModule] = "comm", "func", "/lib/module.so"
	f.pcs = []uint64{0x10, 0x20, 0x30}
	return f
}

// bench is a machine with all it needs to run one program.
type bench struct {
	a      *arena.Arena
	memory []uint64 // of the arena
	m      *Machine
	thread *fakeThread
	ctx    Context
	hit    record.Log
}

func newBench(t testing.TB) *bench {
	b := &bench{thread: newThread()}
	b.a, b.memory = newMemory(t)
	b.m = NewMachine(b.a)
	b.ctx = Context{Thread: b.thread, Regs: []uint64{0x1122334455667788, 2}, Word: 8, Tid: 101}
	b.hit.Reset()
	return b
}

// run runs instructions and returns the outcome; the stack is looked at with top.
func (b *bench) run(c *Code) outcome.Outcome {
	b.hit.Reset()
	return b.m.Run(c, &b.ctx, &b.hit)
}

// eval runs instructions, then stores up to 4 words of the stack in scratch words and returns
// them, the top last.
func (b *bench) eval(c Code, n int) ([]uint64, outcome.Outcome) {
	c.Temps = MaxTemps
	for i := range n {
		c.Insts = append(c.Insts, Inst{Op: opcode.PopTV, A: uint32(n - 1 - i)})
	}
	c.Insts = append(c.Insts, Inst{Op: opcode.Exit})
	out := b.run(&c)
	return slices.Clone(b.m.temps[:n]), out
}

// logged returns what the last program logged, as the host gets it.
func (b *bench) logged() []record.Item {
	if !b.hit.HasItems() || !b.a.Commit(record.Header{}, &b.hit) {
		return nil
	}
	rec, _ := b.a.Next()
	return rec.Items
}

func (b *bench) declare(t testing.TB, o object.Object) (id int, off uint64) {
	t.Helper()
	id, err := b.a.Declare(o)
	if err != nil {
		t.Fatal(err)
	}
	_, off = b.a.Lookup(id)
	return id, off
}

func (b *bench) refine(t testing.TB, id int, value value.Kind, keys ...value.Kind) {
	t.Helper()
	if err := b.a.Refine(id, keys, value); err != nil {
		t.Fatal(err)
	}
}

func push(v int64) Inst              { return Inst{Op: opcode.PushD, V: uint64(v)} }
func op(o opcode.Op) Inst            { return Inst{Op: o} }
func opA(o opcode.Op, a uint32) Inst { return Inst{Op: o, A: a} }
func opV(o opcode.Op, v uint64) Inst { return Inst{Op: o, V: v} }
func seq(list ...Inst) []Inst        { return list }
func words(v ...int64) (w []uint64) {
	for _, x := range v {
		w = append(w, uint64(x))
	}
	return w
}
