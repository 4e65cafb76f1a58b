// lifecycle: what becomes of a program: processes, threads, programs started, libraries loaded, signals.
//
//   gotap run lifecycle.js -- sh -c 'ls | wc -l'

const started = Date.now();
const at = () => `${String(Date.now() - started).padStart(6)} ms`;

on("fork", e => console.log(`${at()} ${e.pid} forks ${e.child}`));
on("exec", e => console.log(`${at()} ${e.pid} becomes ${e.path}`));
on("exit", e => console.log(`${at()} ${e.pid} ends, ${e.signal ? "by signal " + e.signal : "status " + e.status}`));
on("thread", e => console.log(`${at()} ${e.pid} starts thread ${e.child}`));
on("module", e => console.log(`${at()} ${e.pid} loads ${e.path}`));
on("signal", e => console.log(`${at()} ${e.pid} gets signal ${e.signal}`));
