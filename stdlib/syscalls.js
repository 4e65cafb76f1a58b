// gotap/syscalls: system calls as text, as strace has it.
//
//   import { calls } from "gotap/syscalls";
//   calls("*", e => console.log(e.tid, e.text, "=", e.result));      // openat(AT_FDCWD, "/etc/hosts", O_RDONLY|O_CLOEXEC) = 3
//
// calls(globs, { size, optional }, fn)            follows system calls, whose names match globs separated by commas, and calls fn with
//                                                 { call, text, result, ret, ns, pid, tid, comm, time } for each, when it has returned or a
//                                                 signal has interrupted it; ret and ns are undefined if the thread ended in it, ns if it was
//                                                 interrupted. size: bytes of data to show (32). Returns { probes }
// callText(name, args, memory?)                   "openat(AT_FDCWD, "/etc/hosts", O_RDONLY|O_CLOEXEC)" from raw argument words; memory has
//                                                 the strings that arguments point to, by their position
// callResult(name, ret, args?)                    "3", "-1 ENOENT (No such file or directory)", "0x7f0000000000", "0x8002 (flags O_RDWR|O_LARGEFILE)"
// matching(globs)                                 a function that reports whether a name matches one of them
// pathCalls()                                     the calls that have a path as their first or second argument
// pathArgument(name)                              which of them it is, 0 or 1; undefined for other calls
// isKnown(name)                                   whether the arguments of a call are known; those of others are shown as six numbers
//
// And from gotap/flags: openFlags(n) accessMode(n) fileMode(n) mmapProt(n) mmapFlags(n) family(n) socketType(n) messageFlags(n) whence(n)
// futexOp(n) cloneFlags(n) pollEvents(n) clockName(n) madvice(n) atFlags(n) fcntlOp(n) dirfd(n) flags(n, table)
//
// Memory that a call reads is read as it begins, memory that it writes when it has succeeded. Structs are those of 64-bit programs; those
// of 32-bit programs are shown as addresses. The numbers are those of Linux on x86-64 and, except O_DIRECTORY and its neighbours, of ARM.

import { options, inOrder } from "gotap/module";
import { errno, errorText, isError } from "gotap/errno";
import { typeOf, plan, takes } from "gotap/syscallargs";
import { fileMode, openFlags, leaseType, sealFlags, policy, persona, ioprio, membarrierCommand, dumpable, prctlOption } from "gotap/flags";
import { pollText, fdSet, pointer, timevalText, timespecText, kernelSignal, dateText } from "gotap/kernelstructs";

export { openFlags, accessMode, fileMode, mmapProt, mmapFlags, family, socketType, messageFlags, whence, futexOp, cloneFlags, pollEvents, clockName, madvice, atFlags, fcntlOp,
  dirfd, flags } from "gotap/flags";

// The types of a call's arguments. Calls that only differ in their names share a line.
const table = `
read,pread64: d rbuf u l; write,pwrite64: d buf u l; readv,preadv: d riov d l; writev,pwritev: d iov d l; preadv2: d riov d l skip rwflags
pwritev2: d iov d l skip rwflags; openat2: at path openhow u
open: path oflags omode; openat: at path oflags omode; creat: path mode; close: d; close_range: u u closeflags; lseek: d l whence; access: path access; faccessat: at path access
faccessat2: at path access accflags; stat,lstat: path stat; fstat: d stat; newfstatat: at path stat atflags; statx: at path statxflags statxmask statx; statfs: path statfs; fstatfs: d statfs
mmap: p u prot mflags d x; mprotect: p u prot; munmap: p u; mincore: p u pages; mlock2: p u mlockflags; mlockall: mlockallflags; munlockall:; mremap: p u u reflags readdr; madvise: p u madvice; brk: p; mlock,munlock: p u; msync: p u msyncflags
ioctl: d ioctl ioarg; fcntl: d fcntl fcarg; dup: d; dup2: d d; dup3: d d pflags; pipe: pair; pipe2: pair pflags; flock: d lock; fsync,fdatasync,syncfs: d; sync:
socket: family stype protocol; socketpair: family stype protocol pair; connect,bind: d addr d; listen: d d; accept,getsockname,getpeername: d raddr addrlen; accept4: d raddr addrlen aflags
shutdown: d shut; setsockopt: d level sockopt val d; getsockopt: d level sockopt rval addrlen; sendto: d buf u msgflags addr d; recvfrom: d rbuf u msgflags raddr addrlen
sendmsg: d msg msgflags; recvmsg: d rmsg msgflags; sendmmsg: d mmsg u msgflags; recvmmsg: d mmsg u msgflags tv; poll: poll d d; ppoll: poll d tsleft sigset size; select: d set set set tvleft; pselect6: d set set set tsleft maskarg
epoll_create: d; epoll_create1: pflags2; epoll_ctl: d epop d event; epoll_wait: d events d d; epoll_pwait: d events d d lateset size; epoll_pwait2: d events d latets lateset size; signalfd: d sigset size; signalfd4: d sigset size sfdflags; eventfd: d; eventfd2: d eflags
futex: p futexop futexval futextime futexaddr futexlast; clone: clone; clone3: clone3 d; fork: ; vfork: ; exit,exit_group: d; execve: path argv envp; execveat: at path argv envp atflags
wait4: d status waitopts rusage; waitid: idtype d siginfo waitopts rusage; kill,tkill: d sig; tgkill: d d sig; getpid,gettid,getppid,getuid,geteuid,getgid,getegid,getpgrp,setsid,sched_yield,pause:
getpgid,getsid: d; setpgid: d d; setuid,setgid,setfsuid,setfsgid: d; setreuid,setregid: d d; getgroups: d groups; setgroups: d ingroups; getresuid,getresgid: rint rint rint; setresuid,setresgid: d d d; alarm: d
nanosleep: ts rem; clock_nanosleep: clock timerflags ts rem; clock_gettime,clock_getres: clock rts; gettimeofday: rtv p; time: rtime; times: tms; getitimer: itimer ritv; setitimer: itimer itv ritv
getcwd: cwd u; chdir: path; fchdir: d; mkdir: path mode; mkdirat: at path mode; rmdir: path; unlink: path; unlinkat: at path atflags; rename: path path; renameat: at path at path
renameat2: at path at path renflags; link: path path; linkat: at path at path atflags; symlink: path path; symlinkat: path at path; readlink: path rstr u; readlinkat: at path rstr u
chmod: path mode; fchmod: d mode; fchmodat: at path mode; chown,lchown: path d d; fchown: d d d; fchownat: at path d d atflags; truncate: path l; ftruncate: d l; fallocate: d falloc l l
utimensat: at path times atflags; getdents64: d dirents u; umask: mode; mknod: path kind dev; mknodat: at path kind dev; sendfile: d d offset u; copy_file_range: d loff d loff u x; splice: d loff d loff u splice; tee: d d u splice
vmsplice: d iov u splice; sync_file_range: d l l syncrange; removexattr,lremovexattr: path path; fremovexattr: d path
fadvise64: d l u fadvice; readahead: d l u; getxattr,lgetxattr: path path rbuf u; fgetxattr: d path rbuf u; setxattr,lsetxattr: path path buf u xattr; fsetxattr: d path buf u xattr; listxattr,llistxattr: path rbuf u
flistxattr: d rbuf u; chroot: path; rt_sigaction: sig sigaction rsigaction size; rt_sigprocmask: how sigset rsigset size; rt_sigreturn: frame; rt_sigsuspend: sigset size
rt_sigpending: rsigset size; sigaltstack: altstack raltstack; rt_sigtimedwait: sigset waited ts size; rt_sigqueueinfo: d sig insiginfo; rt_tgsigqueueinfo: d d sig insiginfo; arch_prctl: archop archarg; prctl: prctl prname prrest prrest prrest; set_tid_address: p
set_robust_list: p u; get_robust_list: d rpointer rsize; rseq: x x x x; prlimit64: d resource rlim rrlim; getrlimit: resource rrlim; setrlimit: resource rlim; getrusage: who rusage
getrandom: random u grnd; uname: utsname; sysinfo: sysinfo; getpriority: prio d; setpriority: prio d d; sched_getaffinity: d u cpus; sched_setaffinity: d u incpus; sched_getscheduler: d; memfd_create: path memfd
sched_getparam: d rint; sched_setparam: d inint; sched_setscheduler: d policy inint; sched_get_priority_max,sched_get_priority_min: policy; sched_rr_get_interval: d rts; getcpu: rint rint p
membarrier: membarrier x membarriercpu; timerfd_create: clock pflags2; timerfd_settime: d tfdtimer its rits; timerfd_gettime: d rits; inotify_init1: inflags; inotify_add_watch: d path inmask; inotify_rm_watch: d d; capget: caphead capdata
personality: persona; timer_create: clock sigevent rint; timer_settime: d timerflags its rits; timer_gettime: d rits; timer_getoverrun,timer_delete: d; shmget: ipckey u ipcflags; shmat: d p shmflags
shmdt: p; shmctl: d ipccmd p; semget: ipckey d ipcflags; semop: d sems u; semtimedop: d sems u ts; semctl: d d ipccmd p; msgget: ipckey ipcflags; msgctl: d ipccmd p; pidfd_open: d pidfdflags
pidfd_send_signal: d sig insiginfo x; pidfd_getfd: d d x; unshare: nsflags; setns: d nsflags; mount: path path path mountflags mountdata; umount2: path umount; sethostname,setdomainname: buf u
ioprio_set: iopriowhich d ioprio; ioprio_get: iopriowhich d; seccomp: seccompop seccompflags p; keyctl: keyctl keyarg keyarg keyarg keyarg; add_key: path path buf u key; request_key: path path path key
bpf: bpf bpfattr u; io_uring_setup: u uring; io_uring_enter: d u u uringflags sigset u; io_uring_register: d uringop ringarg u; sched_setattr: d schedattr x; sched_getattr: d rschedattr u x
landlock_create_ruleset: landlockattr u landlockflags; landlock_add_rule: d landlockrule rule x; landlock_restrict_self: d x; futex_waitv: waiters u x ts clock; process_madvise: d addresses u madvice x
fanotify_init: faninit oflags; fanotify_mark: d fanmark fanmask at path; perf_event_open: perf d d d perfflags; quotactl: quotacmd path quotaid quotaarg; quotactl_fd: d quotacmd quotaid quotaarg; name_to_handle_at: at path rhandle rint atflags; open_by_handle_at: d handle oflags
mount_setattr: at path recursion setattr u; userfaultfd: userfault; memfd_secret: x; clock_settime: clock ts; open_tree: at path opentree; move_mount: at path at path movemount; fsopen: path fsopen
fsconfig: d fsconfig path fsvalue d; fsmount: d fsmount mountattr; fspick: at path fspick; pivot_root: path path; kcmp: d d kcmp u u; process_vm_readv: d riov u addresses u u; process_vm_writev: d iov u addresses u u
msgsnd: d p u msgflg; msgrcv: d p u l msgflg; mq_open: path oflags omode mqattr; mq_unlink: path; mq_timedsend: d buf u u ts; mq_timedreceive: d rbuf u p ts; swapoff,acct: path; vhangup,inotify_init:
fchmodat2: at path mode atflags; pkey_alloc: x x; pkey_free: d; pkey_mprotect: p u prot d; io_setup: u rcontext; io_destroy: p; io_submit: p l requests; io_cancel: p cancelled p; io_getevents: p l l completions ts; process_mrelease: d x; getdents: d p u
utime: path utimbuf; utimes: path tvtimes; futimesat: at path tvtimes; settimeofday: tv p; capset: incaphead incapdata; mq_notify: d sigevent; mq_getsetattr: d queue rqueue; uselib: path
mbind: p u mempolicy nodes u mbindflags; set_mempolicy: mempolicy nodes u; get_mempolicy: rmempolicy rnodes u p mempolicyflags; finit_module: d path moduleflags; init_module: p u path
delete_module: path pflags; remap_file_pages: p u prot u pageflags; iopl: d; ioperm: x x d
`;

const signatures = new Map();
for (const entry of table.split(/[;\n]/)) {
  const [names, args] = entry.split(":");
  if (args !== undefined) for (const name of names.trim().split(",")) signatures.set(name, args.trim() === "" ? [] : args.trim().split(/ +/));
}
for (const name of ["read", "write", "readv", "writev"]) signatures.get(name).splice(3);

export const isKnown = name => signatures.has(name);

const hex = n => "0x" + BigInt.asUintN(64, BigInt(n)).toString(16);

export function callText(name, args, memory = {}) {
  const given = memory.ins ? memory : { ins: Object.fromEntries(Object.entries(memory).map(([k, text]) => [k, [{ text }]])), outs: {} };
  const signature = signatures.get(name);
  if (signature === undefined) return `${name}(${args.map(w => pointer(w)).join(", ")})`;
  const x = { name, words: args, ins: given.ins, outs: given.outs, ret: given.ret, size: given.size ?? 32 };
  const texts = signature.map((type, k) => typeOf(type).text(args[k] ?? 0, k, x));
  return `${name}(${texts.filter(text => text !== null).join(", ")})`;
}

const restarts = { 512: "ERESTARTSYS (To be restarted if SA_RESTART is set)", 513: "ERESTARTNOINTR (To be restarted)", 514: "ERESTARTNOHAND (To be restarted if no handler)",
  516: "ERESTART_RESTARTBLOCK (Interrupted by signal)" };
const addresses = new Set(["brk", "mmap", "mremap", "shmat"]);

export function callResult(name, ret, args = [], memory = { ins: {}, outs: {} }) {
  if (ret === undefined) return "?";
  if (restarts[-Number(ret)]) return `? ${restarts[-Number(ret)]}`;
  if (isError(ret)) return `-1 ${errno(ret)}${errorText(ret) ? ` (${errorText(ret)})` : ""}`;
  if (addresses.has(name)) return hex(ret);
  if (name === "umask") return fileMode(ret);
  const more = details[name]?.(Number(ret), args, memory);
  return more === undefined ? String(ret) : more;
}

const part = (memory, where, k) => memory[where]?.[k]?.[0]?.data;

// What strace writes behind the result.
const details = {
  fcntl(ret, args) {
    const op = Number(args[1]);
    if (op === 1025) return `0x${ret.toString(16)} (${leaseType(ret)})`;
    if (op === 1034) return `${ret === 0 ? "0" : hex(ret)} (seals ${sealFlags(ret)})`;
    if (op === 3) return `${ret === 0 ? "0" : hex(ret)} (flags ${openFlags(ret)})`;
    return op === 1 && ret === 1 ? "0x1 (flags FD_CLOEXEC)" : String(ret);
  },
  poll: (ret, args, memory) => polled(ret, memory),
  ppoll: (ret, args, memory) => polled(ret, memory, part(memory, "outs", 2)),
  select: (ret, args, memory) => selected(ret, args, memory, part(memory, "outs", 4), timevalText),
  pselect6: (ret, args, memory) => selected(ret, args, memory, part(memory, "outs", 4), timespecText),
  rt_sigtimedwait: ret => `${ret} (${kernelSignal(ret)})`,
  sched_getscheduler: ret => `${ret} (${policy(ret)})`,
  ioprio_get: ret => `${ret} (${ioprio(ret)})`,
  personality: ret => `${ret === 0 ? "0" : hex(ret)} (${persona(ret)})`,
  membarrier: (ret, args) => Number(args[0]) === 0 ? `${ret === 0 ? "0" : hex(ret)}${ret === 0 ? "" : ` (${membarrierCommand(ret)})`}` : String(ret),
  time: ret => `${ret} (${dateText(ret)})`,
  prctl: (ret, args) => prctlOption(args[0]) === "PR_GET_DUMPABLE" ? `${ret} (${dumpable(ret)})` : String(ret),
};

function polled(ret, memory, left) {
  const b = part(memory, "outs", 0);
  return ret === 0 ? "0 (Timeout)" : b === undefined ? String(ret) : `${ret} (${pollText(b, true)}${left ? `, left ${timespecText(left)}` : ""})`;
}

function selected(ret, args, memory, left, time) {
  if (ret === 0) return "0 (Timeout)";
  const texts = [];
  ["in", "out", "except"].forEach((name, k) => {
    const b = part(memory, "outs", k + 1), text = b === undefined ? "[]" : fdSet(b, Number(args[0]));
    if (text !== "[]") texts.push(`${name} ${text}`);
  });
  if (left) texts.push(`left ${time(left)}`);
  return `${ret} (${texts.join(", ")})`;
}

export const pathCalls = () => [...signatures.keys()].filter(name => pathArgument(name) !== undefined);
export function pathArgument(name) {
  const at = (signatures.get(name) ?? []).indexOf("path");
  return at === 0 || at === 1 ? at : undefined;
}

export function matching(globs) {
  const all = globs.split(",").map(glob => new RegExp(`^${glob.trim().replace(/[.+^$()|]/g, "\\$&").replace(/\*/g, ".*").replace(/\?/g, ".")}$`));
  return name => all.some(one => one.test(name));
}

export function calls(globs, given, fn) {
  [given, fn] = inOrder("gotap/syscalls", "calls", given, fn, true);
  const o = options("gotap/syscalls", given, { size: 32, optional: false });
  const reads = map("memory that calls read", { keys: 1 }), writes = map("memory that calls write", { keys: 1 });
  for (const [name, signature] of signatures) {
    const [before, after] = plan(signature);
    if (before > 0) reads.set(name, before);
    if (after > 0) writes.set(name, after);
  }
  end(() => [reads, writes].forEach(m => m.clear()));
  const all = assembler(fn, o.size), take = takes(Math.max(1, Math.min(1024, o.size)));
  const probes = [probe(globs.split(",").map(name => `syscall:${name.trim()}`), {
    enter(c) {
      const plan = reads.get(c.func);
      this.a = c.arg0; this.b = c.arg1; this.c = c.arg2; this.d = c.arg3; this.e = c.arg4; this.f = c.arg5;
      if (plan !== 0) take(c, plan, 0, this.a, this.b, this.c, this.d, this.e, this.f, 0);
      exit({ call: c.func, a: this.a, b: this.b, c: this.c, d: this.d, e: this.e, f: this.f });
    },
    leave(c) {
      const plan = c.ret >= 0 ? writes.get(c.func) : 0;
      if (plan !== 0) take(c, plan, 1, this.a, this.b, this.c, this.d, this.e, this.f, c.ret);
      exit({ call: c.func, ret: c.ret, ns: c.elapsed });
    },
    exit: all.event,
    optional: o.optional,
    fuel: 50000,
    logMax: 16384,
  })];
  on("signal", all.signalled);
  on("exit", e => all.ended(t => t.pid === e.pid));
  on("threadend", e => all.ended(t => t.tid === e.tid));
  end(() => all.ended(t => true));
  return { probes };
}

// assembler puts the records of a call together: parts of memory, its beginning, parts again, its end. A thread has more than one call while
// handlers of signals run, which interrupt calls.
function assembler(fn, size) {
  const open = new Map(); // what is known of the calls of each thread, the innermost last
  const started = e => {
    const fresh = { ins: {}, outs: {}, size, pid: e.pid, tid: e.tid };
    const list = (open.get(e.tid) ?? []).filter(t => t.interrupted !== undefined).slice(-15); // others have ended without our notice
    open.set(e.tid, [...list, fresh]);
    return fresh;
  };
  const innermost = tid => open.get(tid)?.at(-1);
  function event(e) {
    let t = innermost(e.tid);
    if (e.at !== undefined) {
      if (e.back === 0 && (t === undefined || t.call !== undefined)) t = started(e);
      if (t !== undefined) ((e.back === 0 ? t.ins : t.outs)[e.at] ??= []).push(e);
    } else if (e.ns === undefined) {
      if (t === undefined || t.call !== undefined) t = started(e);
      Object.assign(t, { call: e.call, words: [e.a, e.b, e.c, e.d, e.e, e.f], time: e.time, comm: e.comm });
    } else if (t?.call === e.call) { // otherwise the beginning was before the probes
      open.get(e.tid).pop();
      if (t.interrupted === undefined || e.ret !== -4) tell({ ...t, ret: e.ret }, e.ns); // EINTR is the end of what was told when the signal came
    }
  }
  function tell(t, ns) {
    const text = t.interrupted === -516 && t.ret !== -516 ? `restart_syscall(<... resuming interrupted ${t.call} ...>)` : callText(t.call, t.words, t);
    fn({ call: t.call, text, result: callResult(t.call, t.ret, t.words, t), ret: t.ret, ns, pid: t.pid, tid: t.tid, comm: t.comm, time: t.time });
  }
  function signalled(e) {
    const t = innermost(e.tid);
    if (e.restart === undefined || t?.call === undefined) return;
    t.interrupted = e.restart;
    tell({ ...t, ret: e.restart });
  }
  function ended(which) {
    for (const [tid, list] of [...open]) {
      const t = list.at(-1);
      if (t === undefined || !which(t)) continue;
      open.delete(tid);
      if (t.call !== undefined && t.interrupted === undefined) tell(t); // what was interrupted has been told
    }
  }
  return { event, signalled, ended };
}
