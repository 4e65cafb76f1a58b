// kernel-counts: how many processes does a kernel make, and how many signals are sent with kill?
// topic: kernels
//
//   gotap run kernel-counts --remote HOST:PORT --exe vmlinux -T 10s
//   gotap run kernel-counts --remote HOST:PORT --exe System.map -T 10s
//
// The first example of the Dynamic Probes paper, with today's function names. The kernel runs under qemu-system-… -gdb tcp::PORT, or
// another GDB stub, with nokaslr on its command line. The symbols of a running kernel, such as Debian's, are what root reads
// there from /proc/kallsyms.
//
//   $ gotap run -q kernel-counts --remote localhost:1234 --exe kallsyms -T 3s
//   kernel_clone 1 time, stack 0b 0f 0a 81 ff ff ff ff 00 00 20 01 00 00 00 00
//   kill 1 time, stack 1d 3e a4 81 ff ff ff ff e8 6f 08 06 80 88 ff ff
//   …
//   @calls[kernel_clone]: 11
//   @calls[kill]: 11

const calls = count("calls", { keys: 1 });
let forks = 0, kills = 0;

const event = (name, e) => {
  const stack = [...e.stack].map((b) => b.toString(16).padStart(2, "0")).join(" ");
  console.log(`${name} ${e.n} time${e.n === 1 ? "" : "s"}, stack ${stack}`);
};

probe("kernel_clone", {
  enter(c) {
    forks++;
    calls.at("kernel_clone").inc();
    exit({ n: forks, stack: bytes(c.sp, 16) });
  },
  exit(e) { event("kernel_clone", e); },
});

probe(["__x64_sys_kill", "__arm64_sys_kill", "__se_sys_kill"], {
  enter(c) {
    kills++;
    calls.at("kill").inc();
    exit({ n: kills, stack: bytes(c.sp, 16) });
  },
  exit(e) { event("kill", e); },
  optional: true,
});
