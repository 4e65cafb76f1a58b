package console_test

import (
	"bytes"
	"testing"

	"gotap/script"
	"gotap/script/output"
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

// TestReportOfAHit: an event that an exit callback got is a record itself, with what the callback changed; or gives its
// thread and time to a record of other data.
func TestReportOfAHit(t *testing.T) {
	var data bytes.Buffer
	records := output.NewJSON(&data)
	r := scripttest.New(t, `probe("libc:malloc", {
  enter(c) { exit({ n: c.arg0, raw: bytes(0x1000, 3), inner: { a: 1 }, stack: c.stack(1) }); },
  exit(e) { e.n++; e.more = [e.raw]; report(e, "text"); report({ name: "other", event: e, data: { at: e.stack } }, "text"); } });`,
		func(o *script.Options) { o.Output = records })
	records.Ready()
	r.Once(func() { r.Enter(0, 7) })
	records.Flush()
	const thread, stack = `"time":12345,"pid":100,"tid":101,"comm":"prog"`, `["0x401136 func+0x36 (libx.so)"]`
	scripttest.WantLines(t, data.String(), `{"type":"ready","version":1}`,
		`{"type":"event","name":"libc:malloc",`+thread+`,"data":{"n":8,"raw":"hel","inner":{"a":1},"stack":`+stack+`,"more":["hel"]}}`,
		`{"type":"event","name":"other",`+thread+`,"data":{"at":`+stack+`}}`)
}
