// calltrace: an indented trace of calls and returns, with arguments, results and times.
// topic: functions
//
//   gotap run calltrace --arg f='main,work*' -- ./prog
//   gotap run calltrace --arg f='libc:malloc,libc:free' --arg inside=libc:opendir -- ls
//
// The probes count the depth of each thread. A call that ends with an exception or longjmp has no return line.
//
//   $ gotap run calltrace --arg f=order,check,keep -- ./shop
//        0.000 ms  shop/7694        -> order(2, 0x7ffefd3128c8)
//        0.331 ms  shop/7694          -> check(2, 0x7ffefd3128c8)
//        0.372 ms  shop/7694          <- check = 0 [39.8 us]
//        0.409 ms  shop/7694        <- order = 1 [408 us]
//        0.490 ms  shop/7694        -> order(5, 0x55f1af563006)
//        0.972 ms  shop/7694          -> check(5, 0x55f1af563006)
//        1.065 ms  shop/7694          <- check = -1 [92.1 us]
//        1.198 ms  shop/7694        <- order = -1 [706 us]
//   …

import { calltree } from "gotap/calltree";
import { places } from "gotap/module";

const functions = option("f", "libc:f*open*,libc:*close", "functions, separated by commas");
const inside = option("inside", "", "only what is called while this function runs");
const args = option("args", 2, "how many arguments to show, 0 to 4");
const most = option("lines", 0, "stop tracing after so many lines; 0: never");

calltree(places(functions), { inside, args, most });
