package timer_test

import (
	"gotap/script/scripttest"
	"strings"
	"testing"
)

func TestTimers(t *testing.T) {
	r := scripttest.New(t, `
let ticks = 0, once = 0, thrown = 0;
const came = () => { if (ticks === 3 && once > 0 && thrown > 1) console.log("enough"); };
const t = every(1, () => { once++; t.stop(); });
every("10ms", () => { thrown++; throw new Error("tick"); });
every("5ms", () => { if (ticks < 2 || once > 0 && thrown > 1) ticks++; came(); });
end(() => console.log(ticks > 2, once));
`)
	r.Start()
	scripttest.Eventually(t, "the ticks", func() bool { return strings.Contains(r.Data.String(), "enough") })
	scripttest.WantLines(t, r.Finish(), "enough", "true 1")
	r.WantErrors(`error: tick\n`, `tick \(\d+ times in all\)`)
}

// A timer that was stopped is forgotten, and the others keep their numbers.
func TestStoppedTimersAreForgotten(t *testing.T) {
	r := scripttest.New(t, `
every("1h", () => {});
for (let i = 0; i < 1000; i++) every("1h", () => {}).stop();
every("1h", () => console.log("the last"));
`)
	scripttest.WantLines(t, r.Once(func() {
		for nth := range 1100 {
			r.Script.PlayTimer(nth)
		}
	}), "the last")
}

// Timers as people who come from browsers and Node write them.
func TestTimersOfOtherHosts(t *testing.T) {
	r := scripttest.New(t, `
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
	r.Start()
	scripttest.Eventually(t, "the ticks", func() bool { return strings.Contains(r.Data.String(), "enough") })
	if text := r.Finish(); !strings.HasSuffix(text, "42 0 200 3\n") {
		t.Errorf("%q", text)
	}
}
