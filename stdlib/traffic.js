// gotap/traffic: bytes moved through file descriptors, by what these refer to.
//
//   import { traffic } from "gotap/traffic";
//   const t = traffic();
//   end(() => { for (const row of t.rows()) console.log(row.path, row.read, row.written); });
//
// traffic({ describe, piece })   probes the system calls that move bytes: read, write, send, recv and the like, sendfile, splice,
//                                copy_file_range. Returns { rows(), probes }
//     describe   called on the host with (pid, fd, path) once for each descriptor, while the thread waits; its result is
//                the member `what` of the row
//     piece      a program (c, bytes) that runs for each call that has written bytes
//   rows()       the sums since the last call of rows(): { pid, fd, path, what, read, written, calls, ns }, a row for each path
//                of a process: copies of a descriptor share a row, and a number that is reused for another path has two. fd is
//                the first number of the path
//
// The path of a descriptor is read at the end of the first call with it. If another thread has closed it by then, the path is "fd 7".
// Bytes that are only peeked at (MSG_PEEK, MSG_ERRQUEUE) and those that move through mapped memory or io_uring do not count.

import { options } from "gotap/module";
import { fdPath } from "gotap/files";

const often = 4096; // descriptors after which the sums move to the host

export function traffic(given) {
  const o = options("gotap/traffic", given, { describe: () => undefined, piece: (c, bytes) => {} });
  const got = sum("bytes read", { keys: 1, max: 65536 }), put = sum("bytes written", { keys: 1, max: 65536 });
  const time = stats("time", { keys: 1, max: 65536 });
  // Each open descriptor gets a serial number at the first call with it. One that is dropped early gets another at its next call.
  const numbers = map("descriptors", { keys: 3, max: 16384, full: "evict" }), last = map("last descriptor", { keys: 1 });
  const images = map("times that all descriptors of a process may have changed", { keys: 1, full: "evict" });
  const names = new Map(), totals = new Map(), piece = o.piece;
  let settled = 0;

  const lookUp = (pid, fd) => numbers.get(pid, images.get(pid), fd);
  const number = (pid, fd) => {
    if (lookUp(pid, fd) === 0) {
      last.inc(0);
      numbers.set(pid, images.get(pid), fd, last.get(0));
    }
    return lookUp(pid, fd);
  };
  const forget = (pid, fd) => { if (lookUp(pid, fd) !== 0) numbers.delete(pid, images.get(pid), fd); };

  // Counts one direction of a call: size is a program that returns the number of bytes.
  const moves = (calls, sums, size, written, fuel) => probe(calls.map(name => `syscall:${name}`), {
    enter(c) {
      this.fd = low(c.arg0);
      this.p = c.arg1;
      this.flags = flagsOf(c);
      this.before = last.get(0);
      this.id = number(c.pid, this.fd);
    },
    leave(c) {
      const fd = this.fd, id = this.id, n = c.ret > 0 && (this.flags & looked) === 0 ? size(c, this.p) : 0;
      time.at(id).add(c.elapsed);
      if (n > 0) {
        sums.at(id).add(n);
        if (written) piece(c, n);
      }
      if (id > this.before) exit.hold({ id, fd: lookUp(c.pid, fd) === id ? fd : -1 - fd, other: 0, to: 0 });
    },
    exit: named,
    fuel,
    optional: true,
  });
  // Calls that move bytes from one descriptor to another.
  const passes = (call, from, to) => probe(`syscall:${call}`, {
    enter(c) {
      this.from = low(from(c));
      this.to = low(to(c));
      this.before = last.get(0);
      this.id = number(c.pid, this.from);
      this.other = number(c.pid, this.to);
    },
    leave(c) {
      const id = this.id, other = this.other;
      time.at(id).add(c.elapsed);
      if (other !== id) time.at(other).add(c.elapsed);
      if (c.ret > 0) {
        got.at(id).add(c.ret);
        put.at(other).add(c.ret);
        piece(c, c.ret);
      }
      if (id > this.before || other > this.before) {
        exit.hold({
          id, fd: lookUp(c.pid, this.from) === id ? this.from : -1 - this.from,
          other, to: lookUp(c.pid, this.to) === other ? this.to : -1 - this.to,
        });
      }
    },
    exit: named,
    optional: true,
  });
  const result = (c, p) => c.ret, all = (c, p) => messages(c, p, c.ret);
  const probes = [
    moves(["read", "pread64", "readv", "preadv", "preadv2", "recvfrom", "recvmsg", "recv"], got, result, false, 10000),
    moves(["write", "pwrite64", "writev", "pwritev", "pwritev2", "sendto", "sendmsg", "send", "vmsplice"], put, result, true, 10000),
    moves(["recvmmsg", "recvmmsg_time64"], got, all, false, 50000),
    moves(["sendmmsg"], put, all, true, 50000),
    passes("sendfile", c => c.arg1, c => c.arg0),
    passes("sendfile64", c => c.arg1, c => c.arg0),
    passes("splice", c => c.arg0, c => c.arg2),
    passes("copy_file_range", c => c.arg0, c => c.arg2),
    probe("syscall:close", { enter(c) { forget(c.pid, low(c.arg0)); }, optional: true }),
    probe(["syscall:dup2", "syscall:dup3"], { enter(c) { if (low(c.arg0) !== low(c.arg1)) forget(c.pid, low(c.arg1)); }, optional: true }),
    probe(["syscall:close_range", "syscall:execve", "syscall:execveat"], { leave(c) { if (c.ret === 0) images.inc(c.pid); }, optional: true }),
  ];
  end(() => [numbers, last, images].forEach(m => m.clear()));

  function named(e) {
    for (const [id, fd] of [[e.id, e.fd], [e.other, e.to]]) {
      if (id === 0 || names.has(id)) continue;
      const open = fd >= 0, at = open ? fd : -1 - fd;
      const path = open ? fdPath(e.pid, at) : `fd ${at}`;
      names.set(id, { pid: e.pid, fd: at, path, what: open ? o.describe(e.pid, at, path) : undefined });
    }
    if (last.get(0) - settled > often) settle();
  }

  // settle adds the sums of the serial numbers to the rows of their files.
  function settle() {
    settled = last.get(0);
    const row = id => {
      const name = names.get(id) ?? { pid: 0, fd: 0, path: "?", what: undefined };
      const key = `${name.pid} ${name.path}`;
      if (!totals.has(key)) totals.set(key, { ...name, read: 0, written: 0, calls: 0, ns: 0 });
      return totals.get(key);
    };
    for (const [id, n] of got.take()) row(id).read += Number(n);
    for (const [id, n] of put.take()) row(id).written += Number(n);
    for (const [id, s] of time.take()) {
      row(id).calls += Number(s.count);
      row(id).ns += Number(s.total);
    }
  }

  function rows() {
    settle();
    const all = [...totals.values()];
    totals.clear();
    return all;
  }
  return { rows, probes };
}

const looked = 0x2002; // MSG_PEEK and MSG_ERRQUEUE

// flagsOf returns the flags of recv and the like, which say whether the call only peeks.
function flagsOf(c) {
  return c.func === "recvmsg" ? c.arg2 : c.func === "recvfrom" || c.func === "recv" || c.func === "recvmmsg" || c.func === "recvmmsg_time64" ? c.arg3 : 0;
}

function low(v) { return (v << 32) >> 32; }

// messages adds up the lengths in n structs mmsghdr at p. A struct has 64 bytes in 64-bit programs, which have stacks above 4 GB, and
// 32 in others.
function messages(c, p, n) {
  const large = c.sp >> 32 !== 0;
  let bytes = 0;
  for (let k = 0; k < n && k < 1024; k++) bytes += large ? u32(p + 64 * k + 56) : u32(p + 32 * k + 28);
  return bytes;
}
