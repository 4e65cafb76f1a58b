// kernel-kretprobe: what do functions of a kernel return, and how long do they take?
// topic: kernels
//
//   gotap run kernel-kretprobe --remote HOST:PORT --exe vmlinux
//   gotap run kernel-kretprobe --remote HOST:PORT --exe System.map --arg f=vfs_read -T 10s
//
// The kretprobe of the kernel's Documentation/trace/kprobes. The time includes what the stub and gotap spend on probes inside
// the function. See kernel-counts for how to start the kernel.
//
//   $ gotap run -q kernel-kretprobe --remote localhost:1234 --exe kallsyms -T 2s
//   kernel_clone returned 884 and took 17766583 ns to execute
//   do_sys_openat2 returned 3 and took 8604529 ns to execute

import { places } from "gotap/module";

const f = option("f", "kernel_clone,do_sys_openat2", "the functions, with commas between them");

probe(places(f), {
  leave(c) { printf("%s returned %d and took %d ns to execute\n", c.func, c.ret, c.elapsed); },
});
