// gotap/locks: mutexes and condition variables of pthreads.
//
//   import { mutexes } from "gotap/locks";
//   const m = mutexes({ least: 50000 });
//   end(() => { for (const [mutex, s] of m.waits.entries()) console.log(sym(mutex), s.count, s.total); });
//
// mutexes({ module, least })     times how long threads wait for a mutex, and how long they hold it; waits shorter than least
//                                nanoseconds (0) do not count. Gives { waits, wait, holds, hold, probes }: stats by mutex and a
//                                histogram of each
// owner(p) waiters(p)            in programs: thread that holds the mutex at p, 0 for none; how many use it. glibc on 64-bit machines
//
// A mutex is named by its address: sym(pid, address) names those that are variables of a program or library. Times have the cost of the probes in them, 10 to 40
// microseconds where threads are stopped, so look at those well above. A hold that ends in pthread_cond_wait, which unlocks
// inside the library, is counted up to the next unlock. A wait in pthread_mutex_timedlock counts too, trylock never waits.
// Without libc's functions the run goes on, and a line at the end says so.

import { options, absent } from "gotap/module";

export function owner(p) { return u32(p + 8); }
export function waiters(p) { return u32(p + 12); }

export function mutexes(given) {
  const o = options("gotap/locks", given, { module: "libc", least: 0 });
  const least = o.least;
  const waits = stats("waits by mutex, ns", { keys: 1 }), holds = stats("holds by mutex, ns", { keys: 1 });
  const wait = hist("wait, ns"), hold = hist("hold, ns");
  const since = map("held since", { keys: 2, max: 16384 });
  const at = name => `${o.module}:${name}`;
  const locking = probe([at("pthread_mutex_lock"), at("pthread_mutex_timedlock"), at("pthread_mutex_clocklock")], {
    enter(c) { this.mutex = c.arg0; },
    leave(c) {
      if ((c.ret << 32) >> 32 !== 0) return;
      since.set(c.tid, this.mutex, c.time);
      if (c.elapsed < least) return;
      waits.at(this.mutex).add(c.elapsed);
      wait.add(c.elapsed);
    },
    optional: true,
  });
  const trying = probe(at("pthread_mutex_trylock"), {
    enter(c) { this.mutex = c.arg0; },
    leave(c) { if ((c.ret << 32) >> 32 === 0) since.set(c.tid, this.mutex, c.time); },
    optional: true,
  });
  const unlocking = probe(at("pthread_mutex_unlock"), {
    enter(c) {
      if (!since.has(c.tid, c.arg0)) return;
      const held = c.time - since.get(c.tid, c.arg0);
      since.delete(c.tid, c.arg0);
      holds.at(c.arg0).add(held);
      hold.add(held);
    },
    optional: true,
  });
  end(() => since.clear());
  const probes = [locking, trying, unlocking];
  absent("gotap/locks", probes, `pthread_mutex_lock in ${o.module}`);
  return { waits, wait, holds, hold, probes };
}
