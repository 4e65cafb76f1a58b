// profile: stacks of every Nth hit, folded for flame graphs. It samples calls of the functions that you name, not processor time.
// topic: functions
//
//   gotap run profile --arg f=libc:malloc --arg every=10 -o out.folded -- ./prog
//   gotap run profile --arg f='syscall:*' -- ls -lR /usr/share/doc
//
// For malloc this is a profile of allocations, for syscall:* of the places where the program enters the kernel. To sample processor
// time, use perf: that needs a timer of the processor. flamegraph.pl and speedscope read the lines.
//
//   $ gotap run profile --arg f=libc:malloc -- ./shop
//   shop;_start;__libc_start_main;__libc_start_call_main;main;keep;malloc 3
//   shop;_start;__libc_start_main;__libc_start_call_main;main;printf;__vfprintf_internal;outstring_func;_IO_file_…
//   shop;_start;__libc_start_main;__libc_start_call_main;main;__fopen_internal;malloc 1

import { ordered } from "gotap/table";
import { places } from "gotap/module";

const place = option("f", "libc:malloc", "where to take stacks: functions, separated by commas");
const rate = option("every", 1, "one hit of so many");
const frames = option("frames", 24, "frames of a stack");
const top = option("top", 1000, "stacks to print");
const folded = new Map();

probe(places(place), {
  every: rate,
  enter(c) { exit({ func: c.func, stack: c.stack(frames) }); },
  exit(e) {
    const names = e.stack.frames.map(f => f.func || f.module.slice(f.module.lastIndexOf("/") + 1) || "?");
    const line = [e.comm, ...names.reverse()].join(";");
    folded.set(line, (folded.get(line) ?? 0) + 1);
  },
});

end(() => {
  const rows = ordered(folded).slice(0, top).map(([line, n]) => [line, n * rate]);
  if (rows.length > 0) report({ name: "stacks", columns: ["stack", "hits"], rows }, rows.map(row => row.join(" ")).join("\n"));
});
