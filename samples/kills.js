// kills: who sends which signal to whom?
// topic: the whole process
//
//   gotap run kills -- sh -c 'sleep 5 & kill $!'
//   gotap run kills -p PID
//
//   $ gotap run kills -- sh -c 'sleep 5 & kill $!'
//   sh/7973 kill 7974 (sh -c sleep 5 & kill $!) SIGTERM = 0

import { signalName } from "gotap/signals";
import { result } from "gotap/errno";
import { command } from "gotap/proc";

let sent = 0;
const begun = new Map(); // signals about to be sent, by thread; afterwards sender and receiver may have ended

probe(["syscall:kill", "syscall:tkill", "syscall:tgkill", "syscall:rt_sigqueueinfo", "syscall:rt_tgsigqueueinfo", "syscall:pidfd_send_signal"], {
  enter(c) {
    const inGroup = c.func === "tgkill" || c.func === "rt_tgsigqueueinfo"; // (group, thread, signal)
    const to = inGroup ? c.arg1 : c.arg0, signal = inGroup ? c.arg2 : c.arg1;
    exit.hold({ call: c.func, to: (to << 32) >> 32, signal, ret: 0, before: true });
  },
  leave(c) { exit({ call: c.func, to: 0, signal: 0, ret: c.ret, before: false }); },
  exit(e) {
    if (e.before) begun.set(e.tid, sending(e));
    else tell(e.tid, result(e.ret));
  },
  optional: true,
});

function sending(e) {
  const to = e.call === "pidfd_send_signal" ? Number(/^Pid:\s*(-?\d+)/m.exec(readFile(`/proc/${e.pid}/fdinfo/${e.to}`) ?? "")?.[1] ?? 0) : e.to;
  const name = to > 0 ? command(to) : undefined;
  const signal = Number(e.signal) === 0 ? "0" : signalName(e.signal);
  return { pid: e.pid, tid: e.tid, comm: e.comm, time: e.time, data: { call: e.call, to, name, signal },
    text: `${e.comm}/${e.tid} ${e.call} ${to}${name ? ` (${name})` : ""} ${signal}` };
}

// tell writes a call; one that the caller's end cut short has no result.
function tell(tid, result) {
  const one = begun.get(tid);
  if (one === undefined) return;
  begun.delete(tid);
  sent++;
  report({ name: "signal", event: one, data: { ...one.data, result } }, `${one.text} ${result === undefined ? "did not return" : `= ${result}`}`);
}

// If the signal ends its sender, the call does not return.
on("exit", e => {
  for (const [tid, one] of [...begun]) if (one.pid === e.pid) tell(tid);
});

end(() => {
  if (sent === 0) console.error("kills: no signal was sent; those that the kernel or another process sends are in the sample lifecycle");
});
