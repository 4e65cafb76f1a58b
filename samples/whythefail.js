// whythefail: what did a call do before it failed? It keeps the places that a call passed and shows them only if the call fails.
// topic: functions
// demonstration: f=check trail=work
// Go: f=main.* trail=main.*
//
//   gotap run whythefail -- ./prog                           any of the program's own functions, and the others that it passed
//   gotap run whythefail parse --arg trail='@parse.c:12,@parse.c:19,check*' -- ./prog
//   gotap run whythefail libc:fopen --arg null=1 --arg trail='libc:malloc,libc:open*,libc:free' -- ./prog
//
// The last eight places of each thread are kept at the probe, so calls that succeed send no record.
//
//   $ gotap run whythefail --arg f=order --arg trail=check,libc:printf,@shop.c:20 -- ./shop
//   shop/8681 order returned -1 after 2 steps:
//       check+0x0 (shop) at shop.c:13
//       order+0x8 (shop) at shop.c:20

import { failed } from "gotap/structs";
import { chosen, named } from "gotap/module";

const watched = chosen(option("f", "", "the functions that may fail, separated by commas; none: those of the main program, in Go of its package main"));
const trail = chosen(option("trail", "", "places to note while it runs, separated by commas; none: those of the main program, in Go of its package main"));
const zeroFails = option("null", false, "a result of 0 is the failure, as of functions that return pointers");
const running = perThread(0), steps = perThread(0);
const passed = map("places passed", { keys: 2, max: 65536, full: "evict" });
const kept = 8;
let seen = 0;

probe(watched.specs, {
  priority: -1,
  enter(c) {
    if (running.value === 0) steps.value = 0;
    running.value++;
  },
  not: watched.not,
  optional: true,
});
probe(trail.specs, {
  enter(c) {
    if (running.value === 0) return;
    passed.set(c.tid, steps.value % kept, c.pc);
    steps.value++;
  },
  not: trail.not,
  optional: true,
});
probe(watched.specs, {
  leave(c) {
    running.value--;
    const value = integer(c.ret, 1); // floats, structs and void never mean failure
    const bad = zeroFails ? value === 0 : defined(c.goid) ? fails(c) : failed(value); // an error of Go is rarely the first result
    if (!bad) return;
    const shown = defined(c.goid) ? pretty(c, "?") : "?";
    const n = steps.value, t = c.tid;
    exit({ func: c.func, ret: value, shown, ns: c.elapsed, n, p0: passed.get(t, 0), p1: passed.get(t, 1), p2: passed.get(t, 2), p3: passed.get(t, 3),
      p4: passed.get(t, 4), p5: passed.get(t, 5), p6: passed.get(t, 6), p7: passed.get(t, 7) });
  },
  exit(e) {
    seen++;
    const ring = [e.p0, e.p1, e.p2, e.p3, e.p4, e.p5, e.p6, e.p7];
    const n = Number(e.n);
    const steps = [];
    for (let k = Math.max(0, n - kept); k < n; k++) steps.push(sym(ring[k % kept]));
    const ret = e.shown === "?" ? e.ret : e.shown;
    report({ name: "failure", event: e, data: { func: e.func, ret, ns: e.ns, passed: n, steps } },
      [`${e.comm}/${e.tid} ${e.func} returned ${ret} after ${n} steps${n > kept ? `, the last ${kept}` : ""}:`, ...steps].join("\n    "));
  },
  not: watched.not,
  optional: true,
});
end(() => {
  passed.clear();
  if (seen === 0) console.error(`whythefail: no call of ${named(watched.specs)} failed`);
});
