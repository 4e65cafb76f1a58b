// gotap/prototypes: calls of the C library as text, where there is no debug information.
//
//   import { callOf, resultOf } from "gotap/prototypes";
//   callOf("getenv", [e.a], [e.s])     // getenv("HOME")
//
// functions()                       the names of the functions that are known
// callOf(name, words, texts)        the call: words are the registers, texts what text arguments point to, by their position; "" without a prototype
// resultOf(name, word, text)        the result, in the same way; "void" if there is none. A word that is not known, "?", stays it
// textsOf(name)                     which values are text: 1 the first argument, 2 the second, 4 the result; their sum
// setsErrno(name)                   whether a function that returns NULL has set errno
// isLibrary(module)                 whether a file is the C library, whose functions these are
//
// At most the first two arguments are texts. Host only.

import { openFlags, fileMode } from "gotap/syscalls";

// Types of the arguments and, after the colon, of the result: s text, p address, d int, l long, u size, o flags of open, m mode.
const prototypes = {
  malloc: "u:p", calloc: "uu:p", realloc: "pu:p", free: "p:", strdup: "s:p", getenv: "s:s", setenv: "ssd:d", putenv: "s:d", setlocale: "ds:s", gettext: "s:s",
  fopen: "ss:p", fopen64: "ss:p", fdopen: "ds:p", fclose: "p:d", fflush: "p:d", fread: "puup:u", fwrite: "puup:u", fputs: "sp:d", puts: "s:d", perror: "s:",
  open: "som:d", open64: "som:d", openat: "dsom:d", close: "d:d", read: "dpu:l", write: "dpu:l", access: "sd:d", stat: "sp:d", lstat: "sp:d", unlink: "s:d", rename: "ss:d",
  mkdir: "sm:d", rmdir: "s:d", chdir: "s:d", opendir: "s:p", closedir: "p:d", readlink: "spu:l", realpath: "sp:s", dlopen: "sd:p", dlsym: "ps:p", system: "s:d",
  popen: "ss:p", execve: "spp:d", execvp: "sp:d", fork: ":d", waitpid: "dpd:d", kill: "dd:d", getaddrinfo: "sspp:d", gethostbyname: "s:p", isatty: "d:d", atoi: "s:d",
  strtol: "spd:l", nanosleep: "pp:d", usleep: "u:d", sleep: "u:u", exit: "d:", abort: ":", atexit: "p:d", qsort: "puup:", time: "p:l", sysconf: "d:l",
  strlen: "s:u", strcmp: "ss:d", strncmp: "ssu:d", strcasecmp: "ss:d", strchr: "sd:p", strrchr: "sd:p", strstr: "ss:p", memcpy: "ppu:p", memmove: "ppu:p", memset: "pdu:p",
  memcmp: "ppu:d",
};

export const functions = () => Object.keys(prototypes);

const known = name => Object.hasOwn(prototypes, name) ? prototypes[name].split(":") : undefined;

// signed returns the int in the low 32 bits of a register.
const signed = v => Number(BigInt.asIntN(32, BigInt(v)));
const address = v => BigInt(v) === 0n ? "NULL" : "0x" + BigInt.asUintN(64, BigInt(v)).toString(16);
const shown = { d: v => String(signed(v)), l: v => String(v), u: v => String(BigInt.asUintN(64, BigInt(v))), p: address, s: address,
  o: openFlags, m: fileMode };
const show = (kind, word, text) => word === "?" ? "?" : kind === "s" && BigInt(word) !== 0n && text !== undefined ? JSON.stringify(text) : shown[kind](word);

export function callOf(name, words, texts) {
  const [args] = known(name) ?? [];
  return args === undefined ? "" : `${name}(${[...args].slice(0, words.length).map((kind, k) => show(kind, words[k], texts[k])).join(", ")})`;
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
