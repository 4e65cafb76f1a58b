// opens: which files are opened, how, by whom, and with what result?
// topic: files and system calls
//
//   gotap run opens -- ls /etc
//   gotap run opens --arg failed=1 -p PID
//
//   $ gotap run opens -- cat /etc/hostname
//   cat/8064   3 /etc/ld.so.cache O_RDONLY|O_CLOEXEC
//   cat/8064   3 /lib/x86_64-linux-gnu/libc.so.6 O_RDONLY|O_CLOEXEC
//   cat/8064 -1 ENOENT /usr/lib/locale/locale-archive O_RDONLY|O_CLOEXEC
//   cat/8064   3 /usr/share/locale/locale.alias O_RDONLY|O_CLOEXEC
//   cat/8064 -1 ENOENT /usr/lib/locale/C.UTF-8/LC_IDENTIFICATION O_RDONLY|O_CLOEXEC
//   cat/8064   3 /usr/lib/locale/C.utf8/LC_IDENTIFICATION O_RDONLY|O_CLOEXEC
//   …

import { openFlags } from "gotap/syscalls";
import { result } from "gotap/errno";

const onlyFailed = option("failed", 0, "1: only those that failed");

probe("syscall:openat", {
  enter(c) {
    this.path = str(c.args.filename);
    this.flags = c.args.flags;
  },
  leave(c) { if (!onlyFailed || c.ret < 0) exit({ path: this.path, flags: this.flags, ret: c.ret }); },
  exit: show,
});
probe("syscall:openat2", {
  enter(c) {
    this.path = str(c.arg1);
    this.flags = u64(c.arg2); // the first member of struct open_how
  },
  leave(c) { if (!onlyFailed || c.ret < 0) exit({ path: this.path, flags: this.flags, ret: c.ret }); },
  exit: show,
  optional: true,
});
probe(["syscall:open", "syscall:creat"], {
  enter(c) {
    this.path = str(c.arg0);
    this.flags = c.func === "creat" ? 0o1101 : c.arg1; // O_CREAT|O_WRONLY|O_TRUNC
  },
  leave(c) { if (!onlyFailed || c.ret < 0) exit({ path: this.path, flags: this.flags, ret: c.ret }); },
  exit: show,
  optional: true,
});

function show(e) {
  report(e, `${e.comm}/${e.tid} ${result(e.ret).padStart(3)} ${e.path} ${openFlags(e.flags)}`);
}
