// retfail: which calls fail, and who made them? A call fails when it returns a negative number (or 0, with null=1).
//
//   gotap run retfail.js --arg f='libc:open*' -- ls /nonexistent
//   gotap run retfail.js --arg f=libc:malloc --arg null=1 -p PID

const places = String(option("f", "libc:open,libc:open64,libc:openat,libc:access,libc:stat", "functions, separated by commas")).split(",");
const zeroFails = option("null", 0, "1: a result of 0 is the failure (functions that return pointers)");
const failures = count("failures", { keys: 1 });

probe(places, {
  leave(c) {
    // most C functions return int: only the low half of the register counts
    const result = (c.ret << 32) >> 32;
    if (zeroFails ? c.ret !== 0 : result >= 0) return;
    failures.at(c.func).inc();
    exit({ func: c.func, ret: result, stack: c.stack(4) });
  },
  exit(e) {
    console.log(`${e.comm}/${e.tid} ${e.func} returned ${e.ret}, called from`);
    console.log(`${e.stack}`);
  },
  optional: true,
});

end(() => {
  if (failures.entries().length === 0) console.log("no call failed");
});
