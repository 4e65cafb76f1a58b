// watchdog: which calls do not return in time? It reports each while it lasts, with its stack, and again when it returns.
// topic: threads
//
//   gotap run watchdog --arg f=libc:clock_nanosleep --arg ms=50 -- sleep 0.3
//   gotap run watchdog --arg f=handle_request --arg ms=1000 --arg exit=1 -p PID
//
// The stack is that at the entry; what the thread does now comes from /proc, if gotap may read it. With exit=N the run ends with
// status N at the first such call.
//
//   $ gotap run watchdog --arg f=libc:clock_nanosleep --arg ms=50 -- sleep 0.3
//   sleep/8635 clock_nanosleep has not returned for 109 ms, in hrtimer_nanosleep; it was called from
//       0x7fc656fe14e0 clock_nanosleep+0x0 (libc.so.6) at clock_nanosleep.c:34
//       0x7fc656fe5e53 nanosleep+0x13 (libc.so.6) at nanosleep.c:25
//       0x5608066664af (sleep:0x64af)
//       0x560806665f81 (sleep:0x5f81)
//       0x560806662558 (sleep:0x2558)
//       0x7fc656f3924a __libc_start_call_main+0x7a (libc.so.6) at libc_start_call_main.h:58
//       0x7fc656f39305 __libc_start_main+0x85 (libc.so.6) at libc-start.c:360
//       0x560806662621 (sleep:0x2621)
//   …

import { duration } from "gotap/time";
import { places } from "gotap/module";

const place = option("f", "libc:clock_nanosleep", "the functions, separated by commas");
const ms = option("ms", 200, "milliseconds a call may take");
const code = option("exit", 0, "ends the run with this status at the first late call; 0: goes on");
const frames = option("frames", 8, "frames of the stack");
const running = new Map(); // calls that have not returned; one thread may have several, nested
const entered = perThread(0);
let calls = 0, late = 0;
const key = e => `${e.pid} ${e.tid} ${e.id}`;

probe(places(place), {
  enter(c) {
    entered.value = c.time;
    exit({ id: entered.value, func: c.func, stack: c.stack(frames) });
  },
  exit(e) {
    calls++;
    running.set(key(e), { ...call(e), stack: e.stack, late: false });
  },
});
probe(places(place), {
  enter(c) { this.id = entered.value; },
  leave(c) { exit({ id: this.id, ns: c.elapsed }); },
  exit(e) {
    const known = running.get(key(e));
    running.delete(key(e));
    if (known?.late) report({ name: "returned", event: e, data: { func: known.func, ns: e.ns } }, `${e.comm}/${e.tid} ${known.func} has returned after ${duration(e.ns)}`);
  },
});
on("exit", e => {
  for (const [k, r] of [...running]) if (r.pid === e.pid) running.delete(k);
});

function call(e) { return { pid: e.pid, tid: e.tid, comm: e.comm, func: e.func, time: Number(e.time) }; }

every(Math.max(5, ms / 4), () => {
  for (const r of running.values()) {
    const ns = now() - r.time;
    if (r.late || ns < ms * 1e6) continue;
    r.late = true;
    late++;
    const inside = readFile(`/proc/${r.pid}/task/${r.tid}/wchan`);
    const place = inside && inside !== "0" ? inside : undefined;
    report({ name: "late", event: r, data: { func: r.func, ns, inside: place, stack: r.stack } }, // names are found only for late calls: it takes longer than most
      `${r.comm}/${r.tid} ${r.func} has not returned for ${duration(ns)}${place ? `, in ${place}` : ""}; it was called from\n${r.stack}`);
    if (code !== 0) stop(code);
  }
});

end(() => {
  if (late === 0) console.error(`watchdog: ${calls === 0 ? `${place} was not called` : `all calls of ${place}, ${calls}, returned within ${ms} ms`}`);
});
