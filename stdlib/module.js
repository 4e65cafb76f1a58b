// gotap/module: helpers for modules that place probes.
//
//   import { options, places, absent } from "gotap/module";
//   const { least } = options("gotap/mine", given, { least: 0 });
//   const probes = [probe(places(option("f", "libmine:open,libmine:close")), c => log(c.func))];
//   absent("gotap/mine", probes, "libmine, which has mine_open");
//
// options(module, given, defaults)   the given options completed with their defaults; an option without a default is an error
// places(text)                       splits a text into places at its commas; commas within brackets, as in
//                                    "geo::area(int, int)", do not separate places
// chosen(text, without)              what a user chose for probe(): { specs, not } of places that are separated by commas, and of those
//                                    to leave out; without places the main program's own functions
// named(specs)                       the places of chosen() for people: those of the main program have no text that a user wrote
// linked(library, names)             the places of a library's functions: in the library itself, or in a program that was
//                                    linked with it statically, as node is with OpenSSL
// inOrder(module, name, given, fn, needed)  [options, function] of two arguments in any order; with needed a missing function is an error
// absent(module, probes, what, each, why)  reports at the end that none of the probes was ever hit: because the target lacks `what`, or because it has it
//                                    and did not use it. The target has it if every probe of `each` has a place; without `each`, if any of probes has.
//                                    why() may return a text that is told instead
//
// Conventions of the library: importing a module places no probe; calling its functions may. Functions that place probes
// take a place or an options object and return an object with `probes`, which can be disabled, and their aggregations. Where they take a
// function too, options and function may come in any order, and the options may be left out.
// Functions that look something up on the host do not throw if a process has ended: they return undefined, or the number
// as text. Wrong arguments are errors that begin with the module's name. Places in libraries that a target may lack
// are optional, so that the run continues, and absent() reports them.

export function options(module, given, defaults) {
  if (given === undefined || given === null) return { ...defaults };
  if (typeof given !== "object") throw new TypeError(`${module}: options are an object, not ${given}`);
  for (const name of Object.keys(given)) {
    if (!(name in defaults)) throw new TypeError(`${module}: unknown option ${name}; there are ${Object.keys(defaults).join(", ")}`);
  }
  return { ...defaults, ...given };
}

export function inOrder(module, name, given, fn, needed = false) {
  if (typeof given === "function" || typeof fn === "object" && fn !== null) [given, fn] = [fn, given];
  if (typeof fn !== "function" && (needed || fn !== undefined && fn !== null)) {
    throw new TypeError(`${module}: ${name} takes a function, not ${fn}`);
  }
  return [given ?? undefined, fn ?? undefined];
}

// Operators of C++: brackets and commas in their names do not count as such.
const operators = /^operator\s*(\(\)|\[\]|,|[-+*/%^&|~!=<>]+)/;

export function places(text) {
  const list = [], pairs = bracketPairs(text);
  let start = 0;
  for (let k = 0; k < text.length; k++) {
    if (pairs.has(k)) k = pairs.get(k);
    else if (text[k] === ",") {
      list.push(text.slice(start, k));
      start = k + 1;
    }
  }
  list.push(text.slice(start));
  return list.map(place => place.trim()).filter(place => place !== "");
}

// bracketPairs returns where what begins in a text ends: for each opening bracket the closing one, and for an operator of C++ its end.
// The bracket of "keep<*" has none.
function bracketPairs(text) {
  const pairs = new Map(), open = [];
  for (let k = 0; k < text.length; k++) {
    const operator = operators.exec(text.slice(k));
    if (operator) {
      pairs.set(k, k + operator[0].length - 1);
      k = pairs.get(k);
    } else if (text[k] in closing) {
      open.push(k);
    } else if (Object.values(closing).includes(text[k])) {
      const at = open.map(o => closing[text[o]]).lastIndexOf(text[k]);
      if (at < 0) continue;
      pairs.set(open[at], k);
      open.length = at;
    }
  }
  return pairs;
}

const closing = { "(": ")", "[": "]", "{": "}", "<": ">" };

// Functions that the compiler adds to every program; _start never returns.
const startup = ["_start", "_init", "_fini", "frame_dummy", "register_tm_clones", "deregister_tm_clones", "__do_global_*", "__libc_csu_*", "__x86.get_pc_thunk.*",
  "_dl_relocate_static_pie"].map(name => `a.out:${name}`);

const own = "a.out:*";

export function chosen(text, without = "") {
  const specs = places(text);
  return specs.length > 0 ? { specs, not: places(without) } : { specs: [own], not: [...startup, ...places(without)] };
}

export const named = specs => specs.length === 1 && specs[0] === own ? "the program's own functions" : specs.join(", ");

export const linked = (library, names) => names.flatMap(name => [`${library}:${name}`, name]);

const waiting = new Map(); // probes by the line that reports that none was hit, so that the line is printed once

export function absent(module, probes, what, each, why) {
  const text = `${module}: nothing was seen; the target has to have ${what}`;
  const all = waiting.get(text);
  if (all) {
    all.push(...probes);
    return;
  }
  waiting.set(text, [...probes]);
  end(() => {
    const all = waiting.get(text);
    if (all.some(p => p.hits > 0)) return;
    const reason = why?.();
    if (reason) {
      console.error(`${module}: ${reason}`);
      return;
    }
    const has = each ? each.every(p => p.places > 0) : all.some(p => p.places > 0);
    console.error(has ? `${module}: nothing was seen; the target has ${what}, and called none of the functions probed` : text);
  });
}
