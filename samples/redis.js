// redis: which commands does a Redis or Valkey server run, how long do they take, and which are slow?
// topic: languages and databases
//
//   gotap run redis -T 10s -p PID
//   gotap run redis --arg us=1000 -p PID
//
//   $ gotap run redis --arg us=0 -T 3s -p 31836
//   set took 234 us
//   get took 3.47 ms
//   lpush took 494 us
//   command  calls  total    average
//   get          1  3.47 ms  3.47 ms
//   lpush        1  494 us   494 us
//   set          1  234 us   234 us

import { commands, commandName } from "gotap/redis";
import { show, ordered } from "gotap/table";
import { duration } from "gotap/time";

const us = option("us", -1, "print commands that take at least so many microseconds; -1: only the table");
const r = commands({ us: Math.max(0, us) }, us < 0 ? undefined : e => report({ name: "command", event: e, data: { command: e.command, ns: e.ns } }, `${e.command} took ${duration(e.ns)}`));

end(() => {
  const rows = ordered(r.times.take(), t => t.total).map(([name, t]) => [commandName(name), t.count, t.total, t.average]);
  if (rows.length > 0) show("commands", ["command", "calls", ["total", duration], ["average", duration]], rows);
});
