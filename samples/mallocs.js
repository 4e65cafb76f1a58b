// mallocs: how big are the blocks that a program allocates, and which code allocates them?
// topic: memory
//
//   gotap run mallocs -- ls -lR /usr/share/doc
//   gotap run mallocs --arg top=5 -p PID
//
// It counts the blocks that malloc, calloc, realloc, aligned_alloc and the like, and the operators new of C++ give, in the C library, jemalloc,
// tcmalloc, mimalloc and the program, and those of Go programs. A function that gets its block from another one of them counts once, by its
// own caller. The probe adds up sizes and callers; single calls send no record.
//
//   $ gotap run mallocs --arg top=3 -- ls -l /usr/bin
//   3470 blocks allocated
//   @request size:
//   [4, 8)               477 |@@@@@@@@@@@@@@@@@@@@                                |
//   [8, 16)              575 |@@@@@@@@@@@@@@@@@@@@@@@@                            |
//   [16, 32)             666 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@                        |
//   [32, 64)             476 |@@@@@@@@@@@@@@@@@@@@                                |
//   [64, 128)             26 |@                                                   |
//   [128, 256)             7 |                                                    |
//   …

import { ordered, counted } from "gotap/table";
import { requests } from "gotap/memory";
import { absent } from "gotap/module";

const top = option("top", 10, "how many callers to print");
const size = hist("request size");
const bytes = sum("bytes by caller", { keys: 1 });
const calls = count("calls");
const asked = perThread(0), caller = perThread(0); // size and caller of the last block

const heap = requests({
  on: (c, n, address) => {
    calls.inc();
    size.add(n);
    bytes.at(c.caller).add(n);
    asked.value = n;
    caller.value = c.caller;
  },
  again: (c, n, address) => {
    bytes.at(caller.value).add(-asked.value); // the caller of operator new is of interest, not operator new
    bytes.at(c.caller).add(asked.value);
    caller.value = c.caller;
  },
});
const collected = probe("a.out:runtime.mallocgc", {
  enter(c) {
    calls.inc();
    size.add(c.arg0);
    bytes.at(c.caller).add(c.arg0);
  },
  optional: true,
});
absent("mallocs", [...heap, collected], "malloc in one of the usual places, or be a Go program");

// A place has a different address in every process; only places without a name are distinguished by address.
function byName(callers) {
  const named = new Map();
  for (const [caller, n] of callers) {
    const name = callsym(caller);
    const key = /^[^0(]/.test(name) ? name : caller;
    named.set(key, { name, bytes: (named.get(key)?.bytes ?? 0) + Number(n) });
  }
  return [...named.values()].filter(c => c.bytes > 0).sort((a, b) => b.bytes - a.bytes);
}

end(() => {
  const all = calls.take();
  report({ name: "total", columns: ["calls"], rows: [[all]] }, `${counted(all, "block")} allocated`);
  size.print();
  const callers = byName(ordered(bytes.take()));
  const lines = callers.slice(0, top).map(c => `${String(c.bytes).padStart(12)}  ${c.name}`);
  report({ name: "callers", columns: ["caller", "bytes"], rows: callers.map(c => [c.name, c.bytes]) },
    [`top ${lines.length} of ${counted(callers.length, "caller")}, by bytes`, ...lines].join("\n"));
});
