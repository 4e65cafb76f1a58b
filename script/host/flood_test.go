package host_test

import (
	"fmt"
	goruntime "runtime"
	"testing"

	"gotap/script"
	"gotap/script/output"
	"gotap/script/scripttest"
)

// heapNow is what the heap holds once garbage is gone.
func heapNow() int64 {
	goruntime.GC()
	var m goruntime.MemStats
	goruntime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// TestFloodKeepsMemory: events that come faster than the callback can take them fill the ring and nothing else. Each of
// them is delivered or counted as lost, and the host's memory stays what it was.
func TestFloodKeepsMemory(t *testing.T) {
	r := scripttest.New(t, `
let seen = 0;
probe("f", { enter(c) { exit({ n: c.arg0, text: str(0x1000) }); }, exit(e) { seen++; for (let i = 0; i < 2000; i++); } });
end(() => console.log(seen));
`, func(o *script.Options) { o.HeapLimit = 64 << 20 })
	r.Start()
	const burst, bursts = 20_000, 5
	var heaps [bursts]int64
	for b := range bursts {
		for n := range uint64(burst) {
			r.Enter(0, n)
		}
		heaps[b] = heapNow()
	}
	var seen uint64
	if _, err := fmt.Sscan(r.Finish(), &seen); err != nil {
		t.Fatal(err)
	}
	lost := r.Arena.Lost()["ring full"]
	for _, n := range r.Script.Lost() { // what was left in the ring when the time to deliver it was over
		lost += n
	}
	if seen+lost != burst*bursts || lost == 0 || seen == 0 {
		t.Errorf("%d delivered and %d lost of %d", seen, lost, burst*bursts)
	}
	// The rig's ring is 64 KB; what is decoded and printed beside it is one record at a time.
	if grown := heaps[bursts-1] - heaps[0]; grown > 4<<20 {
		t.Errorf("the heap has grown by %d KB from the first burst to the last: %v", grown>>10, heaps)
	}
}

// TestFloodOfLines: lines go out as they come, and do not pile up in the host.
func TestFloodOfLines(t *testing.T) {
	r := scripttest.New(t, "probe(\"f\", c => log(`line ${c.arg0} ${str(0x1000)}`));", func(o *script.Options) { o.Output = output.Discard })
	r.Start()
	before := heapNow()
	for n := range uint64(100_000) {
		r.Enter(0, n)
	}
	if grown := heapNow() - before; grown > 4<<20 {
		t.Errorf("the heap has grown by %d KB", grown>>10)
	}
	r.Finish()
}
