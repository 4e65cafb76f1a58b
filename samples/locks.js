// locks: how long do threads wait for mutexes, and for which?
//
//   gotap run locks.js -T 10s -p PID
//
// Only waits of at least `us` microseconds are counted.

const least = option("us", 50, "waits shorter than this many microseconds do not count") * 1000;
const waits = stats("waits by mutex, ns", { keys: 1 });
const wait = hist("wait, ns");

probe("libc:pthread_mutex_lock", {
  enter(c) { this.mutex = c.arg0; },
  leave(c) {
    if (c.elapsed < least) return;
    waits.at(this.mutex).add(c.elapsed);
    wait.add(c.elapsed);
  },
  optional: true,
});
