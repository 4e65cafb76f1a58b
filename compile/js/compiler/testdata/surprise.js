c => { log(7 / 2, 8 / 2, 7.0 / 2, c.arg0 / 1); }; // warning `7 / 2` cuts the fraction off: this is 3
c => { log(c.arg0 / c.arg1 * 100); }; // warning `c.arg0 / c.arg1 * 100` before \* can use it
c => { log(c.arg0 * 100 / c.arg1, 1.0 * c.arg0 / c.arg1 * 100); }; // warning `c.arg0 * 100 / c.arg1` before it is shown .*x / 2.0
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
c => { log(c.arg0 / 1000, c.arg0 / 1e3, c.arg0 / 1000.0, Math.trunc(c.arg0 / 1000)); }; // warning `c.arg0 / 1000` before it is shown \| divide by a float for the fraction \(/ 1000.0\), or write Math.trunc\(a / b\)
c => { log(`${c.arg0 / 1000} us`); exit({ a: 5 - c.arg1 / LIMIT }); }; // warning `c.arg0 / 1000` is shown // warning `c.arg1 / LIMIT` is shown .*/ 10.0
c => { const us = c.arg0 / 1000; if (us > 5) log("at", us, us + 1); }; // warning `c.arg0 / 1000` is shown
c => { const us = x => { if (x < 0) return 0; return x / 1000; }; log(us(c.arg0)); log(c.arg0 > 5 ? c.arg1 / 7 : 0); }; // warning `x / 1000` is shown // warning `c.arg1 / 7` is shown
c => { const us = Math.trunc(c.arg0 / 1000); log(us, us + 1); m.set(c.arg0 / 10, c.arg0 / 1000); n.at(c.arg0 / 10).inc(); };
c => { printf("%d", c.arg0 / 1000); if (c.arg0 / 1000 > 5) mine.value = c.arg0 / 1000; log(c.arg0 % 1000, c.arg0 / 1000 & 3); };
c => { plain.add(c.arg0 / 1000); plain.add(trunc(c.arg1 / 1000)); n.at(1).add(1); }; // warning `c.arg0 / 1000` before it is added up \| add the value itself
c => { shared += c.arg0 / 1000; let n = 0; n += c.arg1 / 3; n += trunc(c.arg1 / 3); log(n); }; // warning `c.arg0 / 1000` is added up // warning `c.arg1 / 3` is added up
(function (c) { this.us = c.arg0 / 1000; log(this.us); }); // warning `c.arg0 / 1000` is shown
c => { if (c.arg0 / 2 > 1e3 && c.arg0 > 1e9) log(c.arg0 + 1e3, c.arg0 & 1e3, 1e2 << 1e1, c.arg0 / 2.0 + 1e3); };
c => { let i = 0; i += 1e3; i = i * 1e3 - 1.0; m.set(1e3, 2.0); m.inc(c.arg0 % 1e3, 1e1); byKey.at(1e3, min(i, 1e6)).add(abs(1e2 - i)); shared = 1e6; shared -= 1e3; log(u8(c.arg0 + 1e1), hex(1e3)); };
c => { let i = 0; i = c.arg0 / 1e3; }; // error `i` i holds an integer: cannot assign a float
c => { shared += c.arg0 / 1e3; plain.add(c.arg0 / 1e3); n.at(0.5).inc(); log(c.arg0 & 0.5, 1.5 << 1); }; // error `shared` programs share no floats // error `0.5` part of a key // error `c.arg0 & 0.5` integers only // error `1.5 << 1` integers only
