// lifecycle: what happens to a program: processes, threads, programs started, libraries loaded, signals.
// topic: the whole process
//
//   gotap run lifecycle -- sh -c 'ls | wc -l'
//
//   $ gotap run lifecycle -- sh -c 'ls | wc -l'
//       24 ms 8009 becomes /usr/bin/dash: sh -c ls | wc -l
//       24 ms 8009 loads /usr/bin/dash
//       24 ms 8009 loads /usr/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2
//       24 ms 8009 loads /usr/lib/x86_64-linux-gnu/libc.so.6
//       25 ms 8009 forks 8012
//       26 ms 8009 forks 8013
//       26 ms 8013 becomes /usr/bin/wc: wc -l
//       27 ms 8013 loads /usr/bin/wc
//       27 ms 8013 loads /usr/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2
//   …

import { signalName } from "gotap/signals";
import { command } from "gotap/proc";

const started = Date.now();
const tell = (what, text) => e => report({ name: what, time: e.time, pid: e.pid, tid: e.tid, data: detail(e) }, `${String(Date.now() - started).padStart(6)} ms ${e.pid} ${text(e)}`);

// detail returns what is known of an event besides the process, with signals by name.
function detail({ time, pid, tid, signal, ...rest }) {
  return { ...rest, signal: signal ? signalName(signal) : undefined };
}

on("fork", tell("fork", e => `forks ${e.child}`));
on("exec", e => {
  const ran = command(e.pid) ?? "";
  tell("exec", () => `becomes ${e.path}: ${ran}`)({ ...e, command: ran });
});
on("exit", tell("exit", e => `ends, ${e.signal ? "by signal " + signalName(e.signal) : "status " + e.status}`));
on("thread", tell("thread", e => `starts thread ${e.child}`));
on("module", tell("module", e => `loads ${e.path}`));
on("signal", tell("signal", e => `gets signal ${signalName(e.signal)}`));
