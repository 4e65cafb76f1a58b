// gotap/prototypes: calls of the C library as text, where there is no debug information.
//
//   import { callOf, resultOf } from "gotap/prototypes";
//   callOf("getenv", [e.a], [e.s])     // getenv("HOME")
//
// functions()                       the names of the functions that are known
// callOf(name, words, texts)        the call: words are the registers, texts what text arguments point to, by their position; "" without a prototype
// resultOf(name, word, text)        the result, in the same way; "void" if there is none. A word that is not known, "?", stays it
// textsOf(name)                     which values are text: 1 the first argument, 2 the second, 4 the result; their sum
// formatAt(name)                    the position of the format of printf and the like; -1 for other functions
// formatCall(name, words, floats, format, texts)    such a call, with the arguments that its format asks for: floats are the registers for floats,
//                                   texts what the words point to, by their position
// conversions(format)               what a format asks for: ["s", "ld", "*"]
// setsErrno(name)                   whether a function that returns NULL has set errno
// isLibrary(module)                 whether a file is the C library, whose functions these are
//
// callOf shows the first two arguments as text, and others that are text as addresses. Host only.

import { openFlags, fileMode } from "gotap/flags";

// Types of the arguments and, after the colon, of the result: s text, p address, d int, l long, u size, o flags of open, m mode; f a format as of
// printf, and . the arguments that it asks for.
const prototypes = {
  malloc: "u:p", calloc: "uu:p", realloc: "pu:p", free: "p:", strdup: "s:p", getenv: "s:s", setenv: "ssd:d", putenv: "s:d", setlocale: "ds:s", gettext: "s:s",
  fopen: "ss:p", fopen64: "ss:p", fdopen: "ds:p", fclose: "p:d", fflush: "p:d", fread: "puup:u", fwrite: "puup:u", fputs: "sp:d", puts: "s:d", perror: "s:",
  open: "som:d", open64: "som:d", openat: "dsom:d", close: "d:d", read: "dpu:l", write: "dpu:l", access: "sd:d", stat: "sp:d", lstat: "sp:d", unlink: "s:d", rename: "ss:d",
  mkdir: "sm:d", rmdir: "s:d", chdir: "s:d", opendir: "s:p", closedir: "p:d", readlink: "spu:l", realpath: "sp:s", dlopen: "sd:p", dlsym: "ps:p", system: "s:d",
  popen: "ss:p", execve: "spp:d", execvp: "sp:d", fork: ":d", waitpid: "dpd:d", kill: "dd:d", getaddrinfo: "sspp:d", gethostbyname: "s:p", isatty: "d:d", atoi: "s:d",
  strtol: "spd:l", nanosleep: "pp:d", usleep: "u:d", sleep: "u:u", exit: "d:", abort: ":", atexit: "p:d", qsort: "puup:", time: "p:l", sysconf: "d:l",
  strlen: "s:u", strcmp: "ss:d", strncmp: "ssu:d", strcasecmp: "ss:d", strchr: "sd:p", strrchr: "sd:p", strstr: "ss:p", memcpy: "ppu:p", memmove: "ppu:p", memset: "pdu:p",
  memcmp: "ppu:d", printf: "f.:d", fprintf: "pf.:d", dprintf: "df.:d", sprintf: "pf.:d", snprintf: "puf.:d", syslog: "df.:", asprintf: "pf.:d", err: "df.:", errx: "df.:",
  warn: "f.:", warnx: "f.:", error: "ddf.:", __printf_chk: "df.:d", __fprintf_chk: "pdf.:d", __sprintf_chk: "pduf.:d", __snprintf_chk: "puduf.:d", __asprintf_chk: "pdf.:d",
  __syslog_chk: "ddf.:", putchar: "d:d", putc: "dp:d", fputc: "dp:d", fgetc: "p:d", getc: "p:d", fgets: "pdp:s", ungetc: "dp:d", fseek: "pld:d", ftell: "p:l", feof: "p:d", ferror: "p:d",
  strcpy: "ps:p", strncpy: "psu:p", strcat: "ps:p", strtoul: "spd:u", strspn: "ss:u", strcspn: "ss:u", strpbrk: "ss:p", strtok: "ss:s", strerror: "d:s", strcoll: "ss:d", strndup: "su:p",
  atol: "s:l", reallocarray: "puu:p", aligned_alloc: "uu:p", posix_memalign: "puu:d", getpid: ":d", getuid: ":d", geteuid: ":d", getcwd: "pu:s", unsetenv: "s:d", secure_getenv: "s:s",
  bindtextdomain: "ss:s", textdomain: "s:s", fileno: "p:d", lseek: "dld:l", dup2: "dd:d", pipe: "p:d", mmap: "pudddl:p", munmap: "pu:d", ioctl: "dup:d", fcntl: "ddl:d", wait: "p:d",
  execv: "sp:d", raise: "d:d", signal: "dp:p", sigaction: "dpp:d", alarm: "u:u", socket: "ddd:d", connect: "dpu:d", bind: "dpu:d", listen: "dd:d", accept: "dpp:d", send: "dpud:l",
  recv: "dpud:l", poll: "pud:d", select: "dpppp:d", localtime: "p:p", gmtime: "p:p", strftime: "pusp:u", mktime: "p:l", clock: ":l", rand: ":d", srand: "u:", abs: "d:d", toupper: "d:d",
  tolower: "d:d", readdir: "p:p", chmod: "sm:d", remove: "s:d", tmpfile: ":p", mkstemp: "s:d", pthread_create: "pppp:d", pthread_join: "up:d", pthread_mutex_lock: "p:d",
  pthread_mutex_unlock: "p:d", setvbuf: "ppdu:d", fwrite_unlocked: "puup:u", fputs_unlocked: "sp:d", __cxa_atexit: "ppp:d", bsearch: "ppuup:p",
};

export const functions = () => Object.keys(prototypes);

const known = name => Object.hasOwn(prototypes, name) ? prototypes[name].split(":") : undefined;

// signed returns the int in the low 32 bits of a register.
const signed = v => Number(BigInt.asIntN(32, BigInt(v)));
const address = v => BigInt(v) === 0n ? "NULL" : "0x" + BigInt.asUintN(64, BigInt(v)).toString(16);
const shown = { d: v => String(signed(v)), l: v => String(v), u: v => String(BigInt.asUintN(64, BigInt(v))), p: address, s: address,
  o: openFlags, m: fileMode, f: address };
const show = (kind, word, text) => word === "?" ? "?" : (kind === "s" || kind === "f") && BigInt(word) !== 0n && text !== undefined ? JSON.stringify(text) : shown[kind](word);

export function callOf(name, words, texts) {
  const [args] = known(name) ?? [];
  if (args === undefined) return "";
  const kinds = [...args.replace(".", "")].slice(0, words.length);
  if (kinds.at(-1) === "m" && !creates(words[kinds.indexOf("o")])) kinds.pop();
  return `${name}(${kinds.map((kind, k) => show(kind, words[k], texts[k])).join(", ")})`;
}

// creates reports whether open has a mode behind these flags: with O_CREAT or O_TMPFILE. Undefined are those of other functions.
const creates = flags => flags === undefined || flags === "?" || (BigInt(flags) & 0o20000100n) !== 0n;

// formatAt returns the position of a function's format, or -1.
export const formatAt = name => (known(name)?.[0] ?? "").indexOf("f.");

// A conversion of a format: flags, width, precision, length, and the letter.
const conversion = /%([-+ #0']*)(\*|\d+)?(?:\.(\*|\d*))?(hh|h|ll|l|q|j|z|t|L)?([a-zA-Z%])/g;

// conversions lists the letters of what a format asks for, with their lengths; "*" is a width or precision.
export function conversions(format) {
  const all = [];
  for (const [, , width, precision, length, letter] of format.matchAll(conversion)) {
    if (width === "*") all.push("*");
    if (precision === "*") all.push("*");
    if (letter !== "%" && letter !== "m") all.push((length ?? "") + letter);
  }
  return all;
}

const wideLengths = /^(ll?|q|j|z|t)/;

function formatted(kind, word, text) {
  const letter = kind.at(-1), wide = wideLengths.test(kind);
  if (word === undefined) return "...";
  if (letter === "s") return show("s", word, text);
  if (letter === "c") return `'${JSON.stringify(String.fromCharCode(Number(BigInt(word) & 255n))).slice(1, -1)}'`;
  if (letter === "p" || letter === "n") return address(word);
  if (/[aefgAEFG]/.test(letter)) return typeof word === "number" ? String(word) : "?";
  const n = BigInt(word);
  if (/[di*]/.test(letter)) return String(wide ? BigInt.asIntN(64, n) : BigInt.asIntN(32, n));
  const unsigned = wide ? BigInt.asUintN(64, n) : BigInt.asUintN(32, n);
  return letter === "x" || letter === "X" ? (unsigned === 0n ? "0" : "0x" + unsigned.toString(16)) : String(unsigned);
}

// formatCall is a call with a format: words are the registers, floats those for floats, texts what the words point to.
export function formatCall(name, words, floats, format, texts) {
  const at = formatAt(name), head = [...known(name)[0]].slice(0, at).map((kind, k) => show(kind, words[k]));
  let word = at + 1, float = 0;
  const rest = conversions(format).map(kind => {
    if (/[aefgAEFG]$/.test(kind)) return kind.startsWith("L") ? "?" : formatted(kind, floats[float++]);
    return formatted(kind, words[word], texts[word++]);
  });
  return `${name}(${[...head, JSON.stringify(format), ...rest].join(", ")})`;
}

export function resultOf(name, word, text) {
  const [, result] = known(name) ?? [];
  return result === undefined ? "" : result === "" ? "void" : show(result, word, text);
}

export function textsOf(name) {
  const [args, result] = known(name) ?? ["", ""];
  return (args[0] === "s" ? 1 : 0) + (args[1] === "s" ? 2 : 0) + (result === "s" ? 4 : 0);
}

export const isLibrary = module => /(^|\/)(libc[.-]|libc\.musl|ld-musl)/.test(module ?? "");

export const setsErrno = name => /^(f(d|re)?open(64)?|(fd)?opendir|popen|[mc]alloc|realloc|realpath|getcwd|mmap(64)?|tmpfile(64)?|strdup)$/.test(name);
