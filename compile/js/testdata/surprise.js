c => { log(7 / 2, 8 / 2, 7.0 / 2, c.arg0 / 1000); }; // warning `7 / 2` cuts the fraction off: this is 3
c => { log(c.arg0 / c.arg1 * 100); }; // warning `c.arg0 / c.arg1 * 100` before \* can use it
c => { log(c.arg0 * 100 / c.arg1, 1.0 * c.arg0 / c.arg1 * 100); };
c => { if (c.arg0 / 2 > 0.5) log("x"); }; // warning `c.arg0 / 2 > 0.5` never between two
c => { if (c.arg0 / 2.0 > 0.5 && c.arg0 / 2 > 3) log("x"); };
c => { log(c.arg0 >>> 0, c.arg0 >>> 4); }; // warning `c.arg0 >>> 0` 64 bits
c => { log(c.arg0 | 0, 0 | c.arg0, c.arg0 | 1); }; // warning `c.arg0 | 0` 64 bits // warning `0 | c.arg0` 64 bits
c => { log(~~c.arg0, ~c.arg0); }; // warning `~~c.arg0` 64 bits
c => { log(c.arg0 / 2 * 1.5); }; // warning `c.arg0 / 2 * 1.5` before the float
c => { log(0.5 + c.arg0 / 2, 0.5 + c.arg0 / 2.0, 1.5 * c.arg0 / 2); }; // warning `0.5 + c.arg0 / 2` before the float
c => { exit({ a: c.arg0 }); log("x"); log("y"); }; // warning `log("x")` never runs: exit\(\) ends the program before it
c => { exit({}); if (c.arg0) log("x"); }; // warning `if (c.arg0) log("x")` exit\(\) ends the program before it
c => { return; if /* if so */ ((c.arg0)) {} }; // warning `if /* if so */ ((c.arg0)) {}` return ends the program
c => { if (c.arg0) { abort(); c.arg1; } return; log("x"); }; // warning `c.arg1` abort\(\) // warning `log("x")` return ends the program
c => { const f = x => { return x; log(x); }; log(f(1)); }; // warning `log(x)` return ends the function
c => { switch (c.arg0) { case 1: exit.hold({}); break; case 2: return; default: log("x"); } exit({}); function f() {} ; };
c => { if (c.arg0) exit({}); if (LIMIT) return; log("x"); };
c => { const exit = x => log(x); exit(1); log("x"); };
c => { log(18446744073709551615, 9223372036854775809); }; // warning `18446744073709551615` this is -1  // warning `9223372036854775809` this is -9223372036854775807 
c => { log(-9223372036854775808, 9223372036854775807, 0xffffffffffffffff, 1.8e19); };
