// gotap/flags: names of the numbers that system calls take.
//
//   import { openFlags } from "gotap/flags";
//   probe("syscall:openat", { enter(c) { exit({ flags: c.args.flags }); }, exit(e) { console.log(openFlags(e.flags)); } });   // O_RDONLY|O_CLOEXEC
//
// openFlags(n) accessMode(n) fileMode(n)          open's flags, access's mode, "0644"
// pipeFlags(n) acceptFlags(n)                     flags of open without an access mode, of a socket's type without the type
// mmapProt(n) mmapFlags(n) mremapFlags(n)         PROT_READ|PROT_WRITE, MAP_PRIVATE|MAP_ANONYMOUS, MREMAP_MAYMOVE
// family(n) socketType(n) protocol(n, family)     AF_INET, SOCK_STREAM|SOCK_CLOEXEC, IPPROTO_TCP
// socketLevel(n) socketOption(level, n)           SOL_SOCKET, SO_REUSEADDR
// messageFlags(n) whence(n) futexOp(n) cloneFlags(n) pollEvents(n) epollEvents(n) epollOp(n) clockName(n) madvice(n) fadvice(n)
// atFlags(n) statxFlags(n) statxMask(n) fcntlOp(n) ioctlName(n) sigprocmaskHow(n) sigactionFlags(n) waitOptions(n) resource(n)
// accessFlags(n) randomFlags(n) prctlOption(n) capability(n) archOption(n) lockOp(n) shutdownHow(n) rusageWho(n) itimer(n)
// dirfd(n)                                        AT_FDCWD, or the number
// fileKind(mode)                                  "S_IFREG|0644", of the mode of a stat
// signalfdFlags(n) inotifyMask(n) fallocateMode(n) spliceFlags(n) xattrFlags(n) memfdFlags(n) closeRangeFlags(n) syncRangeFlags(n) msyncFlags(n)
// mlockFlags(n) mlockallFlags(n) resolveFlags(n) rwFlags(n) sealFlags(n) timerfdFlags(n) pidfdFlags(n) unmountFlags(n) mountFlags(n) leaseType(n) policy(n)
// priorityWhich(n) ipcKey(n) ipcFlags(n) ipcCommand(n) shmFlags(n) membarrierCommand(n) persona(n) dumpable(n) notifyMask(n)
// ioprioWhich(n) ioprio(n) seccompOp(n) seccompFlags(n) seccompMode(n) keyctlOp(n) keySerial(n) keyPermissions(n) keyDefault(n)
// bpfCommand(n) bpfMapType(n) bpfProgramType(n) bpfAttachType(n) uringEnter(n) uringRegister(n) landlockAccess(n)
// fanotifyInit(n) fanotifyMark(n) fanotifyMask(n) perfFlags(n) quotaCommand(n) quotaFormat(n) kcmpType(n) fsconfigCommand(n) mountAttributes(n) openTree(n) moveMount(n)
// memoryPolicy(n)
// flags(n, table, zero?, unknown?)                for tables of your own: { NAME: bit, … }
// one(n, names, prefix?, unknown?)                a number's name in a list or object
//
// Bits without a name are shown as a hexadecimal number. A number of which nothing has a name is followed by what it should have been, where that
// is known: 0x63 /* AF_??? */. Here a prefix says it, and `unknown`. The names and their order are those that strace prints. The numbers are those
// of Linux on x86-64 and, except O_DIRECTORY and its neighbours, of ARM. Host only: programs put the numbers into the record.

export function flags(n, table, zero = "0", unknown = "") {
  let rest = BigInt.asUintN(32, BigInt(n));
  const names = [];
  for (const [name, bits] of Object.entries(table)) {
    const mask = BigInt(bits);
    if (mask !== 0n && (rest & mask) === mask) {
      names.push(name);
      rest &= ~mask;
    }
  }
  if (rest !== 0n) names.push("0x" + rest.toString(16) + (names.length === 0 && unknown ? ` /* ${unknown}??? */` : ""));
  return names.join("|") || zero;
}

export function one(n, names, prefix = "", unknown = prefix) {
  const low = Number(BigInt.asIntN(32, BigInt(n)));
  if (names[low] !== undefined) return prefix + names[low];
  return unknown === "" ? String(low) : `0x${BigInt.asUintN(32, BigInt(n)).toString(16)} /* ${unknown}??? */`;
}

// A flag of several bits comes before the flags that it consists of.
const openBits = { O_TMPFILE: 0o20200000, O_CREAT: 0o100, O_EXCL: 0o200, O_NOCTTY: 0o400, O_TRUNC: 0o1000, O_APPEND: 0o2000, O_NONBLOCK: 0o4000,
  O_SYNC: 0o4010000, O_DSYNC: 0o10000, O_DIRECT: 0o40000, O_LARGEFILE: 0o100000, O_NOFOLLOW: 0o400000, O_NOATIME: 0o1000000,
  O_CLOEXEC: 0o2000000, O_PATH: 0o10000000, O_DIRECTORY: 0o200000, FASYNC: 0o20000 };

// pipe2 and dup3 take flags of open, but no access mode.
export const pipeFlags = n => flags(n, openBits);

export function openFlags(n) {
  const all = BigInt.asUintN(32, BigInt(n));
  const access = ["O_RDONLY", "O_WRONLY", "O_RDWR", "O_ACCMODE"][Number(all & 3n)];
  const rest = all & ~3n;
  return rest === 0n ? access : `${access}|${flags(rest, openBits)}`;
}

export const accessMode = n => flags(n, { R_OK: 4, W_OK: 2, X_OK: 1 }, "F_OK");

export function fileMode(n) {
  const octal = BigInt.asUintN(16, BigInt(n)).toString(8);
  return (octal === "0" ? octal : "0" + octal).padStart(3, "0");
}

const kinds = { 1: "S_IFIFO", 2: "S_IFCHR", 4: "S_IFDIR", 6: "S_IFBLK", 8: "S_IFREG", 10: "S_IFLNK", 12: "S_IFSOCK" };

export function fileKind(mode) {
  const kind = mode >> 12 & 15, names = kind === 0 ? [] : [kinds[kind] ?? "0x" + (mode & 0xf000).toString(16)];
  for (const [name, bit] of Object.entries({ S_ISUID: 0o4000, S_ISGID: 0o2000, S_ISVTX: 0o1000 })) if (mode & bit) names.push(name);
  return [...names, fileMode(mode & 0o777)].join("|");
}

export const mmapProt = n => flags(n, { PROT_READ: 1, PROT_WRITE: 2, PROT_EXEC: 4, PROT_GROWSDOWN: 1 << 24 }, "PROT_NONE");
export const mmapFlags = n => flags(n, { MAP_SHARED_VALIDATE: 3, MAP_SHARED: 1, MAP_PRIVATE: 2, MAP_FIXED: 0x10, MAP_ANONYMOUS: 0x20, MAP_32BIT: 0x40,
  MAP_GROWSDOWN: 0x100, MAP_DENYWRITE: 0x800, MAP_LOCKED: 0x2000, MAP_NORESERVE: 0x4000, MAP_POPULATE: 0x8000, MAP_NONBLOCK: 0x10000,
  MAP_STACK: 0x20000, MAP_HUGETLB: 0x40000, MAP_SYNC: 0x80000, MAP_FIXED_NOREPLACE: 0x100000 });
export const mremapFlags = n => flags(n, { MREMAP_MAYMOVE: 1, MREMAP_FIXED: 2, MREMAP_DONTUNMAP: 4 });

const families = { 0: "UNSPEC", 1: "UNIX", 2: "INET", 3: "AX25", 4: "IPX", 5: "APPLETALK", 9: "X25", 10: "INET6", 15: "KEY", 16: "NETLINK",
  17: "PACKET", 29: "CAN", 30: "TIPC", 31: "BLUETOOTH", 38: "ALG", 40: "VSOCK", 44: "XDP" };
export const family = n => one(n, families, "AF_");

const socketTypes = { 1: "SOCK_STREAM", 2: "SOCK_DGRAM", 3: "SOCK_RAW", 4: "SOCK_RDM", 5: "SOCK_SEQPACKET", 6: "SOCK_DCCP", 10: "SOCK_PACKET" };

const socketBits = { SOCK_CLOEXEC: 0o2000000, SOCK_NONBLOCK: 0o4000 };
export const acceptFlags = n => flags(n, socketBits);

export function socketType(n) {
  const number = Number(BigInt.asUintN(32, BigInt(n)));
  const rest = number & ~15;
  if (socketTypes[number & 15] === undefined) return `0x${number.toString(16)} /* SOCK_??? */`;
  const kind = socketTypes[number & 15];
  return rest === 0 ? kind : `${kind}|${flags(rest, socketBits)}`;
}

const internet = { 0: "IP", 1: "ICMP", 6: "TCP", 17: "UDP", 58: "ICMPV6", 132: "SCTP", 255: "RAW" };

export function protocol(n, domain) {
  const of = family(domain);
  if (of === "AF_INET" || of === "AF_INET6") return one(n, internet, "IPPROTO_");
  if (of === "AF_NETLINK") return one(n, { 0: "ROUTE", 4: "SOCK_DIAG", 9: "AUDIT", 15: "KOBJECT_UEVENT", 16: "GENERIC" }, "NETLINK_");
  if (of === "AF_PACKET") return etherType(n);
  return String(BigInt.asIntN(32, BigInt(n)));
}

// etherType names a number in the order of the network.
function etherType(n) {
  const low = Number(BigInt.asUintN(16, BigInt(n))), number = low >> 8 | (low & 255) << 8;
  const name = { 3: "ALL", 0x800: "IP", 0x806: "ARP", 0x8100: "8021Q", 0x86dd: "IPV6" }[number];
  return name ? `htons(ETH_P_${name})` : `htons(0x${number.toString(16)} /* ETH_P_??? */)`;
}

export const socketLevel = n => one(n, { 0: "SOL_IP", 1: "SOL_SOCKET", 6: "SOL_TCP", 17: "SOL_UDP", 41: "SOL_IPV6", 270: "SOL_NETLINK" });

const socketOptions = {
  SOL_SOCKET: ["SO_DEBUG", "SO_REUSEADDR", "SO_TYPE", "SO_ERROR", "SO_DONTROUTE", "SO_BROADCAST", "SO_SNDBUF", "SO_RCVBUF", "SO_KEEPALIVE", "SO_OOBINLINE", "SO_NO_CHECK",
    "SO_PRIORITY", "SO_LINGER", "SO_BSDCOMPAT", "SO_REUSEPORT", "SO_PASSCRED", "SO_PEERCRED", "SO_RCVLOWAT", "SO_SNDLOWAT", "SO_RCVTIMEO_OLD", "SO_SNDTIMEO_OLD"],
  SOL_TCP: ["TCP_NODELAY", "TCP_MAXSEG", "TCP_CORK", "TCP_KEEPIDLE", "TCP_KEEPINTVL", "TCP_KEEPCNT", "TCP_SYNCNT", "TCP_LINGER2", "TCP_DEFER_ACCEPT", "TCP_WINDOW_CLAMP",
    "TCP_INFO", "TCP_QUICKACK", "TCP_CONGESTION"],
};
const moreOptions = {
  SOL_SOCKET: { 25: "SO_BINDTODEVICE", 26: "SO_ATTACH_FILTER", 27: "SO_DETACH_FILTER", 35: "SO_TIMESTAMPNS_OLD", 36: "SO_MARK", 37: "SO_TIMESTAMPING_OLD", 40: "SO_RXQ_OVFL", 28: "SO_PEERNAME", 29: "SO_TIMESTAMP_OLD", 30: "SO_ACCEPTCONN", 31: "SO_PEERSEC", 32: "SO_SNDBUFFORCE", 33: "SO_RCVBUFFORCE", 34: "SO_PASSSEC", 38: "SO_PROTOCOL",
    39: "SO_DOMAIN", 49: "SO_INCOMING_CPU" },
  SOL_TCP: { 18: "TCP_USER_TIMEOUT", 23: "TCP_FASTOPEN" },
  SOL_IP: { 1: "IP_TOS", 2: "IP_TTL", 8: "IP_PKTINFO", 10: "IP_MTU_DISCOVER", 11: "IP_RECVERR", 24: "IP_BIND_ADDRESS_NO_PORT" },
  SOL_IPV6: { 26: "IPV6_V6ONLY", 25: "IPV6_RECVERR", 49: "IPV6_RECVPKTINFO" },
};

export function socketOption(level, n) {
  const of = socketLevel(level), number = Number(BigInt.asIntN(32, BigInt(n)));
  return socketOptions[of]?.[number - 1] ?? moreOptions[of]?.[number] ?? `0x${number.toString(16)} /* ${optionPrefix[of] ?? "SO"}_??? */`;
}
const optionPrefix = { SOL_TCP: "TCP", SOL_IP: "IP", SOL_IPV6: "IPV6", SOL_UDP: "UDP", SOL_NETLINK: "NETLINK" };

export const messageFlags = n => flags(n, { MSG_OOB: 1, MSG_PEEK: 2, MSG_DONTROUTE: 4, MSG_CTRUNC: 8, MSG_TRUNC: 0x20, MSG_DONTWAIT: 0x40,
  MSG_EOR: 0x80, MSG_WAITALL: 0x100, MSG_CONFIRM: 0x800, MSG_ERRQUEUE: 0x2000, MSG_NOSIGNAL: 0x4000, MSG_MORE: 0x8000,
  MSG_WAITFORONE: 0x10000, MSG_FASTOPEN: 0x20000000, MSG_CMSG_CLOEXEC: 0x40000000 });
export const whence = n => one(n, ["SEEK_SET", "SEEK_CUR", "SEEK_END", "SEEK_DATA", "SEEK_HOLE"], "", "SEEK_");

const futexOps = ["WAIT", "WAKE", "FD", "REQUEUE", "CMP_REQUEUE", "WAKE_OP", "LOCK_PI", "UNLOCK_PI", "TRYLOCK_PI", "WAIT_BITSET",
  "WAKE_BITSET", "WAIT_REQUEUE_PI", "CMP_REQUEUE_PI", "LOCK_PI2"];

export function futexOp(n) {
  const number = Number(BigInt.asUintN(32, BigInt(n)));
  const op = one(number & 127, futexOps, "FUTEX_") + (number & 128 ? "_PRIVATE" : "");
  const rest = number & ~255;
  return rest === 0 ? op : `${op}|${flags(rest, { FUTEX_CLOCK_REALTIME: 256 })}`;
}

const cloneBits = { CLONE_VM: 0x100, CLONE_FS: 0x200, CLONE_FILES: 0x400, CLONE_SIGHAND: 0x800, CLONE_PIDFD: 0x1000, CLONE_PTRACE: 0x2000,
  CLONE_VFORK: 0x4000, CLONE_PARENT: 0x8000, CLONE_THREAD: 0x10000, CLONE_NEWNS: 0x20000, CLONE_SYSVSEM: 0x40000, CLONE_SETTLS: 0x80000,
  CLONE_PARENT_SETTID: 0x100000, CLONE_CHILD_CLEARTID: 0x200000, CLONE_DETACHED: 0x400000, CLONE_UNTRACED: 0x800000, CLONE_CHILD_SETTID: 0x1000000,
  CLONE_NEWCGROUP: 0x2000000, CLONE_NEWUTS: 0x4000000, CLONE_NEWIPC: 0x8000000, CLONE_NEWUSER: 0x10000000, CLONE_NEWPID: 0x20000000,
  CLONE_NEWNET: 0x40000000, CLONE_IO: 0x80000000 };

// The low byte is the signal that the parent gets when the child ends.
export function cloneFlags(n) {
  const number = BigInt.asUintN(32, BigInt(n));
  const signal = Number(number & 255n);
  const names = flags(number & ~255n, cloneBits);
  return signal === 0 ? names : `${names === "0" ? "" : names + "|"}${signal === 17 ? "SIGCHLD" : signal}`;
}

export const pollEvents = n => flags(n, { POLLIN: 1, POLLPRI: 2, POLLOUT: 4, POLLRDNORM: 0x40, POLLRDBAND: 0x80, POLLWRNORM: 0x100, POLLWRBAND: 0x200, POLLMSG: 0x400,
  POLLERR: 8, POLLHUP: 16, POLLNVAL: 32, POLLREMOVE: 0x1000, POLLRDHUP: 0x2000 });
export const epollEvents = n => flags(n, { EPOLLIN: 1, EPOLLPRI: 2, EPOLLOUT: 4, EPOLLRDNORM: 0x40, EPOLLRDBAND: 0x80, EPOLLWRNORM: 0x100, EPOLLWRBAND: 0x200, EPOLLMSG: 0x400,
  EPOLLERR: 8, EPOLLHUP: 16, EPOLLRDHUP: 0x2000, EPOLLEXCLUSIVE: 1 << 28, EPOLLWAKEUP: 1 << 29, EPOLLONESHOT: 1 << 30, EPOLLET: 2 ** 31 });
export const epollOp = n => one(n, { 1: "ADD", 2: "DEL", 3: "MOD" }, "EPOLL_CTL_");
export const clockName = n => one(n, ["REALTIME", "MONOTONIC", "PROCESS_CPUTIME_ID", "THREAD_CPUTIME_ID", "MONOTONIC_RAW", "REALTIME_COARSE",
  "MONOTONIC_COARSE", "BOOTTIME", "REALTIME_ALARM", "BOOTTIME_ALARM"], "CLOCK_");
export const madvice = n => one(n, { 0: "NORMAL", 1: "RANDOM", 2: "SEQUENTIAL", 3: "WILLNEED", 4: "DONTNEED", 8: "FREE", 9: "REMOVE",
  10: "DONTFORK", 11: "DOFORK", 12: "MERGEABLE", 13: "UNMERGEABLE", 14: "HUGEPAGE", 15: "NOHUGEPAGE", 16: "DONTDUMP", 17: "DODUMP", 18: "WIPEONFORK", 19: "KEEPONFORK", 20: "COLD", 21: "PAGEOUT", 22: "POPULATE_READ",
  23: "POPULATE_WRITE", 25: "COLLAPSE" }, "MADV_");
export const fadvice = n => one(n, ["NORMAL", "RANDOM", "SEQUENTIAL", "WILLNEED", "DONTNEED", "NOREUSE"], "POSIX_FADV_");
export const atFlags = n => flags(n, { AT_SYMLINK_NOFOLLOW: 0x100, AT_REMOVEDIR: 0x200, AT_SYMLINK_FOLLOW: 0x400, AT_NO_AUTOMOUNT: 0x800,
  AT_EMPTY_PATH: 0x1000 });

// faccessat2 has another meaning of one bit.
export const accessFlags = n => flags(n, { AT_SYMLINK_NOFOLLOW: 0x100, AT_EACCESS: 0x200, AT_EMPTY_PATH: 0x1000 });

export function statxFlags(n) {
  const number = Number(BigInt.asUintN(32, BigInt(n)));
  const how = { 0: "AT_STATX_SYNC_AS_STAT", 0x2000: "AT_STATX_FORCE_SYNC", 0x4000: "AT_STATX_DONT_SYNC" }[number & 0x6000] ?? "0x6000";
  return number & ~0x6000 ? `${how}|${atFlags(number & ~0x6000)}` : how;
}

export const statxMask = n => flags(n, { STATX_ALL: 0xfff, STATX_BASIC_STATS: 0x7ff, STATX_TYPE: 1, STATX_MODE: 2, STATX_NLINK: 4, STATX_UID: 8, STATX_GID: 16, STATX_ATIME: 32,
  STATX_MTIME: 64, STATX_CTIME: 128, STATX_INO: 256, STATX_SIZE: 512, STATX_BLOCKS: 1024, STATX_BTIME: 0x800, STATX_MNT_ID: 0x1000, STATX_DIOALIGN: 0x2000 });
export const fcntlOp = n => one(n, { 0: "F_DUPFD", 1: "F_GETFD", 2: "F_SETFD", 3: "F_GETFL", 4: "F_SETFL", 5: "F_GETLK", 6: "F_SETLK", 7: "F_SETLKW",
  8: "F_SETOWN", 9: "F_GETOWN", 10: "F_SETSIG", 11: "F_GETSIG", 36: "F_OFD_GETLK", 37: "F_OFD_SETLK", 38: "F_OFD_SETLKW", 1024: "F_SETLEASE", 1025: "F_GETLEASE",
  15: "F_SETOWN_EX", 16: "F_GETOWN_EX", 1026: "F_NOTIFY", 1036: "F_GET_RW_HINT", 1030: "F_DUPFD_CLOEXEC", 1031: "F_SETPIPE_SZ", 1032: "F_GETPIPE_SZ", 1033: "F_ADD_SEALS", 1034: "F_GET_SEALS" }, "", "F_");
const ioctlNames = { 0x5401: "TCGETS", 0x5402: "TCSETS", 0x5403: "TCSETSW", 0x5404: "TCSETSF", 0x540f: "TIOCGPGRP", 0x5410: "TIOCSPGRP", 0x5413: "TIOCGWINSZ",
  0x5414: "TIOCSWINSZ", 0x541b: "FIONREAD", 0x5421: "FIONBIO", 0x5450: "FIONCLEX", 0x5451: "FIOCLEX", 0x5452: "FIOASYNC", 0x40049409: "BTRFS_IOC_CLONE or FICLONE",
  0x80086601: "FS_IOC_GETFLAGS", 0xc020660b: "FS_IOC_FIEMAP" };
export function ioctlName(n) {
  const number = Number(BigInt.asUintN(32, BigInt(n))), part = (from, bits) => number >>> from & 2 ** bits - 1, hex = v => v === 0 ? "0" : "0x" + v.toString(16);
  const way = ["_IOC_NONE", "_IOC_WRITE", "_IOC_READ", "_IOC_READ|_IOC_WRITE"][part(30, 2)];
  return ioctlNames[number] ?? `_IOC(${way}, ${hex(part(8, 8))}, ${hex(part(0, 8))}, ${hex(part(16, 14))})`;
}
export const sigprocmaskHow = n => one(n, ["SIG_BLOCK", "SIG_UNBLOCK", "SIG_SETMASK"], "", "SIG_");
export function sigactionFlags(n) {
  const high = BigInt.asUintN(64, BigInt(n)) >> 32n << 32n; // of a number whose sign was extended
  return high === 0n ? flags(n, sigactionBits) : `${flags(n, sigactionBits, "")}|0x${high.toString(16)}`;
}
const sigactionBits = { SA_RESTORER: 0x4000000, SA_ONSTACK: 0x8000000, SA_RESTART: 0x10000000, SA_NODEFER: 0x40000000, SA_RESETHAND: 0x80000000,
  SA_SIGINFO: 4, SA_NOCLDSTOP: 1, SA_NOCLDWAIT: 2, SA_EXPOSE_TAGBITS: 0x800 };
export const waitOptions = n => flags(n, { WNOHANG: 1, WSTOPPED: 2, WEXITED: 4, WCONTINUED: 8, WNOWAIT: 0x1000000, __WNOTHREAD: 0x20000000, __WALL: 0x40000000, __WCLONE: 0x80000000 });
export const resource = n => one(n, ["CPU", "FSIZE", "DATA", "STACK", "CORE", "RSS", "NPROC", "NOFILE", "MEMLOCK", "AS", "LOCKS", "SIGPENDING", "MSGQUEUE", "NICE", "RTPRIO",
  "RTTIME"], "RLIMIT_");
export const randomFlags = n => flags(n, { GRND_NONBLOCK: 1, GRND_RANDOM: 2, GRND_INSECURE: 4 });
export const prctlOption = n => one(n, { 1: "SET_PDEATHSIG", 2: "GET_PDEATHSIG", 3: "GET_DUMPABLE", 4: "SET_DUMPABLE", 7: "GET_KEEPCAPS", 8: "SET_KEEPCAPS", 15: "SET_NAME",
  16: "GET_NAME", 21: "GET_SECCOMP", 22: "SET_SECCOMP", 23: "CAPBSET_READ", 24: "CAPBSET_DROP", 29: "SET_TIMERSLACK", 30: "GET_TIMERSLACK", 36: "SET_CHILD_SUBREAPER",
  38: "SET_NO_NEW_PRIVS", 39: "GET_NO_NEW_PRIVS", 41: "SET_THP_DISABLE", 42: "GET_THP_DISABLE", 0x53564d41: "SET_VMA" }, "PR_");
const capabilities = ["CHOWN", "DAC_OVERRIDE", "DAC_READ_SEARCH", "FOWNER", "FSETID", "KILL", "SETGID", "SETUID", "SETPCAP", "LINUX_IMMUTABLE", "NET_BIND_SERVICE", "NET_BROADCAST",
  "NET_ADMIN", "NET_RAW", "IPC_LOCK", "IPC_OWNER", "SYS_MODULE", "SYS_RAWIO", "SYS_CHROOT", "SYS_PTRACE", "SYS_PACCT", "SYS_ADMIN", "SYS_BOOT", "SYS_NICE", "SYS_RESOURCE", "SYS_TIME",
  "SYS_TTY_CONFIG", "MKNOD", "LEASE", "AUDIT_WRITE", "AUDIT_CONTROL", "SETFCAP", "MAC_OVERRIDE", "MAC_ADMIN", "SYSLOG", "WAKE_ALARM", "BLOCK_SUSPEND", "AUDIT_READ", "PERFMON", "BPF",
  "CHECKPOINT_RESTORE"];
export const capability = n => capabilities[Number(n)] ? `CAP_${capabilities[Number(n)]}` : `0x${BigInt.asUintN(32, BigInt(n)).toString(16)} /* CAP_??? */`;
export const archOption = n => ({ 0x1001: "ARCH_SET_GS", 0x1002: "ARCH_SET_FS", 0x1003: "ARCH_GET_FS", 0x1004: "ARCH_GET_GS", 0x1011: "ARCH_GET_CPUID",
  0x1012: "ARCH_SET_CPUID" })[Number(n)] ?? `0x${BigInt.asUintN(32, BigInt(n)).toString(16)} /* ARCH_??? */`;
export const lockOp = n => flags(n, { LOCK_SH: 1, LOCK_EX: 2, LOCK_UN: 8, LOCK_NB: 4 });
export const shutdownHow = n => one(n, ["SHUT_RD", "SHUT_WR", "SHUT_RDWR"], "", "SHUT_");
export const rusageWho = n => one(n, { 0: "RUSAGE_SELF", "-1": "RUSAGE_CHILDREN", 1: "RUSAGE_THREAD" }, "", "RUSAGE_");
export const itimer = n => one(n, ["ITIMER_REAL", "ITIMER_VIRTUAL", "ITIMER_PROF"], "", "ITIMER_");
export const dirfd = n => one(n, { "-100": "AT_FDCWD" });

export const signalfdFlags = n => flags(n, { SFD_CLOEXEC: 0o2000000, SFD_NONBLOCK: 0o4000 }, "0", "SFD_");
const inotifyBits = { IN_ACCESS: 1, IN_MODIFY: 2, IN_ATTRIB: 4, IN_CLOSE_WRITE: 8, IN_CLOSE_NOWRITE: 16, IN_OPEN: 32, IN_MOVED_FROM: 64, IN_MOVED_TO: 128, IN_CREATE: 256, IN_DELETE: 512,
  IN_DELETE_SELF: 1024, IN_MOVE_SELF: 2048, IN_UNMOUNT: 0x2000, IN_Q_OVERFLOW: 0x4000, IN_IGNORED: 0x8000, IN_ONLYDIR: 1 << 24, IN_DONT_FOLLOW: 1 << 25, IN_EXCL_UNLINK: 1 << 26,
  IN_MASK_CREATE: 1 << 28, IN_MASK_ADD: 1 << 29, IN_ISDIR: 1 << 30, IN_ONESHOT: 2 ** 31 };
export const inotifyMask = n => flags(n, inotifyBits, "0", "IN_");
export const fallocateMode = n => flags(n, { FALLOC_FL_KEEP_SIZE: 1, FALLOC_FL_PUNCH_HOLE: 2, FALLOC_FL_NO_HIDE_STALE: 4, FALLOC_FL_COLLAPSE_RANGE: 8, FALLOC_FL_ZERO_RANGE: 16,
  FALLOC_FL_INSERT_RANGE: 32, FALLOC_FL_UNSHARE_RANGE: 64 }, "0", "FALLOC_FL_");
export const spliceFlags = n => flags(n, { SPLICE_F_MOVE: 1, SPLICE_F_NONBLOCK: 2, SPLICE_F_MORE: 4, SPLICE_F_GIFT: 8 }, "0", "SPLICE_F_");
export const xattrFlags = n => flags(n, { XATTR_CREATE: 1, XATTR_REPLACE: 2 }, "0", "XATTR_");
export const memfdFlags = n => flags(n, { MFD_CLOEXEC: 1, MFD_ALLOW_SEALING: 2, MFD_HUGETLB: 4, MFD_NOEXEC_SEAL: 8, MFD_EXEC: 16 }, "0", "MFD_");
export const closeRangeFlags = n => flags(n, { CLOSE_RANGE_UNSHARE: 2, CLOSE_RANGE_CLOEXEC: 4 }, "0", "CLOSE_RANGE_");
export const syncRangeFlags = n => flags(n, { SYNC_FILE_RANGE_WAIT_BEFORE: 1, SYNC_FILE_RANGE_WRITE: 2, SYNC_FILE_RANGE_WAIT_AFTER: 4 }, "0", "SYNC_FILE_RANGE_");
export const msyncFlags = n => flags(n, { MS_SYNC: 4, MS_ASYNC: 1, MS_INVALIDATE: 2 }, "0", "MS_");
export const mlockFlags = n => flags(n, { MLOCK_ONFAULT: 1 }, "0", "MLOCK_");
export const mlockallFlags = n => flags(n, { MCL_CURRENT: 1, MCL_FUTURE: 2, MCL_ONFAULT: 4 }, "0", "MCL_");
export const resolveFlags = n => flags(n, { RESOLVE_NO_XDEV: 1, RESOLVE_NO_MAGICLINKS: 2, RESOLVE_NO_SYMLINKS: 4, RESOLVE_BENEATH: 8, RESOLVE_IN_ROOT: 16, RESOLVE_CACHED: 32 }, "0", "RESOLVE_");
export const rwFlags = n => flags(n, { RWF_HIPRI: 1, RWF_DSYNC: 2, RWF_SYNC: 4, RWF_NOWAIT: 8, RWF_APPEND: 16 }, "0", "RWF_");
export const sealFlags = n => flags(n, { F_SEAL_SEAL: 1, F_SEAL_SHRINK: 2, F_SEAL_GROW: 4, F_SEAL_WRITE: 8, F_SEAL_FUTURE_WRITE: 16, F_SEAL_EXEC: 32 }, "0", "F_SEAL_");
export const timerfdFlags = n => flags(n, { TFD_TIMER_ABSTIME: 1, TFD_TIMER_CANCEL_ON_SET: 2 }, "0", "TFD_TIMER_");
export const pidfdFlags = n => flags(n, { PIDFD_NONBLOCK: 0o4000, PIDFD_THREAD: 0o200 }, "0", "PIDFD_");
export const unmountFlags = n => flags(n, { MNT_FORCE: 1, MNT_DETACH: 2, MNT_EXPIRE: 4, UMOUNT_NOFOLLOW: 8 }, "0", "MNT_");
export const mountFlags = n => flags(n, { MS_RDONLY: 1, MS_NOSUID: 2, MS_NODEV: 4, MS_NOEXEC: 8, MS_SYNCHRONOUS: 16, MS_REMOUNT: 32, MS_MANDLOCK: 64, MS_DIRSYNC: 128, MS_NOSYMFOLLOW: 256,
  MS_NOATIME: 1024, MS_NODIRATIME: 2048, MS_BIND: 4096, MS_MOVE: 8192, MS_REC: 16384, MS_SILENT: 32768, MS_POSIXACL: 65536, MS_UNBINDABLE: 1 << 17, MS_PRIVATE: 1 << 18, MS_SLAVE: 1 << 19,
  MS_SHARED: 1 << 20, MS_RELATIME: 1 << 21, MS_KERNMOUNT: 1 << 22, MS_I_VERSION: 1 << 23, MS_STRICTATIME: 1 << 24, MS_LAZYTIME: 1 << 25 });
export const leaseType = n => one(n, ["F_RDLCK", "F_WRLCK", "F_UNLCK"], "", "F_");
export const policy = n => one(n, { 0: "OTHER", 1: "FIFO", 2: "RR", 3: "BATCH", 4: "ISO", 5: "IDLE", 6: "DEADLINE", 7: "EXT" }, "SCHED_");
export const priorityWhich = n => one(n, ["PROCESS", "PGRP", "USER"], "PRIO_");
export const ipcKey = n => BigInt.asUintN(32, BigInt(n)) === 0n ? "IPC_PRIVATE" : `0x${BigInt.asUintN(32, BigInt(n)).toString(16)}`;
export function ipcFlags(n) {
  const number = Number(BigInt.asUintN(32, BigInt(n))), names = flags(number & ~0o777, { IPC_CREAT: 0o1000, IPC_EXCL: 0o2000, IPC_NOWAIT: 0o4000, SHM_HUGETLB: 0o4000, SHM_NORESERVE: 0o10000 }, "");
  return names ? `${names}|${fileMode(number & 0o777)}` : fileMode(number & 0o777);
}
export const ipcCommand = n => one(Number(BigInt.asUintN(32, BigInt(n))) & ~0x100, { 0: "IPC_RMID", 1: "IPC_SET", 2: "IPC_STAT", 3: "IPC_INFO", 11: "GETPID", 12: "GETVAL", 13: "GETALL",
  14: "GETNCNT", 15: "GETZCNT", 16: "SETVAL", 17: "SETALL" }, "", "IPC_");
export const shmFlags = n => flags(n, { SHM_RDONLY: 0o10000, SHM_RND: 0o20000, SHM_REMAP: 0o40000, SHM_EXEC: 0o100000 }, "0", "SHM_");
const membarriers = { MEMBARRIER_CMD_GLOBAL: 1, MEMBARRIER_CMD_GLOBAL_EXPEDITED: 2, MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED: 4, MEMBARRIER_CMD_PRIVATE_EXPEDITED: 8,
  MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED: 16, MEMBARRIER_CMD_PRIVATE_EXPEDITED_SYNC_CORE: 32, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_SYNC_CORE: 64,
  MEMBARRIER_CMD_PRIVATE_EXPEDITED_RSEQ: 128, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_RSEQ: 256 };
export const membarrierCommand = n => flags(n, membarriers, "MEMBARRIER_CMD_QUERY", "MEMBARRIER_CMD_");
export function persona(n) {
  if (BigInt.asUintN(32, BigInt(n)) === 0xffffffffn) return "0xffffffff"; // asks for what it is
  const number = Number(BigInt.asUintN(32, BigInt(n))), kind = (number & 255) === 0 ? "PER_LINUX" : (number & 255) === 8 ? "PER_LINUX32" : `0x${(number & 255).toString(16)} /* PER_??? */`;
  const rest = (number & ~255) >>> 0;
  return rest === 0 ? kind : `${kind}|${flags(rest, { UNAME26: 0x20000, ADDR_NO_RANDOMIZE: 0x40000, FDPIC_FUNCPTRS: 0x80000, MMAP_PAGE_ZERO: 0x100000, ADDR_COMPAT_LAYOUT: 0x200000,
    READ_IMPLIES_EXEC: 0x400000, ADDR_LIMIT_32BIT: 0x800000, SHORT_INODE: 0x1000000, WHOLE_SECONDS: 0x2000000, STICKY_TIMEOUTS: 0x4000000, ADDR_LIMIT_3GB: 0x8000000 })}`;
}
export const dumpable = n => one(n, ["DISABLE", "USER", "ROOT"], "SUID_DUMP_");
export const notifyMask = n => flags(n, { DN_ACCESS: 1, DN_MODIFY: 2, DN_CREATE: 4, DN_DELETE: 8, DN_RENAME: 16, DN_ATTRIB: 32, DN_MULTISHOT: 2 ** 31 }, "0", "DN_");

export const ioprioWhich = n => one(n, { 1: "PROCESS", 2: "PGRP", 3: "USER" }, "IOPRIO_WHO_");
export function ioprio(n) {
  const all = Number(BigInt.asUintN(32, BigInt(n))), data = all & 0x1fff;
  return `IOPRIO_PRIO_VALUE(${one(all >>> 13, ["NONE", "RT", "BE", "IDLE"], "IOPRIO_CLASS_")}, ${data})`;
}
export const seccompOp = n => one(n, ["SET_MODE_STRICT", "SET_MODE_FILTER", "GET_ACTION_AVAIL", "GET_NOTIF_SIZES"], "SECCOMP_");
export const seccompFlags = n => flags(n, { SECCOMP_FILTER_FLAG_TSYNC: 1, SECCOMP_FILTER_FLAG_LOG: 2, SECCOMP_FILTER_FLAG_SPEC_ALLOW: 4, SECCOMP_FILTER_FLAG_NEW_LISTENER: 8,
  SECCOMP_FILTER_FLAG_TSYNC_ESRCH: 16, SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV: 32 }, "0", "SECCOMP_FILTER_FLAG_");
export const seccompMode = n => one(n, ["DISABLED", "STRICT", "FILTER"], "SECCOMP_MODE_");
export const keyctlOp = n => one(n, ["GET_KEYRING_ID", "JOIN_SESSION_KEYRING", "UPDATE", "REVOKE", "CHOWN", "SETPERM", "DESCRIBE", "CLEAR", "LINK", "UNLINK", "SEARCH", "READ",
  "INSTANTIATE", "NEGATE", "SET_REQKEY_KEYRING", "SET_TIMEOUT", "ASSUME_AUTHORITY", "GET_SECURITY", "SESSION_TO_PARENT", "REJECT", "INSTANTIATE_IOV", "INVALIDATE", "GET_PERSISTENT",
  "DH_COMPUTE", "PKEY_QUERY", "PKEY_ENCRYPT", "PKEY_DECRYPT", "PKEY_SIGN", "PKEY_VERIFY", "RESTRICT_KEYRING", "MOVE", "CAPABILITIES", "WATCH_KEY"], "KEYCTL_");
const keyRights = ["VIEW", "READ", "WRITE", "SEARCH", "LINK", "SETATTR"];
export const keyPermissions = n => flags(n, Object.fromEntries(Object.entries({ POS: 24, USR: 16, GRP: 8, OTH: 0 }).flatMap(([who, shift]) =>
  keyRights.map((right, k) => [`KEY_${who}_${right}`, 2 ** (shift + k)]))), "0", "KEY_");
const keyDefaults = ["NO_CHANGE", "DEFAULT", "THREAD_KEYRING", "PROCESS_KEYRING", "SESSION_KEYRING", "USER_KEYRING", "USER_SESSION_KEYRING", "GROUP_KEYRING", "REQUESTOR_KEYRING"];
export function keyDefault(n) {
  const at = Number(BigInt.asIntN(32, BigInt(n)));
  return keyDefaults[at + 1] === undefined ? `${at} /* KEY_REQKEY_DEFL_??? */` : `KEY_REQKEY_DEFL_${keyDefaults[at + 1]}`;
}
export const keySerial = n => one(n, { "-1": "KEY_SPEC_THREAD_KEYRING", "-2": "KEY_SPEC_PROCESS_KEYRING", "-3": "KEY_SPEC_SESSION_KEYRING", "-4": "KEY_SPEC_USER_KEYRING",
  "-5": "KEY_SPEC_USER_SESSION_KEYRING", "-6": "KEY_SPEC_GROUP_KEYRING", "-7": "KEY_SPEC_REQKEY_AUTH_KEY", "-8": "KEY_SPEC_REQUESTOR_KEYRING" });
export const bpfCommand = n => one(n, ["MAP_CREATE", "MAP_LOOKUP_ELEM", "MAP_UPDATE_ELEM", "MAP_DELETE_ELEM", "MAP_GET_NEXT_KEY", "PROG_LOAD", "OBJ_PIN", "OBJ_GET", "PROG_ATTACH", "PROG_DETACH",
  "PROG_TEST_RUN", "PROG_GET_NEXT_ID", "MAP_GET_NEXT_ID", "PROG_GET_FD_BY_ID", "MAP_GET_FD_BY_ID", "OBJ_GET_INFO_BY_FD", "PROG_QUERY", "RAW_TRACEPOINT_OPEN", "BTF_LOAD", "BTF_GET_FD_BY_ID",
  "TASK_FD_QUERY", "MAP_LOOKUP_AND_DELETE_ELEM", "MAP_FREEZE", "BTF_GET_NEXT_ID", "MAP_LOOKUP_BATCH", "MAP_LOOKUP_AND_DELETE_BATCH", "MAP_UPDATE_BATCH", "MAP_DELETE_BATCH", "LINK_CREATE",
  "LINK_UPDATE", "LINK_GET_FD_BY_ID", "LINK_GET_NEXT_ID", "ENABLE_STATS", "ITER_CREATE", "LINK_DETACH", "PROG_BIND_MAP"], "BPF_");
export const bpfMapType = n => one(n, [
  "UNSPEC", "HASH", "ARRAY", "PROG_ARRAY", "PERF_EVENT_ARRAY", "PERCPU_HASH", "PERCPU_ARRAY", "STACK_TRACE", "CGROUP_ARRAY", "LRU_HASH", "LRU_PERCPU_HASH", "LPM_TRIE",
  "ARRAY_OF_MAPS", "HASH_OF_MAPS", "DEVMAP", "SOCKMAP", "CPUMAP", "XSKMAP", "SOCKHASH", "CGROUP_STORAGE", "REUSEPORT_SOCKARRAY", "PERCPU_CGROUP_STORAGE", "QUEUE", "STACK",
  "SK_STORAGE", "DEVMAP_HASH", "STRUCT_OPS", "RINGBUF", "INODE_STORAGE", "TASK_STORAGE", "BLOOM_FILTER", "USER_RINGBUF"], "BPF_MAP_TYPE_");
export const bpfProgramType = n => one(n, [
  "UNSPEC", "SOCKET_FILTER", "KPROBE", "SCHED_CLS", "SCHED_ACT", "TRACEPOINT", "XDP", "PERF_EVENT", "CGROUP_SKB", "CGROUP_SOCK", "LWT_IN", "LWT_OUT", "LWT_XMIT", "SOCK_OPS",
  "SK_SKB", "CGROUP_DEVICE", "SK_MSG", "RAW_TRACEPOINT", "CGROUP_SOCK_ADDR", "LWT_SEG6LOCAL", "LIRC_MODE2", "SK_REUSEPORT", "FLOW_DISSECTOR", "CGROUP_SYSCTL",
  "RAW_TRACEPOINT_WRITABLE", "CGROUP_SOCKOPT", "TRACING", "STRUCT_OPS", "EXT", "LSM", "SK_LOOKUP", "SYSCALL"], "BPF_PROG_TYPE_");
export const bpfAttachType = n => one(n, [
  "CGROUP_INET_INGRESS", "CGROUP_INET_EGRESS", "CGROUP_INET_SOCK_CREATE", "CGROUP_SOCK_OPS", "SK_SKB_STREAM_PARSER", "SK_SKB_STREAM_VERDICT", "CGROUP_DEVICE", "SK_MSG_VERDICT",
  "CGROUP_INET4_BIND", "CGROUP_INET6_BIND", "CGROUP_INET4_CONNECT", "CGROUP_INET6_CONNECT", "CGROUP_INET4_POST_BIND", "CGROUP_INET6_POST_BIND", "CGROUP_UDP4_SENDMSG",
  "CGROUP_UDP6_SENDMSG", "LIRC_MODE2", "FLOW_DISSECTOR", "CGROUP_SYSCTL", "CGROUP_UDP4_RECVMSG", "CGROUP_UDP6_RECVMSG", "CGROUP_GETSOCKOPT", "CGROUP_SETSOCKOPT", "TRACE_RAW_TP",
  "TRACE_FENTRY", "TRACE_FEXIT", "MODIFY_RETURN", "LSM_MAC", "TRACE_ITER", "CGROUP_INET4_GETPEERNAME", "CGROUP_INET6_GETPEERNAME", "CGROUP_INET4_GETSOCKNAME",
  "CGROUP_INET6_GETSOCKNAME", "XDP_DEVMAP", "CGROUP_INET_SOCK_RELEASE", "XDP_CPUMAP", "SK_LOOKUP", "XDP", "SK_SKB_VERDICT", "SK_REUSEPORT_SELECT",
  "SK_REUSEPORT_SELECT_OR_MIGRATE", "PERF_EVENT", "TRACE_KPROBE_MULTI", "LSM_CGROUP"], "BPF_");
export const uringEnter = n => flags(n, { IORING_ENTER_GETEVENTS: 1, IORING_ENTER_SQ_WAKEUP: 2, IORING_ENTER_SQ_WAIT: 4, IORING_ENTER_EXT_ARG: 8, IORING_ENTER_REGISTERED_RING: 16 }, "0", "IORING_ENTER_");
export const uringRegister = n => one(n, ["REGISTER_BUFFERS", "UNREGISTER_BUFFERS", "REGISTER_FILES", "UNREGISTER_FILES", "REGISTER_EVENTFD", "UNREGISTER_EVENTFD", "REGISTER_FILES_UPDATE",
  "REGISTER_EVENTFD_ASYNC", "REGISTER_PROBE", "REGISTER_PERSONALITY", "UNREGISTER_PERSONALITY", "REGISTER_RESTRICTIONS", "REGISTER_ENABLE_RINGS", "REGISTER_FILES2",
  "REGISTER_FILES_UPDATE2", "REGISTER_BUFFERS2", "REGISTER_BUFFERS_UPDATE", "REGISTER_IOWQ_AFF", "UNREGISTER_IOWQ_AFF", "REGISTER_IOWQ_MAX_WORKERS", "REGISTER_RING_FDS",
  "UNREGISTER_RING_FDS", "REGISTER_PBUF_RING", "UNREGISTER_PBUF_RING"], "IORING_", "IORING_REGISTER_");
export const landlockAccess = n => flags(n, Object.fromEntries(["EXECUTE", "WRITE_FILE", "READ_FILE", "READ_DIR", "REMOVE_DIR", "REMOVE_FILE", "MAKE_CHAR", "MAKE_DIR", "MAKE_REG", "MAKE_SOCK",
  "MAKE_FIFO", "MAKE_BLOCK", "MAKE_SYM", "REFER", "TRUNCATE"].map((name, k) => [`LANDLOCK_ACCESS_FS_${name}`, 1 << k])), "0", "LANDLOCK_ACCESS_FS_");
export function fanotifyInit(n) {
  const level = Number(BigInt.asUintN(32, BigInt(n))) & 12, rest = BigInt(n) & ~12n;
  const kind = { 0: "FAN_CLASS_NOTIF", 4: "FAN_CLASS_CONTENT", 8: "FAN_CLASS_PRE_CONTENT" }[level] ?? "0xc /* FAN_CLASS_??? */";
  return rest === 0n ? kind : `${kind}|${flags(rest, { FAN_CLOEXEC: 1, FAN_NONBLOCK: 2, FAN_UNLIMITED_QUEUE: 0x10, FAN_UNLIMITED_MARKS: 0x20, FAN_ENABLE_AUDIT: 0x40,
    FAN_REPORT_PIDFD: 0x80, FAN_REPORT_TID: 0x100, FAN_REPORT_FID: 0x200, FAN_REPORT_DIR_FID: 0x400, FAN_REPORT_NAME: 0x800, FAN_REPORT_TARGET_FID: 0x1000 })}`;
}
export const fanotifyMark = n => flags(n, { FAN_MARK_ADD: 1, FAN_MARK_REMOVE: 2, FAN_MARK_DONT_FOLLOW: 4, FAN_MARK_ONLYDIR: 8, FAN_MARK_MOUNT: 0x10, FAN_MARK_IGNORED_MASK: 0x20,
  FAN_MARK_IGNORED_SURV_MODIFY: 0x40, FAN_MARK_FLUSH: 0x80, FAN_MARK_FILESYSTEM: 0x100 }, "0", "FAN_MARK_");
export const fanotifyMask = n => flags(n, { FAN_ACCESS: 1, FAN_MODIFY: 2, FAN_ATTRIB: 4, FAN_CLOSE_WRITE: 8, FAN_CLOSE_NOWRITE: 0x10, FAN_OPEN: 0x20, FAN_MOVED_FROM: 0x40, FAN_MOVED_TO: 0x80,
  FAN_CREATE: 0x100, FAN_DELETE: 0x200, FAN_DELETE_SELF: 0x400, FAN_MOVE_SELF: 0x800, FAN_OPEN_EXEC: 0x1000, FAN_Q_OVERFLOW: 0x4000, FAN_OPEN_PERM: 0x10000, FAN_ACCESS_PERM: 0x20000,
  FAN_OPEN_EXEC_PERM: 0x40000, FAN_EVENT_ON_CHILD: 0x8000000, FAN_ONDIR: 0x40000000 }, "0", "FAN_");
export const perfFlags = n => flags(n, { PERF_FLAG_FD_NO_GROUP: 1, PERF_FLAG_FD_OUTPUT: 2, PERF_FLAG_PID_CGROUP: 4, PERF_FLAG_FD_CLOEXEC: 8 }, "0", "PERF_FLAG_");
const quotas = { 0x800001: "SYNC", 0x800002: "QUOTAON", 0x800003: "QUOTAOFF", 0x800004: "GETFMT", 0x800005: "GETINFO", 0x800006: "SETINFO", 0x800007: "GETQUOTA", 0x800008: "SETQUOTA",
  0x800009: "GETNEXTQUOTA" };
export function quotaCommand(n) {
  const all = Number(BigInt.asUintN(32, BigInt(n)));
  return `QCMD(${one(all >>> 8, quotas, "Q_")}, ${one(all & 255, ["USRQUOTA", "GRPQUOTA", "PRJQUOTA"], "", "???QUOTA")})`;
}
export const quotaFormat = n => one(n, { 1: "OLD", 2: "V0", 4: "V1" }, "QFMT_VFS_");
export const kcmpType = n => one(n, ["FILE", "VM", "FILES", "FS", "SIGHAND", "IO", "SYSVSEM", "EPOLL_TFD"], "KCMP_");
export const fsconfigCommand = n => one(n, ["SET_FLAG", "SET_STRING", "SET_BINARY", "SET_PATH", "SET_PATH_EMPTY", "SET_FD", "CMD_CREATE", "CMD_RECONFIGURE"], "FSCONFIG_");
export const mountAttributes = n => flags(n, { MOUNT_ATTR_RDONLY: 1, MOUNT_ATTR_NOSUID: 2, MOUNT_ATTR_NODEV: 4, MOUNT_ATTR_NOEXEC: 8, MOUNT_ATTR_NOATIME: 0x10, MOUNT_ATTR_STRICTATIME: 0x20,
  MOUNT_ATTR_NODIRATIME: 0x80 }, "0", "MOUNT_ATTR_");
export const openTree = n => flags(n, { OPEN_TREE_CLONE: 1, OPEN_TREE_CLOEXEC: 0o2000000, AT_SYMLINK_NOFOLLOW: 0x100, AT_NO_AUTOMOUNT: 0x800, AT_EMPTY_PATH: 0x1000, AT_RECURSIVE: 0x8000 });
export const moveMount = n => flags(n, { MOVE_MOUNT_F_SYMLINKS: 1, MOVE_MOUNT_F_AUTOMOUNTS: 2, MOVE_MOUNT_F_EMPTY_PATH: 4, MOVE_MOUNT_T_SYMLINKS: 0x10, MOVE_MOUNT_T_AUTOMOUNTS: 0x20,
  MOVE_MOUNT_T_EMPTY_PATH: 0x40, MOVE_MOUNT_SET_GROUP: 0x100 }, "0", "MOVE_MOUNT_");
const policies = ["DEFAULT", "PREFERRED", "BIND", "INTERLEAVE", "LOCAL", "PREFERRED_MANY"];
export function memoryPolicy(n) {
  const all = Number(BigInt.asUintN(32, BigInt(n))), bits = all & 0xe000;
  return one(all - bits, policies, "MPOL_") + (bits === 0 ? "" : `|${flags(bits, { MPOL_F_STATIC_NODES: 0x8000, MPOL_F_RELATIVE_NODES: 0x4000, MPOL_F_NUMA_BALANCING: 0x2000 })}`);
}
