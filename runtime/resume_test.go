package runtime

import (
	"bytes"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gotap/runtime/arena"
	"gotap/runtime/key"
	"gotap/runtime/object"
	"gotap/runtime/opcode"
	"gotap/runtime/outcome"
	"gotap/runtime/record"
	"gotap/runtime/value"
)

// twin runs one program several times from the same start.
type twin struct {
	*bench
	words  []uint64 // of the arena at the start
	thread fakeThread
	target []byte
	regs   []uint64
	other  *Machine // that goes on where the first was stopped
	state  State
}

func newTwin(b *bench) *twin {
	return &twin{bench: b, words: slices.Clone(b.memory[:b.memory[arenaUsed]/8]), thread: *b.thread,
		target: slices.Clone(b.thread.memory), regs: slices.Clone(b.ctx.Regs), other: NewMachine(b.a)}
}

// rewind brings arena, target and log back to the start.
func (w *twin) rewind() {
	copy(w.bench.memory, w.words)
	*w.bench.thread = w.thread
	w.bench.thread.memory = slices.Clone(w.target)
	copy(w.ctx.Regs, w.regs)
	w.ctx.Dirty = false
	w.hit.Reset()
}

// ending is all that a run leaves behind.
type ending struct {
	out    outcome.Outcome
	words  []uint64
	log    []byte
	event  bool
	memory []byte
	regs   []uint64
	dirty  bool
	ret    uint64
}

func (w *twin) ending(out outcome.Outcome) ending {
	return ending{out, w.bench.memory[:len(w.words)], w.hit.Items(), w.hit.HasEvent(), w.bench.thread.memory, w.ctx.Regs, w.ctx.Dirty, w.bench.thread.ret}
}

func (e ending) equal(o ending) bool {
	return e.out == o.out && slices.Equal(e.words, o.words) && bytes.Equal(e.log, o.log) && e.event == o.event &&
		bytes.Equal(e.memory, o.memory) && slices.Equal(e.regs, o.regs) && e.dirty == o.dirty && e.ret == o.ret
}

func (e ending) clone() ending {
	e.words, e.log, e.memory, e.regs = slices.Clone(e.words), bytes.Clone(e.log), bytes.Clone(e.memory), slices.Clone(e.regs)
	return e
}

// stopAt runs the program for some steps on one machine and the rest on another, and compares with the whole run.
func (w *twin) stopAt(t testing.TB, c *Code, steps uint32, whole ending) {
	t.Helper()
	w.rewind()
	out, stopped := w.m.RunFor(c, &w.ctx, &w.hit, steps, &w.state)
	if stopped && steps > whole.out.Steps { // with as many steps it may stop before one that cannot be taken
		t.Fatalf("stopped after %d of %d steps", steps, whole.out.Steps)
	}
	if stopped {
		if w.hit.Len() != 0 {
			t.Fatalf("a program that was stopped after %d steps leaves its log behind", steps)
		}
		out = w.other.Resume(c, &w.ctx, &w.hit, &w.state)
	}
	if got := w.ending(out); !got.equal(whole) {
		t.Fatalf("stopped after %d steps:\n %+v, log %x\nwhole:\n %+v, log %x", steps, got.out, got.log, whole.out, whole.log)
	}
}

// whole runs the program at once.
func (w *twin) whole(c *Code) ending {
	w.rewind()
	return w.ending(w.m.Run(c, &w.ctx, &w.hit)).clone()
}

// resumeRandom compares a random program with itself, stopped at each of its first steps and at some of the others.
func resumeRandom(t testing.TB, w *twin, offs []uint64, this, seed uint64) {
	r := rand.New(rand.NewPCG(seed, 11))
	n := 1 + r.IntN(60)
	c := &Code{Insts: make([]Inst, n), Fuel: 1 + r.Uint32N(300), Texts: []string{"", "a", "hello"}, Stack: r.IntN(300) - 10, Heap: r.IntN(MaxHeap),
		Temps: MaxTemps, LogMax: r.IntN(2000), LogData: r.IntN(2) * r.IntN(2000), Wrap: r.IntN(4) == 0, Unsafe: r.IntN(2) == 0,
		Trace: r.Uint32N(3), Room: r.IntN(2000) - 10, Auto: r.IntN(3) == 0, Mask: uint32(r.IntN(2)) * (MaskSet | r.Uint32N(1<<16))}
	for i := range c.Insts {
		// Programs of what comes to mind end at once: half of the operations only move words about.
		if c.Insts[i] = randomInst(r, n, offs); r.IntN(2) == 0 {
			c.Insts[i] = push(int64(r.IntN(40)))
		}
	}
	w.ctx.This = []uint64{0, this, this, math.MaxUint64 - 7}[r.IntN(4)]
	whole := w.whole(c)
	for steps := range min(whole.out.Steps+1, 24) {
		w.stopAt(t, c, steps, whole)
	}
	for range 4 {
		w.stopAt(t, c, r.Uint32N(whole.out.Steps+2), whole)
	}
}

// TestResumeRandomPrograms: whatever the instructions, a program that is stopped and resumed ends as it does at once,
// in the same arena, with the same log.
func TestResumeRandomPrograms(t *testing.T) {
	b := newBench(t)
	offs := fuzzObjects(t, b)
	this := b.a.AllocThis(arena.MaxThisBytes)
	w := newTwin(b)
	rounds := uint64(250)
	if testing.Short() {
		rounds = 20
	}
	for seed := range rounds {
		resumeRandom(t, w, offs, this, seed)
	}
}

func FuzzResume(f *testing.F) {
	f.Add(uint64(1))
	b := newBench(f)
	offs := fuzzObjects(f, b)
	this := b.a.AllocThis(arena.MaxThisBytes)
	w := newTwin(b)
	f.Fuzz(func(t *testing.T, seed uint64) { resumeRandom(t, w, offs, this, seed) })
}

// TestResumeAtEveryOperation stops one program that has something of everything before each of its steps.
func TestResumeAtEveryOperation(t *testing.T) {
	b := newBench(t)
	_, count := b.declare(t, object.Object{Kind: object.KindInt, Init: 5})
	id, m := b.declare(t, object.Object{Kind: object.KindMap, Keys: 2, Max: 10})
	b.refine(t, id, value.KindInt, value.KindInt, value.KindText)
	_, array := b.declare(t, object.Object{Kind: object.KindArray, Size: 4})
	main := seq(
		opA(opcode.SetX, 0), opA(opcode.Call, 0), // to the handler and the routine behind the main part
		push(8), op(opcode.Malloc), opA(opcode.PopTV, 2), push(7), opA(opcode.PushTV, 2), push(0), op(opcode.PopH8),
		push(4), op(opcode.KeyInt), opA(opcode.PushS, 0), push(9), op(opcode.Sdec), op(opcode.Scat),
		opA(opcode.Text, uint32(TextFunc)), op(opcode.Scat), opA(opcode.KeyText, uint32(value.KindText)),
		push(2), opV(opcode.MapAdd, m), opA(opcode.PopTV, 1),
		opA(opcode.Item, 1), push(4), op(opcode.LogInt), op(opcode.EndItem),
		push(9), op(opcode.Signal),
		opA(opcode.Item, 1), push(0x9999), op(opcode.Load8)) // traps within an item
	routine := seq(opV(opcode.IncGV, count), push(0), push(2), Inst{Op: opcode.TraceVars, A: ClassLocal, V: array}, op(opcode.Ret))
	handler := seq(op(opcode.LogTrace), opA(opcode.Drop, 3),
		opA(opcode.Item, 1), push(6), op(opcode.LogInt), op(opcode.EndItem), opA(opcode.Exit, uint32(outcome.ExitEvent)))
	main[1].A = uint32(len(main))
	main[0].A = uint32(len(main) + len(routine))
	c := &Code{Texts: []string{"abc"}, Stack: 40, Temps: 3, Heap: 256, Trace: 1, Unsafe: true, Insts: slices.Concat(main, routine, handler)}
	w := newTwin(b)
	whole := w.whole(c)
	if whole.out.Trap != outcome.NoTrap || whole.out.Kind != outcome.ExitEvent || whole.out.Steps != uint32(len(c.Insts)) || whole.out.Signal != 9 {
		t.Fatalf("the program ends as %+v", whole.out)
	}
	for steps := range whole.out.Steps {
		w.stopAt(t, c, steps, whole)
	}
}

// TestResumeFromOutside: an executor that knows only words hands on what it has.
func TestResumeFromOutside(t *testing.T) {
	b := newBench(t)
	c := &Code{Stack: 4, Temps: 2, Insts: seq(push(1), push(2), op(opcode.Add), opA(opcode.PushTV, 1), op(opcode.Add), opA(opcode.PopTV, 0), op(opcode.Exit))}
	b.hit.Reset()
	out := b.m.Resume(c, &b.ctx, &b.hit, &State{PC: 2, Steps: 9, Depth: 2, Stack: []uint64{40, 1}, Temps: []uint64{0, 1}})
	if out != (outcome.Outcome{PC: 6, Steps: 14}) || b.m.temps[0] != 42 {
		t.Errorf("it ends as %+v with %d", out, b.m.temps[0])
	}
	if out := b.m.Resume(c, &b.ctx, &b.hit, &State{Steps: DefaultFuel}); out.Trap != outcome.TrapFuel {
		t.Errorf("without fuel it ends as %+v", out)
	}
	if out := b.m.Resume(c, &b.ctx, &b.hit, &State{}); out.Trap != outcome.NoTrap || out.Steps != 7 {
		t.Errorf("from the start it ends as %+v", out)
	}
}

// TestResumeTrustsNothing: a state that cannot be ends the program, and leaves no log.
func TestResumeTrustsNothing(t *testing.T) {
	b := newBench(t)
	c := &Code{Stack: 4, Temps: 2, Insts: seq(op(opcode.Exit))}
	for what, s := range map[string]State{
		"a deep stack":          {Depth: 5, Stack: make([]uint64, 5)},
		"no stack":              {Depth: 2},
		"a negative depth":      {Depth: -1},
		"many scratch words":    {Temps: make([]uint64, MaxTemps+1)},
		"many frames":           {Frames: make([]Frame, MaxCalls+2)},
		"a frame's depth":       {Frames: []Frame{{Depth: -1}}},
		"a frame's base":        {Frames: []Frame{{Base: 1 << 20}}},
		"a handler":             {Frames: []Frame{{Handler: -2}}},
		"a base":                {Base: -MaxStack - 1},
		"a long key":            {Key: key.State{Words: make([]uint64, key.MaxBytes/8+1)}},
		"a key's parts":         {Key: key.State{Parts: -1}},
		"long text":             {Text: make([]byte, ScratchSize+1)},
		"a large heap":          {Heap: Heap{Bytes: make([]byte, MaxHeap+1)}},
		"a block outside":       {Heap: Heap{Bytes: make([]byte, 8), Blocks: []Block{{1, 8, 8}}}},
		"blocks over another":   {Heap: Heap{Bytes: make([]byte, 64), Blocks: []Block{{1, 0, 16}, {2, 8, 8}}}},
		"a crooked block":       {Heap: Heap{Bytes: make([]byte, 64), Blocks: []Block{{1, 3, 8}}}},
		"half an item":          {Log: record.Part{Items: make([]byte, 12)}},
		"an item of no length":  {Log: record.Part{Items: make([]byte, 16)}},
		"a long log":            {Log: record.Part{Items: bytes.Repeat([]byte{8, 0, 0, 0, 0, 0, 0, 0}, record.MaxLog)}},
		"an item never begun":   {Log: record.Part{Item: make([]byte, 8)}},
		"a number of log bytes": {LogBytes: -1},
	} {
		b.hit.Reset()
		if out := b.m.Resume(c, &b.ctx, &b.hit, &s); out.Trap != outcome.TrapOp || b.hit.Len() != 0 {
			t.Errorf("%s: it ends as %+v, with %d bytes of log", what, out, b.hit.Len())
		}
	}
}

func TestResumeDoesNotAllocate(t *testing.T) {
	b := newBench(t)
	c := &Code{Stack: 4, Temps: 2, Insts: seq(push(1), push(2), op(opcode.Add), opA(opcode.PopTV, 0), op(opcode.Exit))}
	var s State
	b.m.RunFor(c, &b.ctx, &b.hit, 2, &s)
	if n := testing.AllocsPerRun(100, func() {
		b.hit.Reset()
		b.m.Resume(c, &b.ctx, &b.hit, &s)
	}); n != 0 {
		t.Errorf("resuming allocates %v times", n)
	}
}
