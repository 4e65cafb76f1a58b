// funccount: how often is each function of a glob, or of several, called?
// topic: functions
//
//   gotap run funccount 'libc:str*' -- ls -l /usr/bin
//   gotap run funccount 'main.*' -T 5s -p PID
//
// A function that was never called is not in the list.
//
//   $ gotap run funccount --arg f=libc:str* --arg top=5 -- ls -l /usr/bin
//        30668  strlen
//        13469  strcmp
//        10746  strcoll
//        10746  strcoll_l
//         3702  strchrnul
//   … and 14 more functions

import { ordered } from "gotap/table";
import { chosen, places } from "gotap/module";
import { distinct } from "gotap/names";
import { picked } from "gotap/latency";

const place = option("f", "libc:mem*", "functions: globs, separated by commas");
const without = option("not", "", "functions to leave out, separated by commas");
const from = option("from", "", "only calls that these modules make, separated by commas");
const slower = option("slower", 0, "only calls of so many nanoseconds or more");
const failed = option("failed", false, "only calls that fail: a negative int, NULL, or an error of Go");
const top = option("top", 25, "how many to print");
const calls = count("calls", { keys: 1 });

const { specs, not } = chosen(place, without), options = { not, from: places(from) };
if (slower === 0 && !failed) {
  probe(specs, { enter(c) { calls.at(c.func).inc(); }, ...options });
} else {
  const wanted = picked({ slower, failed });
  probe(specs, { leave(c) { if (wanted(c)) calls.at(c.func).inc(); }, ...options });
}

end(() => {
  const all = ordered(calls.take());
  const named = distinct(all.map(([func]) => func));
  const lines = all.slice(0, top).map(([func, n]) => `${String(n).padStart(10)}  ${named(func)}`);
  if (all.length > top) lines.push(`… and ${all.length - top} more functions`);
  report({ name: "calls", columns: ["function", "calls"], rows: all }, all.length > 0 ? lines.join("\n") : "no function was called");
});
