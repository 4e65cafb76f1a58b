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
const wanted = only !== "" ? only.split(",") : isC ? functions().filter(name => !small.test(name) && !isAlias(name)) : ["*"];
const which = { optional: true, from: from === "" ? [] : from.split(",") };
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

// known shows a function of the table, whose first two arguments and result may be text.
function known(name) {
  const texts = textsOf(name);
  const returned = texts & 4 ? c => c.ret !== 0 && readable(c.ret) ? str(c.ret, 64) : "" : c => "";
  const a = texts & 1 ? c => c.arg0 !== 0 && readable(c.arg0) ? str(c.arg0, 64) : "" : c => "";
  const b = texts & 2 ? c => c.arg1 !== 0 && readable(c.arg1) ? str(c.arg1, 64) : "" : c => "";
  probes.push(probe(`${library}:${name}`, {
    enter(c) {
      this.a0 = c.arg0; this.a1 = c.arg1; this.a2 = c.arg2; this.a3 = c.arg3; this.a4 = c.arg4; this.a5 = c.arg5;
      this.s = a(c);
      this.t = b(c);
    },
    leave(c) {
      exit({ func: name, a0: this.a0, a1: this.a1, a2: this.a2, a3: this.a3, a4: this.a4, a5: this.a5, s: this.s, t: this.t, ret: c.ret, r: returned(c), ns: c.elapsed });
    },
    exit(e) { tell(e, callOf(name, [e.a0, e.a1, e.a2, e.a3, e.a4, e.a5], [e.s, e.t]), resultOf(name, e.ret, e.r)); },
    ...which,
  }));
}

const word = (c, k) => k === 0 ? c.arg0 : k === 1 ? c.arg1 : k === 2 ? c.arg2 : k === 3 ? c.arg3 : k === 4 ? c.arg4 : k === 5 ? c.arg5 : k === 6 ? c.arg6 : k === 7 ? c.arg7 :
  k === 8 ? c.arg8 : c.arg9;

// formats shows a function with a format. The texts are those of the first three %s.
function formats(name, at) {
  const float = [x86 ? c => c.regs.xmm0 : c => 0, x86 ? c => c.regs.xmm1 : c => 0, x86 ? c => c.regs.xmm2 : c => 0];
  const [f0, f1, f2] = float;
  probes.push(probe(`${library}:${name}`, {
    enter(c) {
      const p = word(c, at);
      this.format = readable(p) ? str(p, 128) : "";
      this.s = ""; this.t = ""; this.u = "";
      this.x = f0(c); this.y = f1(c); this.z = f2(c);
      let k = at + 1, n = 0, inside = false;
      for (let i = 0; i < 128 && readable(p + i); i++) {
        const letter = u8(p + i);
        if (letter === 0) break;
        if (!inside) {
          inside = letter === 37;
          continue;
        }
        if (letter === 42) k++;
        const isEnd = letter >= 65 && letter <= 90 && letter !== 76 || letter >= 97 && letter <= 122 && letter !== 104 && letter !== 106 && letter !== 108 && letter !== 113 &&
          letter !== 116 && letter !== 122 || letter === 37;
        if (!isEnd) continue;
        inside = false;
        if (letter === 37 || letter === 109) continue;
        const lower = letter | 32;
        if (letter === 115) {
          const text = word(c, k);
          const said = readable(text) ? str(text, 64) : "";
          if (n === 0) this.s = said;
          if (n === 1) this.t = said;
          if (n === 2) this.u = said;
          n++;
        }
        if (lower !== 97 && (lower < 101 || lower > 103)) k++;
      }
      this.a0 = c.arg0; this.a1 = c.arg1; this.a2 = c.arg2; this.a3 = c.arg3; this.a4 = c.arg4; this.a5 = c.arg5; this.a6 = c.arg6; this.a7 = c.arg7;
    },
    leave(c) {
      exit({ func: name, a0: this.a0, a1: this.a1, a2: this.a2, a3: this.a3, a4: this.a4, a5: this.a5, a6: this.a6, a7: this.a7, x: this.x, y: this.y, z: this.z,
        format: this.format, s: this.s, t: this.t, u: this.u, ret: c.ret, ns: c.elapsed });
    },
    exit(e) {
      const words = [e.a0, e.a1, e.a2, e.a3, e.a4, e.a5, e.a6, e.a7], floats = x86 ? [e.x, e.y, e.z] : [];
      tell(e, formatCall(name, words, floats, e.format, [e.s, e.t, e.u]), resultOf(name, e.ret));
    },
    ...which,
  }));
}

const inTable = name => isC && functions().includes(name);
if (counting) counted(wanted);
else {
  const others = wanted.filter(name => !inTable(name));
  if (others.length > 0) typed(others);
  for (const name of wanted.filter(inTable)) {
    if (formatAt(name) >= 0) formats(name, formatAt(name));
    else known(name);
  }
}

end(() => {
  const what = only === "" ? `a function of ${library}` : only, who = from === "a.out" ? "the program itself" : from;
  if (probes.every(p => p.hits === 0)) {
    report(null, `ltrace: there was no call of ${what}${from === "" ? "" : ` by ${who}`}; programs without it make system calls, which the sample syscalls shows`);
  }
  if (!counting) return;
  const rows = ordered(calls.take(), s => s.total).map(([name, s]) => [name, s.count, s.total, s.average]);
  show("functions", ["function", "calls", ["total", duration], ["average", duration]], rows);
});
