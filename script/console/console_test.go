package console_test

import (
	"testing"

	"gotap/script/scripttest"
)

// Data goes to standard output, the rest to standard error; an integer conversion truncates a fraction.
func TestOutput(t *testing.T) {
	r := scripttest.New(t, `print("a", 1, { x: [2] }); console.error("wrong"); printf("%d %s %x\n", 5 / 2, "t", 255);
console.log(hex(-1n), hex(10, 4), abs(-5n), abs(-1.5)); print(hexdump("AB", 16));`)
	scripttest.WantLines(t, r.Once(func() {}), "a 1 { x: [2] }", "2 t ff", "0xffffffffffffffff 0x000a 5 1.5",
		"00000010  41 42                                             |AB|")
	r.WantErrors("^wrong\n")
}

// TestReport: a record has its text for people, and either can be left out; other values are refused.
func TestReport(t *testing.T) {
	r := scripttest.New(t, `report({ name: "t", columns: ["a"], rows: [[1]] }, "a table");
report({ name: "e", data: { x: 1 } }, "an event"); report({ name: "e", data: {} }); report(null, "text");
for (const f of [() => report(1, "x"), () => report({ name: "t", columns: ["a"] }, "x"), () => report({ name: "e" }, "x"), () => report({ name: "e", data: {} }, 1)])
  try { f(); print("taken"); } catch (e) { print("refused"); }`)
	scripttest.WantLines(t, r.Once(func() {}), "a table", "an event", "text", "refused", "refused", "refused", "refused")
}
