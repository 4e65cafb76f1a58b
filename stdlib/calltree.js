// gotap/calltree: calls as a tree, by thread; in programs of Go with debug information by goroutine.
//
//   import { calltree } from "gotap/calltree";
//   calltree(["libc:fopen", "libc:fclose"], { args: 2 });
//
//        TIME   DURATION  THREAD            CALL
//    1.204 ms     118 us  cat/4711          fopen("a.txt", "r") = 0x55e21c
//    1.322 ms             cat/4711          main(argc=2, argv=0x7ffd1) {
//    1.530 ms    29.8 us  cat/4711            fclose(0x55e21c) = 0
//    1.611 ms     407 us  cat/4711          } = 0  main
//
// calltree(specs, { not, from, args, inside, depth, slower, failed, stack, most, optional, print, quiet })
//     not       places that are left out
//     from      modules: only calls that they make
//     args      how many arguments to show of a function whose types are not known, 0 to 4 (2)
//     inside    a function: shows only its calls, and what is called while it runs
//     depth     shows calls inside so many others at most, 0: any (0)
//     slower    shows only calls that take so many nanoseconds, as they return (0)
//     failed    shows only calls that fail, as they return: a negative int, NULL, or an error of Go
//     stack     shows the stack of each call, with so many frames (0)
//     most      disables the probes after this many lines (0: never)
//     print     called on the host with { text, enter, leave, depth, func, tid, time } of each line instead of report(): a line
//               begins a call, ends one, or does both
//     quiet     does not tell at the end that no call was shown
//   returns { probes }
//
// Lines have short template arguments (gotap/names), records whole names. Arguments and results have the types of the debug information, or of gotap/prototypes and gotap/syscalls. Without these arguments are
// registers. Where records are written, each call is one record of the event "call" as it returns: { func, module, goid, depth, call, result,
// ns, failed, stack }, goid in programs of Go alone; calls that never return come at the end, without a result.
//
// The probes count the depth of each thread or goroutine. A call that ends with an exception or longjmp has no end;
// the depth is correct again when the outermost call returns.

import { named, options } from "gotap/module";
import { brief } from "gotap/names";
import { duration, milliseconds } from "gotap/time";
import { errno, isError } from "gotap/errno";
import { callText, pathCalls, pathArgument } from "gotap/syscalls";
import { functions, callOf, resultOf, textsOf, setsErrno, isLibrary } from "gotap/prototypes";

export function calltree(specs, given) {
  const o = options("gotap/calltree", given, { not: [], from: [], args: 2, inside: "", depth: 0, slower: 0, failed: false, stack: 0, most: 0,
    optional: false, print: undefined, quiet: false });
  const depth = perFlow("depths of goroutines"), open = perFlow("open calls of goroutines");
  const gated = o.inside !== "", deepest = o.depth > 0 ? o.depth : 1 << 30, least = o.slower, onlyFailed = o.failed;
  const late = least > 0 || onlyFailed;
  const show = printer(o);
  const frames = o.stack, none = c => "";
  const stack = frames > 0 ? c => c.stack(frames) : none, early = late ? none : stack, atEnd = late ? stack : none;
  /** @type {{ calls: string[], functions: string[] }} */
  const lists = { calls: [], functions: [] };
  for (const spec of Array.isArray(specs) ? specs : [specs]) (spec.startsWith("syscall:") ? lists.calls : lists.functions).push(spec);
  /** @type {Probe[]} */
  const probes = [];

  // Places texts that calls without debug information point to: the arguments of a call, and its result.
  function place(list, texts, isCall) {
    if (list.length === 0) return;
    const first = (c, kind) => (kind & 1) !== 0 && readable(c.arg0) ? str(c.arg0, 64) : "";
    const second = (c, kind) => (kind & 2) !== 0 && readable(c.arg1) ? str(c.arg1, 64) : "";
    const third = (c, kind) => (kind & 4) !== 0 && readable(integer(c.ret)) ? str(integer(c.ret), 64) : "";
    probes.push(probe(list, {
      enter(c) {
        this.depth = -1;
        const goid = goroutine(c);
        if (gated && open.get(c, goid) === 0) return;
        this.depth = depth.get(c, goid);
        depth.set(c, goid, this.depth + 1);
        if (this.depth >= deepest) return;
        const typed = pretty(c, "?"), kind = typed === "?" ? texts.get(c.func) : 0;
        this.a = c.arg0; this.b = c.arg1; this.c = c.arg2; this.d = c.arg3; this.e = c.arg4; this.f = c.arg5;
        this.typed = typed;
        this.s = first(c, kind);
        this.t = second(c, kind);
        if (late) return;
        exit({ depth: this.depth, goid, func: c.func, module: c.module, typed, s: this.s, t: this.t, a: c.arg0, b: c.arg1, c: c.arg2, d: c.arg3, e: c.arg4, f: c.arg5,
          stack: early(c) });
      },
      leave(c) {
        if (this.depth < 0) return;
        const goid = goroutine(c);
        depth.set(c, goid, this.depth);
        if (this.depth >= deepest || c.elapsed < least) return;
        const typed = pretty(c, "?"), bad = fails(c);
        if (onlyFailed && !bad) return;
        const kind = typed === "?" ? texts.get(c.func) : 0;
        if (late) {
          exit({ end: 1, bad, depth: this.depth, goid, func: c.func, module: c.module, typed: this.typed, s: this.s, t: this.t, a: this.a, b: this.b, c: this.c, d: this.d,
            e: this.e, f: this.f, result: typed, ret: c.ret, r: third(c, kind), why: bad ? errorNumber(c) : 0, ns: c.elapsed, stack: atEnd(c) });
        }
        exit({ end: 1, bad, depth: this.depth, goid, func: c.func, result: typed, ret: c.ret, r: third(c, kind), why: bad ? errorNumber(c) : 0, ns: c.elapsed });
      },
      exit: e => show.event(e, isCall),
      not: o.not,
      from: o.from,
      optional: o.optional,
    }));
  }
  place(lists.functions, textTable("texts of functions", functions().map(name => [name, textsOf(name)])), false);
  place(lists.calls, textTable("texts of system calls", pathCalls().map(name => [name, pathArgument(name) + 1])), true);
  const nest = (c, g, by) => open.set(c, g, open.get(c, g) + by);
  if (gated) probes.push(probe(o.inside, { priority: -1, enter: c => nest(c, goroutine(c), 1), leave: c => nest(c, goroutine(c), -1) }));
  show.limit = () => probes.forEach(p => p.disable());
  end(() => {
    show.end();
    if (!o.quiet && !show.any()) console.error(unseen(Array.isArray(specs) ? specs : [specs], o, probes.some(p => p.hits > 0)));
  });
  return { probes };
}

// unseen is why no call was shown; some is whether there were hits.
function unseen(specs, o, some) {
  const conditions = [o.inside && `happened inside ${o.inside}`, o.failed && "failed", o.slower > 0 && `took ${duration(o.slower)} or longer`].filter(Boolean);
  const from = o.from.length > 0 ? ` from ${o.from.map(module => module === "a.out" ? "the program" : module).join(", ")}` : "";
  return `no call of ${named(specs)}${from}${some && conditions.length > 0 ? ` ${conditions.join(" and ")}` : " was made"}`;
}

// goroutine is the number of a goroutine, 0 where there is none or it is not known.
const goroutine = c => defined(c.goid) ? c.goid : 0;
const errorNumber = c => defined(c.goid) ? 0 : c.errno; // Go has no errno

// perFlow is a number for each goroutine g, and for each thread where g is 0: a goroutine changes its thread in the middle of a call.
function perFlow(name) {
  const threads = perThread(0), goroutines = map(name, { keys: 2, max: 16384 });
  end(() => goroutines.clear()); // of calls that have not returned
  return {
    get(c, g) {
      return g === 0 ? threads.value : goroutines.get(c.pid, g);
    },
    set(c, g, n) {
      if (g === 0) threads.value = n;
      else if (n === 0) goroutines.delete(c.pid, g);
      else goroutines.set(c.pid, g, n);
    },
  };
}

// textTable makes a map of which values of a function are texts, for programs.
function textTable(name, entries) {
  const texts = map(name, { keys: 1 });
  for (const [func, kind] of entries) if (kind > 0) texts.set(func, kind);
  end(() => texts.clear());
  return texts;
}

const controls = /[\x00-\x1f\x7f]/g, names = { "\n": "\\n", "\t": "\\t", "\r": "\\r" };
const oneLine = text => text.replace(controls, c => names[c] ?? "\\x" + c.charCodeAt(0).toString(16).padStart(2, "0"));
const red = "\x1b[31m", plain = "\x1b[0m";

// printer returns the functions that format and print the lines. A call whose next event is its return is one line; the calls of other
// threads, and a moment in which nothing happens, end the waiting.
function printer(o) {
  const flows = new Map(); // open calls by thread or goroutine, the outermost first
  const width = columns(), narrow = width > 0 && width < 80;
  const coloured = width > 0 && !env("NO_COLOR") && env("TERM") !== "dumb";
  let lines = 0, first = 0, waiting, waited;
  let shown; // the thread or goroutine of the last line, on a narrow terminal
  const self = { limit: () => {}, any: () => lines > 0, event, end };
  every("200ms", () => { // a call that was waiting the last time has waited long enough
    if (waiting === waited) flush();
    waited = waiting;
  });
  if (o.slower > 0 || o.failed) first = now(); // the first call shown is not the first one that began

  function event(e, isCall) {
    if (first === 0) first = e.time;
    const open = flows.get(flow(e)) ?? [];
    flows.set(flow(e), open);
    const depth = Math.max(0, Number(e.depth));
    const calls = e.end && e.module === undefined;
    let call = calls ? undefined : begun(e, depth, isCall, o.args);
    if (calls) {
      while (open.length > 0 && open[open.length - 1].depth > depth) lost(open.pop());
      if (open.length > 0 && open[open.length - 1].depth === depth && open[open.length - 1].func === e.func) call = open.pop();
      if (call === undefined) return; // its beginning was before the probes, or is lost
    } else if (!e.end) {
      while (open.length > 0 && open[open.length - 1].depth >= depth) lost(open.pop());
      if (waiting) flush();
      open.push(call);
      waiting = call;
      return;
    }
    finish(call, e, isCall);
  }

  // finish prints the end of a call.
  function finish(call, e, isCall) {
    const result = resultText(e, call, isCall), value = result === "" || result === "void" ? "" : ` = ${result}`;
    const data = { func: call.func, module: call.module, goid: call.goid, depth: call.depth, call: call.text, result, ns: e.ns, failed: e.bad, stack: call.stack };
    if (waiting !== undefined && waiting !== call) flush();
    if (waiting === call || e.module !== undefined) {
      waiting = undefined;
      put(call, e, [call.shown, value, ""], data, true);
    } else {
      put(call, e, ["}", value, `  ${brief(call.func)}`], data, false);
    }
  }

  // flush prints the beginning of a call that has not returned.
  function flush() {
    const call = waiting;
    waiting = undefined;
    if (call) put(call, undefined, [call.shown, "", " {"], undefined, true);
  }

  // lost is a call whose return was not seen.
  function lost(call) {
    if (waiting === call) flush();
    record(call, undefined, { func: call.func, module: call.module, goid: call.goid, depth: call.depth, call: call.text, stack: call.stack });
  }

  function end() {
    flush();
    for (const open of flows.values()) while (open.length > 0) lost(open.pop());
    flows.clear();
  }

  // put prints a line: of a call the text, the result and what comes behind it.
  function put(call, e, parts, data, enter) {
    if (o.most > 0 && lines >= o.most) return; // records that were sent before the probes were disabled
    const time = e && !enter ? e.time : call.time;
    const line = (narrow ? narrowLine(call, e, parts) : wideLine(call, e, parts, time)) + (enter && call.stack ? `\n${call.stack}` : "");
    const text = lines === 0 && !narrow ? `${title}\n${line}` : line;
    if (o.print) o.print({ text: line, enter, leave: e !== undefined, depth: call.depth, func: call.func, tid: call.tid, time });
    else if (data) record(call, text, data);
    else report(null, text);
    if (++lines === o.most) self.limit();
  }

  const painted = (value, e) => e?.bad && coloured ? red + value + plain : value;

  function wideLine(call, e, [text, value, rest], time) {
    const head = `${milliseconds(time - first).padStart(10)} ms ${(e ? duration(e.ns) : "").padStart(10)}  ${call.who.padEnd(16)}  ${"  ".repeat(call.depth)}`;
    return head + text + painted(value, e) + rest;
  }

  // narrowLine is a line that a narrow terminal has room for. The thread is on a line of its own when it is another one.
  function narrowLine(call, e, [text, value, rest]) {
    const head = `${(e ? duration(e.ns) : "").padStart(8)} ${" ".repeat(Math.min(call.depth, Math.floor(width / 4)))}`;
    const room = width - head.length, left = room - value.length - rest.length;
    const thread = call.who === shown ? "" : `${cut(call.who, width)}\n`;
    shown = call.who;
    if (left >= Math.min(text.length, leastCall)) return thread + head + cut(text, left) + painted(value, e) + rest;
    return thread + head + cut(text + value + rest, room);
  }

  function record(call, text, data) {
    if (!o.print) report({ name: "call", time: call.time, pid: call.pid, tid: call.tid, comm: call.comm, data }, text);
  }
  return self;
}

const leastCall = 6; // columns of a call with its result, as far as there is room
const cut = (text, most) => text.length <= most ? text : text.slice(0, most - 1) + "…";
const title = `${"TIME".padStart(13)} ${"DURATION".padStart(10)}  ${"THREAD".padEnd(16)}  CALL`;

// flow is what the calls of an event's thread or goroutine are kept under.
const flow = e => e.goid ? `${e.pid} ${e.goid}` : e.tid;

// begun is a call as the host keeps it: text is that of records, shown that of lines.
function begun(e, depth, isCall, most) {
  const text = oneLine(callLine(e, isCall, most)), shown = text.startsWith(e.func) ? brief(e.func) + text.slice(e.func.length) : text;
  return { text, shown, func: e.func, module: e.module, depth, time: e.end ? e.time - Number(e.ns) : e.time, pid: e.pid, tid: e.tid, comm: e.comm,
    goid: e.goid ? Number(e.goid) : undefined, who: `${oneLine(e.comm)}/${e.goid ? "g" + e.goid : e.tid}`, stack: e.stack ? String(e.stack).split("\n").map(oneLine).join("\n") : undefined };
}

// callLine is a call with its arguments.
function callLine(e, isCall, most) {
  const words = [e.a, e.b, e.c, e.d, e.e, e.f];
  if (isCall) return callText(e.func, words, [{}, { 0: e.s }, { 1: e.t }][(pathArgument(e.func) ?? -1) + 1]);
  if (e.typed !== "?") return `${e.func}(${e.typed})`;
  const known = isLibrary(e.module) ? callOf(e.func, words, [e.s, e.t]) : "";
  return known || `${e.func}(${words.slice(0, most).map(word).join(", ")})`;
}

// resultText is the result of a call; failures of the C library and of system calls have the name of their error.
function resultText(e, call, isCall) {
  const named = e.bad && e.why > 0 && isLibrary(call.module) && (Number(BigInt.asIntN(32, BigInt(e.ret))) < 0 && e.result !== "0x0" || setsErrno(call.func));
  const why = named ? ` ${errno(e.why)}` : "";
  if (isCall) return isError(e.ret) ? `-1 ${errno(e.ret)}` : word(e.ret);
  if (e.result !== "?") return oneLine(e.result === "0x0" ? "NULL" : e.result) + why;
  const known = isLibrary(call.module) ? resultOf(call.func, e.ret, e.r) : "";
  return oneLine(known || word(e.bad ? BigInt.asIntN(32, BigInt(e.ret)) : e.ret)) + why;
}

// word formats small integers as decimal numbers and others as addresses; floats, booleans and structs stay as they are.
function word(v) {
  if (typeof v !== "bigint" && !Number.isInteger(v)) return String(v);
  const n = BigInt(v);
  return n > -65536n && n < 65536n ? String(n) : "0x" + BigInt.asUintN(64, n).toString(16);
}
