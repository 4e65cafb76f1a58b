// files: how much is read from and written to which file, in how many calls, and how long does that take?
// topic: files and system calls
//
//   gotap run files -- gzip -k big.txt
//   gotap run files --arg top=20 -T 10s -p PID
//
// A descriptor's path is asked for once, at its first use after each open, pipe or socket call; one reused in between by other means
// is counted for the old path.
//
//   $ gotap run files -- gzip -kf big.txt
//   calls     read    written  time     file
//      40  1.2 MiB        0 B  3.32 ms  /home/me/big.txt
//       2      0 B  418.4 KiB  197 us   /home/me/big.txt.gz
//       3  2.3 KiB        0 B  46 us    /usr/lib/x86_64-linux-gnu/libc.so.6

import { fdPath } from "gotap/files";
import { table, size } from "gotap/table";
import { duration } from "gotap/time";

const top = option("top", 15, "how many files to print");
const got = sum("bytes read", { keys: 2 }), put = sum("bytes written", { keys: 2 }), time = stats("time", { keys: 2 });
const known = map("descriptors whose path is known", { keys: 2, max: 16384 });
const paths = new Map(); // by process and descriptor
const totals = new Map(); // by path

const transfer = (calls, moved) => probe(calls.map(name => `syscall:${name}`), {
  enter(c) { this.fd = c.arg0; },
  leave(c) {
    const fd = (this.fd << 32) >> 32;
    time.at(c.pid, fd).add(c.elapsed);
    if (c.ret > 0) moved.at(c.pid, fd).add(c.ret);
    if (known.has(c.pid, fd)) return;
    known.set(c.pid, fd, 1);
    exit.hold({ fd });
  },
  exit(e) { paths.set(`${e.pid}/${e.fd}`, fdPath(e.pid, e.fd)); },
  optional: true,
});
transfer(["read", "pread64", "readv", "preadv"], got);
transfer(["write", "pwrite64", "writev", "pwritev"], put);

// The count goes to the path before the descriptor does: the thread waits for it.
probe(["syscall:close", "syscall:dup2", "syscall:dup3"], {
  enter(c) {
    const fd = ((c.func === "close" ? c.arg0 : c.arg1) << 32) >> 32;
    if (!known.has(c.pid, fd)) return;
    known.delete(c.pid, fd);
    exit.hold({ fd });
  },
  exit(e) { settle(); paths.delete(`${e.pid}/${e.fd}`); },
  optional: true,
});

// settle moves what was added up by descriptor to the files.
function settle() {
  const add = (entries, field, value) => {
    for (const [[pid, fd], v] of entries) {
      const path = paths.get(`${pid}/${fd}`) ?? `fd ${fd} of ${pid}`;
      const t = totals.get(path) ?? { read: 0, written: 0, calls: 0, ns: 0 };
      t[field] += Number(value(v));
      if (field === "ns") t.calls += Number(v.count);
      totals.set(path, t);
    }
  };
  add(got.take(), "read", v => v);
  add(put.take(), "written", v => v);
  add(time.take(), "ns", v => v.total);
}

end(() => {
  settle();
  known.clear();
  const rows = [...totals].sort((a, b) => b[1].read + b[1].written - a[1].read - a[1].written)
    .map(([path, t]) => [t.calls, size(t.read), size(t.written), duration(t.ns), path]);
  console.log(table(rows, { head: ["calls", "read", "written", "time", "file"], top }));
});
