// argdist: how is an argument, or the result, of a function distributed?
//
//   gotap run argdist.js --arg f=libc:write --arg n=2 -- ls -lR /usr/share/doc
//   gotap run argdist.js --arg f=libc:read --arg n=ret -p PID

const place = option("f", "libc:write", "the function");
const which = String(option("n", "2", "which argument, 0 to 5, or ret"));
const values = hist(`${place} ${which === "ret" ? "result" : "argument " + which}`);

/** @type {Record<string, Handlers>} */
const handlers = {
  0: { enter(c) { values.add(c.arg0); } },
  1: { enter(c) { values.add(c.arg1); } },
  2: { enter(c) { values.add(c.arg2); } },
  3: { enter(c) { values.add(c.arg3); } },
  4: { enter(c) { values.add(c.arg4); } },
  5: { enter(c) { values.add(c.arg5); } },
  ret: { leave(c) { values.add(c.ret); } },
};
if (!handlers[which]) throw new Error(`n is 0 to 5 or ret, not ${which}`);
probe(place, handlers[which]);
