// gotap/sqlite: SQLite, through its C interface.
//
//   import { statements } from "gotap/sqlite";
//   const s = statements();
//   end(() => s.times.print({ top: 10 }));
//
// whole(sql)                             a text of statements() without a ".." after a complete statement, which means that only further ones were cut off
// statements({ module, length }, fn?)    times in sqlite3_step and numbers of rows by the text of the statement: { times, rows, probes }. Calls fn, if given, with
//                                        { sql, ns, rows, ok } when a statement ends: when it is finalized or reset
//   module   "libsqlite3", which also finds a program that was linked with it statically, or the module that contains SQLite
//   length   bytes of the text to keep (120)
//
// Statements prepared before the probes were placed have no text and do not count. If the target has no such library,
// a line at the end says so.

import { inOrder, options, absent, linked } from "gotap/module";

const row = 100, done = 101; // SQLITE_ROW, SQLITE_DONE

const blank = c => c === 32 || c >= 9 && c <= 13;

export const whole = sql => sql.replace(/;\.\.$/, ";");

export function statements(given, fn) {
  [given, fn] = inOrder("gotap/sqlite", "statements", given, fn);
  const { module, length } = options("gotap/sqlite", given, { module: "libsqlite3", length: 120 });
  const telling = fn !== undefined;
  const times = stats("statements, ns", { keys: 1, max: 4096 });
  const rows = sum("rows by statement", { keys: 1, max: 4096 });
  const sql = map("text of a statement", { keys: 1, max: 4096 });
  const spent = map("time of a statement", { keys: 1, max: 4096 }), got = map("rows of a statement", { keys: 1, max: 4096 });
  const failed = map("failed statements", { keys: 1, max: 4096 });
  const at = (...names) => module === "libsqlite3" ? linked(module, names) : names.map(name => `${module}:${name}`);
  const prepared = probe(at("sqlite3_prepare_v2", "sqlite3_prepare_v3", "sqlite3_prepare"), {
    enter(c) {
      const v3 = c.func === "sqlite3_prepare_v3";
      this.text = c.arg1;
      this.statement = v3 ? c.arg4 : c.arg3;
      this.tail = v3 ? c.arg5 : c.arg4;
    },
    leave(c) {
      const statement = ptr(this.statement);
      if ((c.ret << 32) >> 32 !== 0 || statement === 0) return;
      let from = this.text;
      for (let i = 0; i < 64 && blank(u8(from)); i++) from++;
      // The text may have several statements, which the caller prepares one by one: the tail points to the next.
      sql.set(statement, str(from, this.tail === 0 ? length : min(length, ptr(this.tail) - from)));
    },
    optional: true,
  });
  const stepped = probe(at("sqlite3_step"), {
    enter(c) { this.statement = c.arg0; },
    leave(c) {
      if (!sql.has(this.statement)) return;
      const text = sql.get(this.statement);
      const result = (c.ret << 32) >> 32;
      times.at(text).add(c.elapsed);
      spent.set(this.statement, spent.get(this.statement) + c.elapsed);
      if (result === row) {
        rows.at(text).add(1);
        got.inc(this.statement);
      } else if (result !== done) {
        failed.set(this.statement, 1);
      }
    },
    optional: true,
  });
  const ended = probe(at("sqlite3_finalize", "sqlite3_reset"), {
    enter(c) {
      if (!sql.has(c.arg0)) return;
      const text = sql.get(c.arg0), ns = spent.get(c.arg0), n = got.get(c.arg0), bad = failed.has(c.arg0);
      if (c.func === "sqlite3_finalize") sql.delete(c.arg0);
      if (ns === 0) return;
      spent.delete(c.arg0);
      got.delete(c.arg0);
      failed.delete(c.arg0);
      if (telling) exit({ sql: text, ns, rows: n, ok: !bad });
    },
    exit: telling ? e => fn({ pid: e.pid, tid: e.tid, comm: e.comm, time: e.time, sql: whole(e.sql), ns: e.ns, rows: e.rows, ok: e.ok }) : () => {},
    optional: true,
  });
  end(() => [sql, spent, got, failed].forEach(m => m.clear()));
  const probes = [prepared, stepped, ended];
  absent("gotap/sqlite", probes, `sqlite3_step in ${module}`);
  return { times, rows, probes };
}
