// gotap/module: what modules that place probes have in common.
//
//   import { options, places, absent } from "gotap/module";
//   const { least } = options("gotap/mine", given, { least: 0 });
//   const probes = [probe(places(option("f", "libmine:open,libmine:close")), c => log(c.func))];
//   absent("gotap/mine", probes, "libmine, which has mine_open");
//
// options(module, given, defaults)   the options with their defaults; one that is not among the defaults is an error
// places(text)                       the places in a text that separates them by commas, as a list; commas within brackets, as of
//                                    "geo::area(int, int)", separate none
// linked(library, names)             the places of a library's functions, wherever they are: in the library, or in the program itself when it was
//                                    linked with it statically, as node is with OpenSSL
// inOrder(module, name, given, fn)   [options, function], in whichever order they were given; last of all true when there has to be a function
// absent(module, probes, what, each)  at the end says what the target has to have, when none of the probes was ever hit, or that it has it
//                                    and did not use it: it has it when one of the probes has a place, or each of the last argument has one
//
// Conventions of the library: importing a module places no probe, calling a function of it may. Functions that place probes
// take a place or an options object and return an object with `probes`, which can be disabled, and what they add up. Where they take a
// function too, either may stand first, and options may be left out.
// Functions that look something up on the host never throw because a process has ended: they return undefined, or the number
// itself as text. Mistakes in the call are errors that begin with the module's name. Places in libraries that a target may lack
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

// Operators of C++, whose names have brackets and commas that are none.
const operators = /^operator\s*(\(\)|\[\]|,|[-+*/%^&|~!=<>]+)/;

export function places(text) {
  const list = [];
  let depth = 0, start = 0;
  for (let k = 0; k < text.length; k++) {
    const skipped = operators.exec(text.slice(k));
    if (skipped) k += skipped[0].length - 1;
    else if ("([{<".includes(text[k])) depth++;
    else if (")]}>".includes(text[k])) depth--;
    else if (text[k] === "," && depth <= 0) {
      list.push(text.slice(start, k));
      start = k + 1;
    }
  }
  list.push(text.slice(start));
  return list.map(place => place.trim()).filter(place => place !== "");
}

export const linked = (library, names) => names.flatMap(name => [`${library}:${name}`, name]);

const waiting = new Map(); // what is said of whom, once, and whether any of its probes was hit

export function absent(module, probes, what, each) {
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
    const has = each ? each.every(p => p.places > 0) : all.some(p => p.places > 0);
    console.error(has ? `${module}: nothing was seen; the target has ${what}, and called none of the functions probed` : text);
  });
}
