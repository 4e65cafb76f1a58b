// postgres: which queries does a PostgreSQL server run, how long do they take, and in which phase?
// topic: languages and databases
//
//   gotap run postgres -p $(head -1 /var/lib/postgresql/15/main/postmaster.pid)       all connections, those to come, too
//   gotap run postgres --arg ms=10 --follow threads -p PID                            one connection, which is a process
//
// For servers with static marks, such as Debian's and Fedora's.
//
//   $ gotap run postgres -T 4s -p 23440
//   23575 2.84 ms: select count(*) from pg_class
//   phase    times  total   average
//   plan         1  542 us  542 us
//   rewrite      1  414 us  414 us
//   parse        1  228 us  228 us
//   execute      1  185 us  185 us
//   transactions: 2 committed, 2 started

import { queries, phases, transactions } from "gotap/postgres";
import { show, ordered } from "gotap/table";
import { duration } from "gotap/time";

follow("children");
const ms = option("ms", 0, "only queries of at least so many milliseconds");
const byPhase = phases().phases, work = transactions().transactions;
queries({ ms }, e => report({ name: "query", event: e, data: { sql: e.sql, ns: e.ns } }, `${e.pid} ${duration(e.ns)}: ${e.sql.replace(/\s+/g, " ")}`));

end(() => {
  const rows = ordered(byPhase.take(), s => s.total).map(([phase, s]) => [phase, s.count, s.total, s.average]);
  if (rows.length > 0) show("phases", ["phase", "times", ["total", duration], ["average", duration]], rows);
  const all = work.take();
  if (all.length > 0) report({ name: "transactions", columns: ["end", "count"], rows: all }, "transactions: " + all.map(([what, n]) => `${n} ${what}`).join(", "));
});
