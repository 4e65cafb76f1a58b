// usdt: hits of static marks, with their arguments.
// topic: languages and databases
//
//   gotap run usdt --arg m=python:gc__start -- python3 prog.py
//   gotap run usdt --arg m=postgresql:query__start,postgresql:query__done --arg text=0 -p PID
//   gotap run usdt --arg m=./prog:shop:order --arg n=2 -- ./prog
//
// `gotap list 'usdt:./prog:*:*'` lists the marks of a program. A mark that the target does not have is an error. Set the number
// of arguments to what the mark has: values beyond it mean nothing.
//
//   $ gotap run usdt --arg m=python:gc__start,python:gc__done --arg n=1 -- /usr/bin/python3 -c pass
//   0.054031 python3/8576 python:gc__start(0)
//   0.055720 python3/8576 python:gc__done(0)
//   0.056135 python3/8576 python:gc__start(0)
//   0.056204 python3/8576 python:gc__done(0)
//   0.056404 python3/8576 python:gc__start(0)
//   0.056435 python3/8576 python:gc__done(0)
//   0.056918 python3/8576 python:gc__start(0)
//   0.056970 python3/8576 python:gc__done(0)
//   0.057773 python3/8576 python:gc__start(0)
//   …

import { places } from "gotap/module";
import { since } from "gotap/time";

const mark = option("m", "python:function__entry", "[FILE:]PROVIDER:NAME, several separated by commas");
const n = option("n", 2, "how many arguments to show, 0 to 4");
const texts = option("text", "", "numbers of arguments that point to text, separated by commas: 0,1");
const most = option("most", 1000, "stop after so many hits; 0: never");
const areTexts = places(texts);
const a = reader("0", c => c.arg0), b = reader("1", c => c.arg1), d = reader("2", c => c.arg2);
const want1 = n > 1, want2 = n > 2, want3 = n > 3, want0 = n > 0;
let shown = 0;

// reader returns a program that reads an argument: as text, or as a number in text form.
function reader(k, value) {
  return areTexts.includes(k) ? c => readable(value(c)) ? str(value(c)) : "?" : c => String(value(c));
}

for (const name of places(mark)) {
  probe(`usdt:${name}`, {
    enter(c) {
      exit({ a: want0 ? a(c) : "", b: want1 ? b(c) : "", d: want2 ? d(c) : "", e: want3 ? String(c.arg3) : "" });
    },
    exit(e) {
      const args = [e.a, e.b, e.d, e.e].slice(0, n);
      report({ name, event: e, data: { args } }, `${since(e.time)} ${e.comm}/${e.tid} ${name}(${args.join(", ")})`);
      if (most > 0 && ++shown >= most) stop(0);
    },
  });
}
