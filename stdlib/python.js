// gotap/python: CPython.
//
//   import { calls } from "gotap/python";
//   const c = calls();
//   end(() => { for (const [[file, name], n] of c.take()) print(n, name, file); });
//
// Through static marks, which Debian's and Fedora's python3 have (built --with-dtrace):
//   calls(fn?)        counts calls of Python functions by file and name, which take() returns and clears; with fn, calls fn with { file, name,
//                     line } for each instead. An interpreter of 3.9 to 3.13 without marks is probed where it evaluates a function, and its own
//                     structures tell which; standard error says so. Since 3.11 it evaluates there only functions that are called from C
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
// says that nothing was seen.

import { inOrder, options, absent } from "gotap/module";

const needs = "a CPython with static marks (--with-dtrace; function marks end with 3.11), or for calls alone one of 3.9 to 3.13";
const byMarks = []; // what only marks show: { what, probes }

// marksOnly reports at the end if a target has nothing of what only marks show.
function marksOnly(what, probes) {
  byMarks.push({ what, probes });
  absent("gotap/python", probes, needs);
  return { probes };
}

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
  const marks = marked(module, "function__entry", program);
  const frames = evaluated(module, fn, marks);
  const probes = [marks, frames.probe, lines(module)];
  absent("gotap/python", [marks, frames.probe], needs);
  return { calls: n, take: () => [...n.take(), ...frames.take()], probes };
}

// evaluated sees calls where the interpreter evaluates a Python function, while the marks have no place.
function evaluated(module, fn, marks) {
  const place = "_PyEval_EvalFrameDefault";
  const n = count("python frames", { keys: 1, max: 16384 });
  let known = 0, unknown = 0;
  const called = ({ frames: [f] }) => {
    if (f === undefined || f.module !== "python") {
      unknown++;
      return undefined;
    }
    known++;
    return { file: f.file, name: f.func, line: f.line };
  };
  const program = fn ? {
    enter(c) { exit({ stack: c.stack(1) }); },
    exit(e) {
      const f = called(e.stack);
      if (f) fn(Object.assign(e, f));
    },
  } : { enter(c) { n.at(c.stack(1)).inc(); } };
  const p = probe(module === "" ? place : `${module}:${place}`, { ...program, optional: true, disabled: true });
  let told = false;
  const choose = () => {
    if (marks.places > 0 || p.places === 0) return p.disable();
    p.enable();
    if (told) return;
    told = true;
    const blind = byMarks.filter(({ probes }) => probes.every(p => p.places === 0)).map(({ what }) => what);
    console.error(`gotap/python: the interpreter has no static marks for calls; they are seen at ${place}, since Python 3.11 only those that come from C` +
      (blind.length > 0 ? `. Not seen without marks: ${blind.join(", ")}` : ""));
  };
  begin(choose);
  on("module", choose);
  const take = () => byFunction(n.take(), called);
  end(() => {
    for (const [stack] of n.entries()) called(stack);
    if (unknown > 0 && known === 0) console.error("gotap/python: no function is known of the calls seen: the structures of the interpreter are those of 3.9 to 3.13");
  });
  return { probe: p, take };
}

// byFunction adds up counts of frames: [[file, name], number] of each function.
function byFunction(counts, called) {
  const all = new Map();
  for (const [stack, n] of counts) {
    const f = called(stack);
    if (!f) continue;
    const key = `${f.file}\0${f.name}`;
    if (!all.has(key)) all.set(key, [[f.file, f.name], 0]);
    all.get(key)[1] += Number(n);
  }
  return [...all.values()];
}

export function returns(fn, given) {
  [given, fn] = inOrder("gotap/python", "returns", given, fn, true);
  const { module } = options("gotap/python", given, { module: "" });
  return marksOnly("returns", [marked(module, "function__return", each(fn)), lines(module)]);
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
  return marksOnly("imports", [started, done]);
}

export function collections(fn, given) {
  [given, fn] = inOrder("gotap/python", "collections", given, fn, true);
  const { module } = options("gotap/python", given, { module: "" });
  const at = perThread(0), generation = perThread(0);
  return marksOnly("collections", [
    marked(module, "gc__start", { enter(c) { at.value = c.time; generation.value = c.arg0; } }),
    marked(module, "gc__done", {
      enter(c) { if (at.value !== 0) exit({ generation: generation.value, ns: c.time - at.value, collected: c.arg0 }); },
      exit: fn,
    }),
  ]);
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
