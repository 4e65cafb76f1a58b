// dashboard: the busiest functions, again and again, on the whole terminal.
// topic: the whole process
//
//   gotap run dashboard --arg f='libc:*' -p PID
//   gotap run dashboard --arg f='syscall:*' --arg interval=500 -- ./prog
//
// If the output is not a terminal, it is not cleared: the tables follow each other.
//
//   $ gotap run dashboard --arg f=syscall:* --arg top=4 -- ls -lR /usr/share/doc/bash
//   58.3 ms: 20 functions called
//   function    calls  rate   time
//   mmap           13  223/s  3.74 ms  @@@@@@@@@@@@@@@@@@@@
//   openat         40  687/s  618 us   @@@
//   close          27  463/s  358 us   @@
//   newfstatat     27  463/s  334 us   @@
//   … and 16 more

import { show, bar } from "gotap/table";
import { rate, duration } from "gotap/time";
import { places } from "gotap/module";

const functions = option("f", "syscall:*", "functions, separated by commas");
const interval = option("interval", 1000, "milliseconds");
const top = option("top", 15, "how many functions");
const calls = stats("calls", { keys: 1 });
const started = now();
let last = started;

probe(places(functions), { leave(c) { calls.at(c.func).add(c.elapsed); } });

every(interval, frame);
end(frame);

function frame() {
  const at = now(), span = at - last;
  last = at;
  const all = calls.take().sort((a, b) => Number(b[1].total) - Number(a[1].total));
  const most = all.length > 0 ? Number(all[0][1].total) : 0;
  const rows = all.map(([func, s]) => [func, s.count, Number(s.count) * 1e9 / Math.max(1, span), s.total, Number(s.total)]);
  const width = columns() > 0 && columns() < 60 ? 8 : 20; // of a bar: one that is cut would say nothing
  const clear = columns() > 0 ? "\x1b[H\x1b[2J" : "";
  report(null, `${clear}${duration(at - started)}: ${all.length} functions called`); // a title for people
  if (rows.length > 0) show("calls", ["function", "calls", ["rate", n => rate(n, 1e9)], ["time", duration], ["share", n => bar(n, most, width)]], rows, { top });
}
