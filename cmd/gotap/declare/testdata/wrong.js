probe("shop::push", c => log(c.args.s.usde)); // Property 'usde'
probe("shop::push", {
  enter(c) { log(c.args.stack); }, // Property 'stack'
  leave(c) { log(c.ret.at.z); }, // Property 'z'
  exit(e) {},
});
probe("jobs:shop::push", { enter(c) { log(c.args.j.next.nmae); } }); // Property 'nmae'
probe("shop::push", { enter(c) { log(c.args.s.items[0].at.w); }, leave(c) { } }); // Property 'w'
probe("move", c => log(c.args.p.x)); // Property 'p'
probe("main", c => log(cast(c.arg1, "job *").knd)); // Property 'knd'
probe("main", c => log(global("shop::waiting").usd)); // Property 'usd'
