package fold_test

import (
	"strings"
	"testing"

	"gotap/script"
	"gotap/script/output"
	"gotap/script/scripttest"
)

// What a function captures is constant, shared or folded in turn.
func TestMeanings(t *testing.T) {
	r := scripttest.New(t, `
const K = 3, settings = { low: 1, deep: { high: 10n } }; let total = 0; const hits = map("hits");
function twice(x) { return x * 2; }
probe("f", c => { total += twice(c.arg0) + K; hits.inc(settings.deep.high); });
end(() => { print(total, hits.get(10)); hits.clear(); });
`)
	scripttest.WantLines(t, r.Once(func() { r.Enter(0, 4); r.Enter(0, 5) }), "24 2")
}

// What cannot be used in a program says why, where the program uses it.
func TestUnusable(t *testing.T) {
	for text, want := range map[string]string{
		`let o = { a: 1 }; o = { a: 2 }; probe("f", c => { log(o.a); });`: "a variable that holds an object",
		`const list = [1]; probe("f", c => { log(list[0]); });`:           "an array",
		`const re = /x/; probe("f", c => { log(re); });`:                  "a RegExp",
	} {
		s, list := script.Load(script.Options{Name: "s.js", Text: text, Output: output.Discard})
		if s != nil || !strings.Contains(list.Error(), want) {
			t.Errorf("%s: %v", text, list)
		}
	}
}

// A var that holds a function is a constant; functions may call each other in a circle, as far as the compiler goes.
func TestFunctionInVar(t *testing.T) {
	r := scripttest.New(t, `var even = x => x & 1 ? 0 : 1, odd = function (x) { return even(x) ? 0 : 1; };
probe("f", c => log(even(c.arg0), odd(c.arg0)));`)
	scripttest.WantLines(t, r.Once(func() { r.Enter(0, 4) }), "1 0")
	s, list := script.Load(script.Options{Name: "s.js", Output: output.Discard,
		Text: `var a = x => b(x), b = x => a(x); probe("f", c => log(a(c.arg0)));`})
	if s != nil || !list.HasErrors() {
		t.Errorf("a circle of functions is compiled: %v", list)
	}
}
