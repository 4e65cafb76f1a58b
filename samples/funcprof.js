// funcprof: calls, time, and time without the calls inside, for each function of a list.
// topic: functions
//
//   gotap run funcprof --arg f='libc:opendir,libc:malloc,libc:readdir*' -- ls -R /usr/share/doc
//   gotap run funcprof --arg f='./prog:*' -- ./prog
//
// "self" is the time without calls of other functions of the list. All times are wall-clock times, waiting included: probes do
// not know the processor time of a call.
//
//   $ gotap run funcprof --arg f=./shop:main,./shop:order,./shop:keep,libc:usleep,libc:malloc -- ./shop
//   function  calls  total    self     average
//   usleep       11  71.7 ms  71.7 ms  6.52 ms
//   main          1  74.0 ms  53.3 ms  74.0 ms
//   keep          3  266 us   179 us   88.5 us
//   malloc        5  175 us   175 us   34.9 us
//   order         2  93.4 us  93.4 us  46.7 us

import { show } from "gotap/table";
import { duration } from "gotap/time";
import { places } from "gotap/module";
import { distinct } from "gotap/names";

const functions = option("f", "libc:*dir*,libc:malloc,libc:free", "functions, separated by commas");
const top = option("top", 20, "how many to print");
const all = stats("time", { keys: 2 }), inner = sum("time inside", { keys: 1 });
const depth = perThread(0);
const above = map("caller of a thread at a depth", { keys: 2, max: 65536 }); // functions by their addresses: numbers are stored without a stop

probe(places(functions), {
  enter(c) {
    this.depth = depth.value;
    this.entry = c.pc;
    above.set(c.tid, this.depth, c.pc);
    depth.value = this.depth + 1;
  },
  leave(c) {
    depth.value = this.depth; // also corrects it after a longjmp
    all.at(c.func, this.entry).add(c.elapsed);
    if (this.depth > 0) inner.at(above.get(c.tid, this.depth - 1)).add(c.elapsed);
  },
});

end(() => {
  above.clear();
  const inside = new Map(inner.take()), functions = new Map();
  for (const [[func, entry], s] of all.take()) { // a function has an entry in each process, and one for each that has its name
    const row = functions.get(func) ?? { calls: 0, total: 0, inside: 0 };
    functions.set(func, { calls: row.calls + Number(s.count), total: row.total + Number(s.total), inside: row.inside + Number(inside.get(entry) ?? 0) });
    inside.delete(entry);
  }
  const rows = [...functions].map(([func, s]) => [func, s.calls, s.total, Math.max(0, s.total - s.inside), Math.round(s.total / s.calls)]);
  rows.sort((a, b) => b[3] - a[3]);
  show("functions", [["function", distinct(rows.map(([func]) => func))], "calls", ["total", duration], ["self", duration], ["average", duration]], rows, { top });
});
