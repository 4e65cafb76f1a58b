// node: how long is Node.js's event loop busy, how long does it collect garbage, and what does it open and look up?
// topic: languages and databases
//
//   gotap run node -- node server.js
//   gotap run node --arg ms=50 -T 10s -p PID
//
// The loop is busy between two waits for events: meanwhile it answers nothing else.
//
//   $ gotap run node -- node -e "setTimeout(()=>{for(let i=0;i<1e8;i++);},10)"
//   the event loop was busy for 46.6 ms
//   @event loop busy, ns:
//   [64K, 128K)            1 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|
//   [128K, 256K)           0 |                                                    |
//   [256K, 512K)           1 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|
//   [512K, 1M)             0 |                                                    |
//   [1M, 2M)               1 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|
//   [2M, 4M)               0 |                                                    |
//   …

import { loop, collections, opens, lookups } from "gotap/node";
import { openFlags } from "gotap/syscalls";
import { duration } from "gotap/time";

const ms = option("ms", 20, "print busy times of at least so many milliseconds");
const program = option("node", "node", "the program");
const gc = [];
const l = loop({ module: program, ms }, e => report({ name: "busy", event: e, data: { ns: e.ns } }, `the event loop was busy for ${duration(e.ns)}`));
collections({ module: program }, e => gc.push(Number(e.ns)));
opens({ module: program }, e => report({ name: "open", event: e, data: { path: e.path, flags: openFlags(e.flags) } }, `opens ${e.path} ${openFlags(e.flags)}`));
lookups({ module: program }, e => report({ name: "lookup", event: e, data: { host: e.host } }, `looks up ${e.host}`));

end(() => {
  l.busy.print();
  l.waiting.print();
  if (gc.length === 0) return;
  const all = gc.reduce((a, b) => a + b, 0), longest = Math.max(...gc);
  report({ name: "garbage collections", columns: ["count", "total", "longest"], rows: [[gc.length, all, longest]] },
    `${gc.length} garbage collections, ${duration(all)} in all, the longest ${duration(longest)}`);
});
