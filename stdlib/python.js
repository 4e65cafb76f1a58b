// gotap/python: CPython.
//
//   import { calls } from "gotap/python";
//   const c = calls();
//   end(() => c.calls.print({ top: 10 }));
//
// Through static marks, which Debian's and Fedora's python3 have (built --with-dtrace):
//   calls(fn?)        counts calls of Python functions by file and name; with fn, calls fn with { file, name, line } for each instead
//   returns(fn)       calls fn with { file, name, line } as each returns
//   imports(fn)       calls fn with { name, ns, found } for each module that is looked for
//   collections(fn)   calls fn with { generation, ns, collected } for each run of the garbage collector
// Through functions that every CPython has:
//   exceptions(fn)    calls fn with { type, stack } for each exception that C code or the interpreter raises
// In programs:
//   text(p, data)     the text of an ASCII str object; data is where its characters start: textAt(version)
// On the host:
//   textAt(version)   48 up to 3.11, 40 from 3.12 on: textAt("3.11")
//
// 3.11 reports calls between Python functions only while its mark for lines is on, so calls and returns cost a hit for each
// line. All but text and textAt return { probes } and take { module }: the file of the interpreter, if it is neither the program nor a
// shared libpython. Since 3.12 CPython has no function marks; then, as for a program that is not Python, a line at the end
// says that nothing was seen. c.stack has the interpreter's frames, not Python's.

import { inOrder, options, absent } from "gotap/module";

const needs = "a CPython with static marks (--with-dtrace; function marks end with 3.11)";
const mark = (module, name) => module === "" ? `usdt:python:${name}` : `usdt:${module}:python:${name}`;

export function text(p, data) { return str(p + data); }

export function textAt(version) {
  const [major, minor] = String(version).split(".").map(Number);
  return major > 3 || minor >= 12 ? 40 : 48;
}

function marked(module, name, program) {
  return probe(mark(module, name), { ...program, optional: true });
}

// lines only enables a mark: 3.11 reports calls between Python functions only while its mark for lines is on.
const lines = module => marked(module, "line", { enter(c) {} });

export function calls(fn, given) {
  [given, fn] = inOrder("gotap/python", "calls", given, fn);
  const { module } = options("gotap/python", given, { module: "" });
  const n = count("python calls", { keys: 2, max: 16384 });
  const program = fn ? each(fn) : { enter(c) { n.at(str(c.arg0, 128), str(c.arg1, 64)).inc(); } };
  const probes = [marked(module, "function__entry", program), lines(module)];
  absent("gotap/python", probes, needs);
  return { calls: n, probes };
}

export function returns(fn, given) {
  [given, fn] = inOrder("gotap/python", "returns", given, fn, true);
  const { module } = options("gotap/python", given, { module: "" });
  const probes = [marked(module, "function__return", each(fn)), lines(module)];
  absent("gotap/python", probes, needs);
  return { probes };
}

function each(fn) {
  return { enter(c) { exit({ file: str(c.arg0), name: str(c.arg1, 128), line: c.arg2 }); }, exit: fn };
}

export function imports(fn, given) {
  [given, fn] = inOrder("gotap/python", "imports", given, fn, true);
  const { module } = options("gotap/python", given, { module: "" });
  const since = map("import started", { keys: 2 });
  const started = marked(module, "import__find__load__start", { enter(c) { since.set(c.tid, hash(str(c.arg0, 128)), c.time); } });
  const done = marked(module, "import__find__load__done", {
    enter(c) {
      const name = str(c.arg0, 128);
      const key = hash(name);
      if (!since.has(c.tid, key)) return;
      const ns = c.time - since.get(c.tid, key);
      since.delete(c.tid, key);
      exit({ name, ns, found: c.arg1 !== 0 });
    },
    exit: fn,
  });
  end(() => since.clear());
  const probes = [started, done];
  absent("gotap/python", probes, needs);
  return { probes };
}

export function collections(fn, given) {
  [given, fn] = inOrder("gotap/python", "collections", given, fn, true);
  const { module } = options("gotap/python", given, { module: "" });
  const at = perThread(0), generation = perThread(0);
  const probes = [
    marked(module, "gc__start", { enter(c) { at.value = c.time; generation.value = c.arg0; } }),
    marked(module, "gc__done", {
      enter(c) { if (at.value !== 0) exit({ generation: generation.value, ns: c.time - at.value, collected: c.arg0 }); },
      exit: fn,
    }),
  ];
  absent("gotap/python", probes, needs);
  return { probes };
}

export function exceptions(fn, given) {
  [given, fn] = inOrder("gotap/python", "exceptions", given, fn, true);
  const { module } = options("gotap/python", given, { module: "" });
  const place = module === "" ? "_PyErr_SetObject" : `${module}:_PyErr_SetObject`;
  const probes = [probe(place, {
    enter(c) {
      const type = c.arg1; // a class object: its third word points to the name
      exit({ type: str(ptr(type + 24), 128), stack: c.stack(8) });
    },
    exit: fn,
    optional: true,
  })];
  absent("gotap/python", probes, "CPython's _PyErr_SetObject (3.8 and later), in the program or a shared libpython");
  return { probes };
}
