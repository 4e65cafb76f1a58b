// gotap/redis: Redis and Valkey servers, through functions that they export.
//
//   import { commands } from "gotap/redis";
//   const r = commands();
//   end(() => r.times.print());
//
// commands({ module, us }, fn?)     times of commands by the function that executes them: { times, probes }. Calls fn, if given, for each command
//                                   of at least us microseconds, with { command, ns }
// commandName(func)                 "getCommand" is "get"
//
// module is the server's file; the default is the traced program. The functions are those named …Command that the
// server's call() calls, so the layout of the server's structures does not matter. A command inside a script or
// a transaction counts by itself and in the time of the outer one. If the target is not such a server, a line at the end says so.

import { inOrder, options, absent } from "gotap/module";

export function commandName(func) { return func.replace(/Command$/, ""); }

export function commands(given, fn) {
  [given, fn] = inOrder("gotap/redis", "commands", given, fn);
  const { module, us } = options("gotap/redis", given, { module: "", us: 0 });
  const least = Math.round(us * 1000);
  const telling = fn !== undefined;
  const at = func => module === "" ? func : `${module}:${func}`;
  const times = stats("commands, ns", { keys: 1 });
  const called = perThread(0); // call() has begun, and has not called a command yet
  const calling = probe(at("call"), { enter(c) { called.value = 1; }, optional: true });
  const running = probe(at("*Command"), {
    when: c => called.value !== 0,
    enter(c) { called.value = 0; },
    leave(c) {
      times.at(c.func).add(c.elapsed);
      if (telling && c.elapsed >= least) exit({ command: c.func, ns: c.elapsed });
    },
    exit: e => fn({ ...e, command: commandName(e.command), pid: e.pid, tid: e.tid, comm: e.comm, time: e.time }),
    optional: true,
  });
  const probes = [calling, running];
  absent("gotap/redis", [running], "a Redis or Valkey server, with its functions call and …Command", probes);
  return { times, probes };
}
