// argdist: how is an argument, or the result, of a function distributed?
// topic: functions
// Go: f=main.*
//
//   gotap run argdist -- ./prog                              first arguments of the program's own functions
//   gotap run argdist libc:write --arg n=2 -- ls -lR /usr/share/doc
//   gotap run argdist libc:getenv --arg type=text -- ls
//   gotap run argdist libc:read --arg n=ret -p PID
//
// Numbers make a histogram (floats without their fraction). type=value counts each value, type=text each text that the argument points to.
//
//   $ gotap run argdist --arg f=libc:write --arg n=2 -- ls -l /usr/bin
//   @libc:write argument 2:
//   [2K, 4K)               1 |@@                                                  |
//   [4K, 8K)              19 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|

import { int } from "gotap/structs";
import { chosen } from "gotap/module";

const place = option("f", "", "the functions, separated by commas; none: those of the main program, in Go of its package main");
const which = option("n", "0", "which argument, 0 to 5, or ret");
const type = option("type", "hist", "hist, value, int (as value, of 32 bits) or text");
const what = `${place || "all functions"} ${which === "ret" ? "result" : "argument " + which}`;

const pick = { 0: c => c.arg0, 1: c => c.arg1, 2: c => c.arg2, 3: c => c.arg3, 4: c => c.arg4, 5: c => c.arg5, ret: c => c.ret }[which];
if (!pick) throw new Error(`n is 0 to 5 or ret, not ${which}`);

/** @type {(c: any) => void} */
let note;
if (type === "hist") {
  const values = hist(what);
  note = c => values.add(trunc(pick(c)));
} else if (type === "value") {
  const values = count(what, { keys: 1, full: "evict" });
  note = c => values.at(trunc(pick(c))).inc();
} else if (type === "int") {
  const values = count(what, { keys: 1, full: "evict" });
  note = c => values.at(int(trunc(pick(c)))).inc();
} else if (type === "text") {
  const values = count(what, { keys: 1, full: "evict" });
  note = c => values.at(str(pick(c), 64)).inc();
} else {
  throw new Error(`type is hist, value, int or text, not ${type}`);
}
const program = note;
const { specs, not } = chosen(place);
const calls = probe(specs, which === "ret" ? { leave(c) { program(c); }, not } : { enter(c) { program(c); }, not });
end(() => { if (calls.hits === 0) console.error(`argdist: ${place ? `${place} was not called` : "no function was called"}`); });
