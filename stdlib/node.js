// gotap/node: Node.js, through the functions of libuv and V8 that it exports.
//
//   import { loop, collections } from "gotap/node";
//   const l = loop({ ms: 50 }, e => console.log(`the event loop was busy for ${e.ns} ns`));
//   end(() => l.busy.print());
//
// loop({ module, uv, ms }, fn?)      histograms of how long the event loop was busy between two waits, and how long it waited: { busy, waiting, probes }.
//                                    Calls fn, if given, with { ns } for each busy time of at least ms milliseconds
// collections({ module }, fn)        calls fn with { ns } for each garbage collection
// lookups({ module, uv }, fn)        calls fn with { host } for each host name that is looked up
// opens({ module, uv }, fn)          calls fn with { path, flags } for each file opened
//
// module is the program ("node"); uv is what contains libuv: the program, or "libuv" for builds that share it, such as Debian's. JavaScript
// functions are compiled while the program runs and cannot be probed. If the target is not Node.js, a line at the end says so.

import { inOrder, options, absent } from "gotap/module";

const common = { module: "node", uv: "" };
const libuv = o => o.uv === "" ? [o.module, "libuv"] : [o.uv];
const needs = o => `Node.js as ${o.module}, with libuv in it or beside it`;

// either returns the places of a function in the program and in libuv.
const either = (o, name) => libuv(o).map(module => `${module}:${name}`);

export function loop(given, fn) {
  [given, fn] = inOrder("gotap/node", "loop", given, fn);
  const o = options("gotap/node", given, { ...common, ms: 0 });
  const least = Math.round(o.ms * 1e6);
  const telling = fn !== undefined;
  const busy = hist("event loop busy, ns"), waiting = hist("event loop waiting, ns");
  const polling = perThread(0), woke = perThread(0);
  // uv__io_poll also runs callbacks, so only the system call in it counts as waiting.
  const loops = probe(either(o, "uv__io_poll"), {
    enter(c) { polling.value = 1; },
    leave(c) { polling.value = 0; },
    optional: true,
  });
  const waits = probe(["libc:epoll_wait", "libc:epoll_pwait"], {
    enter(c) {
      if (polling.value === 0 || woke.value === 0) return;
      const ns = c.time - woke.value;
      busy.add(ns);
      if (telling && ns >= least) exit({ ns });
    },
    leave(c) {
      if (polling.value === 0) return;
      woke.value = c.time;
      waiting.add(c.elapsed);
    },
    exit: fn ?? (() => {}),
    optional: true,
  });
  const probes = [loops, waits];
  absent("gotap/node", [loops], needs(o));
  return { busy, waiting, probes };
}

export function collections(given, fn) {
  [given, fn] = inOrder("gotap/node", "collections", given, fn, true);
  const o = options("gotap/node", given, { module: "node" });
  const probes = [probe(`${o.module}:v8::internal::Heap::PerformGarbageCollection`, {
    leave(c) { exit({ ns: c.elapsed }); },
    exit: fn,
    optional: true,
  })];
  absent("gotap/node", probes, needs({ ...common, ...o }));
  return { probes };
}

export function lookups(given, fn) {
  [given, fn] = inOrder("gotap/node", "lookups", given, fn, true);
  const o = options("gotap/node", given, common);
  const probes = [probe(either(o, "uv_getaddrinfo"), { // (loop, request, callback, node, service, hints)
    enter(c) { exit({ host: c.arg3 === 0 ? "" : str(c.arg3) }); },
    exit: fn,
    optional: true,
  })];
  absent("gotap/node", probes, needs(o));
  return { probes };
}

export function opens(given, fn) {
  [given, fn] = inOrder("gotap/node", "opens", given, fn, true);
  const o = options("gotap/node", given, common);
  const probes = [probe(either(o, "uv_fs_open"), { // (loop, request, path, flags, mode, callback)
    enter(c) { exit({ path: str(c.arg2), flags: (c.arg3 << 32) >> 32 }); },
    exit: fn,
    optional: true,
  })];
  absent("gotap/node", probes, needs(o));
  return { probes };
}
