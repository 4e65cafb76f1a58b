// locks: how long do threads wait for mutexes, for which, and how long are they held?
// topic: threads
//
//   gotap run locks -T 10s -p PID
//   gotap run locks --arg us=0 -- ./prog
//
// Counts waits of at least `us` microseconds in the kernel, for a mutex that another thread holds. A free mutex causes no wait,
// whatever the probes cost; the time that a mutex is held includes their cost.
//
//   $ gotap run locks --arg us=50 -- ./shop
//   @wait, ns:
//   [64K, 128K)            1 |@@@@@                                               |
//   [128K, 256K)           1 |@@@@@                                               |
//   [256K, 512K)           0 |                                                    |
//   [512K, 1M)             0 |                                                    |
//   [1M, 2M)               0 |                                                    |
//   [2M, 4M)               0 |                                                    |
//   [4M, 8M)               9 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|
//   …
//   mutex                                     waits  waited   holds  held
//   door+0x0 (shop)                              10  46.9 ms     10  51.8 ms
//   _rtld_local+0xa58 (ld-linux-x86-64.so.2)      2  109 us       2  107 us

import { mutexes } from "gotap/locks";
import { show } from "gotap/table";
import { duration } from "gotap/time";

const least = option("us", 50, "waits shorter than this many microseconds do not count") * 1000;
const top = option("top", 10, "how many mutexes to print");
const all = mutexes({ least });

// A mutex that is not a variable of a program or library is named by its address.
function named(mutex) {
  const variable = sym(0, mutex);
  return /^[^0(]/.test(variable) ? variable : hex(mutex);
}

// A variable has a different address in every process; it has one row.
function byName(entries) {
  const all = new Map();
  for (const [mutex, s] of entries) {
    const name = named(mutex), sum = all.get(name) ?? { count: 0, total: 0 };
    all.set(name, { count: sum.count + Number(s.count), total: sum.total + Number(s.total) });
  }
  return all;
}

end(() => {
  all.wait.print();
  const held = byName(all.holds.take()), waited = byName(all.waits.take());
  const names = [...new Set([...held.keys(), ...waited.keys()])];
  const total = (from, m) => from.get(m)?.total ?? 0;
  names.sort((a, b) => total(waited, b) - total(waited, a) || total(held, b) - total(held, a));
  const rows = names.map(m => [m, waited.get(m)?.count ?? 0, total(waited, m), held.get(m)?.count ?? 0, total(held, m)]);
  show("mutexes", ["mutex", "waits", ["waited", duration], "holds", ["held", duration]], rows, { top });
  all.hold.clear();
});
