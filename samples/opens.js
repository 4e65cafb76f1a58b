// opens: which files are opened, by whom, and what came of it?
//
//   gotap run opens.js -- ls /etc
//   gotap run opens.js --arg failed=1 -p PID
//
// It looks at libc, so a program that makes its system calls itself is not seen.

const onlyFailed = option("failed", 0, "1: only those that failed");

probe(["libc:open", "libc:open64"], {
  enter(c) { this.path = str(c.arg0); },
  leave(c) { if (!onlyFailed || c.ret < 0) log(`${c.comm}/${c.tid} ${(c.ret << 32) >> 32} ${this.path}`); },
  optional: true,
});
probe(["libc:openat", "libc:openat64"], {
  enter(c) { this.path = str(c.arg1); },
  leave(c) { if (!onlyFailed || c.ret < 0) log(`${c.comm}/${c.tid} ${(c.ret << 32) >> 32} ${this.path}`); },
  optional: true,
});
probe(["libc:fopen", "libc:fopen64"], {
  enter(c) { this.path = str(c.arg0); },
  leave(c) { if (!onlyFailed || c.ret === 0) log(`${c.comm}/${c.tid} ${c.ret === 0 ? "failed" : "stream"} ${this.path}`); },
  optional: true,
});
