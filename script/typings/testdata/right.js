// Scripts that are right: nothing in here may be complained about, however strict the checker is.
import { errno } from "gotap/errno";

const LIMIT = 1 << 20;
let big = 0;
const place = option("f", "libc:malloc", "where");
const least = option("ms", 10, "threshold") * 1000;
const loud = option("loud", false);
const named = option("who");
const size = hist("request size"), linear = lhist(0, 100, 10, "linear");
const by = count("by", { keys: 2, max: 100, full: "evict" });
const quick = min(), slow = max("slow"), mean = avg(), all = stats("all"), parts = sum({ keys: 1 });
const rate = tseries("rate", { interval: "100ms", intervals: 600 }), worst = tseries({ of: "max", keys: 1, max: 8 });
const seen = map("seen");
const depth = perThread(0);

const handle = probe("libc:malloc", {
  name: "big blocks",
  when: c => c.arg0 > LIMIT && c.comm !== "init",
  after: 1, every: 2, limit: 1000, maxActive: 64, logMax: 1024, fuel: 10000, logOnFault: true, optional: true, disabled: false,
  enter(c) {
    this.want = c.arg0;
    this.path = str(c.arg1, 64);
    size.add(c.arg0);
    by.at(c.func, c.tid).inc();
    rate.inc();
    worst.at(c.tid).add(c.arg0);
    depth.value++;
    seen.set(c.tid, c.pc, "text");
    if (seen.has(c.tid, c.pc) && seen.get(c.tid, c.pc) === "text") seen.delete(c.tid, c.pc);
    if (c.args.file.size > 3n || c.args.mode & 1) log(`${c.args.name}`, c.cpu, c.time);
    if (this.path.startsWith("/etc")) printf("%s %d\n", this.path, c.regs.rdi);
  },
  post(c) { print(c.sp, c.caller, c.module, c.probe, c.ppid, c.uid, c.gid, c.errno); },
  leave(c) {
    depth.value--;
    if (this.want < LIMIT || c.elapsed < least) return;
    big++;
    all.add(c.elapsed);
    c.ret = c.ret | 1;
    c.regs.rax = min(c.ret, 3, big) + max(1, 2) + abs(-c.ret);
    exit({ want: this.want, got: c.ret, stack: c.stack(8), raw: bytes(c.ret, 16), nested: { a: 1 } });
  },
  fault(c) { exit.dump({ at: c.fault, signal: c.signal }); },
  exit(e) {
    console.log(`${e.comm}/${e.tid} asked for ${e.want} ${e.nested.a}\n${e.stack}`);
    console.log(e.stack.frames[0].func, sym(e.got), hexdump(e.raw, e.got), hex(e.got, 8), errno(-2), e.time / 1e9);
    if (e.probe === "x") stop(1);
  },
});

// one parameter is the context, several are the arguments
probe(["libc:write", "libc:pwrite"], c => log(c.arg0, c.arg1 + c.arg2));
probe("libc:write", (fd, buf, n) => {
  if (fd === 1 && n > 10) log(str(buf, n), u8(buf) ^ i16(buf + 2), fd * 2);
  switch (fd) { case 2: abort(); }
});
probe("f", ({ arg0, comm }) => { log(arg0 + 1, comm.length); });
probe("f", function (c) { this.x = 1; log(this.x); });
probe("f", {
  enter(c) {
    const p = ptr(c.sp) + u64(c.sp + 8);
    if (!readable(p) || !readable(p, 8)) remove();
    write.u32(p, 7);
    write.f64(p + 8, f64(p) + f32(p));
    signal(10);
    skip();
    skip(-1);
    log(hash(str(p)), clz(p), popcount(p), ult(p, 3) ? "below" : "not", trunc(f64(p)), integer(f64(p), 1), Math.min(p, 1), Number(p));
    exit.hold();
  },
});

/** @param {Context} c */
function first(c) { return u32(c.arg0); }
probe("f", c => { if (first(c) === 0) exit(); });

/** @type {Record<string, Handlers>} */
const table = { a: { enter(c) { log(c.arg0); } }, b: { leave(c) { log(c.ret); } } };
probe(place, table[named]);

begin(() => console.error("begin", loud));
const timer = every("1s", () => { console.log(`${big} so far`); timer.stop(); });
every(100, () => handle.disable());
on("fork", e => log(e.pid, e.child + 1, e.time));
on("exec", e => log(e.path.length));
on("exit", e => log(e.signal ? "killed" : e.status));
end(() => {
  for (const [[func, tid], n] of by.entries().sort((a, b) => b[1] - a[1]).slice(0, 10)) console.log(func, tid, n / 2);
  for (const [key, n] of parts.take()) console.log(key, n + 1);
  const took = all.take();
  if (took) console.log(took.count, took.average, took.total);
  for (const b of size.get()?.buckets ?? []) console.log(b.min ?? 0, b.max, b.count);
  console.log((by.get("f", 1) ?? 0) + 1, quick.get() ?? 0, slow.get() ?? 0, mean.get() ?? 0, seen.inc("k") + 1, seen.get("k"));
  for (const p of rate.get()) console.log(p.start, Number(p.value ?? 0) + 1);
  for (const [tid, points] of worst.take()) console.log(tid, points.length);
  linear.print({ top: 3, div: 1000 });
  size.clear();
  console.log(`${size}`, JSON.stringify(seen), handle.hits + handle.missed, handle.name);
  stop();
});
