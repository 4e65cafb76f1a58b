// sqlite: which SQL statements take how long, and how many rows do they give?
// topic: languages and databases
//
//   gotap run sqlite -- sqlite3 test.db 'select count(*) from t'
//   gotap run sqlite --arg ms=10 -p PID
//   gotap run sqlite --arg lib=libmozsqlite3 -p PID   a library that has SQLite in it under another name
//
// With ms=N each statement that took at least N milliseconds is printed when it ends.
//
//   $ gotap run sqlite -- sqlite3 :memory: "create table t(a); insert into t values(1),(2); select * from t;"
//   steps  rows  time     statement
//       1     0  310 us   create table t(a);
//       1     0  112 us   SELECT*FROM"main".sqlite_master ORDER BY rowid
//       3     2  48.0 us  select * from t;
//       2     1  36.2 us  SELECT*FROM"main".sqlite_master WHERE tbl_name='t' AND type!='trigger' ORDER BY rowid
//       1     0  21.1 us  insert into t values(1),(2);

import { statements, whole } from "gotap/sqlite";
import { show, ordered } from "gotap/table";
import { duration } from "gotap/time";

const ms = option("ms", -1, "print statements that take at least so many milliseconds; -1: only the table");
const module = option("lib", "libsqlite3", "where SQLite is, when it is neither in its own library nor in the program itself");
const top = option("top", 15, "how many statements to print");
const s = statements({ module }, ms < 0 ? undefined : e => {
  if (Number(e.ns) >= ms * 1e6) report({ name: "statement", event: e, data: { sql: e.sql, rows: e.rows, ok: e.ok, ns: e.ns } }, `${e.comm}/${e.tid} ${duration(e.ns)}, ${e.rows} rows${e.ok ? "" : ", failed"}: ${e.sql}`);
});

end(() => {
  const rows = new Map(s.rows.take());
  const all = ordered(s.times.take(), t => t.total);
  if (all.length > 0) show("statements", ["steps", "rows", ["time", duration], "statement"], all.map(([sql, t]) => [t.count, rows.get(sql) ?? 0, t.total, whole(sql)]), { top });
});
