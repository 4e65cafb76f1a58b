// gotap/kernelstructs: what pointers of system calls point to, as text.
//
//   import { statText } from "gotap/kernelstructs";
//   probe("syscall:fstat", {
//     enter(c) { this.p = c.arg1; },
//     leave(c) { exit({ s: bytes(this.p, 144) }); },
//     exit(e) { console.log(statText(e.s)); },             // {st_mode=S_IFREG|0644, st_size=1871, ...}
//   });
//
// quoted(data, whole?, most?) text in quotes as C has it, octal where it is not printable; data is bytes or a string, and "..." follows
//                             if it has fewer than `whole` bytes, or more than `most`
// hexQuoted(data)             each byte as \x2f
// statText(b) statxText(b) statfsText(b) timespecText(b) timevalText(b) rlimitText(b) rusageText(b) sysinfoText(b) utsnameText(b)
// sigactionText(b) sigsetText(b) sigaltstackText(b) siginfoText(b) waitStatus(n) flockText(b, owner?) ownerText(b) itimerText(b) cloneText(b)
// dateText(seconds)           2026-11-27T21:23:53+0000
// intsText(b)                 [5, 7], an array of int
// tmsText(b) openHowText(b) sigeventText(b) capHeadText(b) capDataText(b) controlText(b) semText(b) personText(b) schedText(b)
// signalText(e)               {si_signo=SIGUSR1, si_code=SI_USER, si_pid=7, si_uid=0}, of an event of on("signal")
// sockaddrText(b)             {sa_family=AF_INET, sin_port=htons(80), sin_addr=inet_addr("127.0.0.1")}
// pollText(b, returned?)      [{fd=3, events=POLLIN}] of an array of struct pollfd; returned: revents of those that have some
// epollText(b, size)          of an array of struct epoll_event with so many bytes each
// fdSet(b, n)                 [3 5], the descriptors below n in a set
// cpuSet(b)                   [0 1]
// epollEvent(b, size)         one such struct
// kernelSignal(n)             SIGINT, SIGRT_1: a signal as the kernel counts them
// pointer(n)                  NULL, or the address
// u32At(b, at) u64At(b, at) i64At(b, at)    numbers in bytes
//
// The texts are those of strace, of 64-bit programs. Host only.

import { fileKind, statxMask, sigactionFlags, whence, cloneFlags, pollEvents, epollEvents, flags, one, leaseType, openFlags, resolveFlags, policy, fileMode, capability, socketLevel } from "gotap/flags";
import { signalName } from "gotap/signals";
import { decode } from "gotap/sockets";

const view = b => new DataView(b.buffer, b.byteOffset, b.length);
export const u32At = (b, at) => at + 4 <= b.length ? view(b).getUint32(at, true) : 0;
export const u64At = (b, at) => at + 8 <= b.length ? view(b).getBigUint64(at, true) : 0n;
export const i64At = (b, at) => at + 8 <= b.length ? view(b).getBigInt64(at, true) : 0n;
const i32At = (b, at) => u32At(b, at) | 0;
const u16At = (b, at) => b[at] | b[at + 1] << 8;
const hex = n => BigInt(n) === 0n ? "0" : "0x" + BigInt(n).toString(16);
export const pointer = n => BigInt(n) === 0n ? "NULL" : "0x" + BigInt.asUintN(64, BigInt(n)).toString(16);

const escapes = { 34: '\\"', 92: "\\\\", 10: "\\n", 9: "\\t", 13: "\\r", 11: "\\v", 12: "\\f" };
const digit = b => b >= 48 && b <= 57;

// bytesOf returns the bytes of a text as UTF-8.
function bytesOf(data) {
  if (typeof data !== "string") return data;
  return Array.from(unescape(encodeURIComponent(data)), c => c.charCodeAt(0));
}

export function quoted(data, whole, most = Infinity) {
  let b = bytesOf(data);
  if (b.length > most) [b, whole] = [b.slice(0, most), b.length];
  let text = "";
  for (let k = 0; k < b.length; k++) {
    if (escapes[b[k]]) text += escapes[b[k]];
    else if (b[k] >= 32 && b[k] < 127) text += String.fromCharCode(b[k]);
    else text += "\\" + b[k].toString(8).padStart(digit(b[k + 1]) ? 3 : 1, "0");
  }
  return `"${text}"${whole !== undefined && whole > b.length ? "..." : ""}`;
}

export const hexQuoted = (data, whole) => `"${Array.from(data, b => "\\x" + b.toString(16).padStart(2, "0")).join("")}"${whole > data.length ? "..." : ""}`;

// The type in the mode tells x86-64 from ARM: there the word at 24 is the user's number.
export function statText(b) {
  const x86 = u32At(b, 24) >> 12 !== 0 && u32At(b, 24) < 0x10000, mode = u32At(b, x86 ? 24 : 16);
  const kind = mode >> 12, device = u64At(b, x86 ? 40 : 32);
  const rest = kind === 2 || kind === 6 ? `st_rdev=makedev(${hex(device >> 8n & 0xfffn)}, ${hex(device & 0xffn | device >> 12n & 0xfff00n)})` : `st_size=${i64At(b, 48)}`;
  return `{st_mode=${fileKind(mode)}, ${rest}, ...}`;
}

export function statxText(b) {
  const attributes = flags(u64At(b, 8), { STATX_ATTR_COMPRESSED: 4, STATX_ATTR_IMMUTABLE: 16, STATX_ATTR_APPEND: 32, STATX_ATTR_NODUMP: 64, STATX_ATTR_ENCRYPTED: 0x800,
    STATX_ATTR_AUTOMOUNT: 0x1000, STATX_ATTR_MOUNT_ROOT: 0x2000, STATX_ATTR_VERITY: 0x100000, STATX_ATTR_DAX: 0x200000 });
  return `{stx_mask=${statxMask(u32At(b, 0))}, stx_attributes=${attributes}, stx_mode=${fileKind(u16At(b, 28))}, stx_size=${u64At(b, 40)}, ...}`;
}

const filesystems = { 0xef53: "EXT2_SUPER_MAGIC", 0x1021994: "TMPFS_MAGIC", 0x9fa0: "PROC_SUPER_MAGIC", 0x62656572: "SYSFS_MAGIC", 0x58465342: "XFS_SUPER_MAGIC",
  0x9123683e: "BTRFS_SUPER_MAGIC", 0x794c7630: "OVERLAYFS_SUPER_MAGIC", 0x1cd1: "DEVPTS_SUPER_MAGIC", 0x63677270: "CGROUP2_SUPER_MAGIC", 0x6969: "NFS_SUPER_MAGIC",
  0x65735546: "FUSE_SUPER_MAGIC", 0x50494446: "PID_FS_MAGIC", 0x50495045: "PIPEFS_MAGIC", 0x534f434b: "SOCKFS_MAGIC" };

export function statfsText(b) {
  const n = k => i64At(b, 8 * k);
  const mount = flags(n(10), { ST_VALID: 32, ST_RDONLY: 1, ST_NOSUID: 2, ST_NODEV: 4, ST_NOEXEC: 8, ST_SYNCHRONOUS: 16, ST_MANDLOCK: 64, ST_NOATIME: 1024, ST_NODIRATIME: 2048,
    ST_RELATIME: 4096 });
  return `{f_type=${filesystems[Number(n(0))] ?? hex(n(0))}, f_bsize=${n(1)}, f_blocks=${n(2)}, f_bfree=${n(3)}, f_bavail=${n(4)}, f_files=${n(5)}, f_ffree=${n(6)}, ` +
    `f_fsid={val=[${hex(u32At(b, 56))}, ${hex(u32At(b, 60))}]}, f_namelen=${n(8)}, f_frsize=${n(9)}, f_flags=${mount}}`;
}

export const dateText = seconds => `${new Date(Number(seconds) * 1000).toISOString().slice(0, 19)}+0000`;
export const timespecText = b => `{tv_sec=${i64At(b, 0)}, tv_nsec=${i64At(b, 8)}}`;
export const timevalText = b => `{tv_sec=${i64At(b, 0)}, tv_usec=${i64At(b, 8)}}`;
export const itimerText = (b, time = timevalText) => `{it_interval=${time(b)}, it_value=${time(b.slice(16))}}`;

function limit(n) {
  if (n === 2n ** 64n - 1n) return "RLIM64_INFINITY";
  return n > 1024n && n % 1024n === 0n ? `${n / 1024n}*1024` : String(n);
}
export const rlimitText = b => `{rlim_cur=${limit(u64At(b, 0))}, rlim_max=${limit(u64At(b, 8))}}`;
export const rusageText = b => `{ru_utime=${timevalText(b)}, ru_stime=${timevalText(b.slice(16))}, ...}`;

export function sysinfoText(b) {
  const names = ["totalram", "freeram", "sharedram", "bufferram", "totalswap", "freeswap"].map((name, k) => `${name}=${u64At(b, 32 + 8 * k)}`);
  return `{uptime=${i64At(b, 0)}, loads=[${[8, 16, 24].map(at => u64At(b, at)).join(", ")}], ${names.join(", ")}, procs=${u16At(b, 80)}, totalhigh=${u64At(b, 88)}, ` +
    `freehigh=${u64At(b, 96)}, mem_unit=${u32At(b, 104)}}`;
}

const until = (b, at) => b.slice(at, b.indexOf(0, at) < 0 ? b.length : b.indexOf(0, at));
export const utsnameText = b => `{sysname=${quoted(until(b, 0))}, nodename=${quoted(until(b, 65))}, ...}`;

const handler = n => ({ 0: "SIG_DFL", 1: "SIG_IGN" })[Number(n)] ?? pointer(n);

// The kernel counts real-time signals from 32; the C library keeps the first two.
export const kernelSignal = n => n < 32 ? signalName(n) : n === 32 ? "SIGRTMIN" : n <= 64 ? `SIGRT_${n - 32}` : String(n);
const shortSignal = n => kernelSignal(n).slice(3);

export function sigsetText(b) {
  const set = u64At(b, 0), inside = [], outside = [];
  for (let n = 1; n <= 64; n++) (set >> BigInt(n - 1) & 1n ? inside : outside).push(shortSignal(n));
  return inside.length >= 43 ? `~[${outside.join(" ")}]` : `[${inside.join(" ")}]`;
}

export function sigactionText(b) {
  const named = sigactionFlags(u64At(b, 8)), restorer = u64At(b, 8) & 0x4000000n ? `, sa_restorer=${pointer(u64At(b, 16))}` : "";
  return `{sa_handler=${handler(u64At(b, 0))}, sa_mask=${sigsetText(b.slice(24))}, sa_flags=${named}${restorer}}`;
}

export const sigaltstackText = b => `{ss_sp=${pointer(u64At(b, 0))}, ss_flags=${flags(u32At(b, 8), { SS_ONSTACK: 1, SS_DISABLE: 2, SS_AUTODISARM: 2 ** 31 })}, ss_size=${u64At(b, 16)}}`;

const userCodes = { 0: "SI_USER", "-1": "SI_QUEUE", "-2": "SI_TIMER", "-3": "SI_MESGQ", "-4": "SI_ASYNCIO", "-5": "SI_SIGIO", "-6": "SI_TKILL", 128: "SI_KERNEL" };
const signalCodes = {
  SIGCHLD: ["", "CLD_EXITED", "CLD_KILLED", "CLD_DUMPED", "CLD_TRAPPED", "CLD_STOPPED", "CLD_CONTINUED"],
  SIGSEGV: ["", "SEGV_MAPERR", "SEGV_ACCERR", "SEGV_BNDERR", "SEGV_PKUERR"], SIGBUS: ["", "BUS_ADRALN", "BUS_ADRERR", "BUS_OBJERR", "BUS_MCEERR_AR", "BUS_MCEERR_AO"],
  SIGILL: ["", "ILL_ILLOPC", "ILL_ILLOPN", "ILL_ILLADR", "ILL_ILLTRP", "ILL_PRVOPC", "ILL_PRVREG", "ILL_COPROC", "ILL_BADSTK"],
  SIGFPE: ["", "FPE_INTDIV", "FPE_INTOVF", "FPE_FLTDIV", "FPE_FLTOVF", "FPE_FLTUND", "FPE_FLTRES", "FPE_FLTINV", "FPE_FLTSUB"],
  SIGTRAP: ["", "TRAP_BRKPT", "TRAP_TRACE", "TRAP_BRANCH", "TRAP_HWBKPT", "TRAP_UNK"], SIGIO: ["", "POLL_IN", "POLL_OUT", "POLL_MSG", "POLL_ERR", "POLL_PRI", "POLL_HUP"],
  SIGSYS: ["", "SYS_SECCOMP"],
};
const withAddress = new Set(["SIGILL", "SIGFPE", "SIGSEGV", "SIGBUS", "SIGTRAP"]);

// siginfoOf reads a siginfo_t. Its fields are those of the events of on("signal").
function siginfoOf(b) {
  return { signal: i32At(b, 0), code: i32At(b, 8), sender: i32At(b, 16), uid: u32At(b, 20), status: i32At(b, 24), utime: i64At(b, 32), stime: i64At(b, 40),
    address: u64At(b, 16), value: u64At(b, 24), timer: i32At(b, 16), overrun: i32At(b, 20), band: i64At(b, 16) };
}

export const siginfoText = b => signalText(siginfoOf(b));

export function signalText(e) {
  if (e.signal === 0) return "{}";
  const name = kernelSignal(e.signal), code = Number(e.code);
  const members = [`si_signo=${name}`, `si_code=${(code > 0 && code < 128 ? signalCodes[name]?.[code] : userCodes[code]) || code}`];
  if (code <= 0) members.push(...sentMembers(e, code));
  else if (name === "SIGCHLD") {
    members.push(...sender(e), `si_status=${code === 1 ? e.status : kernelSignal(Number(e.status))}`, `si_utime=${e.utime}`, `si_stime=${e.stime}`);
  } else if (withAddress.has(name)) members.push(`si_addr=${pointer(e.address ?? 0)}`);
  else if (name === "SIGIO") members.push(`si_band=${e.band}`);
  return `{${members.join(", ")}}`;
}

const sender = e => [`si_pid=${e.sender}`, `si_uid=${e.uid}`];
function sentMembers(e, code) {
  const value = BigInt(e.value ?? 0) === 0n ? [] : [`si_int=${BigInt.asIntN(32, BigInt(e.value ?? 0))}`, `si_ptr=${pointer(e.value ?? 0)}`];
  if (code === 0 || code === -6) return sender(e);
  if (code === -2) return [`si_timerid=${hex(e.timer)}`, `si_overrun=${e.overrun}`, ...value];
  return [...sender(e), ...value];
}

export function waitStatus(n) {
  const signal = n & 127;
  if ((n & 0xffff) === 0xffff) return "{WIFCONTINUED(s)}";
  if (signal === 0) return `{WIFEXITED(s) && WEXITSTATUS(s) == ${n >> 8 & 255}}`;
  if (signal === 127) return `{WIFSTOPPED(s) && WSTOPSIG(s) == ${signalName(n >> 8 & 255)}}`;
  return `{WIFSIGNALED(s) && WTERMSIG(s) == ${signalName(signal)}${n & 128 ? " && WCOREDUMP(s)" : ""}}`;
}

export const flockText = (b, owner = false) => `{l_type=${leaseType(u16At(b, 0))}, l_whence=${whence(u16At(b, 2))}, l_start=${i64At(b, 8)}, l_len=${i64At(b, 16)}${
  owner ? `, l_pid=${i32At(b, 24)}` : ""}}`;
export const ownerText = b => `{type=${one(u32At(b, 0), ["TID", "PID", "PGRP"], "F_OWNER_")}, pid=${i32At(b, 4)}}`;

// cloneFlags3 has the flags beyond 32 bits, too.
function cloneFlags3(all) {
  const names = all & 0xffffffffn ? [cloneFlags(all)] : [], rest = all >> 34n << 34n;
  if (all & 0x100000000n) names.push("CLONE_CLEAR_SIGHAND");
  if (all & 0x200000000n) names.push("CLONE_INTO_CGROUP");
  if (rest !== 0n) names.push(hex(rest) + (names.length === 0 ? " /* CLONE_??? */" : ""));
  return names.join("|") || "0";
}

// cloneText is the struct of clone3, which has more members the more the flags ask for.
export function cloneText(b) {
  const n = k => u64At(b, 8 * k), has = bit => (n(0) & BigInt(bit)) !== 0n;
  const members = [`flags=${cloneFlags3(n(0))}`];
  if (has(0x1000)) members.push(`pidfd=${pointer(n(1))}`);
  if (has(0x1200000)) members.push(`child_tid=${pointer(n(2))}`);
  if (has(0x100000)) members.push(`parent_tid=${pointer(n(3))}`);
  members.push(`exit_signal=${n(4) === 0n ? "0" : signalName(n(4))}`, `stack=${pointer(n(5))}`, `stack_size=${hex(n(6))}`);
  if (has(0x80000)) members.push(`tls=${pointer(n(7))}`);
  if (b.length >= 80 && (n(8) !== 0n || n(9) !== 0n)) members.push(`set_tid=${pointer(n(8))}`, `set_tid_size=${n(9)}`);
  if (b.length >= 88 && n(10) !== 0n) members.push(`cgroup=${n(10)}`);
  return `{${members.join(", ")}}`;
}

export function sockaddrText(b) {
  const a = decode(b);
  switch (a.family) {
    case "AF_INET": return `{sa_family=AF_INET, sin_port=htons(${a.port}), sin_addr=inet_addr("${a.address}")}`;
    case "AF_INET6": return `{sa_family=AF_INET6, sin6_port=htons(${a.port}), sin6_flowinfo=htonl(${view(b).getUint32(4)}), ` +
      `inet_pton(AF_INET6, "${a.address}", &sin6_addr), sin6_scope_id=${u32At(b, 24)}}`;
    case "AF_UNIX": return b.length <= 2 ? "{sa_family=AF_UNIX}" : `{sa_family=AF_UNIX, sun_path=${a.path[0] === "@" && b[2] === 0 ? "@" + quoted(b.slice(3)) : quoted(until(b, 2))}}`;
    case "AF_NETLINK": return `{sa_family=AF_NETLINK, nl_pid=${a.port}, nl_groups=${u32At(b, 8) === 0 ? "00000000" : "0x" + u32At(b, 8).toString(16).padStart(6, "0")}}`;
  }
  return `{sa_family=${a.family}, sa_data=${quoted(b.slice(2))}}`;
}

// controlText is the control part of a message.
export function controlText(b) {
  const texts = [];
  for (let at = 0; at + 16 <= b.length;) {
    const length = Number(u64At(b, at));
    if (length < 16) break;
    const level = i32At(b, at + 8), type = i32At(b, at + 12), data = b.slice(at + 16, at + length);
    const socket = socketLevel(level) === "SOL_SOCKET";
    texts.push(`{cmsg_len=${length}, cmsg_level=${socketLevel(level)}, cmsg_type=${socket ? one(type, { 1: "RIGHTS", 2: "CREDENTIALS", 3: "SECURITY", 4: "PIDFD" }, "SCM_") : hex(type)}, cmsg_data=${
      socket && type === 1 ? ints(data) : socket && type === 2 ? personText(data) : quoted(data)}}`);
    at += length + 7 & ~7;
  }
  return `[${texts.join(", ")}]`;
}

const ints = b => `[${Array.from({ length: b.length >> 2 }, (_, k) => i32At(b, 4 * k)).join(", ")}]`;
export const intsText = ints;
export const personText = b => `{pid=${i32At(b, 0)}, uid=${i32At(b, 4)}, gid=${i32At(b, 8)}}`;
export const tmsText = b => `{${["tms_utime", "tms_stime", "tms_cutime", "tms_cstime"].map((name, k) => `${name}=${i64At(b, 8 * k)}`).join(", ")}}`;

export function openHowText(b) {
  const mode = openFlags(u64At(b, 0)).match(/O_CREAT|O_TMPFILE/) ? `, mode=${fileMode(u64At(b, 8))}` : "";
  return `{flags=${openFlags(u64At(b, 0))}${mode}, resolve=${resolveFlags(u64At(b, 16))}}`;
}

export function sigeventText(b) {
  const notify = i32At(b, 12), thread = notify === 4 ? `, sigev_notify_thread_id=${i32At(b, 16)}` : "";
  const value = u64At(b, 0) === 0n ? "" : `sigev_value={sival_int=${i32At(b, 0)}, sival_ptr=${pointer(u64At(b, 0))}}, `;
  return `{${value}sigev_signo=${kernelSignal(i32At(b, 8))}, sigev_notify=${
    one(notify, { 0: "SIGNAL", 1: "NONE", 2: "THREAD", 4: "THREAD_ID" }, "SIGEV_")}${thread}}`;
}

export const capHeadText = b => `{version=${{ 0x19980330: "_LINUX_CAPABILITY_VERSION_1", 0x20071026: "_LINUX_CAPABILITY_VERSION_2", 0x20080522: "_LINUX_CAPABILITY_VERSION_3" }[u32At(b, 0)] ??
  hex(u32At(b, 0))}, pid=${i32At(b, 4)}}`;
export function capDataText(b) {
  const set = k => BigInt(u32At(b, k)) | BigInt(u32At(b, k + 12)) << 32n, names = n => Array.from({ length: 64 }, (_, k) => k).filter(k => n >> BigInt(k) & 1n).map(k => `1<<${capability(k)}`);
  return `{${[["effective", 0], ["permitted", 4], ["inheritable", 8]].map(([name, k]) => `${name}=${names(set(k)).join("|") || "0"}`).join(", ")}}`;
}

export function semText(b) {
  const texts = [];
  for (let at = 0; at + 6 <= b.length; at += 6) {
    texts.push(`{sem_num=${u16At(b, at)}, sem_op=${u16At(b, at + 2) << 16 >> 16}, sem_flg=${flags(u16At(b, at + 4), { SEM_UNDO: 0x1000, IPC_NOWAIT: 0o4000 })}}`);
  }
  return `[${texts.join(", ")}]`;
}

export function pollText(b, returned = false, more = false) {
  const texts = [];
  for (let at = 0; at + 8 <= b.length; at += 8) {
    if (returned && u16At(b, at + 6) === 0) continue;
    texts.push(returned ? `{fd=${i32At(b, at)}, revents=${pollEvents(u16At(b, at + 6))}}` :
      i32At(b, at) < 0 ? `{fd=${i32At(b, at)}}` : `{fd=${i32At(b, at)}, events=${pollEvents(u16At(b, at + 4))}}`);
  }
  return `[${texts.join(", ")}${more ? ", ..." : ""}]`;
}

export function epollEvent(b, size) {
  return `{events=${epollEvents(u32At(b, 0))}, data={u32=${u32At(b, size - 8)}, u64=${u64At(b, size - 8)}}}`;
}

export function epollText(b, size) {
  const texts = [];
  for (let at = 0; at + size <= b.length; at += size) texts.push(epollEvent(b.slice(at, at + size), size));
  return `[${texts.join(", ")}]`;
}

const members = (b, n) => Array.from({ length: Math.min(n, 8 * b.length) }, (_, k) => k).filter(k => b[k >> 3] >> (k & 7) & 1);
export const fdSet = (b, n) => `[${members(b, n).join(" ")}]`;
export const cpuSet = b => `[${members(b, 8 * b.length).join(" ")}]`;

export const schedText = b => `{size=${u32At(b, 0)}, sched_policy=${policy(u32At(b, 4))}, sched_flags=${flags(u64At(b, 8), schedBits, "0", "SCHED_FLAG_")}, sched_nice=${i32At(b, 16)}, ` +
  `sched_priority=${u32At(b, 20)}, sched_runtime=${u64At(b, 24)}, sched_deadline=${u64At(b, 32)}, sched_period=${u64At(b, 40)}${u32At(b, 0) < 56 ? "" : `, sched_util_min=${u32At(b, 48)}, sched_util_max=${u32At(b, 52)}`}}`;
const schedBits = { SCHED_FLAG_RESET_ON_FORK: 1, SCHED_FLAG_RECLAIM: 2, SCHED_FLAG_DL_OVERRUN: 4, SCHED_FLAG_KEEP_POLICY: 8, SCHED_FLAG_KEEP_PARAMS: 16, SCHED_FLAG_UTIL_CLAMP_MIN: 32,
  SCHED_FLAG_UTIL_CLAMP_MAX: 64 };
