// inject: makes calls of a function fail, or take longer: what does the program do then? It changes the target, so it needs --unsafe.
// topic: changing the target
//
//   gotap run --unsafe inject --arg f=libc:malloc --arg ret=0 --arg after=1000 --arg times=1 -- ./prog
//   gotap run --unsafe inject --arg f=libc:opendir --arg ret=0 -- ls /etc
//   gotap run --unsafe inject --arg f=libc:write --arg ms=100 -- ls
//
// With ret=N the function does not run and returns N; errno stays as it was. With ms=N the thread waits N milliseconds before the call.
//
//   $ gotap run --unsafe inject --arg f=libc:opendir -- ls /etc
//   opendir was made to return 0 1 times

const place = option("f", "libc:opendir", "the function");
const ms = option("ms", 0, "milliseconds to wait before the call, up to 1000; 0: force a result");
const ret = option("ret", 0, "the result to force");
const after = option("after", 0, "lets so many calls pass first");
const times = option("times", 0, "does it so many times; 0: always");
const rate = option("every", 1, "does it for one call of so many");
if (ms < 0 || ms > 1000) throw new Error("ms is 0 to 1000");
const forced = count("forced", { keys: 1 }), delayed = count("delayed", { keys: 1 });
const chosen = { after, every: rate, ...(times > 0 ? { limit: times } : {}) };

if (ms === 0) {
  probe(place, {
    ...chosen,
    enter(c) {
      forced.at(c.func).inc();
      skip(ret);
    },
  });
} else {
  const ns = ms * 1e6;
  probe(place, {
    ...chosen,
    enter(c) {
      delayed.at(c.func).inc();
      exit.hold({});
    },
    exit(e) { // the thread continues when this returns; waiting here holds up the host's other callbacks too
      while (now() - Number(e.time) < ns) continue;
    },
  });
}

end(() => {
  const rows = [...forced.take(), ...delayed.take()];
  const done = ms === 0 ? `made to return ${ret}` : "delayed";
  if (rows.length > 0) report({ name: "injected", columns: ["function", "calls"], rows }, rows.map(([func, n]) => `${func} was ${done} ${n} times`).join("\n"));
});
