// writes: how much is written to each file, pipe and socket, and how much in each call?
// topic: files and system calls
//
//   gotap run writes -- ls -lR /usr/share/doc
//   gotap run writes -T 5s -p PID
//
// It probes system calls, so it also sees programs that make them without the C library.
//
//   $ gotap run writes -- ls -l /usr/bin
//   descriptor 1 of 4711, pipe:[5]: 81140 bytes
//   @bytes a write:
//   [2K, 4K)               1 |@@                                                  |
//   [4K, 8K)              19 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|

import { traffic } from "gotap/traffic";

const sizes = hist("bytes a write");
const all = traffic({ piece: (c, bytes) => sizes.add(bytes) });

end(() => {
  const written = all.rows().filter(row => row.written > 0).sort((a, b) => b.written - a.written);
  const rows = written.map(row => [row.pid, row.fd, row.path, row.written]);
  const texts = rows.map(([pid, fd, path, bytes]) => `descriptor ${fd} of ${pid}, ${path}: ${bytes} bytes`);
  if (rows.length > 0) report({ name: "written", columns: ["pid", "fd", "file", "bytes"], rows }, texts.join("\n"));
  if (rows.length > 0) sizes.print();
  else console.error("writes: nothing was written");
});
