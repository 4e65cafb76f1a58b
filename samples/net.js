// net: which connections are made and accepted, which names are looked up, how long does that take, and how much data is moved?
// topic: network
//
//   gotap run net -- curl -s http://localhost:8000/
//   gotap run net -T 10s -p PID
//
// A connect that does not block returns EINPROGRESS at once. The bytes are those of all calls that move data, also read, writev
// and sendfile. Sockets that reuse a descriptor number count separately.
//
//   $ gotap run net -- curl -s http://localhost:8000/
//   curl/8131 connect 3 to unix:/var/run/nscd/socket = -1 ENOENT <42.9 us>
//   curl/8131 connect 3 to unix:/var/run/nscd/socket = -1 ENOENT <19.1 us>
//   curl/8131 connect 5 to 127.0.0.1:8000 = -1 EINPROGRESS <504 us>
//   socket 5 of 8131 with 127.0.0.1:8000: 78 bytes sent, 921 received

import { sockaddr, lookupError, socketOf } from "gotap/sockets";
import { family, socketType } from "gotap/syscalls";
import { errno, result } from "gotap/errno";
import { traffic } from "gotap/traffic";
import { duration } from "gotap/time";

follow("children"); // of a server, which may have a process for each connection
const showing = option("sockets", false, "show the making of sockets, too");
const top = option("top", 25, "how many sockets to print");
const sockets = traffic({ describe: partner });
let seen = 0;

// partner returns the remote address of a connection; a socket without a connection has port 0.
function partner(pid, fd, path) {
  const remote = path.startsWith("socket:") ? socketOf(pid, fd)?.remote : undefined;
  return remote === undefined || remote.endsWith(":0") ? "" : remote;
}

const who = e => { seen++; return `${e.comm}/${e.tid}`; };

probe("libc:getaddrinfo", {
  enter(c) { this.host = c.arg0 === 0 ? "*" : str(c.arg0); this.service = c.arg1 === 0 ? "" : str(c.arg1, 32); },
  leave(c) { exit({ host: this.host, service: this.service, ret: (c.ret << 32) >> 32, ns: c.elapsed }); },
  exit(e) {
    const error = lookupError(e.ret) === "0" ? undefined : lookupError(e.ret);
    report({ name: "lookup", event: e, data: { host: e.host, service: e.service, error, ns: e.ns } },
      `${who(e)} looks up ${e.host} ${e.service}: ${error ?? "found"} <${duration(e.ns)}>`);
  },
  optional: true,
});
probe(["syscall:connect", "syscall:bind"], {
  enter(c) {
    const fd = c.arg0, p = c.arg1, n = min((c.arg2 << 32) >> 32, 110);
    this.fd = fd;
    this.p = p;
    this.n = n;
  },
  leave(c) { exit({ call: c.func, fd: this.fd, to: bytes(this.p, this.n), ret: c.ret, ns: c.elapsed }); },
  exit(e) {
    const address = sockaddr(e.to);
    report({ name: e.call, event: e, data: { fd: e.fd, address, result: result(e.ret), ns: e.ns } },
      `${who(e)} ${e.call} ${e.fd} to ${address} = ${result(e.ret)} <${duration(e.ns)}>`);
  },
});
// The thread waits while the remote address is read: the program might close the socket at once.
probe(["syscall:accept", "syscall:accept4"], {
  leave(c) { exit.hold({ ret: c.ret, ns: c.elapsed }); },
  exit(e) {
    const socket = e.ret >= 0 ? socketOf(e.pid, e.ret) : undefined;
    report({ name: "accept", event: e, data: { result: result(e.ret), address: socket?.remote, ns: e.ns } },
      `${who(e)} accept = ${e.ret < 0 ? errno(e.ret) : `${e.ret}${socket ? ` from ${socket.remote}` : ""}`} <${duration(e.ns)}>`);
  },
  optional: true,
});
if (showing) {
  probe("syscall:socket", {
    enter(c) { this.family = c.arg0; this.type = c.arg1; },
    leave(c) { exit({ family: this.family, type: this.type, ret: c.ret }); },
    exit(e) {
      const made = { family: family(e.family), type: socketType(e.type), result: result(e.ret) };
      report({ name: "socket", event: e, data: made }, `${who(e)} socket ${made.family} ${made.type} = ${made.result}`);
    },
  });
}

end(() => {
  const used = sockets.rows().filter(row => row.path.startsWith("socket:") && row.read + row.written > 0)
    .sort((a, b) => b.read + b.written - a.read - a.written);
  if (used.length === 0 && seen === 0) console.error("net: no socket was used, and no name looked up by the C library");
  const texts = used.slice(0, top).map(s => `socket ${s.fd} of ${s.pid}${s.what ? ` with ${s.what}` : ""}: ${s.written} bytes sent, ${s.read} received`);
  if (used.length > top) texts.push(`… and ${used.length - top} more sockets`);
  const rows = used.map(s => [s.pid, s.fd, s.what ?? "", s.written, s.read]);
  if (rows.length > 0) report({ name: "sockets", columns: ["pid", "fd", "address", "sent", "received"], rows }, texts.join("\n"));
});
