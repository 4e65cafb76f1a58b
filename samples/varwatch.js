// varwatch: who changes a variable, and when? By the processor's own watchpoints, so that no other access is slowed.
// topic: functions
//
//   gotap run varwatch --arg v=counter -- ./prog
//   gotap run varwatch --arg v=0x5581d2c04010 --arg size=8 -p PID
//
// v is a symbol of data, or an address; size is 1, 2, 4 or 8 bytes, and x86 has four watchpoints. A place's name gives a
// program no address, so old and new value are shown only for an address; writes of the same value are left out then.
//
//   $ gotap run varwatch --arg v=stock -- ./shop
//   0.048038 shop/8602 stock: written by order
//       0x55b47b3b424c order+0x1a (shop) at shop.c:24
//       0x55b47b3b4296 main+0x19 (shop) at shop.c:44
//       0x7fc78fe7324a __libc_start_call_main+0x7a (libc.so.6) at libc_start_call_main.h:58
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
const read = address === 0 ? p => 0 : readers[size];

// The hit comes after the write.
probe(`watch:${variable}/${size}/w`, {
  enter(c) {
    const old = last, number = seen, value = read(address);
    if (address !== 0 && number > 0 && value === old) return;
    last = value;
    seen = number + 1;
    changes.at(c.func).inc();
    if (number < most) exit({ func: c.func, number, old, value, stack: c.stack(frames) });
  },
  exit(e) {
    const what = address === 0 ? "written" : `${e.number === 0 ? "?" : e.old} → ${e.value}`;
    console.log(`${since(e.time)} ${e.comm}/${e.tid} ${variable}: ${what} by ${e.func}`);
    console.log(`${e.stack}`);
  },
});

end(() => {
  if (changes.entries().length === 0) return console.log(`${variable} was not written`);
  console.log("changes by function:");
  for (const [func, n] of ordered(changes.take())) console.log(`${String(n).padStart(10)}  ${func}`);
});
