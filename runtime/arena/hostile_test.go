package arena

import (
	"math/rand/v2"
	gort "runtime"
	"sync"
	"sync/atomic"
	"testing"

	"gotap/runtime/object"
	"gotap/runtime/outcome"
	"gotap/runtime/record"
	"gotap/runtime/value"
)

// hostileObjects are objects of all kinds.
var hostileObjects = []object.Object{
	{Name: "int", Kind: object.KindInt}, {Name: "text", Kind: object.KindText}, {Name: "array", Kind: object.KindArray, Size: 16},
	{Name: "thread", Kind: object.KindPerThread}, {Name: "map", Kind: object.KindMap, Keys: 1, Max: 20},
	{Name: "texts", Kind: object.KindMap, Keys: 2, Max: 20, Full: object.FullEvict},
	{Name: "count", Kind: object.KindCount, Keys: 1, Max: 20}, {Name: "min", Kind: object.KindMin}, {Name: "max", Kind: object.KindMax, Keys: 1, Max: 9},
	{Name: "avg", Kind: object.KindAvg}, {Name: "stats", Kind: object.KindStats, Keys: 1, Max: 9}, {Name: "hist", Kind: object.KindHist},
	{Name: "lhist", Kind: object.KindLhist, Lo: 0, Hi: 100, Step: 10}, {Name: "trail", Kind: object.KindTrail, Size: 1024, Max: 8},
	{Name: "recorder", Kind: object.KindRecorder, Size: 256, Max: 16},
}

// scribble writes random words into the memory of an arena, most of them where the host reads, until told to end.
func scribble(a *Arena, seed uint64, done <-chan struct{}) {
	r := rand.New(rand.NewPCG(seed, 1))
	end := a.Used() / 8
	const ring = minRing
	for {
		select {
		case <-done:
			return
		default:
		}
		gort.Gosched()
		for range 64 {
			at := r.Uint64N(end)
			switch r.IntN(6) {
			case 0:
				at = r.Uint64N(128)
			case 1:
				at = objectTable/8 + r.Uint64N(uint64(len(hostileObjects))*objectSize/8)
			case 2: // behind the ring, where the data of objects are
				at = (ringData+ring)/8 + r.Uint64N(end-(ringData+ring)/8)
			case 3:
				at = ringData/8 + r.Uint64N(64)
			}
			word := r.Uint64()
			switch r.IntN(4) {
			case 0:
				word >>= r.IntN(64)
			case 1: // a record, perhaps
				word = r.Uint64N(1<<12) | 1<<56
			case 2:
				word = ^uint64(0) - r.Uint64N(16)
			}
			atomic.StoreUint64(&a.words[at], word)
		}
	}
}

// TestHostile has others write random words into an arena while the host uses all of it. They can spoil what is in it,
// and nothing else: the host neither fails nor gets stuck.
func TestHostile(t *testing.T) {
	defer func(y, s int) { yields, sleeps = y, s }(yields, sleeps)
	yields, sleeps = 1, 0 // what was written makes the host wait for threads that there are not
	a, err := New(Options{Size: 64 << 20, Ring: minRing})
	if err != nil {
		t.Fatal(err)
	}
	var handles []*Handle
	for _, o := range hostileObjects {
		id, err := a.Declare(o)
		if err != nil {
			t.Fatal(o.Name, err)
		}
		handles = append(handles, a.Handle(id))
	}
	program := a.Register(record.Program{Name: "p", Formats: []record.Format{{Kind: record.ItemEvent, Fields: []record.Field{{Kind: value.KindInt}, {Kind: value.KindText}}}}})
	use := hostileUse{a: a, handles: handles, program: program, Rand: rand.New(rand.NewPCG(7, 7))}
	for i := range 30 { // all keys have their shapes
		use.round(i)
	}
	done := make(chan struct{})
	var wg sync.WaitGroup
	for seed := range uint64(2) {
		wg.Go(func() { scribble(a, seed, done) })
	}
	rounds := 25
	if testing.Short() { // the race detector makes a round take seconds
		rounds = 8
	}
	for i := range rounds {
		use.round(i)
	}
	close(done)
	wg.Wait()
	if err := a.Close(); err != nil {
		t.Error(err)
	}
}

// hostileUse is a host that uses an arena.
type hostileUse struct {
	*rand.Rand
	a       *Arena
	handles []*Handle
	program uint32
	log     record.Log
	blocks  []uint64
}

func (u *hostileUse) round(i int) {
	for range 20 {
		u.commit(uint32(i % 5))
		u.a.Next()
	}
	for range 200 { // what the others have put there, too
		u.a.Next()
	}
	u.a.Pending()
	u.a.Unfinished()
	if i%7 == 0 {
		u.a.SkipUnfinished()
	}
	if u.a.Consumed() > u.a.Written() {
		u.a.Lost()
	}
	u.a.Traps()
	u.a.Trapped(outcome.TrapRead, u.program, uint32(i), 1)
	u.allocate()
	for _, h := range u.handles {
		u.use(h, i)
	}
}

// commit logs an item, and sometimes to a trail or a recorder.
func (u *hostileUse) commit(tid uint32) {
	u.log.Reset()
	u.log.Start(record.DefaultLog)
	for n, to := range []int{0, 13, 14} {
		u.log.Begin(u.program, 0)
		u.log.Word(u.Uint64())
		u.log.Text([]byte("some text"), false)
		if n == 0 {
			u.log.End()
			continue
		}
		_, off := u.a.Lookup(to)
		u.log.EndDeferred(record.ToObject, off)
	}
	_, trail := u.a.Lookup(13)
	u.log.Begin(u.program, 0)
	u.log.EndDeferred([]record.Destination{record.Keep, record.Forget}[u.IntN(2)], trail)
	u.a.Commit(record.Header{Program: u.program, Tid: tid}, &u.log)
}

// allocate uses the storage of calls, and frees what nobody has allocated.
func (u *hostileUse) allocate() {
	for range 8 {
		if off := u.a.AllocThis(64); off != 0 {
			u.blocks = append(u.blocks, off)
		}
		u.a.FreeThis(u.Uint64()>>u.IntN(64), 1<<u.IntN(13))
	}
	for _, off := range u.blocks {
		u.a.FreeThis(off, 64)
	}
	u.blocks = u.blocks[:0]
}

// use calls all that a host may do with an object.
func (u *hostileUse) use(h *Handle, i int) {
	var key []value.Value
	v := value.Int(int64(i))
	switch o := h.Object(); {
	case o.Name == "texts":
		key, v = []value.Value{value.Text("key"), value.Int(int64(i % 30))}, value.Text("text")
	case o.Keys == 1 || o.Kind == object.KindArray || o.Kind == object.KindPerThread:
		key = []value.Value{value.Int(int64(i % 30))}
	case o.Kind == object.KindText:
		v = value.Text("text")
	}
	h.Add(int64(i), key...)
	h.Set(v, key...)
	h.Get(key...)
	h.Entries()
	h.Len()
	h.Dump()
	switch i % 4 {
	case 0:
		h.Delete(key...)
	case 1:
		h.Take()
	case 2:
		h.Clear()
	case 3:
		h.CopyFrom(h)
	}
}
