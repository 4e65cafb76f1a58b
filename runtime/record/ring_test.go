package record

import (
	"slices"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"gotap/runtime/value"
)

// programs has one program, which logs one integer.
var programs = []Program{{Name: "p", Formats: []Format{{Kind: ItemEvent, Fields: []Field{{Kind: value.KindInt}}}}}}

// newRing returns a ring in ordinary memory, and the number of records that it has lost.
func newRing(size int) (*Ring, *uint64) {
	words, shared := make([]uint64, size/8), new([4]uint64)
	bytes := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(words))), size)
	r := NewRing(bytes, words, RingWords{Head: &shared[0], Tail: &shared[1], Sleep: &shared[2], Lost: &shared[3]})
	return &r, &shared[3]
}

// logged returns a log of integers.
func logged(list ...uint64) *Log {
	var h Log
	h.Start(MaxLog)
	for _, n := range list {
		h.Begin(0, 0)
		h.Word(n)
		h.End()
	}
	return &h
}

// TestRingGoesRound: records pass the end of the data in order, and a full ring counts what it drops.
func TestRingGoesRound(t *testing.T) {
	r, lost := newRing(1 << 10)
	next := uint64(0)
	for sent := range uint64(1000) {
		for !r.Commit(&Header{Probe: uint32(sent)}, logged(sent).Items()) {
			rec, ok := r.Next(programs)
			if !ok || rec.Probe != uint32(next) || rec.Items[0].Values[0].Int != int64(next) {
				t.Fatalf("record %d: %+v", next, rec)
			}
			next++
		}
	}
	if *lost == 0 || !r.Pending() || r.Written() <= r.Consumed() {
		t.Errorf("lost %d, written %d, consumed %d", *lost, r.Written(), r.Consumed())
	}
	for ; r.Pending(); next++ {
		r.Next(programs)
	}
	if next != 1000 {
		t.Errorf("%d records came", next)
	}
}

// TestWait: a sleeping reader is woken by a record, and by the end.
func TestWait(t *testing.T) {
	r, _ := newRing(1 << 10)
	woken, done := make(chan bool), make(chan struct{})
	go func() { woken <- r.Wait(done) }()
	time.Sleep(time.Millisecond)
	r.Commit(&Header{}, logged(1).Items())
	if !<-woken {
		t.Error("the reader was not woken by a record")
	}
	r.Next(programs)
	go func() { woken <- r.Wait(done) }()
	close(done)
	if <-woken {
		t.Error("the reader found a record in an empty ring")
	}
}

// TestWaitForCommit: a reader that sleeps while a record is being written finds it, although its writer has not seen
// that the reader sleeps.
func TestWaitForCommit(t *testing.T) {
	r, _ := newRing(1 << 10)
	hdr := Header{Size: HeaderSize, Probe: 7}
	at, ok := r.reserve(uint64(hdr.Size))
	if !ok {
		t.Fatal("no room")
	}
	hdr.encode(r.data[at:])
	woken := make(chan bool)
	go func() { woken <- r.Wait(nil) }()
	for atomic.LoadUint64(r.sleep) == 0 {
		time.Sleep(time.Millisecond)
	}
	atomic.StoreUint64(&r.first[at/8], hdr.word())
	if !<-woken {
		t.Error("it was not woken")
	}
	if rec, ok := r.Next(programs); !ok || rec.Probe != 7 {
		t.Errorf("%+v, %v", rec, ok)
	}
}

// TestWords: records that were encoded as words are the same from the words and from the ring.
func TestWords(t *testing.T) {
	r, _ := newRing(1 << 10)
	item := logged(7).Items()
	hdr := Header{Size: uint32(HeaderSize + len(item)), Tid: 5, Time: 9}
	words := make([]uint64, hdr.Size/8)
	Encode(words, &hdr, item)
	r.PutWords(slices.Concat(words, words))
	want, ok := Decode(words, programs)
	if !ok || want.Tid != 5 || want.Items[0].Values[0].Int != 7 {
		t.Fatalf("%+v", want)
	}
	for range 2 {
		if got, ok := r.Next(programs); !ok || got.Header != want.Header || got.Items[0].String() != want.Items[0].String() {
			t.Errorf("%+v", got)
		}
	}
	if _, ok := Decode(words[:3], programs); ok {
		t.Error("a record cut short is decoded")
	}
}

// TestDestinations: a log is divided at its items, and each names where it goes.
func TestDestinations(t *testing.T) {
	h := logged(1)
	h.Begin(0, 0)
	h.Word(2)
	h.EndDeferred(ToObject, 640)
	h.Begin(0, 0)
	h.EndDeferred(Keep, 768)
	log := h.Items()
	item, log, to, ok := CutItem(log)
	if !ok || to != ToHost || len(item) != 16 || !IsEvent(programs, item) || !h.HasDeferred() {
		t.Fatalf("%v %v %v", item, to, ok)
	}
	item, log, to, ok = CutItem(log)
	if !ok || to != ToObject {
		t.Fatalf("%v %v %v", item, to, ok)
	}
	if item, object, ok := Detach(item); !ok || object != 640 || len(item) != 16 || item[0] != 16 {
		t.Errorf("%v of %d, %v", item, object, ok)
	}
	item, log, to, ok = CutItem(log)
	if object, is := TrailOf(item); !ok || to != Keep || !is || object != 768 {
		t.Errorf("%v %v of %d", item, to, object)
	}
	if _, _, _, ok := CutItem(log); ok {
		t.Error("there is an item behind the last one")
	}
}

// TestLogLimit: an item that does not fit leaves no trace, and the ones before it stay.
func TestLogLimit(t *testing.T) {
	var h Log
	h.Start(40)
	for n := range uint64(3) {
		h.Begin(0, 0)
		h.Word(n)
		if h.End() != (n < 2) {
			t.Errorf("item %d", n)
		}
	}
	if h.Used() != 32 || h.Left() != 8 || h.Limit() != 40 || !h.Failed() || h.Last() != 16 {
		t.Errorf("%d used, %d left, last at %d", h.Used(), h.Left(), h.Last())
	}
	if h.TakeBack(8) || !h.TakeBack(16) || h.Len() != 16 {
		t.Errorf("%d bytes after taking back", h.Len())
	}
	h.Discard()
	if h.HasItems() {
		t.Error("items are left")
	}
}

// TestPart: what a program has logged moves to another log, with the item that is open.
func TestPart(t *testing.T) {
	h := logged(1, 2)
	h.Begin(0, 0)
	h.Word(3)
	var p Part
	h.Save(&p)
	if h.Len() != 0 || !p.InItem || len(p.Items) != 32 || len(p.Item) != 16 {
		t.Fatalf("%+v", p)
	}
	var to Log
	to.Start(MaxLog)
	if !to.Restore(&p) || !to.End() || !slices.Equal(to.Items(), logged(1, 2, 3).Items()) {
		t.Errorf("%v", to.Items())
	}
	to.Reset()
	to.Start(MaxLog)
	if to.Restore(&Part{Items: make([]byte, 12)}) || to.Restore(&Part{Item: make([]byte, 8)}) {
		t.Error("half an item is taken")
	}
}

// TestSkipUnfinished: records of writers that have ended are skipped, with and without a size, and those around them
// are read.
func TestSkipUnfinished(t *testing.T) {
	words := make([]uint64, 512)
	mem := unsafe.Slice((*byte)(unsafe.Pointer(&words[0])), len(words)*8)
	var head, tail, sleep, lost uint64
	r := NewRing(mem, words, RingWords{Head: &head, Tail: &tail, Sleep: &sleep, Lost: &lost})
	commit := func() {
		t.Helper()
		if !r.Commit(&Header{Pid: 1}, make([]byte, 16)) {
			t.Fatal("no room")
		}
	}
	reserve := func(size, word uint64) {
		at, ok := r.reserve(size)
		if !ok {
			t.Fatal("no room")
		}
		words[at/8] = word
	}
	for round := range 40 {
		commit()
		reserve(72, 72)
		commit()
		reserve(64, 0)
		reserve(80, 80)
		commit()
		reserve(64, 0)
		got := 0
		read := func() {
			for _, ok := r.Next(nil); ok; _, ok = r.Next(nil) {
				got++
			}
		}
		if read(); got != 1 {
			t.Fatalf("round %d: %d records before the first that is unfinished", round, got)
		}
		if n := r.SkipUnfinished(); n != 2 {
			t.Errorf("round %d: %d skipped", round, n)
		}
		if read(); got != 3 || head != tail {
			t.Fatalf("round %d: %d records, %d bytes left", round, got, head-tail)
		}
	}
	if lost != 80 {
		t.Errorf("%d counted", lost)
	}
}
