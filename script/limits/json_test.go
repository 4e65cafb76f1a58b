package limits_test

import (
	"gotap/script"
	"gotap/script/scripttest"
	"strings"
	"testing"
	"time"
)

// What built-ins would need too many levels of the stack for is an error at its place, however quickly the machine
// counts.
func TestTooDeep(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"stringify arrays":  {`let a = []; for (let i = 0; i < 100000; i++) a = [a]; JSON.stringify(a);`, "s.js:1:60: error: RangeError: the value is nested too deeply for JSON.stringify"},
		"stringify objects": {`let a = {}; for (let i = 0; i < 100000; i++) a = { a }; JSON.stringify(a, (k, v) => v);`, "too deeply for JSON.stringify"},
		"toJSON":            {`const a = { toJSON() { return [a]; } }; JSON.stringify(a);`, "too deeply for JSON.stringify"},
		"parse":             {`JSON.parse("[".repeat(3e6));`, "s.js:1:6: error: RangeError: the text is nested too deeply for JSON.parse"},
		"toString":          {`let a = []; for (let i = 0; i < 100000; i++) a = [a]; String(a);`, "RangeError: the values are nested too deeply for "},
		"arguments":         {`Math.max.apply(null, { length: 1e9 });`, "RangeError: apply would make something too large"},
		"reflected":         {`Reflect.construct(Array, { length: 1e9 });`, "RangeError: construct would make something too large"},
	} {
		s, list := script.Load(script.Options{Name: "s.js", Text: c.text, Deadline: scripttest.Patience})
		if s != nil || len(list) != 1 || !strings.Contains(list.Error(), c.want) {
			t.Errorf("%s: script %v, %v", name, s, list)
		}
	}
}

// Within the limits JSON is what it is elsewhere.
func TestJSONWithinLimits(t *testing.T) {
	r := scripttest.New(t, `
let a = []; for (let i = 0; i < 900; i++) a = [a];
console.log(JSON.parse(JSON.stringify(a)).length, JSON.stringify(a).length);
const shared = { x: 1 }, both = { a: shared, b: [shared, { c: shared }] };
console.log(JSON.stringify(both), JSON.stringify(both, ["a", "x"]), JSON.stringify({ a: 1, b: 2 }, (k, v) => k === "b" ? undefined : v));
console.log(JSON.stringify({ a: [1, undefined] }, null, 1).replace(/\n/g, "|"), JSON.stringify(undefined), JSON.stringify("[[["), JSON.stringify(5n));
console.log(JSON.stringify({ get a() { return this.n = (this.n ?? 0) + 1; } }), JSON.parse('["[\\"[", {"a": [1]}]', (k, v) => k === "a" ? 2 : v)[1].a);
const c = {}; c.c = c; try { JSON.stringify(c); } catch (e) { console.log(e.name); }
console.log(JSON.stringify.name, JSON.parse.name, Math.max.apply(null, [1, 2]), Reflect.apply(Math.max, null, [3]));
`)
	scripttest.WantLines(t, r.Once(func() {}), "1 1802", `{"a":{"x":1},"b":[{"x":1},{"c":{"x":1}}]} {"a":{"x":1}} {"a":1}`, `{| "a": [|  1,|  null| ]|} undefined "[[[" "5"`,
		`{"a":1} 2`, "TypeError", "stringify parse 2 3")
}

// JSON.stringify is ended by the watchdog however much there is to write.
func TestStringifyInterrupted(t *testing.T) {
	text := `const a = new Proxy([], { get(a, k) { return k === "length" ? 2 ** 31 : 1; } }); JSON.stringify(a);`
	s, list := script.Load(script.Options{Name: "s.js", Text: text, Deadline: 20 * time.Millisecond})
	if s != nil || !strings.Contains(list.Error(), "s.js:1:") || !strings.Contains(list.Error(), "the script was ended") {
		t.Errorf("script %v, %v", s, list)
	}
}
