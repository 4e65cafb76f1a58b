package gate

import (
	"slices"
	"sync"
	"testing"
	"time"
)

// never is a clock that nobody should ask.
func never() int64 { panic("the clock is asked without a rate") }

// TestAdmit: of a hundred hits those pass that after, every and limit leave, by counting them one by one.
func TestAdmit(t *testing.T) {
	for after := range uint64(4) {
		for every := range uint64(4) {
			for limit := range uint64(4) {
				g := New(nil, 7, Limits{After: after, Every: every, Limit: limit}, never)
				var got, want []int
				for hit := 1; hit <= 100; hit++ {
					if due := uint64(hit) - after; uint64(hit) > after && due%max(every, 1) == 0 && (limit == 0 || uint64(len(want)) < limit) {
						want = append(want, hit)
					}
					ok, last := g.Admit()
					if ok {
						got = append(got, hit)
					}
					if ok && last != (uint64(len(got)) == limit) {
						t.Fatalf("after %d every %d limit %d: hit %d is the last: %v", after, every, limit, hit, last)
					}
				}
				if !slices.Equal(got, want) || g.Hits() != uint64(len(want)) || g.Seen() != 100 || g.Offset() != 0 {
					t.Errorf("after %d every %d limit %d: %v, not %v; %d hits", after, every, limit, got, want, g.Hits())
				}
			}
		}
	}
}

// TestRate: the first hits of a second pass, which begins with the first hit behind the one before.
func TestRate(t *testing.T) {
	g := New(nil, 0, Limits{Rate: 2}, nil)
	for _, c := range []struct {
		at   time.Duration
		want bool
	}{
		{0, true}, {1, true}, {2, false}, {time.Second - 1, false},
		{time.Second, true}, {time.Second + 5, true}, {2*time.Second - 1, false},
		{5 * time.Second, true}, {6*time.Second - 1, true}, {6*time.Second - 1, false}, {6 * time.Second, true},
	} {
		if got := g.inRate(2, int64(c.at)+12345); got != c.want {
			t.Errorf("a hit after %v: %v, not %v", c.at, got, c.want)
		}
	}
	now := int64(1)
	g = New(nil, 0, Limits{Rate: 1, After: 2}, func() int64 { return now })
	for range 6 {
		g.Admit()
	}
	if g.Hits() != 1 || g.RateLimited() != 3 {
		t.Errorf("%d hits and %d beyond the rate are not the 4 after the first 2", g.Hits(), g.RateLimited())
	}
}

// TestRenew: a gate that was renewed lets as many hits pass as the first time, and one whose limit is not reached none
// more.
func TestRenew(t *testing.T) {
	g := New(nil, 0, Limits{Limit: 2}, never)
	for round := range 4 {
		g.Renew()
		g.Admit()
		g.Renew() // not reached: nothing changes
		g.Admit()
		if ok, _ := g.Admit(); ok || g.Hits() != uint64(2*round+2) {
			t.Errorf("round %d: %d hits", round, g.Hits())
		}
	}
	if !g.Count() || g.Hits() != 9 {
		t.Error("what began before the limit is not counted")
	}
}

// TestWords: what another executor writes to the words is what is read.
func TestWords(t *testing.T) {
	words := make([]uint64, Words)
	g := New(words, 4096, Limits{After: 1, Every: 2, Rate: 3, Limit: 4}, never)
	if !slices.Equal(words[:4], []uint64{1, 2, 3, 4}) || g.Offset() != 4096 {
		t.Errorf("the limits lie as %v", words[:4])
	}
	for i := range words {
		words[i] = uint64(100 + i)
	}
	got := []uint64{g.Seen(), g.Rejected(), g.Hits(), g.RateLimited(), g.Missed(), g.TooDeep()}
	if !slices.Equal(got, []uint64{104, 105, 106, 107, 108, 109}) {
		t.Errorf("the counters read %v", got)
	}
	g.Reject()
	g.Miss()
	g.MissDeep()
	if g.Rejected() != 106 || g.Missed() != 109 || g.TooDeep() != 110 {
		t.Error("a counter did not count")
	}
}

// TestWithoutLimits: a gate without limits has seen as many hits as it has, wherever they are counted.
func TestWithoutLimits(t *testing.T) {
	words := make([]uint64, Words)
	g := New(words, 64, Limits{}, never)
	g.Admit()
	words[HitsOffset/8]++
	if g.Seen() != 2 || g.Hits() != 2 || words[SeenOffset/8] != 0 || g.Limits() != (Limits{}) {
		t.Errorf("%d seen, %d hits", g.Seen(), g.Hits())
	}
	if l := (Limits{After: 1, Every: 2, Rate: 3, Limit: 4}); New(nil, 0, l, never).Limits() != l {
		t.Error("the limits are not those given")
	}
}

// TestThreads: limit is exact however many threads hit at once.
func TestThreads(t *testing.T) {
	for range 50 {
		g := New(nil, 0, Limits{After: 10, Limit: 100}, never)
		var wg sync.WaitGroup
		var mu sync.Mutex
		passed, lasts := 0, 0
		for range 8 {
			wg.Go(func() {
				for range 100 {
					if ok, last := g.Admit(); ok {
						mu.Lock()
						passed++
						if last {
							lasts++
						}
						mu.Unlock()
					}
				}
			})
		}
		wg.Wait()
		if passed != 100 || lasts != 1 || g.Hits() != 100 || g.Seen() != 800 {
			t.Fatalf("%d of %d passed, %d of them the last; %d hits", passed, g.Seen(), lasts, g.Hits())
		}
	}
}

func BenchmarkAdmit(b *testing.B) {
	g := New(nil, 0, Limits{}, never)
	for b.Loop() {
		g.Admit()
	}
}
