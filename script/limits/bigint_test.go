package limits_test

import (
	"gotap/script/scripttest"
	"slices"
	"testing"
)

// A BigInt that would take the engine minutes to compute is refused; what the operators mean does not change otherwise.
func TestBigIntsAreBounded(t *testing.T) {
	r := scripttest.New(t, `
let n = 3n, o = { a: 2n };
for (const f of [() => 2n ** (2n ** 40n), () => 1n << 2n ** 40n, () => 1n >> -(2n ** 40n), () => { n <<= 2n ** 70n; }, () => { n **= 2n ** 70n; },
    () => { o.a **= 2n ** 30n; }, () => { o["a"] **= 2n ** 30n; }, () => BigInt.asIntN(2 ** 40, 1n)]) {
  try { f(); console.log("made"); } catch (e) { console.log(e.name); }
}
o.a **= 3n; n **= n;
console.log(o.a, n, 2n ** 70n, (-1n) ** 2n ** 70n, 0n ** 2n ** 70n, 1n << n, 5 ** n.toString().length, "3" ** "2", { valueOf: () => 2n } ** 10n);
for (const f of [() => 2n ** o.b, () => 2 ** n, () => null.x ** n, () => 2n ** -n]) {
  try { f(); console.log("made"); } catch (e) { console.log(e.name); }
}
`)
	want := slices.Repeat([]string{"RangeError"}, 8)
	want = append(want, "8 27 1180591620717411303424 1 0 134217728 25 9 1024", "TypeError", "TypeError", "TypeError", "RangeError")
	scripttest.WantLines(t, r.Once(func() {}), want...)
}
