// lastfrees: what was freed just before a crash, and is a block freed twice?
// topic: memory
//
//   gotap run lastfrees -- ./prog
//   gotap run lastfrees --arg keep=64 -p PID
//
// The probe keeps the last frees; they are printed when a thread gets SIGSEGV, SIGBUS or SIGABRT. A second free of a block that no
// allocation returned in between is reported at once. Look up the address of the fault in the list.
//
//   $ gotap run lastfrees --arg keep=4 -- ./shop crash
//   7991/7991 gets SIGABRT; the last frees, the latest first:
//     0x560d698552b0 by main+0x11f (shop) at shop.c:65
//     0x560d698552b0 by main+0x117 (shop) at shop.c:64
//     0x560d698556a0 by main+0x74 (shop) at shop.c:57
//   shop/7991 frees 0x560d698552b0 again; first by main+0x117 (shop) at shop.c:64, now by
//       0x7fe9208c7ef0 free+0x0 (libc.so.6) at malloc.c:3350
//       0x560d58bd039c main+0x11f (shop) at shop.c:65
//       0x7fe92085624a __libc_start_call_main+0x7a (libc.so.6) at libc_start_call_main.h:58
//       0x7fe920856305 __libc_start_main+0x85 (libc.so.6) at libc-start.c:360
//   …

import { releases, requests } from "gotap/memory";
import { signalName } from "gotap/signals";

const keep = option("keep", 16, "how many frees to keep");
const module = option("lib", "", "where free is; by default it is searched in the C library, jemalloc, tcmalloc, mimalloc and the program");
const blocks = map("blocks freed", { keys: 1, max: 8192 }), callers = map("who freed them", { keys: 1, max: 8192 });
const free = map("free now", { keys: 2, max: 65536, full: "evict" });
let frees = 0;

releases({
  module,
  on: (c, address) => {
    const n = frees;
    frees = n + 1;
    blocks.set(n % keep, address);
    callers.set(n % keep, c.caller);
    const before = free.get(address, c.pid);
    free.set(address, c.pid, c.caller);
    if (before !== 0) exit({ p: address, before, stack: c.stack(8) });
  },
  told: e => {
    const before = callsym(e.pid, e.before);
    report({ name: "freed twice", event: e, data: { block: hex(e.p), before, stack: e.stack } },
      `${e.comm}/${e.tid} frees ${hex(e.p)} again; first by ${before}, now by\n${e.stack}`);
  },
});
const given = (c, size, address) => { if (free.has(address, c.pid)) free.delete(address, c.pid); };
requests({ module, on: given, again: given });

const crashes = [6, 7, 11];
let crashed = false;

function tell(pid, title) {
  const rows = [];
  for (let n = frees - 1; n >= 0 && n >= frees - keep; n--) rows.push([hex(blocks.get(n % keep)), callsym(pid, callers.get(n % keep))]);
  report({ name: "last frees", columns: ["block", "by"], rows }, [title, ...rows.map(([block, by]) => `  ${block} by ${by}`)].join("\n"));
}

on("signal", e => {
  if (!crashes.includes(e.signal)) return;
  crashed = true;
  const signal = signalName(e.signal);
  report({ name: "crash", event: e, data: { signal, frees } });
  tell(e.pid, `${e.pid}/${e.tid} gets ${signal}; the last frees, the latest first:`);
});
end(() => {
  const freed = `${frees} blocks were freed`;
  if (crashed || frees === 0) report({ name: "total", columns: ["frees"], rows: [[frees]] }, freed);
  else tell(0, `${freed}, and nothing crashed; the last ones, the latest first:`);
  [blocks, callers, free].forEach(m => m.clear());
});
