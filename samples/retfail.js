// retfail: which calls fail, and who made them? A call fails when it returns a negative number (or 0, with null=1).
// topic: functions
//
//   gotap run retfail --arg f='libc:open*' -- ls /nonexistent
//   gotap run retfail --arg f='syscall:open*,syscall:*stat*' -- ls /nonexistent       says which error it was
//   gotap run retfail --arg f=libc:malloc --arg null=1 -p PID
//
// The reason is shown only for system calls and for functions of the C library, which set errno.
//
//   $ gotap run retfail --arg f=syscall:open*,syscall:statx -- ls /nonexistent
//   ls/8439 openat returned -2 ENOENT, called from
//       0x7f81be281001 __open_nocancel+0x41 (libc.so.6) at open64_nocancel.c:39
//       0x7f81be1b7c0f _nl_load_locale_from_archive+0x41f (libc.so.6) at loadarchive.c:205
//       0x7f81be1b6957 _nl_find_locale+0xf7 (libc.so.6) at findlocale.c:152
//       0x7f81be1b638c setlocale+0x11c (libc.so.6) at setlocale.c:337
//   …

import { errno } from "gotap/errno";
import { failed } from "gotap/structs";
import { places } from "gotap/module";

const functions = option("f", "libc:open,libc:open64,libc:openat,libc:access,libc:stat", "functions, separated by commas");
const zeroFails = option("null", 0, "1: a result of 0 is the failure (functions that return pointers)");
const known = places(functions).every(f => /^(libc|syscall):/.test(f)); // other functions need not set errno
const failures = count("failures", { keys: 1 });

const called = probe(places(functions), {
  leave(c) {
    const value = integer(c.ret, 1); // floats, structs and void never mean failure
    if (zeroFails ? value !== 0 : !failed(value)) return;
    // most C functions return int, which is the low half of the register
    const result = (value << 32) >> 32;
    failures.at(c.func).inc();
    exit({ func: c.func, ret: result, why: known ? c.errno : 0, stack: c.stack(4) });
  },
  exit(e) {
    const reason = e.why > 0 ? errno(e.why) : undefined;
    report({ name: "failure", event: e, data: { func: e.func, ret: e.ret, errno: reason, stack: e.stack } },
      `${e.comm}/${e.tid} ${e.func} returned ${e.ret}${reason ? ` ${reason}` : ""}, called from\n${e.stack}`);
  },
  optional: true,
});

end(() => {
  if (failures.entries().length > 0) return;
  report({ name: "failures", columns: ["function", "calls"], rows: [] },
    called.hits === 0 ? "no call failed: none was made of the functions that are watched" : "no call failed");
});
