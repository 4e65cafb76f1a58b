package script

import (
	"errors"
	"strings"
	"testing"
	"time"
)

// What takes memory faster than garbage is collected is ended without waiting for the collection: it may have to wait for the script.
func TestMemoryBeforeCollection(t *testing.T) {
	const limit = 1 << 20
	interrupted, collection, collecting := make(chan error, 1), make(chan bool), make(chan bool, 1)
	w := newWatchdog(time.Hour, limit)
	w.interrupt, w.clear = func(reason error) { interrupted <- reason }, func() {}
	size := w.base + limit + 1
	w.memory = func() (uint64, uint64) { return size, 0 }
	w.collect = func() { collecting <- true; <-collection }
	defer close(collection)
	w.begin(false)
	w.look()
	<-collecting
	select {
	case reason := <-interrupted:
		t.Fatalf("ended before the collection told whether it is garbage: %v", reason)
	default:
	}
	size = w.base + garbageFactor*limit + 1
	w.look()
	if reason := <-interrupted; !errors.As(reason, new(errHeap)) {
		t.Errorf("ended because %v", reason)
	}
}

// A script that takes all memory while it is loaded has no callbacks yet that would not run.
func TestMemoryOfTopLevel(t *testing.T) {
	s, list := Load(Options{Name: "s.js", Text: `const all = []; for (;;) all.push("x".repeat(1e5) + all.length);`, HeapLimit: 32 << 20, Deadline: patience})
	if s != nil || !strings.Contains(list.Error(), "error: the script uses more than 32 MB of memory: it was ended\n") {
		t.Errorf("script %v, %v", s, list)
	}
}

// A callback that goes on after others have run within it, or none of them for so long that nobody looks any more, is looked at again.
func TestWatchAfterOthersWithin(t *testing.T) {
	w := newWatchdog(time.Hour, 1<<20)
	w.interrupt, w.clear = func(error) {}, func() {}
	w.begin(false)
	<-w.wake // the goroutine, which is not there
	inside, resume := w.within()
	if !inside || !w.sleep() {
		t.Fatalf("inside is %v, and looking goes on while no callback runs", inside)
	}
	resume()
	select {
	case <-w.wake:
	default:
		t.Error("nobody looks at the callback that goes on")
	}
	if w.end(); !w.sleep() {
		t.Error("looking goes on when the callback has ended")
	}
}

// Loops that do nothing at all are ended as well, and it is they that are named.
func TestEndlessEmptyLoop(t *testing.T) {
	for _, loop := range []string{"for (;;);", "for (;;) {}", "while (true) { ; }", "do {} while (true)", "on: for (;;) continue", "(() => { for (let i = 0; ; ) { { continue; } } })()"} {
		s, list := Load(Options{Name: "s.js", Text: "\nlet a = Math.abs(1);\n\n" + loop + "\nconsole.log(a);\n", Deadline: 60 * time.Millisecond})
		if s != nil || len(list) != 1 || !strings.Contains(list[0].String(), "s.js:4:") {
			t.Errorf("%s: script %v, %v", loop, s, list)
		}
	}
}
