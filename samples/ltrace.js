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

import { table, ordered } from "gotap/table";
import { duration } from "gotap/time";
import { openFlags, fileMode } from "gotap/syscalls";

const only = option("f", "", "just these functions, separated by commas");
const counting = option("count", false, "count calls and time instead");
const module = option("lib", "libc", "the library");
const calls = stats("calls", { keys: 1 });

// Types of the arguments and, after the colon, of the result: s text, p address, d int, l long, u size, o flags of open, m mode.
const prototypes = {
  malloc: "u:p", calloc: "uu:p", realloc: "pu:p", free: "p:", strdup: "s:p", getenv: "s:s", setenv: "ssd:d", putenv: "s:d", setlocale: "ds:s", gettext: "s:s",
  fopen: "ss:p", fdopen: "ds:p", fclose: "p:d", fflush: "p:d", fread: "puup:u", fwrite: "puup:u", fputs: "sp:d", puts: "s:d", perror: "s:",
  open: "som:d", openat: "dsom:d", close: "d:d", read: "dpu:l", write: "dpu:l", access: "sd:d", stat: "sp:d", lstat: "sp:d", unlink: "s:d", rename: "ss:d",
  mkdir: "sm:d", rmdir: "s:d", chdir: "s:d", opendir: "s:p", closedir: "p:d", readlink: "spu:l", realpath: "sp:s", dlopen: "sd:p", dlsym: "ps:p", system: "s:d",
  popen: "ss:p", execve: "spp:d", execvp: "sp:d", fork: ":d", waitpid: "dpd:d", kill: "dd:d", getaddrinfo: "sspp:d", gethostbyname: "s:p", isatty: "d:d", atoi: "s:d",
  strtol: "spd:l", nanosleep: "pp:d", usleep: "u:d", sleep: "u:u", exit: "d:", abort: ":", atexit: "p:d", qsort: "puup:", time: "p:l", sysconf: "d:l",
};

// signed returns the int in the low 32 bits of a register.
const signed = v => Number(BigInt.asIntN(32, BigInt(v)));
const address = v => BigInt(v) === 0n ? "NULL" : "0x" + BigInt.asUintN(64, BigInt(v)).toString(16);
const shown = { d: v => String(signed(v)), l: v => String(v), u: v => String(BigInt.asUintN(64, BigInt(v))), p: address, s: address,
  o: openFlags, m: fileMode };

const wanted = only === "" ? Object.keys(prototypes) : only.split(",");
const probes = [];
for (const name of wanted) {
  if (!(name in prototypes)) throw new Error(`${name} is not among the functions that ltrace knows; use calltrace`);
  const [args, result] = prototypes[name].split(":");
  const returned = result === "s" ? c => c.ret !== 0 && readable(c.ret) ? str(c.ret, 64) : "" : c => "";
  const first = args.indexOf("s"), second = args.indexOf("s", first + 1); // at most two arguments are texts
  const text = [c => "", c => c.arg0 !== 0 ? str(c.arg0, 64) : "", c => c.arg1 !== 0 ? str(c.arg1, 64) : ""];
  const a = text[first + 1], b = text[second < 0 ? 0 : second + 1];
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
      const words = [e.a0, e.a1, e.a2, e.a3], texts = { [first]: e.s, [second]: e.t };
      const list = [...args].map((kind, k) => kind === "s" && BigInt(words[k]) !== 0n ? JSON.stringify(texts[k]) : shown[kind](words[k]));
      const value = result === "" ? "" : result === "s" && BigInt(e.ret) !== 0n ? " = " + JSON.stringify(e.r) : " = " + shown[result](e.ret);
      console.log(`${e.comm}/${e.tid} ${name}(${list.join(", ")})${value} <${duration(e.ns)}>`);
    },
    optional: true,
  }));
}

end(() => {
  const none = only === "" ? `no call of ${module} was seen; programs that do without it make system calls, which the sample syscalls shows` : `there was no call of ${only}`;
  if (probes.every(p => p.hits === 0)) console.log(`ltrace: ${none}`);
  if (!counting) return;
  const rows = ordered(calls.take(), s => s.total).map(([name, s]) => [name, s.count, duration(s.total), duration(s.average)]);
  console.log(table(rows, { head: ["function", "calls", "total", "average"] }));
});
