// gotap/postgres: PostgreSQL's server processes, through the static marks of builds with --enable-dtrace, such as Debian's and Fedora's.
//
//   import { queries } from "gotap/postgres";
//   queries({ ms: 100 }, e => console.log(e.ns, e.sql));
//
// queries({ ms }, fn)     calls fn with { sql, ns } for each query of at least ms milliseconds: from its first message to the next
//                         query or until the server is idle; also for queries that fail and those with bound arguments
// phases()                times of parse, rewrite, plan and execute by phase: { phases, probes }
// transactions()          counts by "started", "committed", "aborted": { transactions, probes }
// lockWaits(fn)           calls fn with { lock, ns } for each wait for a light-weight lock inside the server
// checkpoints(fn)         calls fn with { ns } for each checkpoint
//
// Trace a server process, or the postmaster with follow("children") or --follow children: each connection has a process. The text of a query is cut
// at 1024 bytes. If the server has no marks, a line at the end says so.

import { inOrder, options, absent } from "gotap/module";

const needs = "a PostgreSQL server with static marks (--enable-dtrace)";
const mark = name => `usdt:postgresql:${name}`;

export function queries(given, fn) {
  [given, fn] = inOrder("gotap/postgres", "queries", given, fn, true);
  const { ms } = options("gotap/postgres", given, { ms: 0 });
  const least = Math.round(ms * 1e6);
  const text = map("text of a query", { keys: 1, max: 4096, full: "evict" });
  const at = perThread(0), ran = perThread(0);
  // The server sets its status to the statement's text when each step begins, and to a text without SQL when it is idle. Only steps that run
  // something count, so preparing is not a query. Drivers that bind arguments use parse, bind and execute: query__start does not fire.
  const status = probe(mark("statement__status"), {
    enter(c) {
      const ns = c.time - at.value, done = ran.value === 1 && ns >= least;
      let sql = "";
      if (done) sql = text.get(c.tid);
      if (c.arg0 === 0) {
        text.delete(c.tid);
        at.value = ran.value = 0;
      } else {
        const next = str(c.arg0, 1024);
        if (ran.value === 1 || at.value === 0 || next !== text.get(c.tid)) {
          text.set(c.tid, next);
          at.value = c.time;
          ran.value = 0;
        }
      }
      if (done) exit({ sql, ns });
    },
    exit: fn,
    optional: true,
  });
  const running = probe([mark("query__start"), mark("query__execute__start")], {
    enter(c) { if (at.value !== 0) ran.value = 1; },
    optional: true,
  });
  const probes = [status, running];
  absent("gotap/postgres", probes, needs);
  return { probes };
}

export function phases() {
  const all = stats("query phases, ns", { keys: 1 });
  const probes = ["parse", "rewrite", "plan", "execute"].flatMap(phase => {
    const at = perThread(0);
    return [
      probe(mark(`query__${phase}__start`), { enter(c) { at.value = c.time; }, optional: true }),
      probe(mark(`query__${phase}__done`), {
        enter(c) {
          if (at.value !== 0) all.at(phase).add(c.time - at.value);
          at.value = 0;
        },
        optional: true,
      }),
    ];
  });
  absent("gotap/postgres", probes, needs);
  return { phases: all, probes };
}

export function transactions() {
  const all = count("transactions", { keys: 1 });
  const probes = [
    probe(mark("transaction__start"), { enter(c) { all.at("started").inc(); }, optional: true }),
    probe(mark("transaction__commit"), { enter(c) { all.at("committed").inc(); }, optional: true }),
    probe(mark("transaction__abort"), { enter(c) { all.at("aborted").inc(); }, optional: true }),
  ];
  absent("gotap/postgres", probes, needs);
  return { transactions: all, probes };
}

export function lockWaits(fn) {
  [, fn] = inOrder("gotap/postgres", "lockWaits", fn, undefined, true);
  const at = perThread(0);
  const probes = [
    probe(mark("lwlock__wait__start"), { enter(c) { at.value = c.time; }, optional: true }),
    probe(mark("lwlock__wait__done"), {
      enter(c) { if (at.value !== 0) exit({ lock: str(c.arg0, 64), ns: c.time - at.value }); },
      exit: fn,
      optional: true,
    }),
  ];
  return { probes }; // it is normal that server processes never wait for each other
}

export function checkpoints(fn) {
  [, fn] = inOrder("gotap/postgres", "checkpoints", fn, undefined, true);
  const at = perThread(0);
  const probes = [
    probe(mark("checkpoint__start"), { enter(c) { at.value = c.time; }, optional: true }),
    probe(mark("checkpoint__done"), { enter(c) { if (at.value !== 0) exit({ ns: c.time - at.value }); }, exit: fn, optional: true }),
  ];
  return { probes };
}
