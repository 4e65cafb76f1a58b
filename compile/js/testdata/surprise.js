c => { log(7 / 2, 8 / 2, 7.0 / 2, c.arg0 / 1000); }; // warning `7 / 2` cuts the fraction off: this is 3
c => { log(c.arg0 / c.arg1 * 100); }; // warning `c.arg0 / c.arg1 * 100` before \* can use it
c => { log(c.arg0 * 100 / c.arg1, 1.0 * c.arg0 / c.arg1 * 100); };
c => { if (c.arg0 / 2 > 0.5) log("x"); }; // warning `c.arg0 / 2 > 0.5` never between two
c => { if (c.arg0 / 2.0 > 0.5 && c.arg0 / 2 > 3) log("x"); };
c => { log(c.arg0 >>> 0, c.arg0 >>> 4); }; // warning `c.arg0 >>> 0` 64 bits
c => { log(c.arg0 | 0, 0 | c.arg0, c.arg0 | 1); }; // warning `c.arg0 | 0` 64 bits // warning `0 | c.arg0` 64 bits
c => { log(~~c.arg0, ~c.arg0); }; // warning `~~c.arg0` 64 bits
