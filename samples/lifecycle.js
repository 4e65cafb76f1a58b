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
const at = () => `${String(Date.now() - started).padStart(6)} ms`;

on("fork", e => console.log(`${at()} ${e.pid} forks ${e.child}`));
on("exec", e => console.log(`${at()} ${e.pid} becomes ${e.path}: ${command(e.pid) ?? ""}`));
on("exit", e => console.log(`${at()} ${e.pid} ends, ${e.signal ? "by signal " + signalName(e.signal) : "status " + e.status}`));
on("thread", e => console.log(`${at()} ${e.pid} starts thread ${e.child}`));
on("module", e => console.log(`${at()} ${e.pid} loads ${e.path}`));
on("signal", e => console.log(`${at()} ${e.pid} gets signal ${signalName(e.signal)}`));
