// gotap/redis: Redis and Valkey servers, by functions that they export.
//
//   import { commands } from "gotap/redis";
//   const r = commands();
//   end(() => r.times.print());
//
// commands({ module, us }, fn?)     times of commands by name, as the server's main thread runs them: { times, probes }. With fn calls it for
//                                   each command of at least so many microseconds, with { command, key, ns }
//
// module is the server's program ("redis-server"). The command is read as version 7 and later keep it. An inner command of a
// script or a transaction counts for itself and in the time of the outer one. A target that is no such server is told of at
// the end.

import { options, absent } from "gotap/module";

// textOf is the text of a string object: its second word points to the characters. Numbers kept in the word itself have none.
function textOf(object, n) { return readable(ptr(object + 8), 1) ? str(ptr(object + 8), n) : ""; }

export function commands(given, fn) {
  const { module, us } = options("gotap/redis", given, { module: "redis-server", us: 0 });
  const least = Math.round(us * 1000);
  const telling = fn !== undefined;
  const times = stats("commands, ns", { keys: 1 });
  const name = map("command of a thread", { keys: 1 }), key = map("key of a thread", { keys: 1 });
  const looked = probe(`${module}:lookupCommand`, {
    enter(c) { // (robj **argv, int argc)
      name.set(c.tid, textOf(ptr(c.arg0), 32));
      key.set(c.tid, ((c.arg1 << 32) >> 32) > 1 ? textOf(ptr(c.arg0 + 8), 64) : "");
    },
    optional: true,
  });
  const ran = probe(`${module}:call`, {
    enter(c) {
      this.name = name.get(c.tid);
      this.key = key.get(c.tid);
    },
    leave(c) {
      times.at(this.name).add(c.elapsed);
      if (telling && c.elapsed >= least) exit({ command: this.name, key: this.key, ns: c.elapsed });
    },
    exit: fn ?? (() => {}),
    optional: true,
  });
  end(() => {
    name.clear();
    key.clear();
  });
  const probes = [looked, ran];
  absent("gotap/redis", probes, `${module} of version 7 or later, with its functions call and lookupCommand`);
  return { times, probes };
}
