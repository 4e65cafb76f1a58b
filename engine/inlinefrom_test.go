package engine

import (
	"fmt"
	"path/filepath"
	"testing"

	"gotap/engine/testenv"
	"gotap/runtime"
)

// TestInlineFrom: calls that count only if certain modules make them are the same without stops, also while such a
// module is opened and closed again and again.
func TestInlineFrom(t *testing.T) {
	testenv.Require(t, testenv.AMD64, testenv.Ptrace)
	const rounds = 30
	path := program(t, "callers.c", "-rdynamic")
	library := program(t, "callers.c", "-DLIBRARY", "-shared", "-fPIC")
	for _, engine := range []Engine{Step, Mixed, Inline} {
		t.Run(fmt.Sprint(engine), func(t *testing.T) {
			w := newWorld(t, Config{Engine: engine, Follow: FollowThreads})
			tg := w.launch(path, fmt.Sprint(rounds), library)
			left := w.counter()
			count := func(leave *runtime.Code, from ...string) *counter {
				entered := w.counter()
				w.probe("shared", Handlers{Enter: w.counts(entered), Leave: leave}, func(p *ProbeSpec) { p.From = from })
				return entered
			}
			theirs := count(w.counts(left), filepath.Base(library))
			own := count(nil, "a.out")
			both := count(nil, "a.out", filepath.Base(library))
			none := count(nil, "libc")
			w.run()
			want(t, "output", tg.output(), fmt.Sprintf("own %d theirs %d sum %d\n", 100*rounds, 70*rounds, rounds*(100*99/2*3+100*2+70*69/2*3+70*2)))
			want(t, "calls by the program", own.get(), 100*rounds)
			want(t, "calls by the library", theirs.get(), 70*rounds)
			want(t, "their ends", left.get(), 70*rounds)
			want(t, "calls by both", both.get(), 170*rounds)
			want(t, "calls by another library", none.get(), 0)
			if s := w.Stats(); engine == Inline && s.Hits > 170*rounds/4 {
				t.Errorf("%d of %d calls stopped the thread", s.Hits, 170*rounds)
			}
		})
	}
}
