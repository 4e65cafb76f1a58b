// gotap/locks: mutexes and condition variables of pthreads.
//
//   import { mutexes } from "gotap/locks";
//   const m = mutexes({ least: 50000 });
//   end(() => { for (const [mutex, s] of m.waits.entries()) console.log(sym(mutex), s.count, s.total); });
//
// mutexes({ module, least })     measures how long threads wait for a mutex, and how long they hold it; waits shorter than least
//                                nanoseconds (0) do not count. Returns { waits, wait, holds, hold, probes }: stats by mutex and a
//                                histogram of each
// owner(p) waiters(p)            in programs: the thread that holds the mutex at p, or 0; the number of its users. glibc on 64-bit machines
//
// The key of a mutex is its address: sym(pid, address) names those that are variables of a program or library. A wait is the time that
// the locking function spends in the futex call: without that call, when the mutex is free or the thread spins, there is no wait, whatever
// the probes cost. A wait is longer than without gotap if the holder is stopped at a probe meanwhile; a hold includes the cost of the probes
// at both ends, 10 to 40 microseconds. So only times well above that mean something. A hold that ends in
// pthread_cond_wait, which unlocks inside the library, counts up to the next unlock; that of a recursive mutex counts from the first lock
// to the last unlock. Waits in pthread_mutex_timedlock count too, even if they time out; trylock never waits.
// If the target has no such functions, the run continues, and a line at the end says so.

import { options, absent } from "gotap/module";

export function owner(p) { return u32(p + 8); }
export function waiters(p) { return u32(p + 12); }

// again reports whether the thread has locked a recursive mutex more than once: glibc's counter follows the lock word.
function again(c, p) { return owner(p) === c.tid && u32(p + 4) > 1; }

export function mutexes(given) {
  const o = options("gotap/locks", given, { module: "libc", least: 0 });
  const least = o.least;
  const waits = stats("waits by mutex, ns", { keys: 1 }), holds = stats("holds by mutex, ns", { keys: 1 });
  const wait = hist("wait, ns"), hold = hist("hold, ns");
  const since = map("held since", { keys: 2, max: 16384 });
  const locks = perThread(0), waited = perThread(0); // 1 in a locking function; how long the thread has waited there
  const at = name => `${o.module}:${name}`;
  const locking = probe([at("pthread_mutex_lock"), at("pthread_mutex_timedlock"), at("pthread_mutex_clocklock")], {
    enter(c) {
      this.mutex = c.arg0;
      locks.value = 1;
      waited.value = 0;
    },
    leave(c) {
      const ns = waited.value;
      locks.value = 0;
      if ((c.ret << 32) >> 32 === 0 && !again(c, this.mutex)) since.set(c.tid, this.mutex, c.time);
      if (ns === 0 || ns < least) return;
      waits.at(this.mutex).add(ns);
      wait.add(ns);
    },
    optional: true,
  });
  const waiting = probe(["syscall:futex", "syscall:futex_time64"], {
    leave(c) { if (locks.value !== 0) waited.value += c.elapsed; },
    optional: true,
  });
  const trying = probe(at("pthread_mutex_trylock"), {
    enter(c) { this.mutex = c.arg0; },
    leave(c) { if ((c.ret << 32) >> 32 === 0 && !again(c, this.mutex)) since.set(c.tid, this.mutex, c.time); },
    optional: true,
  });
  const unlocking = probe(at("pthread_mutex_unlock"), {
    enter(c) {
      if (!since.has(c.tid, c.arg0) || again(c, c.arg0)) return;
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
  return { waits, wait, holds, hold, probes: [...probes, waiting] };
}
