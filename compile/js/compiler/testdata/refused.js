c => { const o = { a: 1 }; log(`${o.a}`); }; // error `{ a: 1 }` an object cannot be used
c => { const a = [1, 2]; log(`${a[0]}`); }; // error `[1, 2]` an array cannot be used
c => { try { log("x"); } catch (e) { } }; // error `try` no exceptions
c => { throw 1; }; // error `throw 1` throw cannot be used
c => { if (/a/.test(str(c.arg0))) log("x"); }; // error `/a/` regular expression
c => { const m = new Map(); log(m); }; // error `new Map()` new cannot be used
c => { class A {} }; // error `class` a class
c => { log(class {}); }; // error `class {}` a class
c => { const [a, b] = c; log(a); }; // error `[a, b]` array pattern
c => { for (const x of list) log(x); }; // error `for` count: for
c => { for (const x in list) log(x); }; // error `for` count: for
c => { debugger; }; // error `debugger` debugger
c => { with (c) log(arg0); }; // error `with` with cannot
c => { log(typeof c.arg0); }; // error `typeof c.arg0` typeof
c => { delete c.arg0; }; // error `delete c.arg0` m.delete
c => { void c.arg0; }; // error `void c.arg0` void
c => { log(1 in m); }; // error `1 in m` m.has
c => { log(c instanceof m); }; // error `c instanceof m` instanceof
c => { log(c.arg0 ** 2); }; // error `c.arg0 ** 2` multiply
c => { log(...list); }; // error `...list` a spread|spread
c => { exit({ ...c }); }; // error `...c` cannot be spread
c => { exit({ f() { } }); }; // error `f` no methods
c => { exit({ get a() { return 1; } }); }; // error `a` no methods
c => { exit({ [NAME]: 1 }); }; // error `NAME` computed name
c => { exit({ a: 1, a: 2 }); }; // error `a` two fields a
c => { exit({ a: [1] }); }; // error `[1]` an array
c => { exit(5); }; // error `5` exit takes a record.*value
c => { emit(5); }; // error `5` emit takes a record.*value
c => { emit({ a: 1 }, 2); }; // error `emit({ a: 1 }, 2)` emit takes 0 or 1 argument, not 2
c => { log(emit({ a: 1 })); }; // error `emit({ a: 1 })` has no value
c => { send({ a: 1 }); }; // error `send` emit.*the program continues
c => { log(null); }; // error `null` null cannot
c => { log(log`x`); }; // error `log·x·` tagged template
async c => { log(1); }; // error `async c => { log(1); }` async
({ *enter(c) { } }); // error `*enter(c) { }` generator
c => { const f = async () => 1; f(); }; // error `f()` async
c => { log(new.target); }; // error `new.target` cannot be used
function fact(n) { return n < 2 ? 1 : n * fact(n - 1); } // error `fact(n - 1)` fact calls itself
c => { log(fact(c.arg0)); };
function even(n) { return n === 0 || odd(n - 1); }
function odd(n) { return n !== 0 && even(n - 1); } // error `even(n - 1)` even calls odd calls even
c => { log(even(c.arg0)); };
function rest(...a) { return 1; } // error `a` rest parameter
c => rest(1);
function rested(...b) { return 1; } // error `b` rest parameter
c => log(rested(1));
c => { const { ...all } = c; log(all); }; // error `all` rest pattern
c => { let a; ({ a } = c); }; // error `{ a }` one by one
c => { log(c.arg0?.x); }; // error `c.arg0?.x` no members
({ enter(c) { async function f() {} f(); } }); // error `f()` async
c => { const add = a => b => a + b; log(add(1)(c.arg0)); }; // error `b => a + b` a function is not a value
