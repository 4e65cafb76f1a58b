// funccount: how often is each function of a glob called?
//
//   gotap run funccount.js --arg f='libc:str*' -- ls -l /usr/bin
//   gotap run funccount.js --arg f='main.*' -T 5s -p PID
//
// A function that was never called is not in the list.

const place = option("f", "libc:mem*", "functions, as a glob");
const top = option("top", 25, "how many to print");
const calls = count("calls", { keys: 1 });

probe(place, c => calls.at(c.func).inc());

end(() => {
  const all = calls.entries().sort((a, b) => Number(b[1]) - Number(a[1]));
  for (const [func, n] of all.slice(0, top)) console.log(`${String(n).padStart(10)}  ${func}`);
  if (all.length > top) console.log(`… and ${all.length - top} more functions`);
  calls.clear();
});
