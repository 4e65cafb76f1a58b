// probe-rate: how often is a place hit, and what would probing it cost? It counts for a moment, then removes its probes.
// topic: start
//
//   gotap run probe-rate --arg f=libc:malloc -p PID
//   gotap run probe-rate --arg f='libc:str*' --arg seconds=3 -- ls -lR /usr/share/doc
//
// The cost assumes a typical hit, for which the thread is stopped. ns=N gives the cost on this machine, as `gotap bench` measures it.
//
//   $ gotap run probe-rate --arg f=libc:str* -- ls -lR /usr/share/doc/bash
//   function      hits  rate
//   strlen        1424  8.1 k/s
//   strcmp         386  2.2 k/s
//   strcasecmp_l   204  1.2 k/s
//   strchrnul      153  869/s
//   strchr         129  733/s
//   strncmp         89  506/s
//   strnlen         60  341/s
//   strcoll         41  233/s
//   …

import { rate } from "gotap/time";
import { show, ordered } from "gotap/table";
import { places } from "gotap/module";

const place = option("f", "libc:malloc", "the places, separated by commas");
const seconds = option("seconds", 2, "how long to count");
const cost = option("ns", 25000, "nanoseconds that a hit costs");
const top = option("top", 10, "how many functions to print");
const hits = count("hits", { keys: 1 });
const started = now();

const counting = probe(places(place), c => hits.at(c.func).inc());
const timer = every(seconds * 1000, () => {
  timer.stop();
  counting.remove();
  tell(now() - started);
});
end(() => {
  if (hits.entries().length > 0) tell(now() - started); // the target ended before
});

function tell(ns) {
  const all = ordered(hits.take());
  const sum = all.reduce((n, entry) => n + Number(entry[1]), 0);
  show("hits", ["function", "hits", ["rate", n => rate(n, 1e9)]], all.map(([func, n]) => [func, n, Number(n) * 1e9 / Math.max(1, ns)]), { top });
  const share = sum * cost / ns;
  report({ name: "cost", columns: ["hits", "rate", "share"], rows: [[sum, sum * 1e9 / ns, share]] },
    `${sum} hits, ${rate(sum, ns)}: probing them would take ${(share * 100).toFixed(1)} % of a processor`);
  stop(0);
}
