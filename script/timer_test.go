package script

import (
	"strings"
	"testing"
)

func TestTimers(t *testing.T) {
	r := newRig(t, `
let ticks = 0, once = 0, thrown = 0;
const came = () => { if (ticks === 3 && once > 0 && thrown > 1) console.log("enough"); };
const t = every(1, () => { once++; t.stop(); });
every("10ms", () => { thrown++; throw new Error("tick"); });
every("5ms", () => { if (ticks < 2 || once > 0 && thrown > 1) ticks++; came(); });
end(() => console.log(ticks > 2, once));
`)
	r.start()
	eventually(t, "the ticks", func() bool { return strings.Contains(r.data.String(), "enough") })
	wantLines(t, r.finish(), "enough", "true 1")
	r.wantErrors(`error: tick\n`, `tick \(\d+ times in all\)`)
}

// A timer that was stopped is forgotten, and the others keep their numbers.
func TestStoppedTimersAreForgotten(t *testing.T) {
	r := newRig(t, `
every("1h", () => {});
for (let i = 0; i < 1000; i++) every("1h", () => {}).stop();
every("1h", () => console.log("the last"));
`)
	if n := len(r.s.timers); n != 2 {
		t.Errorf("%d timers are kept", n)
	}
	wantLines(t, r.once(func() {
		for nth := range 1100 {
			r.s.PlayTimer(nth)
		}
	}), "the last")
	if last := r.s.timers[1].nth; last != 1001 {
		t.Errorf("the last timer is number %d", last)
	}
}

// Timers as people who come from browsers and Node write them.
func TestTimersOfOtherHosts(t *testing.T) {
	r := newRig(t, `
let once = 0, never = 0, chained = 0;
setTimeout((a, b) => { once += a + b; }, 1, 40, 2);
const gone = setTimeout(() => never++, "2ms");
clearTimeout(gone);
clearTimeout();
function again() { if (++chained < 200) setTimeout(again); }
setTimeout(again, -1);
let ticks = 0;
const t = setInterval(n => { if (++ticks === 3) clearInterval(t); }, 1, "n");
every(5, () => { if (chained === 200 && ticks >= 3 && once) console.log("enough"); });
end(() => console.log(once, never, chained, ticks));
`)
	r.start()
	eventually(t, "the ticks", func() bool { return strings.Contains(r.data.String(), "enough") })
	if text := r.finish(); !strings.HasSuffix(text, "42 0 200 3\n") {
		t.Errorf("%q", text)
	}
	if n := len(r.s.timers); n > 10 {
		t.Errorf("%d timers are kept", n)
	}
}
