package script_test

import (
	"gotap/script"
	"gotap/script/scripttest"
	"strings"
	"testing"
)

// A variable keeps its value when programs stop to use it, when nothing changes it any more, and when programs begin to
// use it.
func TestValuesAreKeptAcrossSharing(t *testing.T) {
	text := `
let number = 1, word = "a", flag = false, part = 1;
PROBE
end(() => console.log(number, word, flag, part));
`
	version := func(old *scripttest.Rig, probe string) *scripttest.Rig {
		return scripttest.NewOn(t, old.Arena, strings.Replace(text, "PROBE", probe, 1), func(o *script.Options) { o.Previous, o.Keep = old.Script, true })
	}
	counts := `probe("work", c => { number += c.arg0; word = word + "b"; flag = true; });`
	first := scripttest.New(t, strings.Replace(text, "PROBE", counts, 1), func(o *script.Options) { o.Keep = true })
	first.Start()
	first.Enter(0, 5)
	first.Script.Pause()
	tells := version(first, `probe("other", c => {});`)
	tells.Script.Plan(first.Script)
	tells.Script.TakeOver(first.Script)
	tells.Start()
	tells.Script.Pause()
	callbacks := version(tells, `probe("x", { enter(c) { exit({}); }, exit() { number += 100; part = 0.5; console.log("seen"); } });`)
	callbacks.Script.Plan(tells.Script)
	callbacks.Script.TakeOver(tells.Script)
	callbacks.Start()
	callbacks.Enter(0)
	scripttest.Eventually(t, "the callback", func() bool { return strings.Contains(callbacks.Data.String(), "seen") })
	callbacks.Script.Pause()
	last := version(callbacks, `probe("work", c => { number += c.arg0; if (!flag) word = ""; part += 2; });`)
	last.Script.Plan(callbacks.Script)
	last.Enter(0, 0) // before the values are handed over
	last.Script.TakeOver(callbacks.Script)
	scripttest.WantLines(t, last.Once(func() { last.Enter(0, 7) }), "113 ab true 5")
}

// A variable that nothing changes is a scripttest.Setting: editing it counts, and leaving it alone leaves its probe
// alone.
func TestSettingsAreEdited(t *testing.T) {
	text := `let limit = 3, seen = 0; probe("work", c => { if (c.arg0 < limit) seen++; }); end(() => console.log(limit, seen));`
	old := scripttest.New(t, text, func(o *script.Options) { o.Keep = true })
	old.Start()
	old.Enter(0, 2)
	old.Enter(0, 4)
	old.Script.Pause()
	follow := func(text string) *scripttest.Rig {
		return scripttest.NewOn(t, old.Arena, text, func(o *script.Options) { o.Previous, o.Keep = old.Script, true })
	}
	if keep, _, _ := follow(text + "// the same").Script.Plan(old.Script); len(keep) != 1 {
		t.Errorf("%d probes stay, not 1", len(keep))
	}
	edited := follow(strings.Replace(text, "limit = 3", "limit = 5", 1))
	edited.Script.Plan(old.Script)
	edited.Script.TakeOver(old.Script)
	scripttest.WantLines(t, edited.Once(func() { edited.Enter(0, 4) }), "5 2")
}
