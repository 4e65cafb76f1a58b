// calltrace: an indented trace of calls and returns, with arguments, results and times.
//
//   gotap run calltrace.js --arg f='main,work*' -- ./prog
//   gotap run calltrace.js --arg f='libc:f*open,libc:fclose' -- cat /etc/hostname
//
// The depth is kept at the probe, for each thread on its own. A call left by an exception or longjmp has no return line.

const places = String(option("f", "libc:f*open*,libc:*close", "functions, separated by commas")).split(",");
const depth = perThread(0);

probe(places, {
  enter(c) {
    exit({ depth: depth.value++, func: c.func, a: c.arg0, b: c.arg1 });
  },
  exit(e) {
    console.log(`${String(e.tid).padStart(7)} ${"  ".repeat(Number(e.depth))}-> ${e.func}(${e.a}, ${e.b})`);
  },
});

probe(places, {
  leave(c) {
    depth.value--;
    exit({ depth: depth.value, func: c.func, ret: c.ret, ns: c.elapsed });
  },
  exit(e) {
    console.log(`${String(e.tid).padStart(7)} ${"  ".repeat(Math.max(0, Number(e.depth)))}<- ${e.func} = ${e.ret} [${(Number(e.ns) / 1000).toFixed(1)} us]`);
  },
});
