package arm64

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"gotap/runtime"
	"gotap/runtime/arena"
	"gotap/runtime/calls"
	"gotap/runtime/clock"
	"gotap/runtime/gate"
	"gotap/runtime/native"
	"gotap/runtime/object"
	"gotap/runtime/outcome"
	"gotap/runtime/ranges"
	"gotap/runtime/record"
	"gotap/runtime/value"
)

// arenaSize is the size of the arena in bytes, which the runner maps.
const arenaSize = 64 << 20

// thisBytes is the storage of calls in bytes: four words and a text.
const thisBytes = 32 + arena.TextCell

// testComm is the name of the thread.
var testComm = [calls.CommSize]byte{'n', 'a', 'm', 'e'}

// regFile is x0 to x30, sp, pc and nzcv in the places of pstate.
type regFile [34]uint64

// world is an arena with objects and gates. The runner maps it, too.
type world struct {
	*arena.Arena
	memory       []byte   // of the arena
	from         uint64   // what is allocated from here on is compared
	numbers      []uint64 // offsets of variables
	arrays       []uint64
	own          []uint64 // variables that each thread has
	aggregations []uint64
	maps         [2][]uint64 // with keys of one and of two words
	keyed        [2][]uint64 // aggregations
	few          map[uint64]bool
	texts        []textKeyed
	gates        []*gate.Gate
	machine      *runtime.Machine
	names        *native.Names
	runner       *runner
	vectors      *vectorFile // of the case
	scalable     bool        // native code saves all bits of vectors
	data         []byte      // what programs read

	clock          uint64   // the clock, an offset in the arena
	bank           []uint64 // its line
	owners, stacks uint64
	ranges         uint64
	known          *calls.Owners
	block          *calls.Stack // of the thread
	this           uint64       // the storage of calls for the interpreter, an offset in the arena

	start, wanted, got []byte // used parts of the case
	faults             int
}

func newWorld(t *testing.T) *world {
	a, err := arena.New(arena.Options{Size: arenaSize, Ring: 4 << 10, Spread: 64 << 10})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.Close() })
	w := &world{Arena: a, few: map[uint64]bool{}, vectors: &vectorFile{}, names: &native.Names{Func: "func", Module: "/module", Probe: "func"}, machine: runtime.NewMachine(a)}
	if w.memory, err = unix.Mmap(a.FD(), 0, arenaSize, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Munmap(w.memory) })
	stacks, err := calls.New(a)
	if err != nil {
		t.Fatal(err)
	}
	owners, err := calls.NewOwners(a)
	if err != nil {
		t.Fatal(err)
	}
	w.runner = startRunner(t, a.FD())
	w.block = stacks.Take(testTid)
	w.block.SetComm(testComm)
	owners.Set(w.runner.data, w.block)
	w.this, _, _ = a.Reserve(thisBytes)
	w.known, w.owners, w.stacks = owners, owners.Offset(), stacks.Offset()
	var words []uint64
	w.clock, words, _ = a.Reserve(clock.Banks + clock.Lines*clock.BankSize)
	words[0] = 5
	w.bank = words[(clock.Banks+5*clock.BankSize)/8:]
	w.bank[clock.NanosAt/8] = testTime // and a rate of 0: it is always this time
	table, err := ranges.New(a)
	if err != nil {
		t.Fatal(err)
	}
	table.Set([]ranges.Range{{Start: dataAddr, End: dataAddr + 2*pageSize}, {Start: dataAddr + 3*pageSize, End: dataAddr + 4*pageSize}}) // the last page cannot be read; the third one can
	w.ranges, w.data = table.Offset(), testData()
	w.from = a.Used()
	w.declareAll(t)
	w.declareTexts(t)
	for _, l := range []gate.Limits{{}, {}, {After: 2}, {Every: 2}, {Every: 3, After: 1}, {After: 1 << 40}, {Every: 1}} {
		w.gates = append(w.gates, w.NewGate(l))
	}
	binary.LittleEndian.PutUint64(w.memory[arena.ControlOffset:], 1)
	return w
}

// declareAll declares objects of all kinds.
func (w *world) declareAll(t *testing.T) {
	declare := func(list *[]uint64, o object.Object) {
		id, err := w.Declare(o)
		if err == nil && o.Keys > 0 {
			err = w.Refine(id, []value.Kind{value.KindInt, value.KindInt}[:o.Keys], value.KindInt)
		}
		if err != nil {
			t.Fatal(err)
		}
		_, off := w.Lookup(id)
		*list = append(*list, off)
		w.few[off] = o.Full == object.FullEvict // the interpreter remembers what to evict outside of the arena
		if o.Keys > 0 || o.Kind == object.KindArray || o.Kind == object.KindPerThread {
			return
		}
		w.Handle(id).Set(value.Int(int64(id) * 0x1234567))
		if o.Kind != object.KindInt && id%2 == 0 {
			w.Handle(id).Get() // selects the other bank
		}
	}
	for range 3 {
		declare(&w.numbers, object.Object{Kind: object.KindInt})
	}
	for _, max := range []int{1, 64} {
		declare(&w.own, object.Object{Kind: object.KindPerThread, Max: max, Init: int64(max) - 3})
	}
	declare(&w.arrays, object.Object{Kind: object.KindArray, Size: 8})
	declare(&w.arrays, object.Object{Kind: object.KindArray, Size: 5})
	for _, k := range []object.Kind{object.KindCount, object.KindSum, object.KindAvg, object.KindMin, object.KindMax, object.KindMin, object.KindAvg, object.KindStats, object.KindStats} {
		declare(&w.aggregations, object.Object{Kind: k})
	}
	for _, bits := range []int{0, 1, 3, 5} {
		declare(&w.aggregations, object.Object{Kind: object.KindHist, Bits: bits})
	}
	for _, l := range [][3]int64{{0, 10, 2}, {-100, 1000, 7}, {-1 << 62, 1 << 62, 1 << 58}, {-1 << 63, 1<<63 - 1, 1 << 59}, {5, 6, 1}} {
		declare(&w.aggregations, object.Object{Kind: object.KindLhist, Lo: l[0], Hi: l[1], Step: l[2]})
	}
	for i := range 6 {
		keys := 1 + i%2
		declare(&w.maps[keys-1], object.Object{Kind: object.KindMap, Keys: keys, Max: []int{5, 64}[i%3%2], Full: object.Full(i % 3)})
	}
	for i, k := range []object.Kind{object.KindCount, object.KindSum, object.KindAvg, object.KindMin, object.KindMax, object.KindHist, object.KindLhist, object.KindCount, object.KindSum, object.KindStats, object.KindStats} {
		for keys := 1; keys <= 2; keys++ {
			declare(&w.keyed[keys-1], object.Object{Kind: k, Keys: keys, Max: []int{3, 64}[i%3%2], Full: object.Full(i % 3), Hi: 10, Step: 3, Bits: 1})
		}
	}
}

// declareTexts declares objects whose keys have texts.
func (w *world) declareTexts(t *testing.T) {
	text, number := value.KindText, value.KindInt
	for i, kinds := range [][]value.Kind{{text}, {text, number}, {number, text}, {text, text}} {
		for k, kind := range []object.Kind{object.KindCount, object.KindSum, object.KindMap, object.KindMap, object.KindHist} {
			o := textKeyed{kinds: kinds, isMap: kind == object.KindMap, texts: k == 3}
			id, err := w.Declare(object.Object{Kind: kind, Keys: len(kinds), Max: 32, Full: object.Full(i % 2)})
			of := number
			if o.texts {
				of = text
			}
			if err == nil {
				err = w.Refine(id, kinds, of)
			}
			if err != nil {
				t.Fatal(err)
			}
			_, o.offset = w.Lookup(id)
			w.texts = append(w.texts, o)
		}
	}
}

// spans are the parts of the arena that programs and the interpreter change: header, descriptors, and what is
// allocated.
func (w *world) spans() [][]byte {
	const header, descriptors, perObject = 4 << 10, 64 << 10, 128
	return [][]byte{w.memory[:header], w.memory[descriptors:][:w.Objects()*perObject], w.memory[w.from:w.Used()]}
}

// used appends the used parts of the arena, and restore writes them.
func (w *world) used(to []byte) []byte {
	for _, s := range w.spans() {
		to = append(to, s...)
	}
	return to
}

func (w *world) restore(used []byte) {
	for _, s := range w.spans() {
		used = used[copy(s, used):]
	}
}

// dropChanges clears the changes of slots in a copy of the used parts: pairs are swapped without one, and stats that
// lack a group of buckets count one more before they ring.
func (w *world) dropChanges(used []byte) {
	l, s := w.RingLayout(), w.spans()
	for _, off := range []uint64{l.Head, l.Tail} { // the ends of the ring move only natively
		binary.LittleEndian.PutUint64(used[off:], 0)
	}
	base := len(s[0]) + len(s[1]) - int(w.from)
	for id := range w.Objects() {
		_, off := w.Lookup(id)
		l, ok := w.LayoutOf(off)
		if !ok || l.Table == nil || !l.Table.Paired && l.Object.Kind != object.KindStats {
			continue
		}
		step := uint64(8)
		if l.Table.Paired {
			step = 16
		}
		for slot := range l.Table.Slots {
			state := used[base+int(l.Table.State+step*slot):]
			binary.LittleEndian.PutUint16(state[arena.ChangeShift/8:], 0)
		}
	}
}

// word is a word of the arena.
func (w *world) word(off uint64) *uint64 { return (*uint64)(unsafe.Pointer(&w.memory[off])) }

// compareRecords takes the records out of the ring that native code has written, and compares them with the logs of the
// programs that it has finished.
func (w *world) compareRecords(programs []native.Program, want map[partOf]ran, answered map[partOf]bool) error {
	l := w.RingLayout()
	head, tail := *w.word(l.Head), *w.word(l.Tail)
	for i := range programs {
		r, ran := want[partOf{i, false}]
		if !ran || answered[partOf{i, false}] || len(r.log) == 0 {
			continue
		}
		at := l.Data + tail%l.Size
		if first := *w.word(at); first>>48&0xff == 0xff { // a filler
			clear(w.memory[at:][:first&(1<<32-1)])
			tail += first & (1<<32 - 1)
			at = l.Data + tail%l.Size
		}
		size := uint64(record.HeaderSize + len(r.log))
		hdr := record.Header{Size: uint32(size), Kind: r.out.Kind, Program: programs[i].Run.Code.ID, Probe: programs[i].Probe, Pid: testPid, Tid: testTid, Time: testTime, Comm: testComm}
		if r.out.Kind == outcome.ExitEvent {
			hdr.Flags = record.FlagEvent
		}
		first, others := hdr.Words()
		wanted := binary.LittleEndian.AppendUint64(nil, first)
		for _, v := range others {
			wanted = binary.LittleEndian.AppendUint64(wanted, v)
		}
		wanted = append(wanted, r.log...)
		if got := w.memory[at:][:size]; !bytes.Equal(got, wanted) {
			return fmt.Errorf("the record of program %d is\n%x, not\n%x", i, got, wanted)
		}
		clear(w.memory[at:][:size])
		tail += size
	}
	if tail != head {
		return fmt.Errorf("%d bytes in the ring that no program has logged", head-tail)
	}
	*w.word(l.Tail) = tail
	return nil
}

// compareCall takes the call that has begun from the thread's stack of calls, and compares its storage.
func (w *world) compareCall(programs []native.Program, want map[partOf]ran) error {
	defer w.block.Clear()
	f, ok := w.block.Newest()
	if _, ran := want[partOf{0, false}]; programs[0].Call == nil || !ran {
		if ok {
			return errors.New("a call has begun")
		}
		return nil
	}
	if !ok || f.Busy || f.SP != stackTop {
		return fmt.Errorf("the call is %+v", f)
	}
	if got, want := w.memory[f.This:][:thisBytes], w.memory[w.this:][:thisBytes]; !bytes.Equal(got, want) {
		return fmt.Errorf("the storage of the call differs: %s", difference(got, want))
	}
	return nil
}

// difference describes the first difference of two used parts.
func difference(got, want []byte) string {
	for i := 0; i < len(want); i += 8 {
		if a, b := binary.LittleEndian.Uint64(got[i:]), binary.LittleEndian.Uint64(want[i:]); a != b {
			return fmt.Sprintf("word %#x is %#x, not %#x", i, a, b)
		}
	}
	return "nowhere"
}

// thread is the thread of a hit as the interpreter sees it.
type thread struct {
	regs    *regFile
	vectors *vectorFile
	names   *native.Names
	data    []byte
}

// testData is what the runner has in its pages.
func testData() []byte {
	data := make([]byte, 4*pageSize)
	for i := range uint64(len(data)) {
		data[i] = byte(i*i>>3 ^ i)
	}
	copy(data[100:], "func\x00")
	copy(data[pageSize+501:], "longer than eight bytes\x00")
	return data
}

func (h thread) ReadMemory(addr uint64, p []byte) int {
	const end = 3 * pageSize
	if at := addr - dataAddr; at < end {
		return copy(p, h.data[at:end])
	}
	return 0
}

func (thread) WriteMemory(uint64, []byte) bool { return false }
func (h thread) Arg(n int) (uint64, bool) {
	if n >= 8 && n < 10 {
		return stackArgs[n-8], true
	}
	return h.regs[n&7], n < 8
}
func (h thread) ArgFloat(n int) (float64, bool) {
	return math.Float64frombits(h.vectors[2*(n&7)]), n < 8
}
func (h thread) FloatWord(n int) (uint64, bool) { return h.vectors[n], n < len(h.vectors) }
func (h thread) Return() uint64                 { return h.regs[0] }
func (thread) SetReturn(uint64)                 {}
func (thread) Stack([]uint64) int               { return 0 }

func (h thread) Text(f runtime.TextField, buf []byte) int {
	text := map[runtime.TextField]string{runtime.TextFunc: h.names.Func, runtime.TextModule: h.names.Module, runtime.TextProbe: h.names.Probe}[f]
	copy(buf, text)
	return len(text)
}

func (h thread) Field(f runtime.Field) (value uint64) {
	switch f {
	case runtime.FieldPid:
		return testPid
	case runtime.FieldPC:
		return testPlace
	case runtime.FieldUid:
		return 1000
	case runtime.FieldCaller:
		return h.regs[30]
	case runtime.FieldTid:
		return testTid
	case runtime.FieldTime:
		return testTime
	}
	return h.regs[fileSP]
}

// part names a program of a case, or its predicate.
type partOf struct {
	index int
	when  bool
}

// ran is what the interpreter alone has done.
type ran struct {
	out outcome.Outcome
	log string
}

func (w *world) context(regs *regFile) *runtime.Context {
	at := *regs
	at[filePC] = testPlace
	return &runtime.Context{Thread: thread{&at, w.vectors, w.names, w.data}, Regs: at[:], Word: 8, Tid: testTid}
}

// interpret runs programs as the engine does, on the interpreter alone.
func (w *world) interpret(programs []native.Program, regs *regFile) map[partOf]ran {
	all := map[partOf]ran{}
	run := func(of partOf, c *runtime.Code) outcome.Outcome {
		var log record.Log
		log.Reset()
		ctx := w.context(regs)
		if !of.when && programs[of.index].Call != nil {
			clear(w.memory[w.this:][:thisBytes])
			ctx.This = w.this
		}
		out := w.machine.Run(c, ctx, &log)
		all[of] = ran{out, string(log.Items())}
		return out
	}
	for i, p := range programs {
		if p.When != nil && rejects(run(partOf{i, true}, p.When.Code)) {
			if p.Gate != nil {
				p.Gate.Reject()
			}
			continue
		}
		if p.Gate != nil {
			if ok, _ := p.Gate.Admit(); !ok {
				continue
			}
		}
		if p.Run != nil {
			run(partOf{i, false}, p.Run.Code)
		}
	}
	return all
}

// rejects reports whether the end of a predicate rejects the hit.
func rejects(out outcome.Outcome) bool { return out.Trap != outcome.NoTrap || out.Abort }
