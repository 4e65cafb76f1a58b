// gotap/latency: how long calls take.
//
//   import { latency, slower } from "gotap/latency";
//   latency("libc:read", "reads");                               // a histogram, printed at the end
//   slower("libc:write", { ms: 10 }, e => console.log(e.func, e.ns, `${e.stack}`));
//
// latency(spec, name, { when, bits, not, from, optional })   a histogram of nanoseconds, and count, average and total. when: a program c => … that
//                                             runs in leave: only calls for which it is true count. bits: 0 to 5 for finer buckets (0). Returns
//                                             { spec, hist, stats, probes, print(), summary() }
// latencies(spec, name, { when, not, from, optional })   calls of each function: a table of count, total, average, median, 99 % and maximum. Returns
//                                             { probes, print({ top }), rows() }
// picked({ slower, failed })                  a program for when: calls of so many nanoseconds or more, and calls that fail: a negative int, NULL, or an error of Go
// slower(spec, { ms, us, frames, when, optional }, fn)   calls fn on the host for each call that took ms + us or longer, with { func, ns, ret, a, b, c, stack }: its
//                                             first three arguments and a stack of at most `frames` frames (8). Returns { probes }
// quantile(histogram, part)                   an upper bound of the quantile, part is from 0 to 1: 0.99 gives a value that 99 % of all do not exceed
// byKey(spec, name, key, { when, optional })  stats of nanoseconds by key: a program c => … that runs in enter. Returns { stats, probes }
//
// Recursive calls are timed separately. The times include the cost of probes inside the calls. A spec whose module is
// missing is an error; with `optional` the module may be loaded later, and it is reported only if it never is.

import { options } from "gotap/module";
import { distinct } from "gotap/names";
import { duration } from "gotap/time";
import { show, ordered } from "gotap/table";

const always = c => true;

export function latency(spec, name = `${spec}, ns`, given) {
  const { when, bits, not, from, optional } = options("gotap/latency", given, { when: always, bits: 0, not: [], from: [], optional: false });
  const took = hist(name, { bits }), all = stats(`${name}: all`);
  const placed = probe(spec, {
    leave(c) {
      if (!when(c)) return;
      took.add(c.elapsed);
      all.add(c.elapsed);
    },
    optional,
    not,
    from,
  });
  const self = { spec, hist: took, stats: all, probes: [placed], print, summary };
  function summed() {
    const s = all.take(), h = took.get();
    return s && h ? { ...s, half: quantile(h, 0.5), most: quantile(h, 0.99) } : undefined;
  }
  function text(s) {
    if (s === undefined) return `${spec} was not called`;
    return `${s.count} ${s.count === 1 ? "call" : "calls"}, ${duration(s.average)} on average, ${duration(s.total)} in all; ` +
      `half at most ${duration(s.half)}, 99 % at most ${duration(s.most)}`;
  }
  function summary() { return text(summed()); }
  function print() {
    took.print();
    const s = summed();
    const rows = s === undefined ? [] : [[s.count, s.average, s.total, s.half, s.most]];
    report({ name: `${name}: summary`, columns: ["calls", "average", "total", "50 %", "99 %"], rows }, text(s));
  }
  return self;
}

export function picked(given) {
  const { slower, failed: onlyFailed } = options("gotap/latency", given, { slower: 0, failed: false });
  return c => c.elapsed >= slower && (!onlyFailed || fails(c));
}

const bits = 3; // a bucket is an eighth of a power of two: quantiles are up to 13 % too large

export function latencies(spec, name, given) {
  const { when, not, from, optional } = options("gotap/latency", given, { when: always, not: [], from: [], optional: false });
  const took = hist(`${name}: buckets`, { keys: 1, bits }), all = stats(`${name}: all`, { keys: 1 }), longest = max(`${name}: longest`, { keys: 1 });
  const placed = probe(spec, {
    leave(c) {
      if (!when(c)) return;
      took.at(c.func).add(c.elapsed);
      all.at(c.func).add(c.elapsed);
      longest.at(c.func).add(c.elapsed);
    },
    optional,
    not,
    from,
  });
  function rows() {
    const buckets = new Map(took.take()), most = new Map(longest.take());
    return ordered(all.take(), s => s.total).map(([func, s]) => {
      const least = part => Math.min(Number(quantile(buckets.get(func), part)), Number(most.get(func)));
      return [func, s.count, s.total, s.average, least(0.5), least(0.99), most.get(func)];
    });
  }
  function print(given) {
    const { top } = options("gotap/latency", given, { top: Infinity });
    const found = rows(), times = ["total", "average", "median", "99 %", "longest"].map(column => [column, duration]);
    const named = distinct(found.map(([func]) => func));
    if (found.length > 0) show(name, [["function", named], "calls", ...times], found, { top });
    else console.error(`${Array.isArray(spec) ? spec.join(", ") : spec}: no call was seen`);
  }
  return { probes: [placed], print, rows };
}

// All values of a bucket count as its upper end.
export function quantile(histogram, part) {
  const { buckets } = histogram;
  let left = part * buckets.reduce((n, b) => n + Number(b.count), 0);
  for (const b of buckets) {
    left -= Number(b.count);
    if (left <= 0) return b.max;
  }
  return undefined;
}

export function slower(spec, given, fn) {
  const o = options("gotap/latency", given, { ms: 0, us: 0, frames: 8, when: always, optional: false });
  const least = Math.round(o.ms * 1e6 + o.us * 1e3), frames = o.frames, when = o.when;
  const placed = probe(spec, {
    enter(c) {
      this.a = c.arg0;
      this.b = c.arg1;
      this.c = c.arg2;
    },
    leave(c) {
      if (c.elapsed < least || !when(c)) return;
      exit({ func: c.func, ns: c.elapsed, ret: c.ret, a: this.a, b: this.b, c: this.c, stack: c.stack(frames) });
    },
    exit: fn,
    optional: o.optional,
  });
  return { probes: [placed] };
}

export function byKey(spec, name, key, given) {
  const { when, optional } = options("gotap/latency", given, { when: always, optional: false });
  const all = stats(name, { keys: 1 });
  const placed = probe(spec, {
    enter(c) { this.key = key(c); },
    leave(c) { if (when(c)) all.at(this.key).add(c.elapsed); },
    optional,
  });
  return { stats: all, probes: [placed] };
}
