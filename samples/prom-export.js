// prom-export: calls, failures and a latency histogram of functions, in the text format of Prometheus.
// topic: the whole process
//
//   gotap run prom-export --arg f='libc:read,libc:write' -q -- ls -lR /usr/share/doc > metrics.prom
//   gotap run prom-export --arg f='syscall:*' --arg every=15 -o gotap.prom -p PID
//
// A call fails when it returns a negative integer.
// Counters grow as long as the run lasts. With every=N each text replaces the previous one in the file of -o, for a collector of
// text files; on standard output the texts follow each other, each with "# EOF" at its end.
//
//   $ gotap run prom-export --arg f=libc:write -- ls /etc/hostname
//   # TYPE gotap_call_seconds histogram
//   gotap_call_seconds_bucket{function="write",le="0.000262143"} 1
//   gotap_call_seconds_bucket{function="write",le="+Inf"} 1
//   gotap_call_seconds_sum{function="write"} 0.000160337
//   gotap_call_seconds_count{function="write"} 1
//   # TYPE gotap_call_failures_total counter
//   # EOF

import { failed } from "gotap/structs";
import { places } from "gotap/module";

const functions = option("f", "libc:read,libc:write", "functions, separated by commas");
const seconds = option("every", 0, "prints every so many seconds; 0: at the end only");
const times = hist("seconds", { keys: 1 });
const failures = count("failures", { keys: 1 });
const totals = stats("totals", { keys: 1 });

probe(places(functions), {
  leave(c) {
    times.at(c.func).add(c.elapsed);
    totals.at(c.func).add(c.elapsed);
    if (failed(integer(c.ret))) failures.at(c.func).inc();
  },
});

function show() {
  const lines = ["# TYPE gotap_call_seconds histogram"];
  const all = new Map(totals.entries());
  for (const [func, h] of times.entries()) {
    const label = `function=${JSON.stringify(func)}`, s = all.get(func);
    let below = 0;
    for (const b of h.buckets) {
      below += Number(b.count);
      if (b.max !== undefined) lines.push(`gotap_call_seconds_bucket{${label},le="${Number(b.max) / 1e9}"} ${below}`);
    }
    lines.push(`gotap_call_seconds_bucket{${label},le="+Inf"} ${below}`);
    lines.push(`gotap_call_seconds_sum{${label}} ${Number(s?.total ?? 0) / 1e9}`, `gotap_call_seconds_count{${label}} ${s?.count ?? 0}`);
  }
  lines.push("# TYPE gotap_call_failures_total counter");
  for (const [func, n] of failures.entries()) lines.push(`gotap_call_failures_total{function=${JSON.stringify(func)}} ${n}`);
  console.clear();
  const failed = new Map(failures.entries());
  const rows = [...all].map(([func, s]) => [func, s.count, s.total, failed.get(func) ?? 0]);
  report({ name: "calls", columns: ["function", "calls", "total", "failures"], rows }, lines.join("\n") + "\n# EOF");
}

if (seconds > 0) every(seconds * 1000, show);
end(() => {
  show();
  [times, failures, totals].forEach(a => a.clear());
});
