package clock

import (
	"testing"
	"time"

	"gotap/runtime/arena"
)

// TestTime: the clock follows CLOCK_MONOTONIC, and neither an update nor anything else makes it go back.
func TestTime(t *testing.T) {
	a, err := arena.New(arena.Options{Size: 16 << 20})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	c, err := New(a)
	if why := steady(); why != "" { // then there is no clock, which says the same
		if err == nil || err.Error() != why {
			t.Fatalf("a clock without a steady counter: %v, not %s", err, why)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	last := uint64(0)
	for range 200 {
		for range 1000 {
			if now := c.Now(); now < last {
				t.Fatalf("%d after %d", now, last)
			} else {
				last = now
			}
		}
		c.Update()
		s := take()
		// 5 ms are enough for a rate that is right to some parts in a hundred thousand. A slow machine makes samples
		// worse.
		if off := int64(c.line.at(s.counter) - s.nanos); off < -int64(time.Millisecond) || off > int64(time.Millisecond) {
			t.Fatalf("%d ns off the kernel's clock", off)
		}
	}
}

// TestLines: an index selects a whole line, and the bank in use is not written by the next update.
func TestLines(t *testing.T) {
	a, err := arena.New(arena.Options{Size: 16 << 20})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	off, words, ok := a.Reserve(size)
	if !ok {
		t.Fatal("no memory")
	}
	c := &Clock{off: off, words: words}
	for i := range uint64(3 * Lines) {
		want := line{rate: 1<<32 + i, counter: i<<30 + 1<<21, nanos: i << 30}
		before := words[0]
		kept := [4]uint64(words[(Banks+before*BankSize)/8:])
		c.publish(want)
		if words[0] == before || kept != [4]uint64(words[(Banks+before*BankSize)/8:]) {
			t.Fatalf("update %d wrote the bank in use", i)
		}
		bank := words[(Banks+words[0]*BankSize)/8:]
		read := line{bank[RateAt/8], bank[CounterAt/8], bank[NanosAt/8]}
		for _, at := range []uint64{want.counter, want.counter + 1<<33, want.counter + 1<<40} {
			if got, wanted := read.at(at), want.at(at); got+1 < wanted || got > wanted+1 { // rounded twice
				t.Fatalf("line %d shows %d at %d, want %d", i, got, at, wanted)
			}
		}
	}
}
