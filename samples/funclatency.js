// funclatency: how long do calls of a function take?
// topic: functions
//
//   gotap run funclatency libc:write -- ls -lR /usr/share/doc
//   gotap run funclatency libc:read --arg bits=2 -T 10s -p PID
//   gotap run funclatency 'libc:*dir' --arg each=1 -- ls -lR /usr/share/doc       a line for each function
//
// Every call is timed by itself, also recursive calls and those of several threads. The times include the cost of the probes.
//
//   $ gotap run funclatency --arg f=libc:write -- ls -lR /usr/share/doc/bash
//   @libc:write, ns:
//   [32K, 64K)             1 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|
//
//   1 call, 44.4 us on average, 44.4 us in all; half at most 65.5 us, 99 % at most 65.5 us

import { latency, latencies, picked } from "gotap/latency";
import { chosen, places } from "gotap/module";

const place = option("f", "libc:write", "the function to time; several, separated by commas, are one histogram");
const bits = option("bits", 0, "1 to 5 part each power of two into 2 to 32 buckets");
const each = option("each", false, "a line for each function instead of a histogram");
const top = option("top", 25, "with each, how many functions to print");
const without = option("not", "", "functions to leave out, separated by commas");
const from = option("from", "", "only calls that these modules make, separated by commas");
const slower = option("slower", 0, "only calls of so many nanoseconds or more");
const failed = option("failed", false, "only calls that fail: a negative int, NULL, or an error of Go");

const { specs, not } = chosen(place, without);
const options = { not, from: places(from), when: picked({ slower, failed }) };
const calls = each ? latencies(specs, "latency", options) : latency(specs, `${place}, ns`, { bits, ...options });

end(() => calls.print({ top }));
