// allocs: allocations over time: how much memory is allocated and freed each second, and how much is in use?
// topic: memory
//
//   gotap run allocs --arg interval=1000 -p PID
//   gotap run allocs -- sqlite3 :memory: 'select 1'
//
// In use: allocated since the run began and not freed yet. Resident: memory of the process as the kernel counts it.
//
//   $ gotap run allocs --arg interval=20 -- ./shop
//      160.723 ms: 6 allocated, 1 freed, 5 blocks with 8.4 KiB in use, 1.5 MiB resident
//      177.853 ms: 6 allocated, 1 freed, 5 blocks with 8.4 KiB in use, 1.6 MiB resident
//      197.680 ms: 6 allocated, 1 freed, 5 blocks with 8.4 KiB in use, 1.6 MiB resident
//      214.990 ms: 7 allocated, 2 freed, 5 blocks with 8.4 KiB in use
//   @sizes of blocks:
//   [256, 512)             3 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|
//   [512, 1K)              1 |@@@@@@@@@@@@@@@@@                                   |
//   [1K, 2K)               1 |@@@@@@@@@@@@@@@@@                                   |
//   [2K, 4K)               1 |@@@@@@@@@@@@@@@@@                                   |
//   …

import { allocations, inAllocators } from "gotap/memory";
import { rss } from "gotap/proc";
import { size } from "gotap/table";
import { milliseconds } from "gotap/time";

const interval = option("interval", 1000, "milliseconds");
const module = option("lib", "", "where malloc is; by default it is searched");
const heap = allocations({ module });
const started = now();
let pid = 0;
probe(inAllocators("malloc", module), { limit: 1, enter(c) { exit({}); }, exit(e) { pid = e.pid; }, optional: true });

function line() {
  const live = heap.live.entries();
  const bytes = live.reduce((n, entry) => n + Number(entry[1]), 0);
  const memory = pid > 0 ? rss(pid) : undefined;
  const time = now(), data = { allocated: heap.allocated.get(), freed: heap.freed.get(), blocks: live.length, bytes, resident: memory };
  report({ name: "heap", time, pid, data }, `${milliseconds(time - started).padStart(10)} ms: ${data.allocated} allocated, ${data.freed} freed, `
    + `${live.length} blocks with ${size(bytes)} in use${memory === undefined ? "" : `, ${size(memory)} resident`}`);
}

every(interval, line);
end(() => {
  line();
  heap.live.clear();
  heap.allocated.clear();
  heap.freed.clear();
});
