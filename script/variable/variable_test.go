package variable_test

import (
	"gotap/script/scripttest"
	"testing"
)

func TestSharedBothWays(t *testing.T) {
	r := scripttest.New(t, `
let total = 0, name = "none", on = true, unused = [1];
const K = 40;
probe("work", {
  enter(c) { total += c.arg0; if (on) name = "seen"; if (c.arg0 > 5) exit({ total }); },
  exit(e) { console.log(e.total, total, name, on); total = 100; on = false; name = "host"; },
});
begin(() => { total++; ++total; total -= 1; total--; console.log(total, total++, ++total, total--); });
end(() => { total += 1n; console.log(total, name, on, typeof total); });
`)
	scripttest.WantLines(t, r.Once(func() {
		r.Enter(0, 1)
		r.Enter(0, 7)
		scripttest.Eventually(t, "the callback", func() bool { return len(r.Data.String()) > 12 })
		r.Enter(0, 3)
	}), "0 0 2 2", "9 9 seen true", "104 host false number")
}

func TestSharedTypeErrors(t *testing.T) {
	r := scripttest.New(t, `
let total = 0, name = "", on = false;
probe("work", c => { total++; name = "x"; on = true; });
const attempt = f => { try { f(); } catch (e) { console.log(e instanceof TypeError, e.message); } };
begin(() => {
  attempt(() => { total = 1.5; });
  attempt(() => { total = "x"; });
  attempt(() => { total += 0.5; });
  attempt(() => { name = 5; });
  attempt(() => { on = 1; });
  attempt(() => { total = 2n ** 70n; });
  total = 2n ** 64n - 1n;
  console.log(total, name, on);
  total = 2n ** 62n;
  console.log(total, typeof total);
});
`)
	scripttest.WantLines(t, r.Once(func() {}),
		"true cannot assign 1.5 to total: programs share it, and it holds integers",
		`true cannot assign "x" to total: programs share it, and it holds integers`,
		"true cannot add 0.5 to total: programs share it, and it holds integers",
		"true cannot assign 5 to name: programs share it, and it holds text",
		"true cannot assign 1 to on: programs share it, and it holds booleans",
		"true cannot assign 1180591620717411303424 to total: programs share it, and it holds integers",
		"-1  false", "4611686018427387904 bigint")
}

// Variables that only callbacks use are ordinary ones, and so are shared ones before a program that uses them is
// registered.
func TestOrdinaryVariables(t *testing.T) {
	r := scripttest.New(t, `
let a = 1, text = "a", list = [1], late, { x, y } = { x: 1, y: 2 };
var v = 5, w;
function bump() { a++; a += 1.5; text += "b"; list.push(a); late = { a }; ({ x, y } = { x: y, y: x }); [v, w] = [w, v]; }
bump();
for (a of [7, 8]) list.push(a);
for (let i = 0; i < 2; i++) { a = a + i; }
console.log(a, text, list, late, x, y, v, w, typeof a, { a, text });
class C { static n = a; get() { return text; } }
console.log(C.n, new C().get(), (() => { let a = "shadow"; return a; })());
`)
	scripttest.WantLines(t, r.Once(func() {}), `9 ab [1, 3.5, 7, 8] { a: 3.5 } 2 1 undefined 5 number { a: 9, text: "ab" }`, "9 ab shadow")
}

// A variable used before its declaration has run is an error of the script, as without rewriting.
func TestDeadZone(t *testing.T) {
	r := scripttest.New(t, `
const f = () => x;
try { f(); } catch (e) { console.log(e.name); }
let x = 5;
console.log(f());
`)
	scripttest.WantLines(t, r.Once(func() {}), "ReferenceError", "5")
}

func TestCaptures(t *testing.T) {
	r := scripttest.New(t, `
const BASE = 1000n, SCALE = 2, NAMES = { a: { b: "deep" }, add(x) { return x + BASE; } };
function watch(f, limit) { probe(f, c => { if (c.arg0 > limit) log(f, limit, c.arg0 * SCALE, NAMES.a.b, NAMES.add(1)); }); }
watch("one", 5);
watch("two", 50);
for (const n of [1, 2]) probe("n" + n, c => log(n));
for (let i = 0; i < 2; i++) probe("i" + i, c => log(i));
`)
	scripttest.WantLines(t, r.Once(func() {
		r.Enter(0, 10)
		r.Enter(1, 10)
		r.Enter(1, 60)
		for n := 2; n < 6; n++ {
			r.Enter(n)
		}
	}), "one 5 20 deep 1001", "two 50 120 deep 1001", "1", "2", "0", "1")
}

func TestBigConstants(t *testing.T) {
	r := scripttest.New(t, `
const A = 0xffff888012345678, B = 0x7fffffffffffffffn, C = -5, D = 1.5;
let mask = 0xfffffffffffffff0n;
probe("x", c => { log(A & 0xff, B, C, c.arg0 & mask); });
`)
	scripttest.WantLines(t, r.Once(func() { r.Enter(0, 0xff) }), "120 9223372036854775807 -5 240")
}

// A map that one probe reads before another, further down, stores text in it.
func TestMapOfTextReadFirst(t *testing.T) {
	r := scripttest.New(t, `
const m = map("m");
probe("reader", c => { if (m.has(c.arg0)) log(m.get(c.arg0)); });
probe("writer", c => { m.set(c.arg0, str(0x1000)); });
end(() => { console.log([...m], m.get(1)); m.clear(); });
`)
	scripttest.WantLines(t, r.Once(func() {
		r.Enter(0, 1)
		r.Enter(1, 1)
		r.Enter(0, 1)
	}), "hello", `[[1, "hello"]] hello`)
}

// A shared boolean is one in programs too: it prints as true or false, whatever a program stored.
func TestSharedBoolean(t *testing.T) {
	r := scripttest.New(t, "let on = false;\nprobe(\"work\", c => { log(on, !on, `${on}`, on ? 1 : 2, on === true); exit({ on }); });\n"+
		"probe(\"set\", c => { on = c.arg0; });\nend(() => console.log(on));")
	scripttest.WantLines(t, r.Once(func() {
		r.Enter(0)
		r.Enter(1, 5)
		r.Enter(0)
	}), "false true false 2 false", "work: on=false", "true false true 1 true", "work: on=true", "true")
}

// A full object does the same for callbacks as for programs: it drops and counts, or says so, but never both.
func TestFullInCallbacks(t *testing.T) {
	r := scripttest.New(t, `
const drops = map("drops", { keys: 1, max: 2 }), fails = count("fails", { keys: 1, max: 2, full: "error" });
begin(() => {
  for (let i = 0; i < 5; i++) { drops.set(i, i); drops.inc(i); }
  try { for (let i = 0; i < 5; i++) fails.at(i).inc(); } catch (e) { console.log(e.message); }
  console.log(drops.entries().length, fails.entries().length);
});
end(() => { drops.clear(); fails.clear(); });
probe("work", c => { fails.at(c.arg0).inc(); });
`)
	scripttest.WantLines(t, r.Once(func() { r.Enter(0, 7) }), "cannot add to count fails: it is full", "2 2")
	if lost := r.Arena.Lost(); len(lost) != 1 || lost["map drops full"] != 6 {
		t.Errorf("lost %v", lost)
	}
}

// Behind a whole key a callback may say by how much, as a program may.
func TestIncrementBy(t *testing.T) {
	r := scripttest.New(t, `
const one = map("one", { keys: 1 }), two = map("two"), attempt = f => { try { f(); } catch (e) { console.log(e.message); } };
probe("work", c => { one.inc("a", 5); two.set("k", 1, 10); });
end(() => {
  console.log(one.inc("a"), one.inc("a", 4), one.inc("b", -2n), two.inc("k", 1), two.inc("k", 1, 6));
  attempt(() => one.inc("a", 1.5));
  attempt(() => one.inc("a", 1, 2));
  console.log(JSON.stringify(one.entries()), JSON.stringify(two.entries()));
  one.clear(); two.clear();
});
`)
	scripttest.WantLines(t, r.Once(func() { r.Enter(0) }), "6 10 -2 11 17",
		"cannot add 1.5: this holds integers", "cannot add to map one: the key does not fit",
		`[["b",-2],["a",10]] [[["k",1],17]]`)
}

// A shared text that grew beyond its room shows that it was cut, on the host as in a program's own lines.
func TestCutSharedText(t *testing.T) {
	r := scripttest.New(t, `
let s = "";
probe("x", c => { s = s + "0123456789012345678901234567890123456789"; });
end(() => console.log(s.length, s.slice(-3)));
`)
	scripttest.WantLines(t, r.Once(func() {
		for range 7 {
			r.Enter(0)
		}
	}), "258 5..")
}
