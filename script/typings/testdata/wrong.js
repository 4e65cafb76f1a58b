// Scripts that are wrong: each line below a remark must be complained about, and no other.

// @ts-expect-error
probe("f", { entry(c) {} });
// @ts-expect-error
probe("f", { enter(c) { log(c.arg10); } });
// @ts-expect-error
probe("f", { enter(c) { log(c.ret); } });
// @ts-expect-error
probe("f", { leave(c) { log(c.fault); } });
// @ts-expect-error
probe("f", { enter(c) { c.pid = 1; } });
// @ts-expect-error
probe("f", { limit: "3", enter() {} });
// @ts-expect-error
probe("f", c => { log(c.args0); });
// @ts-expect-error
probe("f", (fd, buf) => { log(buf.length); });
// @ts-expect-error
probe(1, c => {});
// @ts-expect-error
probe("f", c => { exit.hard({}); });
// @ts-expect-error
probe("f", c => { write.u128(c.arg0, 1); });
// @ts-expect-error
probe("f", c => { log(u8("text")); });
// @ts-expect-error
probe("f", c => { log(str(c.arg0) * 2); });
// @ts-expect-error
const a = count("a", { full: "maybe" });
// @ts-expect-error
const b = hist("b", { key: 1 });
// @ts-expect-error
const c = lhist("c");
// @ts-expect-error
const t = tseries("t", { of: "count" });
// @ts-expect-error
log(count("d", { keys: 1 }).add(1));
// @ts-expect-error
log(stats("e").get().sum);
// @ts-expect-error
on("boot", () => {});
// @ts-expect-error
on("fork", e => log(e.path));
// @ts-expect-error
every(1, 2);
// @ts-expect-error
option("f", {});
// @ts-expect-error
probe("f", c => {}).delete();
// @ts-expect-error
fetch("no browser");
// @ts-expect-error
process.exit();
