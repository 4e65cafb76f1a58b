c => { let x = 1; x = "a"; log(x); }; // error `x` x holds an integer: cannot assign text
c => { let x = "a"; x = 1; }; // error `x` x holds text: cannot assign an integer
c => { let x = 1; x = 1.5; }; // error `x` x holds an integer: cannot assign a float.*0\.0
c => { let x = 1; x += 0.5; }; // error `x` cannot assign a float
c => { let x = 1.5; x = 1; log(x); };
c => { let ok = c.arg0 > 1; ok = 5; }; // error `ok` true or false
c => { const x = 1; x = 2; log(x); }; // error `x` cannot assign to a constant
c => { const x = c.time; x++; log(x); }; // error `x` x is a constant
c => { LIMIT = 3; }; // error `LIMIT` cannot assign to a constant
c => { shared = "a"; word = 1; shared += "x"; }; // error `shared` shared holds an integer // error `word` word holds text // error `shared` shared holds an integer
c => { shared++; word += 1; word++; }; // error `word++` works on numbers
c => { n = 1; c = 2; log = 3; }; // error `n` cannot assign to an aggregation // error `c` cannot assign to the context // error `log` cannot assign to a builtin
c => { c.args.z = 1; c.args.p.x++; global("limit").x = 2; }; // error `c.args.z` arguments.*c\.regs // error `c.args.p.x` arguments // error `global("limit").x` write.u32\(uaddr\("limit"\)
c => { c.pid = 1; }; // error `c.pid` only read
c => { log("a" - 1); }; // error `"a" - 1` works on numbers
c => { log(c.comm * 2); }; // error `c.comm * 2` works on numbers
c => { log(-c.comm, ~1.5, 1.5 & 1); }; // error `-c.comm` works on numbers // error `~1.5` integers only // error `1.5 & 1` integers only
c => { log(c.comm === 5, c.comm < 5); }; // error `c.comm === 5` cannot compare text with an integer // error `c.comm < 5` cannot compare
c => { log(c.stack(2) + "x"); }; // error `c.stack(2)` cannot make text of a stack
c => { const s = `${c.stack(2)}`; log(s); }; // error `c.stack(2)` cannot make text of a stack
c => { log(`${c.stack(2)} ok`); };
c => { log(c.arg0 ? 1 : "a"); }; // error `c.arg0 ? 1 : "a"` one branch gives an integer, the other text
c => { log(c.arg0 && "a"); }; // error `c.arg0 && "a"` one side is an integer
c => { if (c.arg0 && c.comm || 1.5) log("fine"); };
c => { const x = log("a"); }; // error `x` no value|`log("a")`
c => { str(c.comm); u8(1.5); u8("x"); hash(5); }; // error `c.comm` argument 1 of str is text // error `1.5` is a float // error `"x"` is text // error `5` not text
c => { u8(); u8(1, 2); str(1, 2, 3); min(1); bytes(1); }; // error `u8()` takes 1 argument, not 0 // error `u8(1, 2)` not 2 // error `str(1, 2, 3)` 1 or 2 arguments // error `min(1)` at least 2 arguments // error `bytes(1)` 2 arguments
c => { str(c.arg0, 5000); bytes(c.arg0, -1); }; // error `5000` too many // error `-1` too few
c => { c.stack(0); c.stack(128); c.stack(c.arg0); c.stack(); }; // error `0` from 1 to 127 // error `128` from 1 to 127 // error `c.arg0` from 1 to 127 // error `c.stack()` takes 1 argument
c => { printf(c.comm); printf("%d", "x"); printf("%d"); printf("%y", 1); }; // error `c.comm` not constant // error `"%d"` . // error `"%d"` . // error `"%y"` .
c => { log(99999999999999999999); }; // error `99999999999999999999` does not fit
c => { log(c.arg0 / 0); }; // warning `c.arg0 / 0` division by zero
c => { log(c.arg0 === undefined, null == c.arg0); }; // error `c.arg0 === undefined` ever undefined // error `null == c.arg0` ever undefined
c => { byKey.at(1).inc(); byKey.inc(); plain.at(1).inc(); m.get(1, 2); m.set(1); }; // error `byKey.at(1).inc()` byKey has a key of 2 parts, not a key of 1 part // error `byKey.inc()` a key of 2 parts, not no key // error `plain.at(1).inc()` plain has no key // error `m.get(1, 2)` m has a key of 1 part // error `m.set(1)` at least 2
c => { free.set(1, 2); free.get(1, 2); free.set("a", 1); free.set(1, "x"); }; // error `free.get(1, 2)` free has a key of 1 part elsewhere // error `free.set("a", 1)` another type // error `free.set(1, "x")` holds an integer
c => { n.at(1.5).inc(); plain.add(1.5); n.add("x"); n.at().inc(); }; // error `1.5` float cannot be part // error `"x"` not an integer // error `n.at()` at least 1
c => { n.at(1).at(2).inc(); }; // error `n.at(1).at` no member at
c => { n.at(5).add(c.arg0); }; // warning `n.at(5).add(c.arg0)` count counts 1
c => { free[1] = 2; c[0]; }; // error `free[1]` use get // error `c[0]` cannot index
c => { let i = 1; c.args[i]; c.regs[i]; c.arg[i]; }; // error `c.args[i]` known beforehand // error `c.regs[i]` known beforehand // error `c.arg` each by its name
c => { mine.val++; }; // error `mine.val` no member val
({ enter(c) { this.a = 1; this.a = "x"; } }); // error `this.a` this.a holds an integer
({ enter(c) { this.a = 1; }, leave(c) { this.a = "x"; } }); // error `this.a` this.a holds an integer
function two(a, b) { return a + b; }
c => { two(1); two(1, 2, 3); }; // error `two(1)` argument 2 of two is missing // error `3` two takes 2 arguments
function mixed(a) { if (a) return 1; return "x"; } // error `return "x"` returns text here and an integer
c => { mixed(c.arg0); };
