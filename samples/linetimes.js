// linetimes: how often does each source line of a range run, and how long until the next line of the range?
// topic: functions
//
//   gotap run linetimes prog.c:10-30 -- ./prog
//   gotap run linetimes --arg file=prog.c --arg from=10 --arg to=30 -- ./prog
//
// Needs debug information. The time of a line ends when the same thread reaches the next line of the range, so it includes calls.
// After the last line of a function this is the time until the next call: times above `longest` do not count.
//
//   $ gotap run linetimes --arg file=shop.c --arg from=12 --arg to=30 -- ./shop
//   line  runs  time
//     12     2  1.84 us
//     13     2  90.2 us
//     16     2  106 us
//     18     2  137 us
//     19     2  92.4 us
//   …

import { show } from "gotap/table";
import { duration } from "gotap/time";

const named = option("file", "main.c", "the source file, as the debug information names it; with a range of lines: prog.c:10-30");
const [, file, first, last] = /^(.*?)(?::(\d+)(?:-(\d+))?)?$/.exec(named) ?? [];
const from = Number(first ?? option("from", 1, "first line"));
const to = Number(last ?? first ?? option("to", 50, "last line"));
const longest = option("longest", 1000, "milliseconds: a longer time is one outside, and does not count") * 1000000;
const runs = count("runs", { keys: 1 }), time = sum("time", { keys: 1 });
const at = perThread(0), line = perThread(0);

if (to - from > 500) throw new Error("at most 500 lines at a time");
const probes = [];
for (let n = from; n <= to; n++) {
  const here = n;
  probes.push(probe(`@${file}:${here}`, {
    enter(c) {
      if (line.value !== 0 && c.time - at.value < longest) time.at(line.value).add(c.time - at.value);
      runs.at(here).inc();
      line.value = here;
      at.value = c.time;
    },
    optional: true,
  }));
}

end(() => {
  const spent = new Map(time.take());
  const rows = runs.take().sort((a, b) => Number(a[0]) - Number(b[0]));
  if (rows.length === 0) console.error(`linetimes: no line ${from} to ${to} of ${file} ran; it needs debug information (gcc -g) that names the file so`);
  else show("lines", ["line", "runs", ["time", duration]], rows.map(([n, k]) => [n, k, spent.get(n) ?? 0]));
});
