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

const functions = option("f", "libc:*dir*,libc:malloc,libc:free", "functions, separated by commas");
const top = option("top", 20, "how many to print");
const all = stats("time", { keys: 1 }), inner = sum("time inside", { keys: 1 });
const depth = perThread(0);
const above = map("caller of a thread at a depth", { keys: 2, max: 65536 });

probe(places(functions), {
  enter(c) {
    this.depth = depth.value;
    above.set(c.tid, this.depth, c.func);
    depth.value = this.depth + 1;
  },
  leave(c) {
    depth.value = this.depth; // also corrects it after a longjmp
    all.at(c.func).add(c.elapsed);
    if (this.depth > 0) inner.at(above.get(c.tid, this.depth - 1)).add(c.elapsed);
  },
});

end(() => {
  above.clear();
  const inside = new Map(inner.take());
  const rows = all.take().map(([func, s]) => ({ func, s, self: Math.max(0, Number(s.total) - Number(inside.get(func) ?? 0)) }));
  rows.sort((a, b) => b.self - a.self);
  show("functions", ["function", "calls", ["total", duration], ["self", duration], ["average", duration]],
    rows.map(r => [r.func, r.s.count, r.s.total, r.self, r.s.average]), { top });
});
