// mallocs: how big are the blocks that a program allocates, and which code allocates them?
// topic: memory
//
//   gotap run mallocs -- ls -lR /usr/share/doc
//   gotap run mallocs --arg top=5 -p PID
//
// It finds malloc in the C library, jemalloc, tcmalloc, mimalloc and the program, and what Go programs call instead. The probe adds up sizes and
// callers; single calls send no record.
//
//   $ gotap run mallocs --arg top=3 -- ls -l /usr/bin
//   2279 calls of malloc
//   @request size:
//   [2, 4)                41 |@@@                                                 |
//   [4, 8)               475 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@               |
//   [8, 16)              563 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@        |
//   [16, 32)             659 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|
//   [32, 64)             475 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@               |
//   [64, 128)             26 |@@                                                  |
//   [128, 256)             7 |                                                    |
//   …

import { ordered } from "gotap/table";
import { inAllocators } from "gotap/memory";
import { absent } from "gotap/module";

const top = option("top", 10, "how many callers to print");
const size = hist("request size");
const bytes = sum("bytes by caller", { keys: 1 });
const calls = count("calls");

const allocating = probe([...inAllocators("malloc"), "a.out:runtime.mallocgc"], {
  enter(c) {
    calls.inc();
    size.add(c.arg0);
    bytes.at(c.caller).add(c.arg0);
  },
  optional: true,
});
absent("mallocs", [allocating], "malloc in one of the usual places, or be a Go program");

// A place has a different address in every process; only places without a name are distinguished by address.
function byName(callers) {
  const named = new Map();
  for (const [caller, n] of callers) {
    const name = callsym(caller);
    const key = /^[^0(]/.test(name) ? name : caller;
    named.set(key, { name, bytes: (named.get(key)?.bytes ?? 0) + Number(n) });
  }
  return [...named.values()].sort((a, b) => b.bytes - a.bytes);
}

end(() => {
  const all = calls.take();
  report({ name: "total", columns: ["calls"], rows: [[all]] }, `${all} calls of malloc`);
  size.print();
  const callers = byName(ordered(bytes.take()));
  const lines = callers.slice(0, top).map(c => `${String(c.bytes).padStart(12)}  ${c.name}`);
  report({ name: "callers", columns: ["caller", "bytes"], rows: callers.map(c => [c.name, c.bytes]) },
    [`top ${lines.length} of ${callers.length} callers, by bytes`, ...lines].join("\n"));
});
