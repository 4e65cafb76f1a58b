// files: how much is read from and written to which file, in how many calls, and how long does that take?
// topic: files and system calls
//
//   gotap run files -- gzip -k big.txt
//   gotap run files --arg top=20 -T 10s -p PID
//
// A descriptor number that is reused counts for the new file. Access through mapped memory or io_uring is not seen.
//
//   $ gotap run files -- gzip -kf big.txt
//   calls     read    written  time     file
//      40  1.2 MiB        0 B  3.32 ms  /home/me/big.txt
//       2      0 B  418.4 KiB  197 us   /home/me/big.txt.gz
//       3  2.3 KiB        0 B  46 us    /usr/lib/x86_64-linux-gnu/libc.so.6

import { traffic } from "gotap/traffic";
import { show, size } from "gotap/table";
import { duration } from "gotap/time";

const top = option("top", 15, "how many files to print");
const all = traffic();

end(() => {
  const totals = new Map(); // by path
  for (const row of all.rows()) {
    const path = row.path.startsWith("/") ? row.path : `${row.path} of ${row.pid}`;
    const t = totals.get(path) ?? { read: 0, written: 0, calls: 0, ns: 0 };
    for (const field of Object.keys(t)) t[field] += row[field];
    totals.set(path, t);
  }
  const rows = [...totals].sort((a, b) => b[1].read + b[1].written - a[1].read - a[1].written)
    .map(([path, t]) => [t.calls, t.read, t.written, t.ns, path]);
  show("files", ["calls", ["read", size], ["written", size], ["time", duration], "file"], rows, { top });
});
