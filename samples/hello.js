// hello: the first script: how often is a function called, and with what argument?
// topic: start
//
//   gotap run hello                       probes gotap's own demonstration process
//   gotap run hello --arg f=libc:write -- ls
//
// The program at the probe counts, while the thread is stopped; callbacks on the host print the line each second and the summary.
//
//   $ gotap run hello
//   hello: tracing work; Ctrl-C ends
//   460 calls so far
//   920 calls so far
//   1360 calls in all
//   @first argument:
//   [1]                   66 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@   |
//   [2, 4)                66 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@   |

const place = option("f", "work", "the function to probe");
let calls = 0;
const argument = hist("first argument");

begin(() => console.log(`hello: tracing ${place}; Ctrl-C ends`));

probe(place, {
  enter(c) {
    calls++;
    argument.add(c.arg0);
  },
});

every("1s", () => console.log(`${calls} calls so far`));
end(() => console.log(`${calls} calls in all`));
