// sleeps: who sleeps, for how long, and how much longer than asked?
// topic: threads
//
//   gotap run sleeps -- sleep 0.1
//   gotap run sleeps -T 10s -p PID
//
//   $ gotap run sleeps -- sleep 0.1
//   sleep/8471 sleeps for 100 ms: 100 ms
//   @later than asked, ns:
//   [128K, 256K)           1 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|

import { layout } from "gotap/structs";
import { duration } from "gotap/time";

const timespec = layout({ sec: "i64", nsec: "i64" });
let slept = 0;
const late = hist("later than asked, ns");

probe(["syscall:nanosleep", "syscall:clock_nanosleep"], {
  enter(c) {
    this.until = c.func === "clock_nanosleep" && (c.arg1 & 1) === 1; // TIMER_ABSTIME: the argument is a time, not a duration
    this.p = c.func === "nanosleep" ? c.arg0 : c.arg2;
  },
  leave(c) {
    const asked = i64(this.p) * 1000000000 + i64(this.p + 8);
    if (!this.until && c.ret === 0) late.add(c.elapsed - asked);
    exit({ until: this.until, asked: bytes(this.p, 16), ret: c.ret, ns: c.elapsed });
  },
  exit(e) {
    slept++;
    const t = timespec.read(e.asked);
    const asked = e.until ? `until ${t.sec} s of its clock` : `for ${duration(t.sec * 1e9 + t.nsec)}`;
    report({ name: "sleep", event: e, data: { asked: t.sec * 1e9 + t.nsec, until: e.until, ns: e.ns, interrupted: e.ret !== 0 } },
      `${e.comm}/${e.tid} sleeps ${asked}: ${duration(e.ns)}${e.ret === 0 ? "" : ", interrupted"}`);
  },
  optional: true,
});

end(() => {
  if (slept === 0) console.error("sleeps: nobody slept by nanosleep or clock_nanosleep; waits for files, locks and children are in the sample offcpu");
});
