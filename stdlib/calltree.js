// gotap/calltree: calls and returns, indented.
//
//   import { calltree } from "gotap/calltree";
//   calltree(["libc:fopen", "libc:fclose"], { args: 2 });
//
//     1.204 ms  cat/4711   -> fopen(0x7ffd1, 0x55e0)
//     1.322 ms  cat/4711   <- fopen = 0x55e21c [118 us]
//
// calltree(specs, { args, inside, most, optional, print })
//     args      how many arguments to show, 0 to 4 (2)
//     inside    a function: shows only its calls, and what is called while it runs
//     most      disables the probes after this many lines (0: never)
//     print     called on the host with { text, enter, depth, func, tid, time } of each line instead of console.log
//   returns { probes }
//
// The probes count the depth of each thread. A call that ends with an exception or longjmp has no return line;
// the depth is correct again when the outermost call returns.

import { options } from "gotap/module";
import { duration, milliseconds } from "gotap/time";

export function calltree(specs, given) {
  const o = options("gotap/calltree", given, { args: 2, inside: "", most: 0, optional: false, print: line => console.log(line.text) });
  const depth = perThread(0), open = perThread(0);
  const gated = o.inside !== "";
  const show = printer(o);
  const places = Array.isArray(specs) ? specs : [specs];
  const entered = probe(places, {
    enter(c) {
      if (gated && open.value === 0) return;
      exit({ depth: depth.value++, func: c.func, a: c.arg0, b: c.arg1, c: c.arg2, d: c.arg3 });
    },
    exit: show.enter,
    optional: o.optional,
  });
  const left = probe(places, {
    enter(c) { this.depth = gated && open.value === 0 ? -1 : depth.value; },
    leave(c) {
      if (this.depth < 0) return;
      depth.value = this.depth - 1; // without the call itself, which the other probe has counted
      exit({ depth: depth.value, func: c.func, ret: c.ret, ns: c.elapsed });
    },
    exit: show.leave,
    optional: o.optional,
  });
  const probes = [entered, left];
  if (gated) probes.push(probe(o.inside, { priority: -1, enter(c) { open.value++; }, leave(c) { open.value--; } }));
  show.limit = () => probes.forEach(p => p.disable());
  return { probes };
}

// printer returns a function that formats and prints the lines.
function printer(o) {
  let lines = 0, first = 0;
  const self = { limit: () => {}, enter, leave };
  function put(e, enter, text) {
    if (o.most > 0 && lines >= o.most) return; // records that were sent before the probes were disabled
    if (first === 0) first = e.time;
    const depth = Math.max(0, Number(e.depth));
    const head = `${milliseconds(e.time - first).padStart(10)} ms  ${`${e.comm}/${e.tid}`.padEnd(16)} ${"  ".repeat(depth)}`;
    o.print({ text: head + text, enter, depth, func: e.func, tid: e.tid, time: e.time });
    if (++lines === o.most) self.limit();
  }
  function enter(e) {
    const shown = [e.a, e.b, e.c, e.d].slice(0, o.args).map(word);
    put(e, true, `-> ${e.func}(${shown.join(", ")})`);
  }
  function leave(e) {
    put(e, false, `<- ${e.func} = ${word(e.ret)} [${duration(e.ns)}]`);
  }
  return self;
}

// word formats small integers as decimal numbers and others as addresses; floats, booleans and structs stay as they are.
function word(v) {
  if (typeof v !== "bigint" && !Number.isInteger(v)) return String(v);
  const n = BigInt(v);
  return n > -65536n && n < 65536n ? String(n) : "0x" + BigInt.asUintN(64, n).toString(16);
}
