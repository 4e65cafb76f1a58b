// coverage: which functions, or which lines of a file, have run?
// topic: functions
// Go: f=main.* !file
//
//   gotap run coverage -- ./prog                             the program's own functions
//   gotap run coverage 'libc:*time*' -- ls -l
//   gotap run coverage --arg file=prog.c --arg from=1 --arg to=80 -- ./prog
//
// The probe of a line is removed at its first hit; a function is recorded at its first call. lcov=1 writes lines as a tracefile
// for genhtml. The list has only what ran: `gotap list './prog:*'` lists all functions.
//
//   $ gotap run coverage --arg file=shop.c --arg from=12 --arg to=30 -- ./shop
//   shop.c: 15 lines ran: 12-13 16 18-24 26-30

import { chosen } from "gotap/module";

const place = option("f", "", "functions: globs, separated by commas; none: those of the main program, in Go of its package main");
const file = option("file", "", "a source file: its lines are looked at, not functions");
const from = option("from", 1, "first line");
const to = option("to", 100, "last line");
const lcov = option("lcov", false, "lines as an lcov tracefile");
const ran = map("ran", { keys: 1, max: 65536 });

if (file === "") {
  const { specs, not } = chosen(place);
  probe(specs, { enter(c) { if (!ran.has(c.func)) ran.set(c.func, 1); }, not });
} else {
  if (to - from > 2000) throw new Error("at most 2000 lines at a time");
  for (let n = from; n <= to; n++) {
    const line = n;
    probe(`@${file}:${line}`, { enter(c) { ran.set(line, 1); }, limit: 1, optional: true });
  }
}

end(() => {
  const all = ran.take().map(entry => entry[0]);
  if (file === "") {
    const texts = [...all.sort(), `${all.length} function${all.length === 1 ? "" : "s"} ran`];
    report({ name: "functions", columns: ["function"], rows: all.map(func => [func]) }, texts.join("\n"));
    return;
  }
  const lines = all.map(Number).sort((a, b) => a - b);
  const text = lcov ? [`SF:${file}`, ...lines.map(n => `DA:${n},1`), "end_of_record"].join("\n") : `${file}: ${lines.length} lines ran: ${ranges(lines)}`;
  report({ name: "lines", columns: ["file", "line"], rows: lines.map(n => [file, n]) }, text);
});

// ranges formats 1 2 3 7 as "1-3 7".
function ranges(lines) {
  const parts = [];
  for (let k = 0; k < lines.length; k++) {
    const first = lines[k];
    while (lines[k + 1] === lines[k] + 1) k++;
    parts.push(first === lines[k] ? String(first) : `${first}-${lines[k]}`);
  }
  return parts.join(" ");
}
