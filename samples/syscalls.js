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

import { places } from "gotap/module";
import { calls, matching } from "gotap/syscalls";
import { errno, isError } from "gotap/errno";
import { kernelSignal, signalText } from "gotap/kernelstructs";
import { show, ordered } from "gotap/table";
import { duration } from "gotap/time";

const chosen = option("calls", "*", "system calls, separated by commas; globs");
const trace = option("trace", false, "print each call");
const failed = option("failed", false, "with trace, only those that failed");
const size = option("size", 32, "with trace, bytes of data to show");
const times = stats("time", { keys: 1 }), errors = count("errors", { keys: 2 });

if (trace) {
  calls(chosen, { size }, e => {
    if (failed && !isError(e.ret)) return;
    const { pid, tid, comm, time, ns } = e;
    report({ name: "call", pid, tid, comm, time, data: { func: e.call, call: e.text, result: e.result, ns } },
      `${comm}/${tid} ${e.text} = ${e.result}${ns === undefined ? "" : ` <${duration(ns)}>`}`);
  });
  if (!failed && matching(chosen)("exit_group")) { // what belongs to all calls is shown with all of them
    on("signal", e => report({ name: "signal", ...e, data: { signal: kernelSignal(e.signal) } }, `${e.tid} --- ${kernelSignal(e.signal)} ${signalText(e)} ---`));
    const ended = name => e => report({ name, ...e, data: { status: e.status, signal: e.signal && kernelSignal(e.signal) } },
      `${e.tid} +++ ${e.signal ? `killed by ${kernelSignal(e.signal)}${e.core ? " (core dumped)" : ""}` : `exited with ${e.status}`} +++`);
    on("exit", ended("exit"));
    on("threadend", ended("threadend"));
  }
} else {
  probe(places(chosen).map(name => `syscall:${name}`), {
    leave(c) {
      times.at(c.func).add(c.elapsed);
      if (c.ret < 0 && c.ret >= -4095) errors.at(c.func, c.ret).inc();
    },
  });
}

end(() => {
  if (trace) return;
  const wrong = new Map();
  for (const [[call, ret], n] of errors.take()) wrong.set(call, [...(wrong.get(call) ?? []), `${n} ${errno(ret)}`]);
  const rows = ordered(times.take(), s => s.total).map(([call, s]) => [call, s.count, s.total, s.average, wrong.get(call) ?? []]);
  show("calls", ["call", "calls", ["total", duration], ["average", duration], ["errors", list => list.join(", ")]], rows);
});
