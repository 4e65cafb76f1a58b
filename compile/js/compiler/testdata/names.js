function helper(x) { return x + missing; } // error `missing` unknown name missing
c => { log(vtimestamp); }; // error `vtimestamp` here it is c.vtime
c => { log(goid); }; // error `goid` context: c.goid
c => { log(retval); }; // error `retval` unknown name retval.*here it is c.ret
c => { log(strlen(c.arg0)); }; // error `strlen` here it is s.length
c => { override(3); }; // error `override` here it is skip.result.
c => { log(c.goroutine, c.pcomm); }; // error `c.goroutine` here it is c.goid // error `c.pcomm` here it is c.comm
c => { log($sum); }; // error `$sum` is c.locals.sum at @FILE:LINE
c => { log(c.args.who.includes("x")); }; // error `c.args.who.includes` c.args.who is not text.*str.c.args.who.
c => { log(arg0, comm); }; // error `arg0` unknown name arg0.*context: c.arg0 // error `comm` unknown name comm
c => { lgo(`${c.arg0}`); }; // error `lgo` unknown name lgo.*did you mean log\?
c => { log(c.argo); }; // error `c.argo` no member argo.*did you mean arg0\?
c => { log(c.arg10x); }; // error `c.arg10x` no member arg10x
c => { log(c.tim); }; // error `c.tim` did you mean time\?
c => { log(c.Pid); }; // error `c.Pid` did you mean pid\?
c => { log(LIMT); }; // error `LIMT` did you mean LIMIT\?
c => { const count1 = 1; log(coutn1); }; // error `coutn1` did you mean count1\?
c => { log(helper(1), helper(2)); };
c => { log(list); }; // error `list` cannot use list in a program: it is an array
c => { log(local); }; // error `local` changes after the probe is registered.*copy it
c => { log(local, lcoal); }; // error `local` changes // error `lcoal` did you mean local
c => { log(config.size, config.sise); }; // error `config.sise` did you mean size
c => { log(x); const x = 1; }; // error `x` used before it is declared
c => { log(c.elapsed); }; // error `c.elapsed` only when the function returns.*leave
c => { log(c.ret); }; // error `c.ret` only when the function returns
c => { log(c.fault); }; // error `c.fault` fault handler
c => { log(c); }; // error `c` the context is not a value.*c.arg0
c => { log(c.regs); }; // error `c.regs` the registers is|registers
c => { log(c.args + 1); }; // error `c.args` arguments are not a value
c => { log(n); }; // error `n` an aggregation is not a value.*n.add
c => { log(m); }; // error `m` a map is not a value.*m.get
c => { log(mine); }; // error `mine` mine.value
c => { log(log); }; // error `log` a builtin function is not a value
c => { log(helper); }; // error `helper` a function is not a value
c => { log(undefined); }; // error `undefined` compare with 0
c => { eval("1"); }; // error `eval` cannot be used
c => { log(arguments); }; // error `arguments` name the parameters
c => { console.error("x"); }; // error `console.error` no member error
c => { exit.now(); }; // error `exit.now` no member now
c => { write.u9(1, 2); }; // error `write.u9` did you mean u8|u16|u32|u64
c => { c.comm.x; }; // error `c.comm.x` text has no member x
c => { "a".lenght; }; // error `"a".lenght` did you mean length
c => { c.pid.x; }; // error `c.pid.x` an integer has no members
c => { n.push(1); }; // error `n.push` no member push.*add
c => { m.put(1, 2); }; // error `m.put` no member put
c => { c.stack; }; // error `c.stack` stack is a method
c => { LIMIT(); }; // error `LIMIT` cannot be called
c => { hist("x"); }; // error `hist` top level
(fd, buf) => { log(c.arg0, fd, buf); }; // error `c` unknown name c
({ leave(a, b) { log(a); } }); // error `a` arguments are not available // error `b` arguments are not available
({ leave(c) { log(c.arg0); } }); // warning `c.arg0` when the function returns
({ enter(c) { this.start = c.time; }, leave(c) { log(c.time - this.strat); } }); // warning `this.strat` never set.*did you mean start
({ enter: c => { this.x = 1; } }); // error `this` arrow function.*enter\(c\)
({ enter(c) { const f = function () { return this.x; }; log(f()); } }); // error `this` has no this
