// funccount: how often is each function of a glob, or of several, called?
// topic: functions
//
//   gotap run funccount --arg f='libc:str*' -- ls -l /usr/bin
//   gotap run funccount --arg f='main.*' -T 5s -p PID
//
// A function that was never called is not in the list.
//
//   $ gotap run funccount --arg f=libc:str* --arg top=5 -- ls -l /usr/bin
//        30668  strlen
//        13469  strcmp
//        10746  strcoll
//        10746  strcoll_l
//         3702  strchrnul
//   … and 14 more functions

import { ordered } from "gotap/table";
import { places } from "gotap/module";

const place = option("f", "libc:mem*", "functions: globs, separated by commas");
const top = option("top", 25, "how many to print");
const calls = count("calls", { keys: 1 });

probe(places(place), c => calls.at(c.func).inc());

end(() => {
  const all = ordered(calls.take());
  for (const [func, n] of all.slice(0, top)) console.log(`${String(n).padStart(10)}  ${func}`);
  if (all.length > top) console.log(`… and ${all.length - top} more functions`);
});
