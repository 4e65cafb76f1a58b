// funclatency: how long do calls of a function take?
// topic: functions
//
//   gotap run funclatency --arg f=libc:write -- ls -lR /usr/share/doc
//   gotap run funclatency --arg f=libc:read --arg bits=2 -T 10s -p PID
//
// Every call is timed by itself, also recursive calls and those of several threads. The times include the cost of the probes.
//
//   $ gotap run funclatency --arg f=libc:write -- ls -lR /usr/share/doc/bash
//   @libc:write, ns:
//   [32K, 64K)             1 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|
//
//   1 call, 44.4 us on average, 44.4 us in all; half at most 65.5 us, 99 % at most 65.5 us

import { latency } from "gotap/latency";
import { places } from "gotap/module";

const place = option("f", "libc:write", "the function to time; several, separated by commas, are one histogram");
const bits = option("bits", 0, "1 to 5 part each power of two into 2 to 32 buckets");
const calls = latency(places(place), `${place}, ns`, { bits });

end(() => calls.print());
