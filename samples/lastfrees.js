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

import { signalName } from "gotap/signals";

const keep = option("keep", 16, "how many frees to keep");
const module = option("lib", "libc", "where free is");
const blocks = map("blocks freed", { keys: 1, max: 8192 }), callers = map("who freed them", { keys: 1, max: 8192 });
const freed = map("free now", { keys: 1, max: 65536, full: "evict" });
let frees = 0;

probe(`${module}:free`, {
  enter(c) {
    if (c.arg0 === 0) return;
    const n = frees;
    frees = n + 1;
    blocks.set(n % keep, c.arg0);
    callers.set(n % keep, c.caller);
    const before = freed.get(c.arg0);
    freed.set(c.arg0, c.caller);
    if (before !== 0) exit({ p: c.arg0, before, stack: c.stack(8) });
  },
  exit(e) {
    console.log(`${e.comm}/${e.tid} frees ${hex(e.p)} again; first by ${callsym(e.pid, e.before)}, now by`);
    console.log(`${e.stack}`);
  },
});
probe(["malloc", "calloc", "realloc", "memalign", "aligned_alloc", "valloc", "pvalloc"].map(name => `${module}:${name}`), {
  leave(c) { if (freed.has(c.ret)) freed.delete(c.ret); },
  optional: true,
});

probe(`${module}:posix_memalign`, {
  enter(c) { this.to = c.arg0; },
  leave(c) {
    if ((c.ret << 32) >> 32 !== 0) return;
    const p = ptr(this.to);
    if (freed.has(p)) freed.delete(p);
  },
  optional: true,
});

const crashes = [6, 7, 11];
let crashed = false;

function tell(pid) {
  for (let n = frees - 1; n >= 0 && n >= frees - keep; n--) {
    console.log(`  ${hex(blocks.get(n % keep))} by ${callsym(pid, callers.get(n % keep))}`);
  }
}

on("signal", e => {
  if (!crashes.includes(e.signal)) return;
  crashed = true;
  console.log(`${e.pid}/${e.tid} gets ${signalName(e.signal)}; the last frees, the latest first:`);
  tell(e.pid);
});
end(() => {
  console.log(`${frees} blocks were freed${crashed || frees === 0 ? "" : ", and nothing crashed; the last ones, the latest first:"}`);
  if (!crashed) tell(0);
  [blocks, callers, freed].forEach(m => m.clear());
});
