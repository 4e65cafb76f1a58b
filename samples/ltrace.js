// ltrace: calls of the C library, with arguments and results as people read them.
// topic: functions
//
//   gotap run ltrace -- ls /etc/hostname
//   gotap run ltrace --arg count=1 -- ls -lR /usr/share/doc
//   gotap run ltrace --arg f='fopen,getenv' -p PID
//
// It knows the functions listed below; use calltrace for others. Calls inside the library are shown too.
//
//   $ gotap run ltrace --arg f=open,close,getenv,isatty -- ls /etc/hostname
//   ls/8073 open("/proc/filesystems", O_RDONLY|O_CLOEXEC, 0666) = 3 <96.7 us>
//   ls/8073 getenv("LOCPATH") = NULL <124 us>
//   ls/8073 getenv("LC_ALL") = NULL <38.6 us>
//   ls/8073 getenv("LC_IDENTIFICATION") = NULL <19.7 us>
//   ls/8073 getenv("LANG") = "C.UTF-8" <18.0 us>
//   ls/8073 getenv("GCONV_PATH") = NULL <19.9 us>
//   …

import { show, ordered } from "gotap/table";
import { duration } from "gotap/time";
import { functions, callOf, resultOf, textsOf } from "gotap/prototypes";

const only = option("f", "", "just these functions, separated by commas");
const counting = option("count", false, "count calls and time instead");
const module = option("lib", "libc", "the library");
const calls = stats("calls", { keys: 1 });

// Functions of strings and of memory are called too often to be shown unasked.
const small = /^(mem.*|str(len|cmp|ncmp|casecmp|chr|rchr|str))$/;
const wanted = only === "" ? functions().filter(name => !small.test(name)) : only.split(",");
const probes = [];
for (const name of wanted) {
  if (!functions().includes(name)) throw new Error(`${name} is not among the functions that ltrace knows; use calltrace`);
  const texts = textsOf(name);
  const returned = texts & 4 ? c => c.ret !== 0 && readable(c.ret) ? str(c.ret, 64) : "" : c => "";
  const a = texts & 1 ? c => c.arg0 !== 0 ? str(c.arg0, 64) : "" : c => "";
  const b = texts & 2 ? c => c.arg1 !== 0 ? str(c.arg1, 64) : "" : c => "";
  const whole = !counting;
  probes.push(probe(`${module}:${name}`, {
    enter(c) {
      if (!whole) return;
      this.a0 = c.arg0; this.a1 = c.arg1; this.a2 = c.arg2; this.a3 = c.arg3;
      this.s = a(c);
      this.t = b(c);
    },
    leave(c) {
      if (!whole) {
        calls.at(name).add(c.elapsed);
        return;
      }
      exit({ a0: this.a0, a1: this.a1, a2: this.a2, a3: this.a3, s: this.s, t: this.t, ret: c.ret, r: returned(c), ns: c.elapsed });
    },
    exit(e) {
      const result = resultOf(name, e.ret, e.r);
      const call = callOf(name, [e.a0, e.a1, e.a2, e.a3], [e.s, e.t]);
      report({ name: "call", event: e, data: { func: name, call, result, ns: e.ns } },
        `${e.comm}/${e.tid} ${call}${result === "void" ? "" : ` = ${result}`} <${duration(e.ns)}>`);
    },
    optional: true,
  }));
}

end(() => {
  const none = only === "" ? `no call of ${module} was seen; programs that do without it make system calls, which the sample syscalls shows` : `there was no call of ${only}`;
  if (probes.every(p => p.hits === 0)) report(null, `ltrace: ${none}`);
  if (!counting) return;
  const rows = ordered(calls.take(), s => s.total).map(([name, s]) => [name, s.count, s.total, s.average]);
  show("functions", ["function", "calls", ["total", duration], ["average", duration]], rows);
});
