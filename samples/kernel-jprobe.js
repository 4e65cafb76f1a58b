// kernel-jprobe: with which arguments does a kernel make processes, and open files?
// topic: kernels
//
//   gotap run kernel-jprobe --remote HOST:PORT --exe vmlinux
//   gotap run kernel-jprobe --remote HOST:PORT --exe System.map -T 10s
//
// The jprobe of the kernel's Documentation/trace/kprobes: the arguments of a function at its entry. kernel_clone's are in a structure
// that begins with the flags; do_filp_open's second one is a structure that begins with the name. See kernel-counts for
// how to start the kernel.
//
//   $ gotap run -q kernel-jprobe --remote localhost:1234 --exe kallsyms -T 2s
//   kernel_clone: flags = 0x1200000
//   do_filp_open: /proc/version

probe("kernel_clone", (c) => { printf("kernel_clone: flags = 0x%x\n", u64(c.arg0)); });
probe("do_filp_open", (c) => { printf("do_filp_open: %s\n", str(ptr(c.arg1), 256)); });
