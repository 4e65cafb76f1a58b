// offcpu: where do threads wait? Time in system calls that block, by call and by stack.
// topic: threads
//
//   gotap run offcpu -T 10s -p PID
//   gotap run offcpu --arg ms=10 --arg calls='read,poll,futex' -- ./prog
//
// It does not count the time that a runnable thread waits for a processor: only the kernel's scheduler knows it (offcputime of bcc).
//
//   $ gotap run offcpu --arg ms=1 --arg top=2 -- ./shop
//   @waits, ns:
//   [4M, 8M)              17 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|
//   [8M, 16M)              0 |                                                    |
//   [16M, 32M)             1 |@@@                                                 |
//   [32M, 64M)             1 |@@@                                                 |
//
//   60.2 ms in 1 wait: futex of shop, called from
//       0x7f6468f6af16 __futex_abstimed_wait_common64+0x0 (libc.so.6) at futex-internal.c:57
//       0x7f6468f6af16 __futex_abstimed_wait_common+0xc6 (libc.so.6) at futex-internal.c:87
//   …

import { places } from "gotap/module";
import { duration } from "gotap/time";

const calls = option("calls", [
  "read,readv,pread64,preadv,write,writev,pwrite64,pwritev,sendto,sendmsg,sendmmsg,recvfrom,recvmsg,recvmmsg,sendfile,splice,accept,accept4,connect",
  "poll,ppoll,select,pselect6,epoll_wait,epoll_pwait,epoll_pwait2,futex,futex_waitv,nanosleep,clock_nanosleep,pause,rt_sigsuspend,rt_sigtimedwait",
  "wait4,waitid,semop,semtimedop,msgrcv,msgsnd,mq_timedreceive,mq_timedsend,io_getevents,io_uring_enter,fsync,fdatasync,msync,flock,fcntl",
].join(),
  "system calls, separated by commas");
const least = option("ms", 1, "waits shorter than this many milliseconds do not count") * 1000000;
const top = option("top", 10, "how many stacks to print");
const frames = option("frames", 8, "frames of a stack");
const waits = hist("waits, ns");
const stacks = new Map();

probe(places(calls).map(name => `syscall:${name}`), {
  leave(c) {
    if (c.elapsed < least) return;
    waits.add(c.elapsed);
    exit({ call: c.func, ns: c.elapsed, stack: c.stack(frames) });
  },
  exit(e) {
    const key = `${e.call} of ${e.comm}, called from\n${e.stack}`;
    const s = stacks.get(key) ?? { call: e.call, comm: e.comm, stack: e.stack, n: 0, ns: 0 };
    stacks.set(key, { ...s, n: s.n + 1, ns: s.ns + Number(e.ns) });
  },
  optional: true,
});

end(() => {
  waits.print();
  const longest = [...stacks].sort((a, b) => b[1].ns - a[1].ns);
  const texts = longest.slice(0, top).map(([key, s]) => `${duration(s.ns)} in ${s.n} ${s.n === 1 ? "wait" : "waits"}: ${key}`);
  const rows = longest.map(([, s]) => [s.call, s.comm, s.n, s.ns, s.stack]);
  report({ name: "stacks", columns: ["call", "thread", "waits", "time", "stack"], rows }, texts.join("\n") || "nothing waited");
});
