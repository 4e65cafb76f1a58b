// ltrace: the calls that a program makes to its libraries, with arguments and results as people read them.
// topic: functions
//
//   gotap run ltrace -- ls /etc/hostname
//   gotap run ltrace --arg count=1 -- ls -lR /usr/share/doc
//   gotap run ltrace --arg f='fopen,getenv' -p PID
//   gotap run ltrace --arg lib=libz -- ./prog
//
// Arguments come from debug information, or from a table of well-known functions of the C library; printf and the like show what their
// format asks for. Only calls of the program itself are shown; from=libssl shows those of a library, and from= all. Of the C library
// the functions of the table are shown, of others all; f='*' shows all of the C library too.
//
//   $ gotap run ltrace --arg f=open,close,getenv,isatty -- ls /etc/hostname
//   ls/8073 getenv("QUOTING_STYLE") = NULL <124 us>
//   ls/8073 getenv("COLUMNS") = NULL <38.6 us>
//   ls/8073 isatty(1) = 0 <19.7 us>
//   …

import { places } from "gotap/module";
import { show, ordered } from "gotap/table";
import { duration } from "gotap/time";
import { functions, callOf, resultOf, textsOf, formatAt, formatCall } from "gotap/prototypes";

const only = option("f", "", "just these functions, separated by commas; globs");
const counting = option("count", false, "count calls and time instead");
const library = option("lib", "libc", "the library");
const from = option("from", "a.out", "only calls that this module makes; a.out is the program, empty: all");
const calls = stats("calls", { keys: 1 });
const x86 = (readFile("/proc/sys/kernel/arch") ?? "x86_64").startsWith("x86");

// Functions of strings and of memory are called too often to be shown unasked.
const small = /^(mem.*|str(len|cmp|ncmp|casecmp|chr|rchr|str)|to(upper|lower)|(f?put|f?get|unget)c(har)?|__cxa_atexit|pthread_mutex_.*)$/;
// fopen64 is the same function as fopen on 64-bit machines.
const isAlias = name => name.endsWith("64") && functions().includes(name.slice(0, -2));
const isC = /^(libc|libc\.so.*|libc\.musl.*)$/.test(library);
const wanted = only !== "" ? places(only) : isC ? functions().filter(name => !small.test(name) && !isAlias(name)) : ["*"];
const which = { optional: true, from: places(from) };
const probes = [];

function tell(e, call, result) {
  report({ name: "call", event: e, data: { func: e.func, call, result, ns: e.ns } },
    `${e.comm}/${e.tid} ${call}${result === "void" || result === "" ? "" : ` = ${result}`} <${duration(e.ns)}>`);
}

// counted only counts calls and times.
function counted(names) {
  probes.push(probe(names.map(name => `${library}:${name}`), { leave(c) { calls.at(c.func).add(c.elapsed); }, ...which }));
}

// typed shows functions by their debug information; without it, what the table says, or four words.
function typed(names) {
  probes.push(probe(names.map(name => `${library}:${name}`), {
    enter(c) {
      this.typed = pretty(c, "?");
      this.a0 = c.arg0; this.a1 = c.arg1; this.a2 = c.arg2; this.a3 = c.arg3;
    },
    leave(c) { exit({ func: c.func, typed: this.typed, a0: this.a0, a1: this.a1, a2: this.a2, a3: this.a3, ret: integer(c.ret), result: pretty(c, "?"), ns: c.elapsed }); },
    exit(e) {
      const words = [e.a0, e.a1, e.a2, e.a3];
      const call = e.typed !== "?" ? `${e.func}(${e.typed})` : (isC && callOf(e.func, words, [])) || `${e.func}(${words.map(hex).join(", ")})`;
      tell(e, call, e.result !== "?" ? e.result : (isC && resultOf(e.func, e.ret)) || hex(e.ret));
    },
    ...which,
  }));
}

// text reads what a function gives as text.
const text = word => c => readable(word(c)) ? str(word(c), 64) : "";
const nothing = c => "";
const words = [c => c.arg0, c => c.arg1, c => c.arg2, c => c.arg3, c => c.arg4, c => c.arg5, c => c.arg6, c => c.arg7];

// known shows functions of the table that have text in the same places: texts is what textsOf returns.
function known(names, texts) {
  const s = texts & 1 ? text(words[0]) : nothing, t = texts & 2 ? text(words[1]) : nothing, r = texts & 4 ? text(c => c.ret) : nothing;
  probes.push(probe(names.map(name => `${library}:${name}`), {
    enter(c) {
      this.a0 = c.arg0; this.a1 = c.arg1; this.a2 = c.arg2; this.a3 = c.arg3; this.a4 = c.arg4; this.a5 = c.arg5;
      this.s = s(c);
      this.t = t(c);
    },
    leave(c) {
      exit({ func: c.func, a0: this.a0, a1: this.a1, a2: this.a2, a3: this.a3, a4: this.a4, a5: this.a5, s: this.s, t: this.t, ret: c.ret, r: r(c), ns: c.elapsed });
    },
    exit(e) { tell(e, callOf(e.func, [e.a0, e.a1, e.a2, e.a3, e.a4, e.a5], [e.s, e.t]), resultOf(e.func, e.ret, e.r)); },
    ...which,
  }));
}

// formats shows functions whose argument number at is a format. Each word behind it that could be the address of a text is read as one; the
// format decides later.
function formats(names, at) {
  const none = c => 0, [x, y, z] = x86 ? [c => c.regs.xmm0, c => c.regs.xmm1, c => c.regs.xmm2] : [none, none, none];
  const format = words[at], [t1, t2, t3, t4, t5, t6, t7] = words.slice(1).map((word, k) => k + 1 > at ? text(word) : nothing);
  probes.push(probe(names.map(name => `${library}:${name}`), {
    enter(c) {
      this.format = readable(format(c)) ? str(format(c), 128) : "";
      this.a0 = c.arg0; this.a1 = c.arg1; this.a2 = c.arg2; this.a3 = c.arg3; this.a4 = c.arg4; this.a5 = c.arg5; this.a6 = c.arg6; this.a7 = c.arg7;
      this.t1 = t1(c); this.t2 = t2(c); this.t3 = t3(c); this.t4 = t4(c); this.t5 = t5(c); this.t6 = t6(c); this.t7 = t7(c);
      this.x = x(c); this.y = y(c); this.z = z(c);
    },
    leave(c) {
      exit({ func: c.func, a0: this.a0, a1: this.a1, a2: this.a2, a3: this.a3, a4: this.a4, a5: this.a5, a6: this.a6, a7: this.a7, x: this.x, y: this.y, z: this.z,
        format: this.format, t1: this.t1, t2: this.t2, t3: this.t3, t4: this.t4, t5: this.t5, t6: this.t6, t7: this.t7, ret: c.ret, ns: c.elapsed });
    },
    exit(e) {
      const floats = x86 ? [e.x, e.y, e.z] : [];
      const call = formatCall(e.func, [e.a0, e.a1, e.a2, e.a3, e.a4, e.a5, e.a6, e.a7], floats, e.format, ["", e.t1, e.t2, e.t3, e.t4, e.t5, e.t6, e.t7]);
      tell(e, call, resultOf(e.func, e.ret));
    },
    ...which,
  }));
}

// grouped calls fn for the names of each group.
function grouped(names, by, fn) {
  for (const group of new Set(names.map(by))) fn(names.filter(name => by(name) === group), group);
}

const inTable = name => isC && functions().includes(name), isFormat = name => formatAt(name) >= 0;
if (counting) counted(wanted);
else {
  const others = wanted.filter(name => !inTable(name)), table = wanted.filter(inTable);
  if (others.length > 0) typed(others);
  grouped(table.filter(name => !isFormat(name)), textsOf, known);
  grouped(table.filter(isFormat), formatAt, formats);
}

end(() => {
  const none = only === "" ? `no call of ${library} was seen; programs that do without it make system calls, which the sample syscalls shows` : `there was no call of ${only}`;
  if (probes.every(p => p.hits === 0)) {
    report(null, `ltrace: ${none}`);
    if (from !== "") report(null, `only calls that ${from === "a.out" ? "the program itself" : from} makes are shown; --arg from= shows all`);
  }
  if (!counting) return;
  const rows = ordered(calls.take(), s => s.total).map(([name, s]) => [name, s.count, s.total, s.average]);
  show("functions", ["function", "calls", ["total", duration], ["average", duration]], rows);
});
