// funcslower: which calls of a function take longer than a limit, with their first arguments and the stack?
// topic: functions
//
//   gotap run funcslower --arg f=libc:usleep --arg ms=1 -p PID
//   gotap run funcslower --arg f=libc:clock_nanosleep --arg ms=50 -- sleep 0.1
//
//   $ gotap run funcslower --arg f=libc:clock_nanosleep --arg ms=50 -- sleep 0.1
//   sleep/7817 clock_nanosleep(0, 0, 140723171792864) = 0 took 100.174 ms
//       0x7fe6ffd8a505 clock_nanosleep+0x25 (libc.so.6) at clock_nanosleep.c:72
//       0x7fe6ffd8ee53 nanosleep+0x13 (libc.so.6) at nanosleep.c:25
//       0x562a2a33c4af (sleep:0x64af)
//       0x562a2a33bf81 (sleep:0x5f81)
//       0x562a2a338558 (sleep:0x2558)
//       0x7fe6ffce224a __libc_start_call_main+0x7a (libc.so.6) at libc_start_call_main.h:58
//       0x7fe6ffce2305 __libc_start_main+0x85 (libc.so.6) at libc-start.c:360
//       0x562a2a338621 (sleep:0x2621)

import { slower } from "gotap/latency";
import { milliseconds } from "gotap/time";
import { places } from "gotap/module";

const place = option("f", "libc:clock_nanosleep", "the functions to watch, separated by commas");
const ms = option("ms", 10, "only calls that take this many milliseconds or more");
const frames = option("frames", 8, "frames of the stack to print");

let told = 0;
const watched = slower(places(place), { ms, frames }, e => {
  told++;
  report(e, `${e.comm}/${e.tid} ${e.func}(${e.a}, ${e.b}, ${e.c}) = ${e.ret} took ${milliseconds(e.ns)} ms\n${e.stack}`);
});

end(() => {
  if (told > 0) return;
  const calls = watched.probes[0].hits;
  console.error(`funcslower: ${calls === 0 ? `${place} was not called` : `no call of ${place} took ${ms} ms; --arg ms=1 asks for shorter ones`}`);
});
