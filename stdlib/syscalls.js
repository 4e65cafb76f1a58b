// gotap/syscalls: arguments of system calls as text.
//
//   import { openFlags, callText } from "gotap/syscalls";
//   probe("syscall:openat", {
//     enter(c) { exit({ path: str(c.args.filename), flags: c.args.flags }); },
//     exit(e) { console.log(e.path, openFlags(e.flags)); },                        // /etc/hosts O_RDONLY|O_CLOEXEC
//   });
//
// openFlags(n) accessMode(n) fileMode(n)          open's flags, access's mode, "0644"
// mmapProt(n) mmapFlags(n)                        PROT_READ|PROT_WRITE, MAP_PRIVATE|MAP_ANONYMOUS
// family(n) socketType(n)                         AF_INET, SOCK_STREAM|SOCK_CLOEXEC
// messageFlags(n) whence(n) futexOp(n) cloneFlags(n) pollEvents(n) clockName(n) madvice(n) atFlags(n) fcntlOp(n)
// dirfd(n)                                        AT_FDCWD, or the number
// flags(n, table)                                 for tables of your own: { NAME: bit, … }
// callText(name, args, texts?)                    "openat(AT_FDCWD, "/etc/hosts", O_RDONLY|O_CLOEXEC)" from raw argument words; texts has
//                                                 the strings that arguments point to, by their position
// pathCalls()                                     the calls that have a path as their first or second argument
// pathArgument(name)                              which of them it is, 0 or 1; undefined for other calls
//
// Bits without a name are shown as a hexadecimal number. The numbers are those of Linux on x86-64 and, except O_DIRECTORY and
// its neighbours, of ARM. Host only: programs put the numbers into the record.

export function flags(n, table, zero = "0") {
  let rest = BigInt.asUintN(32, BigInt(n));
  const names = [];
  for (const [name, bits] of Object.entries(table)) {
    const mask = BigInt(bits);
    if (mask !== 0n && (rest & mask) === mask) {
      names.push(name);
      rest &= ~mask;
    }
  }
  if (rest !== 0n) names.push("0x" + rest.toString(16));
  return names.join("|") || zero;
}

// one returns a function that names a number from a list; it returns others unchanged.
function one(n, names, prefix = "") {
  const low = Number(BigInt.asIntN(32, BigInt(n)));
  return names[low] === undefined ? String(low) : prefix + names[low];
}

// A flag of several bits comes before the flags that it consists of.
const openBits = { O_TMPFILE: 0o20200000, O_SYNC: 0o4010000, O_CREAT: 0o100, O_EXCL: 0o200, O_NOCTTY: 0o400, O_TRUNC: 0o1000,
  O_APPEND: 0o2000, O_NONBLOCK: 0o4000, O_DSYNC: 0o10000, FASYNC: 0o20000, O_DIRECT: 0o40000, O_LARGEFILE: 0o100000,
  O_DIRECTORY: 0o200000, O_NOFOLLOW: 0o400000, O_NOATIME: 0o1000000, O_CLOEXEC: 0o2000000, O_PATH: 0o10000000 };

// pipe2 and dup3 take flags of open, but no access mode.
const pipeFlags = n => flags(n, openBits);

export function openFlags(n) {
  const all = BigInt.asUintN(32, BigInt(n));
  const access = ["O_RDONLY", "O_WRONLY", "O_RDWR", "O_ACCMODE"][Number(all & 3n)];
  const rest = all & ~3n;
  return rest === 0n ? access : `${access}|${flags(rest, openBits)}`;
}

export const accessMode = n => flags(n, { R_OK: 4, W_OK: 2, X_OK: 1 }, "F_OK");
export const fileMode = n => "0" + BigInt.asUintN(16, BigInt(n)).toString(8).padStart(3, "0");
export const mmapProt = n => flags(n, { PROT_READ: 1, PROT_WRITE: 2, PROT_EXEC: 4, PROT_GROWSDOWN: 1 << 24 }, "PROT_NONE");
export const mmapFlags = n => flags(n, { MAP_SHARED_VALIDATE: 3, MAP_SHARED: 1, MAP_PRIVATE: 2, MAP_FIXED: 0x10, MAP_ANONYMOUS: 0x20,
  MAP_GROWSDOWN: 0x100, MAP_DENYWRITE: 0x800, MAP_LOCKED: 0x2000, MAP_NORESERVE: 0x4000, MAP_POPULATE: 0x8000, MAP_NONBLOCK: 0x10000,
  MAP_STACK: 0x20000, MAP_HUGETLB: 0x40000, MAP_SYNC: 0x80000, MAP_FIXED_NOREPLACE: 0x100000 });

const families = { 0: "UNSPEC", 1: "UNIX", 2: "INET", 3: "AX25", 4: "IPX", 5: "APPLETALK", 9: "X25", 10: "INET6", 15: "KEY", 16: "NETLINK",
  17: "PACKET", 29: "CAN", 30: "TIPC", 31: "BLUETOOTH", 38: "ALG", 40: "VSOCK", 44: "XDP" };
export const family = n => one(n, families, "AF_");

const socketTypes = { 1: "SOCK_STREAM", 2: "SOCK_DGRAM", 3: "SOCK_RAW", 4: "SOCK_RDM", 5: "SOCK_SEQPACKET", 6: "SOCK_DCCP", 10: "SOCK_PACKET" };

const socketBits = { SOCK_CLOEXEC: 0o2000000, SOCK_NONBLOCK: 0o4000 };
const acceptFlags = n => flags(n, socketBits); // the flags of a socket's type, without the type

export function socketType(n) {
  const number = Number(BigInt.asUintN(32, BigInt(n)));
  const rest = number & ~15;
  const kind = one(number & 15, socketTypes);
  return rest === 0 ? kind : `${kind}|${flags(rest, socketBits)}`;
}

export const messageFlags = n => flags(n, { MSG_OOB: 1, MSG_PEEK: 2, MSG_DONTROUTE: 4, MSG_CTRUNC: 8, MSG_TRUNC: 0x20, MSG_DONTWAIT: 0x40,
  MSG_EOR: 0x80, MSG_WAITALL: 0x100, MSG_CONFIRM: 0x800, MSG_ERRQUEUE: 0x2000, MSG_NOSIGNAL: 0x4000, MSG_MORE: 0x8000,
  MSG_WAITFORONE: 0x10000, MSG_FASTOPEN: 0x20000000, MSG_CMSG_CLOEXEC: 0x40000000 });
export const whence = n => one(n, ["SEEK_SET", "SEEK_CUR", "SEEK_END", "SEEK_DATA", "SEEK_HOLE"]);

const futexOps = ["WAIT", "WAKE", "FD", "REQUEUE", "CMP_REQUEUE", "WAKE_OP", "LOCK_PI", "UNLOCK_PI", "TRYLOCK_PI", "WAIT_BITSET",
  "WAKE_BITSET", "WAIT_REQUEUE_PI", "CMP_REQUEUE_PI", "LOCK_PI2"];

export function futexOp(n) {
  const number = Number(BigInt.asUintN(32, BigInt(n)));
  const rest = number & ~127;
  const op = one(number & 127, futexOps, "FUTEX_");
  return rest === 0 ? op : `${op}|${flags(rest, { FUTEX_PRIVATE_FLAG: 128, FUTEX_CLOCK_REALTIME: 256 })}`;
}

const cloneBits = { CLONE_VM: 0x100, CLONE_FS: 0x200, CLONE_FILES: 0x400, CLONE_SIGHAND: 0x800, CLONE_PIDFD: 0x1000, CLONE_PTRACE: 0x2000,
  CLONE_VFORK: 0x4000, CLONE_PARENT: 0x8000, CLONE_THREAD: 0x10000, CLONE_NEWNS: 0x20000, CLONE_SYSVSEM: 0x40000, CLONE_SETTLS: 0x80000,
  CLONE_PARENT_SETTID: 0x100000, CLONE_CHILD_CLEARTID: 0x200000, CLONE_UNTRACED: 0x800000, CLONE_CHILD_SETTID: 0x1000000,
  CLONE_NEWCGROUP: 0x2000000, CLONE_NEWUTS: 0x4000000, CLONE_NEWIPC: 0x8000000, CLONE_NEWUSER: 0x10000000, CLONE_NEWPID: 0x20000000,
  CLONE_NEWNET: 0x40000000, CLONE_IO: 0x80000000 };

// The low byte is the signal that the parent gets when the child ends.
export function cloneFlags(n) {
  const number = BigInt.asUintN(32, BigInt(n));
  const signal = Number(number & 255n);
  const names = flags(number & ~255n, cloneBits);
  return signal === 0 ? names : `${names === "0" ? "" : names + "|"}${signal === 17 ? "SIGCHLD" : signal}`;
}

export const pollEvents = n => flags(n, { POLLIN: 1, POLLPRI: 2, POLLOUT: 4, POLLERR: 8, POLLHUP: 16, POLLNVAL: 32, POLLRDHUP: 0x2000 });
export const clockName = n => one(n, ["REALTIME", "MONOTONIC", "PROCESS_CPUTIME_ID", "THREAD_CPUTIME_ID", "MONOTONIC_RAW", "REALTIME_COARSE",
  "MONOTONIC_COARSE", "BOOTTIME", "REALTIME_ALARM", "BOOTTIME_ALARM"], "CLOCK_");
export const madvice = n => one(n, { 0: "NORMAL", 1: "RANDOM", 2: "SEQUENTIAL", 3: "WILLNEED", 4: "DONTNEED", 8: "FREE", 9: "REMOVE",
  10: "DONTFORK", 11: "DOFORK", 12: "MERGEABLE", 14: "HUGEPAGE", 15: "NOHUGEPAGE", 16: "DONTDUMP", 17: "DODUMP" }, "MADV_");
export const atFlags = n => flags(n, { AT_SYMLINK_NOFOLLOW: 0x100, AT_REMOVEDIR: 0x200, AT_SYMLINK_FOLLOW: 0x400, AT_NO_AUTOMOUNT: 0x800,
  AT_EMPTY_PATH: 0x1000 });
export const fcntlOp = n => one(n, { 0: "F_DUPFD", 1: "F_GETFD", 2: "F_SETFD", 3: "F_GETFL", 4: "F_SETFL", 5: "F_GETLK", 6: "F_SETLK", 7: "F_SETLKW",
  8: "F_SETOWN", 9: "F_GETOWN", 1024: "F_SETLEASE", 1025: "F_GETLEASE", 1030: "F_DUPFD_CLOEXEC", 1031: "F_SETPIPE_SZ", 1032: "F_GETPIPE_SZ" });
export const dirfd = n => one(n, { "-100": "AT_FDCWD" });

const hexWord = n => BigInt(n) === 0n ? "NULL" : "0x" + BigInt.asUintN(64, BigInt(n)).toString(16);
const decimal = n => String(BigInt.asIntN(64, BigInt(n)));
const int = n => String(BigInt.asIntN(32, BigInt(n)));

// How the letters of signatures format an argument.
const kinds = { d: int, l: decimal, p: hexWord, s: hexWord, a: dirfd, o: openFlags, O: pipeFlags, c: accessMode, m: fileMode, P: mmapProt, M: mmapFlags,
  f: family, t: socketType, T: acceptFlags, g: messageFlags, w: whence, u: futexOp, C: cloneFlags, k: clockName, v: madvice, A: atFlags, F: fcntlOp };

const signatures = { read: "dpl", write: "dpl", pread64: "dpll", pwrite64: "dpll", readv: "dpd", writev: "dpd", open: "som", openat: "asom", creat: "sm", close: "d",
  stat: "sp", lstat: "sp", fstat: "dp", newfstatat: "aspA", statx: "asApp", access: "sc", faccessat: "asc", faccessat2: "ascA", lseek: "dlw", mmap: "plPMdl",
  mprotect: "plP", munmap: "pl", mremap: "pllp", madvise: "plv", brk: "p", ioctl: "dpp", fcntl: "dFp", dup: "d", dup2: "dd", dup3: "ddO", pipe: "p", pipe2: "pO",
  socket: "ftd", socketpair: "ftdp", connect: "dpd", bind: "dpd", listen: "dd", accept: "dpp", accept4: "dppT", shutdown: "dd", getsockname: "dpp",
  getpeername: "dpp", setsockopt: "dddpd", getsockopt: "dddpp", sendto: "dplgpd", recvfrom: "dplgpp", sendmsg: "dpg", recvmsg: "dpg", poll: "pdd", ppoll: "pdppl",
  select: "dpppp", pselect6: "dppppp", epoll_create1: "d", epoll_ctl: "dddp", epoll_wait: "dpdd", epoll_pwait: "dpddp", futex: "pudppd", clone: "Cpppp", clone3: "pl",
  execve: "spp", execveat: "asppA", exit: "d", exit_group: "d", wait4: "dpdp", kill: "dd", tgkill: "ddd", getpid: "", gettid: "", getppid: "", getuid: "", geteuid: "",
  getgid: "", getegid: "", fork: "", vfork: "", nanosleep: "pp", clock_nanosleep: "kdpp", clock_gettime: "kp", getcwd: "pl", chdir: "s", fchdir: "d", mkdir: "sm",
  mkdirat: "asm", rmdir: "s", unlink: "s", unlinkat: "asA", rename: "ss", renameat: "asas", renameat2: "asasd", link: "ss", symlink: "ss", readlink: "spl", readlinkat: "aspl",
  chmod: "sm", fchmod: "dm", fchmodat: "asm", chown: "sdd", fchown: "ddd", truncate: "sl", ftruncate: "dl", fsync: "d", fdatasync: "d", flock: "dd", getdents64: "dpl",
  rt_sigaction: "dppl", rt_sigprocmask: "dppl", rt_sigreturn: "", sigaltstack: "pp", arch_prctl: "dp", prctl: "dpppp", set_tid_address: "p", set_robust_list: "pl",
  rseq: "pddd", prlimit64: "ddpp", getrandom: "pld", uname: "p", sysinfo: "p", sched_yield: "", statfs: "sp", fstatfs: "dp", getrusage: "dp", umask: "m", sendfile: "ddpl" };

export function callText(name, args, texts = {}) {
  const signature = signatures[name];
  if (signature === undefined) return `${name}(${args.map(hexWord).join(", ")})`;
  const parts = [...signature].map((kind, k) => texts[k] === undefined ? kinds[kind](args[k] ?? 0) : JSON.stringify(texts[k]));
  return `${name}(${trimmed(name, args, parts).join(", ")})`;
}

// trimmed removes the mode from an open that creates no file: the register holds an unrelated value.
function trimmed(name, args, parts) {
  const at = { open: 1, openat: 2 }[name];
  if (at === undefined) return parts;
  const made = 0o100n | 0o20000000n;
  return (BigInt(args[at] ?? 0) & made) === 0n ? parts.slice(0, at + 1) : parts;
}

const positions = (names, at) => Object.fromEntries(names.split(",").map(name => [name, at]));

const pathArguments = {
  ...positions("access,chdir,chmod,chown,creat,execve,lchown,link,lstat,mkdir,open,readlink,rename,rmdir,stat,statfs,symlink,truncate,unlink,utimes", 0),
  ...positions("faccessat,faccessat2,fchmodat,fchownat,linkat,mkdirat,newfstatat,openat,openat2,readlinkat,renameat2,statx,symlinkat,unlinkat,utimensat", 1),
};

export const pathCalls = () => Object.keys(pathArguments);
export const pathArgument = name => Object.hasOwn(pathArguments, name) ? pathArguments[name] : undefined;
