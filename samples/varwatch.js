// varwatch: who changes a variable, and when? It uses watchpoints of the processor, so no other access is slowed.
// topic: functions
//
//   gotap run varwatch --arg v=counter -- ./prog
//   gotap run varwatch --arg v=0x5581d2c04010 --arg size=8 -p PID
//
// v is a variable with static storage, or an address; size is 1, 2, 4 or 8 bytes. x86 has four watchpoints. A write of the same
// value is not a change; the value before the first change is not known.
//
//   $ gotap run varwatch --arg v=stock -- ./shop
//   0.057962 shop/26123 stock: ? → 99 by order
//       0x55e7b3810186 order+0x1d (shop) at shop.c:11
//       0x55e7b3810251 main+0x23 (shop) at shop.c:35
//       0x7fd161dc024a __libc_start_call_main+0x7a (libc.so.6) at libc_start_call_main.h:58
//   changes by function:
//            1  order

import { since } from "gotap/time";
import { ordered } from "gotap/table";

const variable = option("v", "optind", "the variable: a symbol or an address");
const size = option("size", 4, "its bytes: 1, 2, 4 or 8");
const frames = option("frames", 3, "frames of the stack to print");
const most = option("most", 100, "changes to print; all are counted");
const changes = count("changes", { keys: 1 });
const address = variable.startsWith("0x") ? Number(variable) : 0;
let last = 0, seen = 0;

if (![1, 2, 4, 8].includes(size)) throw new Error(`size is 1, 2, 4 or 8, not ${size}`);
const readers = { 1: p => i8(p), 2: p => i16(p), 4: p => i32(p), 8: p => i64(p) };
const read = readers[size];
const where = address === 0 ? () => uaddr(variable) : () => address;

// The program runs after the write.
probe(`watch:${variable}/${size}/w`, {
  enter(c) {
    const old = last, number = seen, value = read(where());
    if (number > 0 && value === old) return;
    last = value;
    seen = number + 1;
    changes.at(c.func).inc();
    if (number < most) exit({ func: c.func, number, old, value, stack: c.stack(frames) });
  },
  exit(e) {
    report(e, `${since(e.time)} ${e.comm}/${e.tid} ${variable}: ${e.number === 0 ? "?" : e.old} → ${e.value} by ${e.func}\n${e.stack}`);
  },
});

end(() => {
  const rows = ordered(changes.take());
  const text = ["changes by function:", ...rows.map(([func, n]) => `${String(n).padStart(10)}  ${func}`)].join("\n");
  report({ name: "changes", columns: ["function", "changes"], rows }, rows.length > 0 ? text : `${variable} was not changed`);
});
