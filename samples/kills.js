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
const names = new Map(); // by thread: who is about to get its signal, and may be gone after it

probe(["syscall:kill", "syscall:tkill", "syscall:tgkill"], {
  enter(c) {
    const to = c.func === "tgkill" ? c.arg1 : c.arg0;
    this.to = (to << 32) >> 32;
    this.signal = c.func === "tgkill" ? c.arg2 : c.arg1;
    exit.hold({ call: c.func, to: this.to, signal: this.signal, ret: 0, before: true });
  },
  leave(c) { exit({ call: c.func, to: this.to, signal: this.signal, ret: c.ret, before: false }); },
  exit(e) {
    if (e.before) {
      names.set(e.tid, e.to > 0 ? command(e.to) : undefined);
      return;
    }
    sent++;
    const name = names.get(e.tid);
    names.delete(e.tid);
    console.log(`${e.comm}/${e.tid} ${e.call} ${e.to}${name ? ` (${name})` : ""} ${e.signal === 0 ? "0" : signalName(e.signal)} = ${result(e.ret)}`);
  },
  optional: true,
});

end(() => {
  if (sent === 0) console.error("kills: no signal was sent; those that the kernel or another process sends are in the sample lifecycle");
});
