const names = map(), n = count("n", { keys: 1 });
probe("shop::push", {
  name: "pushes",
  enter(c) {
    if (c.args.s.used === 0 || c.args.j === 0) return;
    this.want = c.args.s.items[1].at.x + c.args.j.next.next.colour;
    if (c.args.j.urgent && c.args.j.urgent === true && c.args.j.kind == 3) names.set(c.args.j, str(c.args.j.name));
    n.at(c.args.j.part[3] & 7).inc();
    for (let i = 0; i < c.args.s.used; i++) log(c.args.s.items[i].whole, c.pid, c.args.j[1].at.y);
  },
  leave(c) { log(c.ret.at.x, c.elapsed, c.ret === RED, c.rets[0].name, c.ret.done); c.ret = 0; },
  exit(e) { console.log(e.anything); },
});
probe("jobs:shop::push", c => log(c.args.s, c.arg0, c.stack(3)));
probe("move", c => log(c.args.by));
probe("shop::push", (s, j) => log(s, j));
probe(["move", "main"], c => log(c.args.anything));
probe("libc:malloc", c => log(c.args.bytes));
probe("main", c => log(cast(c.arg1, "job *").at.x, cast(c.arg1, "unknown *").x, global("shop::waiting").items[0].name, global("other").x));
