// profile: stacks by processor time, by the clock, or of every Nth hit, folded for flame graphs.
// topic: functions
//
//   gotap run profile -p 4711 -T 10s -o out.folded
//   gotap run profile --arg on=wall -o out.folded -- ./prog
//   gotap run profile --arg f=libc:malloc --arg every=10 -o out.folded -- ./prog
//
// A thread is sampled each time it has run for a period, so the number of a line times the period is the processor time that was spent
// there. With on=wall all threads are sampled in each period, also those that sleep: lines show where the program waits. With f=libc:malloc
// it is a profile of allocations, with f='syscall:*' of the places where the program enters the kernel. flamegraph.pl and speedscope read
// the lines. Time in the kernel counts for the call that the program made.
//
//   $ gotap run profile -- ./shares
//   shares;clone3;start_thread;work;large 26
//   shares;clone3;start_thread;work;small 17

import { ordered } from "gotap/table";
import { places } from "gotap/module";

const place = option("f", "", "take stacks at calls of these functions, separated by commas, and not by time");
const period = option("period", "10ms", "of the samples");
const on = /** @type {"cpu" | "wall"} */ (option("on", "cpu", "time that the period is of: cpu, or wall for threads that sleep too"));
const rate = option("every", 1, "with f: one hit of so many");
const frames = option("frames", 24, "frames of a stack");
const top = option("top", 1000, "stacks to print");
const stacks = count("stacks", { keys: 2, max: 8192 });

if (place) {
  probe(places(place), { every: rate, enter(c) { stacks.at(c.comm, c.stack(frames)).inc(); } });
} else {
  sample(period, { on }, c => { stacks.at(c.comm, c.stack(frames)).inc(); });
}

end(() => {
  const folded = new Map();
  for (const [[comm, stack], n] of stacks.take()) {
    const names = stack.frames.map(f => f.func || f.module.slice(f.module.lastIndexOf("/") + 1) || "?");
    const line = [comm, ...names.reverse()].join(";");
    folded.set(line, (folded.get(line) ?? 0) + n);
  }
  const rows = ordered(folded).slice(0, top).map(([line, n]) => [line, place ? n * rate : n]);
  if (rows.length === 0) console.error(place ? `profile: no call of ${place} was seen` : `profile: no thread spent ${period} ${on === "cpu" ? "of processor time; --arg on=wall samples threads that wait, too" : "here"}`);
  else report({ name: "stacks", columns: ["stack", place ? "hits" : "samples"], rows }, rows.map(row => row.join(" ")).join("\n"));
});
