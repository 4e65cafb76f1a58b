// calltrace: calls as a tree, with arguments, results and times. `gotap trace` is the same, with flags.
// topic: functions
// Go: f=main.*
//
//   gotap run calltrace -- ./prog                                   the program's own functions
//   gotap run calltrace 'main,work*' -- ./prog
//   gotap run calltrace libc:malloc,libc:free --arg inside=libc:opendir -- ls
//
// The probes count the depth of each thread. A call that ends with an exception or longjmp has no end.
//
//   $ gotap run calltrace order,check,keep -- ./shop
//            TIME   DURATION  THREAD            CALL
//        0.000 ms             shop/7694         order(n=2) {
//        0.372 ms    39.8 us  shop/7694           check(n=2) = 0
//        0.409 ms     408 us  shop/7694         } = 1  order
//        0.490 ms             shop/7694         order(n=5) {
//        0.972 ms    92.1 us  shop/7694           check(n=5) = -1
//        1.198 ms     706 us  shop/7694         } = -1  order
//        1.410 ms    21.3 us  shop/7694         keep(size=1000) = 0x55f1af563006
//   …

import { calltree } from "gotap/calltree";
import { chosen, places } from "gotap/module";

const functions = option("f", "", "functions, separated by commas; none: those of the main program, in Go of its package main");
const without = option("not", "", "functions to leave out, separated by commas");
const from = option("from", "", "only calls that these modules make, separated by commas");
const inside = option("inside", "", "only what is called while this function runs");
const args = option("args", 2, "how many arguments to show of functions whose types are not known, 0 to 4");
const depth = option("depth", 0, "only calls inside so many others at most; 0: any");
const slower = option("slower", 0, "only calls of so many nanoseconds or more, as they return");
const failed = option("failed", false, "only calls that fail, as they return: a negative int, NULL, or an error of Go");
const stack = option("stack", 0, "frames of the stack to show with each call");
const most = option("lines", 0, "stop tracing after so many lines; 0: never");
const quiet = option("quiet", false, "do not tell that no call was shown");

const { specs, not } = chosen(functions, without);
calltree(specs, { not, from: places(from), inside, args, depth, slower, failed, stack, most, quiet });
