package script

import (
	"strings"
	"testing"
)

// A variable keeps its value when programs stop to use it, when nothing changes it any more, and when programs begin to use it.
func TestValuesAreKeptAcrossSharing(t *testing.T) {
	text := `
let number = 1, word = "a", flag = false, part = 1;
PROBE
end(() => console.log(number, word, flag, part));
`
	version := func(old *rig, probe string) *rig {
		return newRigOn(t, old.arena, strings.Replace(text, "PROBE", probe, 1), func(o *Options) { o.Previous, o.Keep = old.s, true })
	}
	counts := `probe("work", c => { number += c.arg0; word = word + "b"; flag = true; });`
	first := newRig(t, strings.Replace(text, "PROBE", counts, 1), func(o *Options) { o.Keep = true })
	first.start()
	first.enter(0, 5)
	first.s.Pause()
	tells := version(first, `probe("other", c => {});`)
	tells.s.Plan(first.s)
	tells.s.TakeOver(first.s)
	tells.start()
	tells.s.Pause()
	callbacks := version(tells, `probe("x", { enter(c) { exit({}); }, exit() { number += 100; part = 0.5; console.log("seen"); } });`)
	callbacks.s.Plan(tells.s)
	callbacks.s.TakeOver(tells.s)
	callbacks.start()
	callbacks.enter(0)
	eventually(t, "the callback", func() bool { return strings.Contains(callbacks.data.String(), "seen") })
	callbacks.s.Pause()
	last := version(callbacks, `probe("work", c => { number += c.arg0; if (!flag) word = ""; part += 2; });`)
	last.s.Plan(callbacks.s)
	last.enter(0, 0) // before the values are handed over
	last.s.TakeOver(callbacks.s)
	wantLines(t, last.once(func() { last.enter(0, 7) }), "113 ab true 5")
}

// A variable that nothing changes is a setting: editing it counts, and leaving it alone leaves its probe alone.
func TestSettingsAreEdited(t *testing.T) {
	text := `let limit = 3, seen = 0; probe("work", c => { if (c.arg0 < limit) seen++; }); end(() => console.log(limit, seen));`
	old := newRig(t, text, func(o *Options) { o.Keep = true })
	old.start()
	old.enter(0, 2)
	old.enter(0, 4)
	old.s.Pause()
	follow := func(text string) *rig {
		return newRigOn(t, old.arena, text, func(o *Options) { o.Previous, o.Keep = old.s, true })
	}
	if keep, _, _ := follow(text + "// the same").s.Plan(old.s); len(keep) != 1 {
		t.Errorf("%d probes stay, not 1", len(keep))
	}
	edited := follow(strings.Replace(text, "limit = 3", "limit = 5", 1))
	edited.s.Plan(old.s)
	edited.s.TakeOver(old.s)
	wantLines(t, edited.once(func() { edited.enter(0, 4) }), "5 2")
}
