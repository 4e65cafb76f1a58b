// funclatency: how long do calls of a function take?
// topic: functions
//
//   gotap run funclatency --arg f=libc:write -- ls -lR /usr/share/doc
//   gotap run funclatency --arg f=libc:read -T 10s -p PID
//
// Recursion and threads are told apart: every call has its own clock. The time of the probes themselves is in it.
//
//   $ gotap run funclatency --arg f=libc:write -- ls -lR /usr/share/doc/bash
//   @libc:write, ns:
//   [128K, 256K)           1 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|
//
//   1 calls, 182401 ns on average, 182401 ns in all

const place = option("f", "libc:write", "the function to time");
const took = hist(`${place}, ns`);
const all = stats("all");

probe(place, {
  leave(c) {
    took.add(c.elapsed);
    all.add(c.elapsed);
  },
});

end(() => {
  took.print();
  const sum = all.take();
  if (sum) console.log(`${sum.count} calls, ${sum.average} ns on average, ${sum.total} ns in all`);
  else console.log(`${place} was not called`);
});
