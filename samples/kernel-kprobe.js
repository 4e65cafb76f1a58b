// kernel-kprobe: the registers of a kernel before and after the first instruction of a function
// topic: kernels
//
//   gotap run kernel-kprobe --remote HOST:PORT --exe vmlinux
//   gotap run kernel-kprobe --remote HOST:PORT --exe System.map --arg f=do_exit -T 10s
//
// The kprobe of the kernel's Documentation/trace/kprobes: a handler before the instruction, one after it, and one for an instruction
// that faults. See kernel-counts for how to start the kernel.
//
//   $ gotap run -q kernel-kprobe --remote localhost:1234 --exe kallsyms -T 2s
//   pre kernel_clone: pc = 0xffffffff810a0a60, sp = 0xffffc90000013cb8
//   post kernel_clone: pc = 0xffffffff810a0a65, sp = 0xffffc90000013cb8

const f = option("f", "kernel_clone", "the function");

probe(f, {
  enter(c) { printf("pre %s: pc = 0x%x, sp = 0x%x\n", c.func, c.pc, c.sp); },
  post(c) { printf("post %s: pc = 0x%x, sp = 0x%x\n", c.func, c.pc, c.sp); },
  fault(c) { printf("fault in %s at 0x%x\n", c.func, c.pc); },
});
