// pycalls: which Python functions are called how often, what is imported, raised, and collected?
// topic: languages and databases
//
//   gotap run pycalls -- /usr/bin/python3 prog.py
//   gotap run pycalls --arg trace=1 --arg file=prog.py -- /usr/bin/python3 prog.py
//
// Interpreters with static marks, such as Debian's and Fedora's up to 3.11, show everything. Of others, 3.9 to 3.13, it shows exceptions and calls, since 3.11 only calls
// that come from C, and says so.
//
//   $ gotap run pycalls --arg top=5 -- /usr/bin/python3 -c pass
//   import _io took 951 us
//   import marshal took 555 us
//   import posix took 985 us
//   …
//   @exceptions[IndexError]: 4
//   @exceptions[ModuleNotFoundError]: 4
//   @exceptions[GeneratorExit]: 5
//   @exceptions[ZipImportError]: 6
//   @exceptions[TypeError]: 8
//   @exceptions[FileNotFoundError]: 17
//   @exceptions[KeyError]: 57
//   @exceptions[AttributeError]: 283

import { calls, imports, collections, exceptions } from "gotap/python";
import { show, ordered } from "gotap/table";
import { baseName } from "gotap/files";
import { duration } from "gotap/time";

const trace = option("trace", false, "print each call instead of counting");
const file = option("file", "", "with trace, only functions of files that end in this");
const top = option("top", 15, "how many functions to print");
let collected = 0, collecting = 0;
const raised = count("exceptions", { keys: 1 });

if (trace) {
  calls(e => { if (e.file.endsWith(file)) report({ name: "call", event: e, data: { file: e.file, line: e.line, func: e.name } }, `${e.comm}/${e.tid} ${baseName(e.file)}:${e.line} ${e.name}`); });
} else {
  const counted = calls();
  end(() => {
    const rows = ordered(counted.take()).map(([[path, name], n]) => [n, name, path]);
    if (rows.length > 0) show("functions", ["calls", "function", "file"], rows, { top });
  });
}
imports(e => { if (e.found) report({ name: "import", event: e, data: { module: e.name, ns: e.ns } }, `import ${e.name} took ${duration(e.ns)}`); });
collections(e => {
  collected++;
  collecting += Number(e.ns);
});
exceptions(e => raised.at(e.type).inc());

end(() => {
  if (collected > 0) report({ name: "garbage collections", columns: ["count", "total"], rows: [[collected, collecting]] }, `${collected} garbage collections, ${duration(collecting)} in all`);
});
