// syscalls: which system calls does a program make, how long do they take, and how many fail? With trace=1, each of them.
// topic: files and system calls
//
//   gotap run syscalls -- ls /etc
//   gotap run syscalls --arg trace=1 --arg calls='open*,*stat*' -- ls /etc
//
// It also sees programs that make system calls without the C library, such as Go's. It does not see the execve that starts COMMAND:
// use -- sh -c 'exec COMMAND' to see it.
//
//   $ gotap run syscalls -- ls /etc
//   call             calls  total    average  errors
//   newfstatat          22  3.17 ms  144 us
//   openat              34  1.56 ms  45.9 us  13 ENOENT
//   mmap                30  1.46 ms  48.5 us
//   close               23  1.03 ms  44.8 us
//   getdents64           2  531 us   266 us
//   …

import { callText, pathCalls, pathArgument } from "gotap/syscalls";
import { errno, result } from "gotap/errno";
import { show, ordered } from "gotap/table";
import { duration } from "gotap/time";

const calls = option("calls", "*", "system calls, separated by commas; globs");
const trace = option("trace", false, "print each call");
const failed = option("failed", false, "with trace, only those that failed");
const times = stats("time", { keys: 1 }), errors = count("errors", { keys: 2 });

if (trace) {
  const none = c => "";
  const a0 = c => c.arg0 !== 0 ? str(c.arg0, 128) : "", a1 = c => c.arg1 !== 0 ? str(c.arg1, 128) : "";
  const every = matching(calls);
  const named = at => pathCalls().filter(name => pathArgument(name) === at && every(name)).map(name => `syscall:${name}`);
  follow(named(0), a0, 0);
  follow(named(1), a1, 1);
  follow(calls.split(",").map(name => `syscall:${name}`), none, -1);
} else {
  probe(calls.split(",").map(name => `syscall:${name}`), {
    leave(c) {
      times.at(c.func).add(c.elapsed);
      if (c.ret < 0 && c.ret >= -4095) errors.at(c.func, c.ret).inc();
    },
  });
}

// matching reports whether one of the globs matches a name.
function matching(globs) {
  const all = globs.split(",").map(glob => new RegExp(`^${glob.replace(/[.+^$()|]/g, "\\$&").replace(/\*/g, ".*").replace(/\?/g, ".")}$`));
  return name => all.some(one => one.test(name));
}

// follow traces the calls that have their text in one argument. The last probe leaves out the calls of both lists.
function follow(places, text, at) {
  if (places.length === 0) return;
  const named = new Set(at < 0 ? pathCalls() : []);
  const onlyFailed = failed;
  probe(places, {
    enter(c) {
      this.a = c.arg0; this.b = c.arg1; this.c = c.arg2; this.d = c.arg3; this.e = c.arg4; this.f = c.arg5;
      this.s = text(c);
    },
    leave(c) {
      if (onlyFailed && c.ret >= 0) return;
      exit({ call: c.func, a: this.a, b: this.b, c: this.c, d: this.d, e: this.e, f: this.f, s: this.s, ret: c.ret, ns: c.elapsed });
    },
    exit(e) {
      if (named.has(e.call)) return;
      const texts = at < 0 ? {} : { [at]: e.s };
      const call = callText(e.call, [e.a, e.b, e.c, e.d, e.e, e.f], texts);
      report({ name: "call", event: e, data: { func: e.call, call, result: result(e.ret), ns: e.ns } }, `${e.comm}/${e.tid} ${call} = ${result(e.ret)} <${duration(e.ns)}>`);
    },
    optional: at >= 0,
  });
}

end(() => {
  if (trace) return;
  const wrong = new Map();
  for (const [[call, ret], n] of errors.take()) wrong.set(call, [...(wrong.get(call) ?? []), `${n} ${errno(ret)}`]);
  const rows = ordered(times.take(), s => s.total).map(([call, s]) => [call, s.count, s.total, s.average, wrong.get(call) ?? []]);
  show("calls", ["call", "calls", ["total", duration], ["average", duration], ["errors", list => list.join(", ")]], rows);
});
