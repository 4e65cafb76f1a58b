// Looks at the calls of values.c. What it prints is compared by contract_test.go.
const chain = (s) => (String(s).match(/ (leaf|middle|outer|thread|compare|main)\+/g) || []).join("");

probe("ten", {
  enter(c) { print("ten", c.arg0, c.arg3, c.arg4, c.arg9, c.args.a, c.args.e, c.args.j) },
  leave(c) { print("ten gave", c.ret, c.elapsed > 0) },
});
probe("mix", {
  enter(c) { printf("mix %f %f %d\n", c.args.a, c.args.b, c.args.n) },
  leave(c) { printf("mix gave %f\n", c.ret) },
});
probe("nine", (c) => { printf("nine %f %f\n", c.args.a, c.args.i) });
probe("wide", {
  enter(c) { print("wide", c.args.pad, c.args.v, c.args.z) },
  leave(c) { print("wide gave", c.ret) },
});
probe("by_pointer", (c) => { print("pointer", c.args.p.x, c.args.p.y, str(c.args.p.name), c.args.p.next.x) });
probe("by_value", (c) => { print("value", c.args.v.a, c.args.v.b) });
probe("homogeneous", {
  enter(c) { printf("floats %f %f %f %d\n", c.args.h.a, c.args.h.b, c.args.h.c, c.args.k) },
  leave(c) { printf("floats gave %f\n", c.ret) },
});
probe("failing", {
  enter(c) { const t = global("thing"); print("thing", t.id, str(t.name), t.in[1].high, t.ll, t.u.f); print(pretty(t)) },
  leave(c) { print("failing gave", c.ret, c.errno) },
});
probe("paint", { leave(c) { print("paint gave", c.ret, pretty(c.ret)) } });
probe("large", { leave(c) { print("large", c.ret.n, str(c.ret.name), c.ret.v[2]) } });
probe("halved", { enter(c) { this.v = c.args.v }, leave(c) { print("halved gave", c.ret, c.ret * 2 === this.v) } });

// Every instruction that may be probed, of a loop of exclusives and of a jump through a table.
let steps = 0, chosen = 0;
probe(["tallies+*", "choose+*"], (c) => { steps++ });
probe("tallies", { leave(c) { print("tallied", c.ret, steps > 300) } });
probe("choose", { leave(c) { chosen += c.ret } });
end(() => print("chosen", chosen));

probe("leaf", {
  enter(c) { if (c.args.n == 1 || c.args.n == 1000 || c.args.n == 77) exit({ n: c.args.n, stack: c.stack(12) }) },
  exit(e) { print("leaf " + e.n + ":" + chain(e.stack)) },
});
probe("compare", { limit: 1, enter(c) { exit({ stack: c.stack(12) }) }, exit(e) { print("sorting:" + chain(e.stack)) } });
probe("usdt:values:mark", (c) => { print("mark", c.arg0, str(c.arg1), c.arg2) });
probe("syscall:openat", { enter(c) { this.none = str(c.arg1) == "/etc/none"; if (this.none) print("openat") }, leave(c) { if (this.none) print("openat gave", c.ret) } });
probe("watch:watched/4/w", (c) => { print("watched in", c.func) });
probe("watch:watched/4/rw", (c) => { print("touched in", c.func) });
probe("watch:tally/4/w", (c) => { print("counted in", c.func) });
probe("watch:middle/4/x", (c) => { print("executed", c.func) });
probe("libc:qsort", (c) => { print("qsort", c.arg1, c.arg2) });
on("exit", (e) => { if (e.status) print("ended with", e.status) });
