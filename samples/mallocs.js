// mallocs: how big are the blocks a program asks for, and who asks?
//
//   gotap run mallocs.js -- ls -lR /usr/share/doc
//   gotap run mallocs.js --arg top=5 -p PID
//
// Sizes and callers are added up at the probe; nothing is sent for a single call.

const top = option("top", 10, "how many callers to print");
const size = hist("request size");
const bytes = sum("bytes by caller", { keys: 1 });
const calls = count("calls");

probe("libc:malloc", {
  enter(c) {
    calls.inc();
    size.add(c.arg0);
    bytes.at(c.caller).add(c.arg0);
  },
});

end(() => {
  console.log(`${calls.take()} calls of malloc`);
  size.print();
  const callers = bytes.entries().sort((a, b) => Number(b[1]) - Number(a[1]));
  console.log(`top ${Math.min(top, callers.length)} of ${callers.length} callers, by bytes`);
  for (const [caller, n] of callers.slice(0, top)) console.log(`${String(n).padStart(12)}  ${sym(caller)}`);
  bytes.clear();
});
