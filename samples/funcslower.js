// funcslower: which calls of a function take longer than a limit, with their first arguments and the stack?
//
//   gotap run funcslower.js --arg f=libc:usleep --arg ms=1 -p PID

const place = option("f", "libc:read", "the function to watch");
const limit = option("ms", 10, "only calls that take this many milliseconds or more") * 1000000;

probe(place, {
  enter(c) {
    this.a = c.arg0;
    this.b = c.arg1;
    this.c = c.arg2;
  },
  leave(c) {
    if (c.elapsed < limit) return;
    exit({ a: this.a, b: this.b, c: this.c, ns: c.elapsed, ret: c.ret, stack: c.stack(8) });
  },
  exit(e) {
    console.log(`${e.comm}/${e.tid} ${place}(${e.a}, ${e.b}, ${e.c}) = ${e.ret} took ${(e.ns / 1e6).toFixed(3)} ms`);
    console.log(`${e.stack}`);
  },
});
